package probe

import (
	"encoding/json"
	"slices"
	"strings"
)

// signs are the members that speak of paging, by what they seem to mean.
type signs struct {
	cursors []scalar
	more    []scalar // true while more follows
	last    []scalar // true on the last page
	page    *scalar
	pages   *scalar
	offset  *scalar
	total   *scalar
	size    *scalar
}

func (l *looked) signs() signs {
	var s signs
	for _, member := range l.scalars {
		if len(member.names) == 0 {
			continue
		}
		name := folded(member.names[len(member.names)-1])
		_, isFlag := member.value.(bool)
		_, isNumber := member.value.(json.Number)
		switch {
		case isFlag && slices.Contains([]string{"hasmore", "hasnext", "hasnextpage", "more", "ismore", "istruncated", "moreresults", "hasmoreitems", "hasmoreresults", "moreitemsincollection"}, name):
			s.more = append(s.more, member)
		case isFlag && slices.Contains([]string{"islast", "last", "lastpage", "islastpage", "done", "complete", "endofstream", "finished", "eof"}, name):
			s.last = append(s.last, member)
		case isFlag:
		case isCursorName(member.names):
			s.cursors = append(s.cursors, member)
		case isNumber:
			s.count(name, &member)
		}
	}
	return s
}

// isCursorName reports whether a member's name, with what it stands in, is one of
// those that next cursors have.
func isCursorName(names []string) bool {
	own := folded(names[len(names)-1])
	if slices.Contains([]string{
		"next", "nextcursor", "nextpage", "nextpagetoken", "nexttoken", "nextlink", "nexturl", "nexturi", "nextpageurl", "nextpageuri",
		"nextpagecursor", "nextrecordsurl", "nextmarker", "nextoffset", "nextid", "nextposition", "nexthref", "nextstartkey", "nextcursormark",
		"continuation", "continuationtoken", "nextcontinuationtoken", "continue", "endcursor", "resumptiontoken", "pagetoken", "aftercursor",
	}, own) {
		return true
	}
	inside := ""
	if len(names) > 1 {
		inside = folded(names[len(names)-2])
	}
	switch own {
	case "after", "cursor", "href", "url", "startingafter", "token":
		return inside == "next" || own != "href" && own != "url" && slices.Contains([]string{"", "cursors", "cursor", "paging", "pagination", "page", "meta", "pageinfo", "metadata", "responsemetadata"}, inside)
	}
	return false
}

// count sorts the numbers of a list that is counted through.
func (s *signs) count(name string, member *scalar) {
	for _, known := range []struct {
		names []string
		into  **scalar
	}{
		{[]string{"page", "currentpage", "pagenumber", "pageno", "pageindex", "number"}, &s.page},
		{[]string{"totalpages", "lastpage", "pagecount", "pages", "numpages", "pagestotal", "totalpagecount"}, &s.pages},
		{[]string{"offset", "skip", "start", "startat", "startindex", "from"}, &s.offset},
		{[]string{"total", "totalcount", "totalitems", "totalresults", "totalelements", "count", "totalsize", "totalrecords", "totalhits"}, &s.total},
		{[]string{"perpage", "pagesize", "limit", "size", "itemsperpage", "maxresults", "resultsperpage", "rows"}, &s.size},
	} {
		if slices.Contains(known.names, name) && (*known.into == nil || name != "count" && strings.EqualFold((*known.into).names[len((*known.into).names)-1], "count")) {
			*known.into = member
		}
	}
}

// say lists the members that speak of paging.
func (s *signs) say() []string {
	var said []string
	for _, group := range [][]scalar{s.cursors, s.more, s.last} {
		for _, member := range group {
			said = append(said, member.say())
		}
	}
	for _, member := range []*scalar{s.page, s.pages, s.offset, s.total, s.size} {
		if member != nil {
			said = append(said, member.say())
		}
	}
	return said
}

package probe

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// candidate is a contract that may fit.
type candidate struct {
	contract adapters.Contract
	builtin  bool
	itemsAt  adapters.Path // set where a builtin contract leaves the array's name open
}

// builtins are the contracts of the library that ask by GET; the probe makes no
// other request. Their default page size is left out, so that later pages are cut
// as the first one was.
func builtins(l *looked) []candidate {
	var all []candidate
	for _, c := range adapters.Builtin() {
		follow := c.Request.Follow
		if c.Request.Method == http.MethodPost || follow != nil && follow.Method == http.MethodPost {
			continue
		}
		c.Request.Size.Default = 0
		all = append(all, candidate{contract: c, builtin: true})
		top := topArrays(l)
		if c.Items.At != "*" || len(top) < 2 {
			continue
		}
		for _, a := range top {
			all = append(all, candidate{contract: c, builtin: true, itemsAt: adapters.Path(a.path)})
		}
	}
	return all
}

func topArrays(l *looked) []array {
	return slices.DeleteFunc(slices.Clone(l.arrays), func(a array) bool { return len(a.names) != 1 || a.id == nil })
}

// shaped makes contracts of what the answer shows, the likelier first.
func shaped(l *looked, host string) []candidate {
	i := slices.IndexFunc(l.arrays, func(a array) bool { return a.id != nil })
	if i < 0 {
		return nil
	}
	b := builder{array: l.arrays[i], signs: l.signs(), host: host}
	b.links(l.header)
	b.cursors()
	b.counted(l.header)
	return b.made
}

type builder struct {
	array array
	signs signs
	host  string
	made  []candidate
}

// base is what all contracts of one answer share.
func (b *builder) base() adapters.Contract {
	a := b.array
	c := adapters.Contract{
		Name:       "probed-" + strings.Trim(strings.Map(nameRune, strings.ToLower(b.host)), "-"),
		Doc:        "Suggested by everypage probe after a look at " + b.host + ". Compare every field with the API's documentation, then name that under source.",
		Source:     []string{"everypage probe"},
		Unverified: []string{"request", "page", "items", "next", "end", "errors"},
		Items:      adapters.Items{At: adapters.Path(a.path), ID: []adapters.Path{adapters.Path(*a.id)}, CreatedAt: adapters.Path(a.created)},
	}
	if a.format != "rfc3339" {
		c.Items.CreatedFormat = a.format
	}
	if b.signs.total != nil {
		c.Page.Total = body(b.signs.total)
	}
	if b.signs.size != nil {
		c.Page.Size = adapters.Path(b.signs.size.path)
	}
	return c
}

func nameRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

func body(s *scalar) adapters.Place { return adapters.Place("body:" + s.path) }

func (b *builder) add(c adapters.Contract) { b.made = append(b.made, candidate{contract: c}) }

func (b *builder) links(header http.Header) {
	if !strings.Contains(strings.ToLower(strings.Join(header.Values("Link"), ",")), "next") {
		return
	}
	c := b.base()
	c.Request.Cursor.In, c.Next.From = "url", "link:next"
	c.End.Rule = adapters.EndNoNextLink
	b.add(c)
}

// cursors makes a contract for each member that may be a cursor, and for each
// parameter that may take it.
func (b *builder) cursors() {
	for i := range b.signs.cursors {
		cursor := &b.signs.cursors[i]
		text, isText := cursor.value.(string)
		places := parameters(cursor)
		if isText && isAddress(text) {
			places = []adapters.Place{"url"}
		}
		for _, place := range places {
			c := b.base()
			c.Request.Cursor.In, c.Next.From = place, body(cursor)
			c.End = b.end(cursor)
			b.add(c)
		}
	}
	if len(b.signs.cursors) > 0 || len(b.signs.more) == 0 {
		return
	}
	for _, place := range []adapters.Place{"query:starting_after", "query:after"} { // a flag alone: the last ID is the cursor
		c := b.base()
		c.Request.Cursor.In, c.Next.From = place, "last_id"
		c.End = b.end(nil)
		b.add(c)
	}
}

// end prefers a flag that the answer holds; else the cursor itself says it.
func (b *builder) end(cursor *scalar) adapters.EndRule {
	switch {
	case len(b.signs.more) > 0:
		return adapters.EndRule{Rule: adapters.EndFlagFalse, At: adapters.Path(b.signs.more[0].path)}
	case len(b.signs.last) > 0:
		return adapters.EndRule{Rule: adapters.EndFlagTrue, At: adapters.Path(b.signs.last[0].path)}
	case cursor.value == "":
		return adapters.EndRule{Rule: adapters.EndCursor, When: []string{"empty"}}
	case cursor.value == nil:
		return adapters.EndRule{Rule: adapters.EndCursor, When: []string{"null"}}
	}
	return adapters.EndRule{Rule: adapters.EndCursor, When: []string{"absent", "null"}}
}

// parameters are the query parameters that a cursor of this name usually goes to.
func parameters(cursor *scalar) []adapters.Place {
	own := cursor.names[len(cursor.names)-1]
	names := []string{strings.TrimPrefix(strings.TrimPrefix(own, "next_"), "next"), "cursor"}
	switch folded(own) {
	case "nextpagetoken", "pagetoken":
		names = []string{"pageToken", "page_token"}
		if strings.Contains(own, "_") {
			names = []string{"page_token", "pageToken"}
		}
	case "nextcursor", "nextpagecursor", "cursor":
		names = []string{"cursor", "starting_after", "start_cursor"}
	case "after", "aftercursor", "endcursor", "startingafter":
		names = []string{"after", "starting_after"}
	case "nexttoken", "continuationtoken", "nextcontinuationtoken":
		names = []string{own, strings.TrimPrefix(own, "next_")}
	case "next", "nextpage":
		names = []string{"page", "cursor", "next"}
	case "nextoffset":
		names = []string{"offset"}
	case "nextmarker":
		names = []string{"marker"}
	case "nextid":
		names = []string{"after", "since_id"}
	case "resumptiontoken", "continue", "continuation":
		names = []string{own}
	}
	places := make([]adapters.Place, 0, len(names))
	for _, name := range names {
		if place := adapters.Place("query:" + strings.ToLower(name[:min(1, len(name))]) + name[min(1, len(name)):]); name != "" && !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	return places
}

// counted makes contracts for pages and offsets that the caller counts.
func (b *builder) counted(header http.Header) {
	s := &b.signs
	if s.page != nil || s.pages != nil {
		c := b.base()
		c.Request.Cursor.In, c.Next.From, c.Order = "query:page", "counter:page", pager.OrderUnstable
		if s.page != nil && s.page.value == json.Number("0") {
			c.Request.Cursor.First = new("0")
		}
		switch {
		case s.pages != nil:
			c.End = adapters.EndRule{Rule: adapters.EndLastPage, At: adapters.Path(s.pages.path)}
			b.add(c)
		case len(s.last)+len(s.more) > 0:
			c.End = b.end(nil)
			b.add(c)
		case s.total != nil && s.size != nil:
			c.End = adapters.EndRule{Rule: adapters.EndTotal}
			b.add(c)
		}
		c.End = adapters.EndRule{Rule: adapters.EndEmptyPage}
		b.add(c)
	}
	total := header.Get("X-Total-Count") != ""
	if s.total == nil && !total {
		return
	}
	for _, name := range b.offsetNames() {
		c := b.base()
		c.Request.Cursor.In, c.Next.From, c.Order = adapters.Place("query:"+name), "counter:offset", pager.OrderUnstable
		if s.total == nil {
			c.Page.Total = "header:X-Total-Count"
		}
		c.End = adapters.EndRule{Rule: adapters.EndTotal}
		b.add(c)
	}
}

func (b *builder) offsetNames() []string {
	if s := b.signs.offset; s != nil {
		return []string{s.names[len(s.names)-1]}
	}
	return []string{"offset", "skip"}
}

package adapters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/everypage-go/everypage/pager"
)

// The rules of what counts as the end of a list. A contract has exactly one.
const (
	// EndFlagFalse and EndFlagTrue are the boolean at At being false or true.
	EndFlagFalse = "flag_false"
	EndFlagTrue  = "flag_true"
	// EndCursor is the next cursor being one of the values in When.
	EndCursor = "cursor"
	// EndNoNextLink is a page without a link to the next one.
	EndNoNextLink = "no_next_link"
	// EndEmptyPage is a page without items.
	EndEmptyPage = "empty_page"
	// EndTotal is the position reaching the total that the answer gives.
	EndTotal = "total_reached"
	// EndLastPage is the page number reaching the number of pages at At.
	EndLastPage = "last_page"
	// EndShortPage is fewer items than the size that the answer echoes.
	EndShortPage = "short_page"
	// EndStatus is one of the statuses in Status.
	EndStatus = "status"
	// EndEchoed is the next cursor being the one that was sent.
	EndEchoed = "cursor_echoed"
	// EndBounded is a list of one page that is never the whole collection.
	EndBounded = "bounded"
)

// EndRules returns the name of every end rule.
func EndRules() []string {
	return []string{EndFlagFalse, EndFlagTrue, EndCursor, EndNoNextLink, EndEmptyPage, EndTotal, EndLastPage, EndShortPage, EndStatus, EndEchoed, EndBounded}
}

// EndRule is the one thing that counts as the end of a list. Exactly one of Rule,
// All and Any is set.
type EndRule struct {
	// Rule is one of [EndRules].
	Rule string `json:"rule,omitempty" yaml:"rule,omitempty"`
	// All asks that each of several rules sees the end. Any asks for one of them,
	// but a flag among them that says that more follows contradicts the others,
	// and then the end is unknown. Their members have Rule, At and When alone.
	All []EndRule `json:"all,omitempty" yaml:"all,omitempty"`
	Any []EndRule `json:"any,omitempty" yaml:"any,omitempty"`
	// At is the path of the flag, or of the number of pages.
	At Path `json:"at,omitempty" yaml:"at,omitempty"`
	// When lists the values of the next cursor that mean the end: absent, null,
	// empty (the empty string), zero (the number 0), false.
	When []string `json:"when,omitempty" yaml:"when,omitempty"`
	// AndEmpty asks in addition that the page has no items.
	AndEmpty bool `json:"and_empty,omitempty" yaml:"and_empty,omitempty"`
	// ExpectEmpty notes in the evidence an end that came on a page with items,
	// where the API documents an empty one; it is an end all the same.
	ExpectEmpty bool `json:"expect_empty,omitempty" yaml:"expect_empty,omitempty"`
	// Status lists HTTP statuses that mean the end, by themselves or beside the
	// rule, such as 204.
	Status []int `json:"status,omitempty" yaml:"status,omitempty"`
	// AfterPage is how many pages must have been read before such a status is an
	// end. More than 1 needs counter:page. Defaults to 0: also for the first page.
	AfterPage int `json:"after_page,omitempty" yaml:"after_page,omitempty"`
	// EmptyErrors lists the API's errors that mean a list without items, such as
	// OAI-PMH's noRecordsMatch. They count in an answer to the first request only.
	EmptyErrors []string `json:"empty_errors,omitempty" yaml:"empty_errors,omitempty"`
}

// signal is what one answer said about the end.
type signal struct {
	end      pager.End
	evidence string
}

// walked is what the end rule may look at.
type walked struct {
	body  value
	at    pager.Cursor // where the page was read
	next  nextCursor
	items int // entries of the page, skipped ones included
	total *int64
	size  int64 // echoed, 0 where it was not
	// stride is the page size that start was counted with, where pages are counted
	// and not items; 0 elsewhere.
	stride int64
	start  int64 // the number of items before this page, -1 where unknown
	// position is the number of this page, where pages are counted.
	position int64
}

// judge applies the rule to one list page.
func (r *EndRule) judge(w walked) signal {
	s := r.signal(w)
	switch {
	case len(r.All) > 0:
		s = all(r.All, w)
	case len(r.Any) > 0:
		s = anyOf(r.Any, w)
	}
	if s.end == pager.EndLast && w.items > 0 {
		switch {
		case r.AndEmpty:
			s = signal{pager.EndUnknown, s.evidence + ", on a page with items"}
		case r.ExpectEmpty:
			s.evidence += "; the page has items, where an empty one was to be expected"
		}
	}
	return s
}

// all is the end where each of several rules sees it, and more where one of them
// sees that more follows.
func all(rules []EndRule, w walked) signal {
	joint := signal{end: pager.EndLast}
	said := make([]string, len(rules))
	for i := range rules {
		one := rules[i].signal(w)
		said[i] = one.evidence
		if one.end == pager.EndMore || one.end == pager.EndUnknown && joint.end == pager.EndLast {
			joint.end = one.end
		}
	}
	joint.evidence = strings.Join(said, "; ")
	return joint
}

// anyOf is the end where one of several rules sees it. A flag that says that more
// follows contradicts it, and then nobody knows.
func anyOf(rules []EndRule, w walked) signal {
	var last, more, unknown []string
	contradicted := false
	for i := range rules {
		switch one := rules[i].signal(w); one.end {
		case pager.EndLast:
			last = append(last, one.evidence)
		case pager.EndMore:
			more = append(more, one.evidence)
			contradicted = contradicted || rules[i].Rule == EndFlagFalse || rules[i].Rule == EndFlagTrue
		case pager.EndUnknown:
			unknown = append(unknown, one.evidence)
		}
	}
	switch {
	case len(last) > 0 && contradicted:
		return signal{pager.EndUnknown, strings.Join(append(last, more...), ", but ")}
	case len(last) > 0:
		return signal{pager.EndLast, strings.Join(last, "; ")}
	case len(more) > 0:
		return signal{pager.EndMore, strings.Join(more, "; ")}
	}
	return signal{pager.EndUnknown, strings.Join(unknown, "; ")}
}

func (r *EndRule) signal(w walked) signal {
	switch r.Rule {
	case EndFlagFalse:
		return r.flag(w, false)
	case EndFlagTrue:
		return r.flag(w, true)
	case EndCursor:
		return r.cursor(w.next)
	case EndNoNextLink:
		return noLink(w.next)
	case EndEmptyPage:
		if w.items == 0 {
			return signal{pager.EndLast, "the page is empty"}
		}
		return signal{pager.EndMore, fmt.Sprintf("the page has %d entries", w.items)}
	case EndTotal:
		return total(w)
	case EndLastPage:
		return r.lastPage(w)
	case EndShortPage:
		return short(w)
	case EndStatus:
		return signal{pager.EndMore, "the status is that of a page"}
	case EndEchoed:
		return echoed(w)
	case EndBounded:
		return signal{pager.EndLast, "bounded feed, one page by contract"}
	}
	return signal{}
}

func (r *EndRule) flag(w walked, last bool) signal {
	flag := w.body.at(r.At)
	if flag.kind() != kindBool {
		return signal{pager.EndUnknown, fmt.Sprintf("%s %s", r.At, notThere(flag))}
	}
	evidence := fmt.Sprintf("%s=%s", r.At, flag.raw)
	if flag.isTrue() != last {
		return signal{pager.EndMore, evidence}
	}
	if w.next.found && !w.next.counted && !w.next.derived {
		evidence += "; a next cursor is given all the same and was not used"
	}
	return signal{pager.EndLast, evidence}
}

func (r *EndRule) cursor(next nextCursor) signal {
	switch {
	case slices.Contains(r.When, next.what):
		return signal{pager.EndLast, next.evidence}
	case next.found:
		return signal{pager.EndMore, next.evidence}
	}
	return signal{pager.EndUnknown, next.evidence}
}

func noLink(next nextCursor) signal {
	switch {
	case next.found:
		return signal{pager.EndMore, next.evidence}
	case next.what == whenAbsent:
		return signal{pager.EndLast, next.evidence}
	}
	return signal{pager.EndUnknown, next.evidence}
}

func total(w walked) signal {
	if w.total == nil || *w.total < 0 || w.start < 0 {
		return signal{pager.EndUnknown, "the answer gives no total that the position can be compared with"}
	}
	read := w.start + int64(w.items)
	evidence := fmt.Sprintf("%d of total=%d read", read, *w.total)
	switch {
	case read >= *w.total:
		return signal{pager.EndLast, evidence}
	case int64(w.items) < w.stride:
		// A server that gives less than was asked for without saying so: the number
		// of a page tells nothing about the number of items before it.
		return signal{pager.EndUnknown, fmt.Sprintf("%s, and this page of %d has %d entries", evidence, w.stride, w.items)}
	case w.items == 0:
		return signal{pager.EndUnknown, evidence + ", and the page is empty"}
	}
	return signal{pager.EndMore, evidence}
}

func (r *EndRule) lastPage(w walked) signal {
	pages, ok := w.body.at(r.At).integer()
	if !ok || pages < 0 {
		return signal{pager.EndUnknown, fmt.Sprintf("%s %s", r.At, notThere(w.body.at(r.At)))}
	}
	evidence := fmt.Sprintf("page %d of %s=%d", w.position, r.At, pages)
	switch {
	case w.position < pages:
		return signal{pager.EndMore, evidence}
	case pages == 0 && w.items > 0, w.position > max(pages, 1) && w.items > 0:
		return signal{pager.EndUnknown, evidence + ", and the page has items"}
	}
	return signal{pager.EndLast, evidence}
}

func short(w walked) signal {
	if w.size <= 0 {
		return signal{pager.EndUnknown, "the answer echoes no page size"}
	}
	evidence := fmt.Sprintf("%d entries of a page size of %d", w.items, w.size)
	if int64(w.items) < w.size {
		return signal{pager.EndLast, evidence}
	}
	return signal{pager.EndMore, evidence}
}

func echoed(w walked) signal {
	switch {
	case !w.next.found:
		return signal{pager.EndUnknown, w.next.evidence}
	case w.next.cursor == w.at:
		return signal{pager.EndLast, "the next cursor is the one that was sent"}
	}
	return signal{pager.EndMore, w.next.evidence}
}

// byStatus reports whether an answer's status alone is the declared end.
func (r *EndRule) byStatus(status int, pagesBefore int) (signal, bool) {
	if !slices.Contains(r.Status, status) || pagesBefore < r.AfterPage {
		return signal{}, false
	}
	return signal{pager.EndLast, "status " + strconv.Itoa(status)}, true
}

// byError reports whether an answer to the first request is the API's way to say
// that the list is empty.
func (r *EndRule) byError(e envelope, at pager.Cursor) (signal, bool) {
	if !at.IsStart() || e.code == "" || !slices.Contains(r.EmptyErrors, e.code) {
		return signal{}, false
	}
	return signal{pager.EndLast, "error " + clean(e.code, 100) + ", an empty list"}, true
}

// notThere says why a value is not what a rule looks for.
func notThere(v value) string {
	switch k := v.kind(); k {
	case kindAbsent:
		return "is absent"
	case kindNull:
		return "is null"
	case kindBool, kindNumber:
		return "is " + k.String() + " (" + clean(string(v.raw), 40) + ")"
	case kindText, kindArray, kindObject:
		return "is " + k.String()
	}
	return ""
}

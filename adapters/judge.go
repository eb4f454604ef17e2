package adapters

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/everypage-go/everypage/pager"
)

// page is a list page before its items are decoded.
type page struct {
	entries  []entry
	skipped  int
	next     pager.Cursor
	end      pager.End
	evidence string
	vetoes   []string
	meta     pager.Meta
	body     value
}

func (p *PageRule) statuses() []int {
	if len(p.Status) > 0 {
		return p.Status
	}
	return []int{http.StatusOK, http.StatusNonAuthoritativeInfo, http.StatusPartialContent}
}

// judge says what an answer is, in this order: its status, whether it is a list
// page at all, the declared end, contradictions, vetoes.
func (l *list) judge(a answer, at pager.Cursor) (page, *pager.Fault) {
	c := &l.contract
	p := page{meta: meta(a)}
	if s, ok := c.End.byStatus(a.status, l.pagesBefore(at)); ok {
		p.end, p.evidence = s.end, s.evidence
		return p, nil
	}
	failed := reply{status: a.status, header: a.header, withCursor: !at.IsStart(), now: a.now}
	if !slices.Contains(c.Page.statuses(), a.status) {
		failed.envelope, failed.noPage = readEnvelope(a.body), a.status < 300
		if s, ok := c.End.byError(failed.envelope, at); ok {
			p.end, p.evidence = s.end, s.evidence
			return p, nil
		}
		return page{}, c.Errors.fault(failed)
	}
	body, f := c.parse(a, at)
	if f != nil {
		return page{}, f
	}
	p.body = body
	if c.Errors.mayBeError(a.status) {
		failed.envelope = envelopeOf(body)
		if f := c.Errors.fault(failed); f != nil {
			return page{}, f
		}
	}
	items, problem := c.pageOf(body)
	if problem != "" {
		failed.envelope, failed.noPage = envelopeOf(body), true
		if s, ok := c.End.byError(failed.envelope, at); ok {
			p.end, p.evidence = s.end, s.evidence
			return p, nil
		}
		f := c.Errors.fault(failed)
		if f.Code == pager.CodeNotAList {
			f.Detail = fmt.Sprintf("the answer is no list page of %s: %s", c.Name, problem)
		}
		return page{}, f
	}
	l.readItems(&p, items)
	size := l.walkOn(&p, a, at, body, len(items))
	p.vetoes = c.vetoed(looked{
		body: body, query: l.query(a.base), links: len(a.header.Values("Link")),
		items: len(items), size: size, end: p.end,
	})
	return p, nil
}

// pageOf returns the items of a list page, or says why the answer is none.
func (c *Contract) pageOf(body value) (items []value, problem string) {
	for _, path := range c.Page.Required {
		if body.at(path).kind() == kindAbsent {
			return nil, fmt.Sprintf("%s is absent", path)
		}
	}
	for _, path := range c.Page.Forbidden {
		if body.at(path).kind() != kindAbsent {
			return nil, fmt.Sprintf("%s is there, which the contract rules out", path)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(c.Page.Equals)) {
		switch found := body.at(path); found.kind() {
		case kindText, kindNumber, kindBool:
			if !slices.Contains(c.Page.Equals[path], found.plainText()) {
				return nil, fmt.Sprintf("%s=%s, and a page has %s there", path, clean(found.plainText(), 100), strings.Join(c.Page.Equals[path], " or "))
			}
		case kindAbsent, kindNull, kindArray, kindObject:
			return nil, fmt.Sprintf("%s %s, where a page has %s", path, notThere(found), strings.Join(c.Page.Equals[path], " or "))
		}
	}
	return c.array(body)
}

func (l *list) readItems(p *page, items []value) {
	p.entries = make([]entry, 0, len(items))
	for i, v := range items {
		e, skip := l.reader.read(v, i)
		if skip {
			p.skipped++
			continue
		}
		p.entries = append(p.entries, e)
	}
	tellApart(p.entries)
}

// walkOn reads the next cursor and the end. It returns the page size that the
// answer echoes, else the one that was asked for.
func (l *list) walkOn(p *page, a answer, at pager.Cursor, body value, items int) int64 {
	c := &l.contract
	s := source{header: a.header, base: a.base, body: body, at: at, items: items}
	if n := len(p.entries); n > 0 {
		s.last = &p.entries[n-1]
	}
	next := c.next(s)
	p.meta.Total = c.total(a, body)
	size, echoed := body.at(c.Page.Size).integer()
	if !echoed || c.Page.Size == "" {
		size = 0
	}
	w := walked{body: body, at: at, next: next, items: items, total: p.meta.Total, size: size}
	if size <= 0 {
		size = int64(l.size)
	}
	w.start = l.itemsBefore(at, size)
	if c.Next.From == fromPage {
		w.stride = size
	}
	if position, ok := c.position(at); ok && c.counts() {
		w.position = position
	}
	said := c.End.judge(w)
	p.end, p.evidence = said.end, said.evidence
	switch {
	case p.end == pager.EndLast:
		// The end counts; a cursor beside it does not.
	case p.end == pager.EndUnknown && next.counted:
		// Counting on without a word from the API would never end.
	case next.found:
		p.next = next.cursor
	case next.evidence != "" && !strings.Contains(p.evidence, next.evidence):
		p.evidence += "; " + next.evidence
	}
	return size
}

func (c *Contract) total(a answer, body value) *int64 {
	where, name := c.Page.Total.split()
	var v value
	switch where {
	case "body":
		v = body.at(Path(name))
	case "header":
		n, err := strconv.ParseInt(strings.TrimSpace(a.header.Get(name)), 10, 64)
		if err != nil {
			return nil
		}
		return &n
	}
	if n, ok := v.integer(); ok {
		return &n
	}
	return nil
}

// query returns the parameters of the address that answered and of the list
// itself; a next address need not repeat what the first one said.
func (l *list) query(u *url.URL) url.Values {
	all := u.Query()
	for name, texts := range l.base.Query() {
		all[name] = append(all[name], texts...)
	}
	return all
}

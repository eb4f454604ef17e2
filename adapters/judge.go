package adapters

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
		return page{}, c.Errors.fault(failed)
	}
	body, err := parseJSON(stripBOM(a.body))
	if err != nil {
		return page{}, notJSON(a, err)
	}
	if c.Errors.mayBeError(a.status) {
		failed.envelope = envelopeOf(body)
		if f := c.Errors.fault(failed); f != nil {
			return page{}, f
		}
	}
	items, problem := c.pageOf(body)
	if problem != "" {
		failed.envelope, failed.noPage = envelopeOf(body), true
		f := c.Errors.fault(failed)
		if f.Code == pager.CodeNotAList {
			f.Detail = fmt.Sprintf("the answer is no list page of %s: %s", c.Name, problem)
		}
		return page{}, f
	}
	l.readItems(&p, items)
	l.walkOn(&p, a, at, body, len(items))
	p.vetoes = c.vetoed(body, l.query(a.base))
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

// walkOn reads the next cursor and the end.
func (l *list) walkOn(p *page, a answer, at pager.Cursor, body value, items int) {
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

// vetoed returns what forbids calling the list complete.
func (c *Contract) vetoed(body value, query url.Values) []string {
	var vetoes []string
	for _, veto := range c.Vetoes {
		if text := veto.text(body, query); text != "" {
			vetoes = append(vetoes, text)
		}
	}
	return vetoes
}

func (v Veto) text(body value, query url.Values) string {
	if v.Query != "" {
		for _, text := range query[v.Query] {
			if !strings.Contains(text, v.Lacks) && text != "*" {
				return fmt.Sprintf("%s=%s leaves out %s", v.Query, clean(text, 100), v.Lacks)
			}
		}
		return ""
	}
	found := body.at(v.At)
	switch {
	case v.Is != nil:
		if found.plainText() == *v.Is && found.kind() != kindAbsent {
			return fmt.Sprintf("%s=%s", v.At, *v.Is)
		}
		return ""
	case v.Above != nil:
		if n, ok := found.integer(); ok && n > *v.Above {
			return fmt.Sprintf("%s=%d, above %d", v.At, n, *v.Above)
		}
		return ""
	}
	switch found.kind() {
	case kindAbsent, kindNull:
	case kindBool:
		if found.isTrue() {
			return string(v.At) + "=true"
		}
	case kindNumber:
		if !isZero(found) {
			return fmt.Sprintf("%s=%s", v.At, clean(string(found.raw), 40))
		}
	case kindText:
		if len(found.raw) > 2 {
			return fmt.Sprintf("%s=%s", v.At, clean(found.plainText(), 200))
		}
	case kindArray:
		if n := len(found.elements()); n > 0 {
			return fmt.Sprintf("%s has %d entries", v.At, n)
		}
	case kindObject:
		if !found.isEmptyObject() {
			return string(v.At) + " is not empty"
		}
	}
	return ""
}

// notJSON is the fault of a page whose body is no JSON.
func notJSON(a answer, err error) *pager.Fault {
	f := &pager.Fault{Code: pager.CodeNotAList, Err: err}
	f.Answer.HTTPStatus, f.Answer.RequestID = a.status, RequestID(a.header)
	text := bytes.TrimSpace(stripBOM(a.body))
	var syntax *json.SyntaxError
	cut := errors.As(err, &syntax) && syntax.Offset >= int64(len(text)) && len(text) > 0 && (text[0] == '{' || text[0] == '[')
	switch {
	case cut && a.openEnded:
		f.Verdict, f.Code, f.Detail = pager.Pause, pager.CodeTransport, "the answer was cut short"
	case len(text) == 0:
		f.Detail = "the answer is empty"
	case text[0] == '<':
		f.Detail = "the answer is a page of HTML or XML and no JSON"
	default:
		f.Detail = "the answer is no JSON"
	}
	if mediaType := a.header.Get("Content-Type"); mediaType != "" {
		f.Detail += " (Content-Type " + clean(mediaType, 100) + ")"
	}
	return f
}

func stripBOM(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")) }

// meta returns what an answer said beside its items.
func meta(a answer) pager.Meta {
	m := pager.Meta{Status: a.status, RequestID: RequestID(a.header), Header: map[string][]string{}}
	for _, name := range []string{"Date", "Link", "Etag", "Content-Type", "Retry-After", "Deprecation", "Sunset", "Warning", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
		if texts := a.header.Values(name); len(texts) > 0 {
			m.Header[name] = slices.Clone(texts)
		}
	}
	if n, known := remaining(a.header); known {
		r := instants{now: a.now, skew: skew(a.header, a.now)}
		for _, name := range resetFields() {
			if text := strings.TrimSpace(a.header.Get(name)); text != "" {
				r.add(r.reset(text))
			}
		}
		m.Limit = pager.RateLimit{Known: true, Remaining: n, Reset: r.latest}
	}
	return m
}

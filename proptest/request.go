package proptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// seenRequest is a request as the server saw it.
type seenRequest struct {
	r    *http.Request
	body []byte
	base string // where a redirect led to; empty if there was none
}

func itoa(n int) string { return strconv.Itoa(n) }

func (q *seenRequest) scheme() string {
	if q.r.TLS != nil {
		return "https"
	}
	return "http"
}

// url returns the whole address, as it was written.
func (q *seenRequest) url() string { return q.scheme() + "://" + q.r.Host + q.r.RequestURI }

func (q *seenRequest) origin() string {
	return q.scheme() + "://" + withPort(&url.URL{Scheme: q.scheme(), Host: q.r.Host})
}

func (q *seenRequest) offersGzip() bool {
	return strings.Contains(strings.ToLower(q.r.Header.Get("Accept-Encoding")), "gzip")
}

func (q *seenRequest) describe(s *setup) string {
	text := q.r.Method + " " + short(q.url())
	if len(q.body) > 0 {
		text += " " + short(string(q.body))
	}
	cursors, err := q.cursors(s)
	switch {
	case s.cursorTo == "url":
	case err != nil:
		text += ", cursor: " + err.Error()
	case len(cursors) == 0:
		text += ", no cursor"
	default:
		text += ", cursor " + short(listed(quoteAll(cursors)))
	}
	return text
}

func quoteAll(texts []string) []string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strconv.Quote(text)
	}
	return quoted
}

// nothing is the cursor that is there and is null.
const nothing = "\x00null"

// cursors returns every cursor that a request carries, decoded once.
func (q *seenRequest) cursors(s *setup) ([]string, error) {
	where, name, _ := strings.Cut(s.cursorTo, ":")
	switch where {
	case "url":
		return []string{q.url()}, nil
	case "header":
		return q.r.Header.Values(name), nil
	case "query":
		values, err := url.ParseQuery(q.r.URL.RawQuery)
		if err != nil {
			return nil, fmt.Errorf("the query cannot be decoded: %w", err)
		}
		return values[name], nil
	case "body":
		return q.bodyCursor(name)
	}
	return nil, nil
}

func (q *seenRequest) bodyCursor(path string) ([]string, error) {
	tree, err := parseTree(q.body)
	if err != nil {
		return nil, fmt.Errorf("the body is no JSON: %w", err)
	}
	steps, err := pathSteps(path)
	if err != nil {
		return nil, err
	}
	for len(steps) > 0 {
		members, _ := tree.(map[string]any)
		name, used := memberName(members, steps)
		value, there := members[name]
		if !there {
			return nil, nil
		}
		tree, steps = value, steps[used:]
	}
	switch x := tree.(type) {
	case nil:
		return []string{nothing}, nil
	case string:
		return []string{x}, nil
	case json.Number:
		return []string{x.String()}, nil
	}
	text, err := writeTree(tree)
	return []string{string(text)}, err
}

// compareRequest says how a request differs in what makes it the one of an
// exchange: method, address and cursor.
func (p *play) compareRequest(q *seenRequest, x *exchange) (differs []string) {
	want := &x.request
	method := want.method
	if method == "" {
		method = p.setup.method
	}
	if q.r.Method != method {
		differs = append(differs, "method "+method)
	}
	if address := p.compareAddress(q, want); address != "" {
		differs = append(differs, address)
	}
	if p.setup.cursorTo != "url" && q.base == "" {
		if cursor := compareCursor(q, want, &p.setup); cursor != "" {
			differs = append(differs, cursor)
		}
	}
	return differs
}

// compareAddress says which address a request should have gone to; "" if it did.
func (p *play) compareAddress(q *seenRequest, want *wantedRequest) string {
	exact, path := want.url, want.path
	cursor, hasCursor := textOf(want.cursor)
	switch {
	case exact != "" || path != "":
	case q.base != "":
		exact = q.base
	case p.setup.cursorTo == "url" && hasCursor:
		exact = cursor
	case p.setup.cursorTo == "url":
		exact = p.setup.address()
	default:
		u, err := url.Parse(p.setup.endpoint)
		if err != nil {
			return "no endpoint"
		}
		path = u.EscapedPath()
		if q.origin() != p.net.origins[0] {
			return "at " + p.net.origins[0]
		}
	}
	if exact != "" && written(exact, p.setup.endpoint) != written(q.url(), p.setup.endpoint) {
		return "at " + short(exact)
	}
	if got := q.r.URL.EscapedPath(); path != "" && got != path && (path != "/" || got != "") {
		return "at the path " + path
	}
	return ""
}

// written returns an address as it stands in a request: absolute, without a
// fragment, with an escape for each byte that a request line cannot have.
func written(address, base string) string {
	address, _, _ = strings.Cut(address, "#")
	if u, err := url.Parse(address); err == nil && !u.IsAbs() {
		if b, err := url.Parse(base); err == nil {
			address = b.ResolveReference(u).String()
		}
	}
	if scheme, rest, ok := strings.Cut(address, "://"); ok { // these two compare without case, and a default port says nothing
		host, path := rest, ""
		if i := strings.IndexAny(rest, "/?"); i >= 0 {
			host, path = rest[:i], rest[i:]
		}
		scheme, host = strings.ToLower(scheme), strings.ToLower(host)
		port := map[string]string{"https": ":443", "http": ":80"}[scheme]
		address = scheme + "://" + strings.TrimSuffix(host, port) + path
	}
	var b strings.Builder
	for i := range len(address) {
		if c := address[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// compareCursor says which cursor a request should have carried; "" if it did.
func compareCursor(q *seenRequest, want *wantedRequest, s *setup) string {
	got, err := q.cursors(s)
	if err != nil {
		return err.Error()
	}
	text, there := textOf(want.cursor)
	switch {
	case !there && want.present != nil && *want.present:
		if !slices.Equal(got, []string{nothing}) && !slices.Equal(got, []string{""}) {
			return "a cursor that is there and null"
		}
	case !there:
		inBody := slices.Equal(got, []string{nothing}) && want.present == nil
		if len(got) > 0 && !inBody {
			return "no cursor"
		}
	case len(got) == 1 && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && sameJSON([]byte(text), []byte(got[0])):
		return "" // a cursor that is a JSON value, however it is spaced
	case !slices.Equal(got, []string{text}):
		return "the cursor " + short(strconv.Quote(text))
	}
	return ""
}

// details says what else is wrong with a request that is the right one.
func (p *play) details(q *seenRequest, x *exchange) (wrong []string) {
	want := &x.request
	missing := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if q.origin() == p.net.origins[0] {
		for _, h := range p.setup.header {
			if !slices.Contains(q.r.Header.Values(h[0]), h[1]) {
				missing("header %s as in setup", h[0])
			}
		}
	}
	for _, h := range want.headers {
		if !slices.Contains(q.r.Header.Values(h[0]), h[1]) {
			missing("header %s: %s", h[0], h[1])
		}
	}
	for _, name := range want.headersThere {
		if len(q.r.Header.Values(name)) == 0 {
			missing("a header %s", name)
		}
	}
	for _, name := range want.headersAbsent {
		if len(q.r.Header.Values(name)) > 0 {
			missing("no header %s", name)
		}
	}
	values := q.r.URL.Query()
	for name, text := range want.query {
		if !slices.Equal(values[name], []string{text}) {
			missing("query %s=%s", name, text)
		}
	}
	if !isNull(want.body) && !sameJSON(want.body, q.body) {
		missing("the body %s", shortJSON(want.body))
	}
	if p.setup.requestBody != nil && isNull(want.body) {
		tree, _ := parseTree(q.body) // with every digit
		body, _ := tree.(map[string]any)
		for name, value := range p.setup.requestBody {
			if _, isObject := value.(map[string]any); !isObject && !sameTree(value, body[name]) {
				missing("member %s of setup.request_body", name)
			}
		}
	}
	slices.Sort(wrong)
	return wrong
}

func sameJSON(a, b []byte) bool {
	x, err := parseTree(a)
	if err != nil {
		return false
	}
	y, err := parseTree(b)
	return err == nil && reflect.DeepEqual(x, y)
}

func sameTree(a, b any) bool {
	x, err := writeTree(a)
	if err != nil {
		return false
	}
	y, err := writeTree(b)
	return err == nil && bytes.Equal(x, y)
}

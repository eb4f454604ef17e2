package adapters

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/everypage-go/everypage/pager"
)

// request builds the request for one page. A guest request goes to a host that
// was only allowed, and carries nothing that the caller gave. The fault of a
// cursor that must not be used comes before anything is sent.
func (l *list) request(ctx context.Context, at pager.Cursor) (req *http.Request, guest bool, f *pager.Fault) {
	token, set := at.Token()
	target, tree, method := *l.base, l.body, l.method
	if follow := l.contract.Request.Follow; set && follow != nil {
		target, tree, method = *l.follow, follow.Body, l.contract.followMethod()
	}
	tree = copyTree(tree)
	extra := http.Header{}
	put := func(p Place, text any) error { return place(p, text, &target, extra, tree) }

	if l.contract.Request.Cursor.In == inURL && set {
		u, err := url.Parse(token)
		if err != nil || !u.IsAbs() {
			return nil, false, crossOrigin("the next page at", token, fmt.Errorf("it is no absolute URL"))
		}
		if guest, err = l.policy.check(u); err != nil {
			return nil, false, crossOrigin("the next page at", token, err)
		}
		target = *u
	} else if err := l.fill(put, at); err != nil {
		return nil, false, &pager.Fault{Code: pager.CodePagerFailed, Detail: "the request cannot be built", Err: err}
	}
	target.RawQuery = printable(target.RawQuery)

	var body io.Reader
	if method == http.MethodPost {
		text, err := encode(tree)
		if err != nil {
			return nil, false, &pager.Fault{Code: pager.CodePagerFailed, Detail: "the request's body cannot be written as JSON", Err: err}
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "", body)
	if err != nil {
		return nil, false, &pager.Fault{Code: pager.CodePagerFailed, Detail: "the request cannot be built", Err: err}
	}
	req.URL, req.Host = &target, target.Host
	l.headers(req, guest)
	maps.Copy(req.Header, extra)
	return req, guest, nil
}

// fill puts size, window and cursor into a request.
func (l *list) fill(put func(Place, any) error, at pager.Cursor) error {
	c := &l.contract
	token, set := at.Token()
	if follow := c.Request.Follow; !set || follow == nil || follow.keeps(c.Request.Size.In) {
		if err := l.fillSize(put); err != nil {
			return err
		}
	}
	if !set || c.Request.Follow == nil {
		if err := l.fillWindow(put); err != nil {
			return err
		}
	}
	if !set {
		token = c.firstToken()
		set = (token != "" || c.Request.Cursor.First != nil) && !c.Request.Cursor.FirstOmitted
	}
	switch {
	case !set, c.Request.Cursor.In == inURL:
		return nil
	case len(c.Next.Parts) > 0:
		return c.putParts(put, token)
	case c.Request.Cursor.In == "":
		return nil
	case c.Request.Cursor.In == inMembers:
		return putMembers(put, token)
	case c.Request.Cursor.As == asJSON:
		return put(c.Request.Cursor.In, json.RawMessage(token))
	}
	return put(c.Request.Cursor.In, token)
}

func (l *list) fillSize(put func(Place, any) error) error {
	if in := l.contract.Request.Size.In; l.size > 0 && in != "" {
		return put(in, l.size)
	}
	return nil
}

func (l *list) fillWindow(put func(Place, any) error) error {
	rule := l.contract.Request.Window
	if l.window == nil {
		return nil
	}
	if !l.window.from.IsZero() {
		if err := put(rule.From, writeTime(l.window.from, rule.Format)); err != nil {
			return err
		}
	}
	return put(rule.To, writeTime(l.window.to, rule.Format))
}

// place puts a text or a JSON value where a place says.
func place(p Place, x any, target *url.URL, header http.Header, tree map[string]any) error {
	where, name := p.split()
	switch where {
	case "query":
		target.RawQuery = setQuery(target.RawQuery, name, fmt.Sprint(x))
	case "header":
		text := fmt.Sprint(x)
		if strings.ContainsFunc(text, unicode.IsControl) {
			return fmt.Errorf("a value for the header %s holds control characters", name)
		}
		header.Set(name, text)
	case "body":
		return Path(name).set(tree, x)
	}
	return nil
}

// headers sets the header: the library's, then the contract's, then the caller's.
func (l *list) headers(req *http.Request, guest bool) {
	req.Header.Set("Accept", "application/json")
	if l.contract.isXML() {
		req.Header.Set("Accept", "application/xml, text/xml")
	}
	req.Header.Set("User-Agent", l.client.userAgent())
	if req.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, text := range l.contract.Request.Header {
		req.Header.Set(name, text)
	}
	if guest {
		return
	}
	for name, texts := range l.header {
		req.Header[name] = slices.Clone(texts)
	}
}

// setQuery sets one parameter of a raw query and leaves the bytes of all others
// as they are.
func setQuery(raw, name, text string) string {
	pairs := slices.DeleteFunc(strings.Split(raw, "&"), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(key)
		return pair == "" || err == nil && plain == name
	})
	return strings.Join(append(pairs, escape(name)+"="+escape(text)), "&")
}

// escape writes a space as %20, which every server reads as a space.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// printable escapes what must not stand in a request line, such as a space in a
// link that an API wrote carelessly, and leaves everything else as it is.
func printable(raw string) string {
	var b strings.Builder
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// copyTree copies the maps of a JSON object, so that a request can be filled in.
func copyTree(tree map[string]any) map[string]any {
	copied := make(map[string]any, len(tree))
	for name, x := range tree {
		if inner, ok := x.(map[string]any); ok {
			x = copyTree(inner)
		}
		copied[name] = x
	}
	return copied
}

// encode writes JSON without escaping what HTML would need escaped: what is sent
// looks like what was given.
func encode(x any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// pagesBefore returns how many pages were read before the one at a cursor, as far
// as the cursor tells: for one that is not counted, 1 stands for "some".
func (l *list) pagesBefore(at pager.Cursor) int {
	if at.IsStart() {
		return 0
	}
	if l.contract.Next.From == fromPage {
		first, ok := l.contract.position(pager.Cursor{})
		if page, known := l.contract.position(at); ok && known {
			return int(min(max(page-first, 0), 1<<31-1))
		}
	}
	return 1
}

// itemsBefore returns how many items were read before a page, or -1.
func (l *list) itemsBefore(at pager.Cursor, size int64) int64 {
	if at.IsStart() && l.contract.Next.From != fromOffset {
		return 0
	}
	position, ok := l.contract.position(at)
	switch {
	case !ok || !l.contract.counts():
		return -1
	case l.contract.Next.From == fromOffset:
		return position
	case size <= 0 || position > 1<<31:
		return -1
	}
	first, _ := strconv.ParseInt(l.contract.firstToken(), 10, 64)
	return (position - first) * size
}

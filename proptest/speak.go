package proptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// address is where the world's API stands for a job that reads it over HTTP.
const address = "https://api.test/things"

// wire is the world's API over HTTP, as one contract has it: it reads the cursor out
// of a request, and writes the page as that API's documents say. No socket is
// between them, so that time can be fake.
type wire struct {
	source   source
	contract adapters.Contract
	ahead    *pager.Cursor
}

var _ http.RoundTripper = wire{}

// RoundTrip answers one request.
func (x wire) RoundTrip(request *http.Request) (*http.Response, error) {
	at, err := x.cursor(request)
	if err != nil {
		return nil, err
	}
	page, err := x.source.page(request.Context(), at, *x.ahead)
	*x.ahead = page.Next
	answer := &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": {"application/json"}},
	}
	skew := x.source.w.shape.List.Skew
	answer.Header.Set("Date", now().Add(skew).UTC().Format(http.TimeFormat))
	var body []byte
	f, refused := err.(*pager.Fault) //nolint:errorlint // the world's own, as it was made
	switch {
	case err != nil && !refused:
		return nil, err
	case refused:
		body = x.refuse(answer, f, skew)
	default:
		body, err = x.write(answer, &page)
	}
	if err != nil {
		return nil, err
	}
	answer.ContentLength = int64(len(body))
	answer.Body = io.NopCloser(bytes.NewReader(body))
	if refused && f.Code == pager.CodeTransport {
		answer.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:1]), cutOff{}))
	}
	return answer, nil
}

// cutOff is the rest of a body that never comes.
type cutOff struct{}

func (cutOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// refuse writes a fault as a status, with the instant on the server's own clock.
func (x wire) refuse(answer *http.Response, f *pager.Fault, skew time.Duration) []byte {
	switch f.Code { //nolint:exhaustive // those that a status can say
	case pager.CodeRateLimited:
		answer.StatusCode = http.StatusTooManyRequests
		if !f.Until.IsZero() {
			answer.Header.Set("Retry-After", f.Until.Add(skew).UTC().Format(http.TimeFormat))
		}
	case pager.CodeServerError:
		answer.StatusCode = http.StatusInternalServerError
	case pager.CodeUnauthorized:
		answer.StatusCode = http.StatusUnauthorized
	case pager.CodeNotAList:
		answer.Header.Set("Content-Type", "text/html")
		return []byte("<!doctype html><title>Sign in</title>")
	case pager.CodeTransport:
		return []byte(`{"`)
	default:
		answer.StatusCode = http.StatusNotFound
	}
	return []byte(`{}`)
}

// cursor reads the cursor out of a request.
func (x wire) cursor(request *http.Request) (pager.Cursor, error) {
	rule := x.contract.Request.Cursor
	where, name, _ := strings.Cut(string(rule.In), ":")
	token, there := "", false
	switch where {
	case "url":
		token, there = request.URL.String(), request.URL.Query().Has("at")
	case "query":
		token, there = request.URL.Query().Get(name), request.URL.Query().Has(name)
	case "header":
		token, there = request.Header.Get(name), request.Header.Get(name) != ""
	case "body":
		data, err := io.ReadAll(request.Body)
		if err != nil {
			return pager.Cursor{}, err
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			return pager.Cursor{}, fmt.Errorf("the request's body: %w", err)
		}
		for part := range strings.SplitSeq(name, ".") {
			object, _ := v.(map[string]any)
			v = object[part]
		}
		token, there = v.(string)
	}
	first := ""
	switch {
	case rule.First != nil:
		first = *rule.First
	case x.contract.Next.From == "counter:page":
		first = "1"
	case x.contract.Next.From == "counter:offset":
		first = "0"
	}
	if !there || token == first {
		return pager.Cursor{}, nil
	}
	return pager.At(token), nil
}

// write writes a page.
func (x wire) write(answer *http.Response, page *pager.Page[raw]) ([]byte, error) {
	c, more := &x.contract, page.End != pager.EndLast
	body := map[string]any{}
	for path, texts := range c.Page.Equals {
		put(body, string(path), fixed(texts[0]))
	}
	items := make([]any, len(page.Items))
	for i, item := range page.Items {
		var d document
		if err := json.Unmarshal(item.Raw, &d); err != nil {
			return nil, err
		}
		items[i] = x.item(d)
	}
	token, _ := page.Next.Token()
	from, name, _ := strings.Cut(string(c.Next.From), ":")
	scroll := c.End.Rule == adapters.EndEmptyPage && from == "body"
	switch {
	case from == "body" && (more || scroll):
		put(body, name, token)
	case from == "body" && !slices.Contains(c.End.When, "absent") && len(c.End.When) > 0:
		put(body, name, nil)
	case from == "header" && more:
		answer.Header.Set(name, token)
	case from == "link" && more:
		answer.Header.Set("Link", fmt.Sprintf("<%s>; rel=%q", token, name))
	}
	total := int(*page.Meta.Total)
	x.end(body, append(slices.Clone(c.End.Any), c.End), more, total)
	switch in, name, _ := strings.Cut(string(c.Page.Total), ":"); in {
	case "body":
		put(body, name, total)
	case "header":
		answer.Header.Set(name, strconv.Itoa(total))
	}
	if c.Page.Size != "" {
		put(body, string(c.Page.Size), x.size())
	}
	for _, path := range c.Page.Required {
		if !has(body, string(path)) && !strings.HasPrefix(string(c.Items.At), string(path)) {
			var value any
			if from == "body" && strings.HasPrefix(name, string(path)+".") {
				value = map[string]any{} // in which there is no cursor
			}
			put(body, string(path), value)
		}
	}
	if member := lastMember(c.Name); member != "" && !more {
		body[member] = address + "?sync=1"
	}
	if c.Items.At == "" {
		return json.Marshal(items)
	}
	put(body, strings.ReplaceAll(string(c.Items.At), "*", "things"), items)
	return json.Marshal(body)
}

func (x wire) size() int { return min(x.source.w.shape.List.Size, x.source.w.shape.List.Most) }

// end writes the flags and the number of pages by which the end is told.
func (x wire) end(body map[string]any, rules []adapters.EndRule, more bool, total int) {
	for _, r := range rules {
		switch r.Rule {
		case adapters.EndFlagFalse:
			put(body, string(r.At), more)
		case adapters.EndFlagTrue:
			put(body, string(r.At), !more)
		case adapters.EndLastPage:
			put(body, string(r.At), max(1, (total+x.size()-1)/x.size()))
		}
	}
}

// lastMember is what the last page of an API has that is meant for a later walk, and
// without which its list is not whole.
func lastMember(contract string) string {
	switch contract {
	case "google-calendar-sync":
		return "nextSyncToken"
	case "ms-graph-delta":
		return "@odata.deltaLink"
	}
	return ""
}

// item writes an item with its identity and its time where the contract reads them.
func (x wire) item(d document) any {
	rule := x.contract.Items
	if len(rule.ID) == 1 && rule.ID[0] == "" {
		return d.ID
	}
	item := map[string]any{"text": d.Text}
	if rule.CreatedAt != "" {
		created := any(d.Created.Format(time.RFC3339Nano))
		switch layout, custom := strings.CutPrefix(rule.CreatedFormat, "layout:"); {
		case custom:
			created = d.Created.Format(layout)
		case rule.CreatedFormat == "unix":
			created = d.Created.Unix()
		case rule.CreatedFormat == "unix_ms":
			created = d.Created.UnixMilli()
		case rule.CreatedFormat == "http_date":
			created = d.Created.UTC().Format(http.TimeFormat)
		}
		put(item, string(rule.CreatedAt), created)
	}
	for _, path := range rule.ID {
		put(item, string(path), d.ID)
	}
	return item
}

// fixed is a text as the JSON value that reads so.
func fixed(text string) any {
	if text == "true" || text == "false" {
		return text == "true"
	}
	return text
}

// put sets the member of an object that a path of the contract names.
func put(object map[string]any, path string, value any) {
	names := strings.Split(strings.ReplaceAll(path, `\.`, "\x00"), ".")
	for i, name := range names {
		name = strings.ReplaceAll(name, "\x00", ".")
		member, choice, chosen := strings.Cut(strings.TrimSuffix(name, "]"), "[")
		switch {
		case chosen: // an element by the value of one of its members
			key, text, _ := strings.Cut(choice, "=")
			element := map[string]any{key: text}
			object[member], object = []any{element}, element
		case i == len(names)-1:
			object[name] = value
		default:
			inner, ok := object[name].(map[string]any)
			if !ok {
				inner = map[string]any{}
				object[name] = inner
			}
			object = inner
		}
	}
}

// has reports whether put has set a path.
func has(object map[string]any, path string) bool {
	for name := range strings.SplitSeq(strings.ReplaceAll(path, `\.`, "\x00"), ".") {
		value, there := object[strings.ReplaceAll(name, "\x00", ".")]
		if !there {
			return false
		}
		object, _ = value.(map[string]any)
	}
	return true
}

package adapters_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

func TestListRefuses(t *testing.T) {
	negative := -1
	github := adapters.GitHubREST()
	for _, c := range []struct {
		name     string
		contract adapters.Contract
		address  string
		options  *adapters.Options
		want     []string
	}{
		{"no contract", adapters.Contract{}, things, nil, []string{"contract", "none was given"}},
		{"no end", adapters.Contract{Name: "mine", Items: github.Items, Next: github.Next, Request: github.Request}, things, nil, []string{"end.rule"}},
		{"no host", github, "https:///issues", nil, []string{"url", "no host"}},
		{"no scheme", github, "api.example.test/issues", nil, []string{"url", "https://"}},
		{"a path", github, "/issues", nil, []string{"url", "https://"}},
		{"nothing", github, "", nil, []string{"url", "https://"}},
		{"a file", github, "file:///etc/passwd", nil, []string{"url", "https://"}},
		{"no URL", github, "https://%zz/?token=s3cret", nil, []string{"url", "parsed"}},
		{"a port that is none", github, "https://x:port/", nil, []string{"url"}},
		{"a negative page size", github, things, &adapters.Options{PageSize: negative}, []string{"page size", "negative"}},
		{"a page size that is too large", github, things, &adapters.Options{PageSize: 101}, []string{"page size", "101", "100"}},
		{"a page size in the URL that is none", github, things + "?per_page=all", nil, []string{"page size", "per_page=all"}},
		{"two page sizes", github, things + "?per_page=3", &adapters.Options{PageSize: 5}, []string{"page size", "3", "5"}},
		{"a page size that cannot be chosen", adapters.Contract{Name: "x", Items: github.Items, End: adapters.EndRule{Rule: adapters.EndBounded}}, things, &adapters.Options{PageSize: 5}, []string{"page size", "no way"}},
		{"an order that is none", github, things, &adapters.Options{Order: "random"}, []string{"order", "random"}},
		{"a host that is none", github, things, &adapters.Options{AllowedHosts: []string{"https://x/y"}}, []string{"allowed hosts"}},
		{"a URL that begins at a cursor", adapters.KeysetCatalogue(), things + "?cursor=c6", nil, []string{"url", "cursor", "left out"}},
		{"a URL that begins at a page", github, things + "?page=2", nil, []string{"url", "page", "left out"}},
		{"a header of two lines", github, things, &adapters.Options{Header: http.Header{"Authorization": {"Bearer s3cret\nX: y"}}}, []string{"header", "Authorization", "line break"}},
		{"everything at once", github, "nowhere", &adapters.Options{Order: "random"}, []string{"url", "order"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := adapters.List[any](nil, c.contract, c.address, c.options)
			if err == nil || p != nil {
				t.Fatal("it is a list")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%q shows a credential", err)
			}
		})
	}
}

// What a URL says is part of the definition, whatever its name looks like; only a
// credential may change while a run is open.
func TestTheFilterHoldsWhatMayNotChange(t *testing.T) {
	filter := func(query string) string {
		return list(t, nil, adapters.GitHubREST(), things+"?"+query, nil).(pager.Describer).Describe().Filter
	}
	for _, query := range []string{"author=a", "authorized=a", "signature_status=a", "max_tokens=a", "code=a", "key=a"} {
		if filter(query) == filter(query[:len(query)-1]+"b") {
			t.Errorf("the filter of %s does not show a change", query)
		}
	}
	if got := filter("access_token=s3cret"); got != filter("access_token=renewed") || strings.Contains(got, "s3cret") {
		t.Errorf("a renewed credential makes another list, or is shown: %s", got)
	}
	if got := filter("key=s3cret"); strings.Contains(got, "s3cret") {
		t.Errorf("what may be a credential is shown: %s", got)
	}
}

func TestDescribe(t *testing.T) {
	p := list(t, nil, adapters.GitHubREST(), "https://user:pw@api.example.test/repos/o/r/issues?per_page=50&state=open&access_token=s3cret#top",
		&adapters.Options{Filter: url.Values{"labels": {"a b"}}, Sort: "created asc", Order: pager.OrderStableAscending})
	d := p.(pager.Describer).Describe()
	if d.Endpoint != "https://api.example.test/repos/o/r/issues" || d.Filter != "access_token=REDACTED&labels=a%20b&state=open" || d.Sort != "created asc" || d.PageSize != 50 ||
		d.Contract != "github-rest" || d.Order != pager.OrderStableAscending || d.Style != pager.StyleCursor || d.NotReplayable || d.RepeatLimit != 0 {
		t.Errorf("got %+v", d)
	}
	if c, err := adapters.Parse(d.ContractDocument); err != nil || c.Name != "github-rest" {
		t.Errorf("the document does not load: %v", err)
	}
	if d := list(t, nil, adapters.GitHubREST(), things, nil).(pager.Describer).Describe(); d.Order != pager.OrderUnstable || d.PageSize != 30 || d.Filter != "" {
		t.Errorf("by default: %+v", d)
	}
	for by, style := range map[string]pager.Style{"page": pager.StylePage, "offset": pager.StyleOffset} {
		d := list(t, nil, counter(by, adapters.EndRule{Rule: adapters.EndEmptyPage}), things, nil).(pager.Describer).Describe()
		if d.Style != style {
			t.Errorf("%s: %s", by, d.Style)
		}
	}
}

func TestFirstRequest(t *testing.T) {
	tr, client := api(t, answer(200, `[]`), answer(200, `{"things":[],"pagination":{"has_more":false}}`))
	client.UserAgent = "desk/1"
	options := &adapters.Options{
		Filter: url.Values{"state": {"open", "held"}, "q": {"a&b +"}},
		Header: http.Header{"authorization": {"Bearer t"}, "X-Team": {"blue"}},
	}
	_, _, err := walk(t.Context(), list(t, client, adapters.GitHubREST(), "https://api.example.test/i?state=all&x=1", options), pager.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	if got := tr.seen[0].url; got != "https://api.example.test/i?x=1&q=a%26b%20%2B&state=open&state=held&per_page=30" {
		t.Errorf("got %s", got)
	}
	h := tr.seen[0].header
	if h.Get("User-Agent") != "desk/1" || h.Get("Accept") != "application/vnd.github+json" || h.Get("Authorization") != "Bearer t" || h.Get("X-Team") != "blue" {
		t.Errorf("got %v", h)
	}
	options = &adapters.Options{ItemsAt: "things"}
	p := list(t, client, adapters.KeysetCatalogue(), "https://user:pw@api.example.test/things", options)
	if _, _, err := walk(t.Context(), p, pager.Cursor{}); err != nil {
		t.Fatal(err)
	}
	if got := tr.seen[1]; got.url != "https://api.example.test/things?limit=20" || got.header.Get("Authorization") != "Basic dXNlcjpwdw==" {
		t.Errorf("got %s with %v", got.url, got.header)
	}
	if c, err := adapters.Parse(p.(pager.Describer).Describe().ContractDocument); err != nil || c.Items.At != "things" {
		t.Errorf("the resolved contract has items at %q, %v", c.Items.At, err)
	}
}

func TestPost(t *testing.T) {
	contract := adapters.Contract{
		Name: "graph",
		Request: adapters.Request{
			Method: http.MethodPost, Body: map[string]any{"query": "…", "variables": map[string]any{"states": []any{"OPEN"}}},
			Size: adapters.Size{In: "body:variables.first", Default: 2, Max: 100}, Cursor: adapters.CursorRule{In: "body:variables.after"},
		},
		Page:  adapters.PageRule{Required: []adapters.Path{"data.repos"}, Forbidden: []adapters.Path{"errors"}},
		Items: adapters.Items{At: "data.repos.nodes", ID: []adapters.Path{"id"}},
		Next:  adapters.Next{From: "body:data.repos.pageInfo.endCursor"},
		End:   adapters.EndRule{Rule: adapters.EndFlagFalse, At: "data.repos.pageInfo.hasNextPage"},
	}
	tr, client := api(t,
		answer(200, `{"data":{"repos":{"nodes":[{"id":"r1"}],"pageInfo":{"hasNextPage":true,"endCursor":"Y3"}}}}`),
		answer(200, `{"data":{"repos":{"nodes":[],"pageInfo":{"hasNextPage":true,"endCursor":null}}}}`))
	p := list(t, client, contract, things, &adapters.Options{Body: map[string]any{"query": "query{<x>}"}})
	pages, fault, _ := walk(t.Context(), p, pager.Cursor{})
	if len(pages) != 2 || fault == nil || fault.Code != pager.CodeCursorMissing {
		t.Fatalf("got %d pages, %v", len(pages), fault)
	}
	for i, want := range []string{
		`{"query":"query{<x>}","variables":{"first":2,"states":["OPEN"]}}`,
		`{"query":"query{<x>}","variables":{"after":"Y3","first":2,"states":["OPEN"]}}`,
	} {
		if got := tr.seen[i]; got.body != want || got.method != http.MethodPost || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("request %d: %+v", i, got)
		}
	}
	if d := p.(pager.Describer).Describe(); d.Filter != `{"query":"query{<x>}"}` {
		t.Errorf("the filter is %s", d.Filter)
	}
}

func TestJSONCursor(t *testing.T) {
	contract := tokens()
	contract.Request.Method = http.MethodPost
	contract.Request.Cursor = adapters.CursorRule{In: "body:start", As: "json"}
	contract.End.When = []string{"absent", "empty"}
	tr, client := api(t,
		answer(200, `{"items":[],"next":{"id":{"N":"12345678901234567890"}}}`),
		answer(200, `{"items":[],"next":[1.50,"x"]}`),
		answer(200, `{"items":[],"next":{}}`))
	pages, _, err := walk(t.Context(), list(t, client, contract, things, nil), pager.Cursor{})
	if err != nil || len(pages) != 3 {
		t.Fatalf("got %d pages, %v", len(pages), err)
	}
	if got := tr.seen[1].body + tr.seen[2].body; got != `{"start":{"id":{"N":"12345678901234567890"}}}{"start":[1.50,"x"]}` {
		t.Errorf("got %s", got)
	}
}

func TestRebind(t *testing.T) {
	old := adapters.KeysetCatalogue()
	old.Request.Cursor.In, old.Items.At = "query:after", "things"
	document, err := old.Document()
	if err != nil {
		t.Fatal(err)
	}
	tr, client := api(t, answer(200, `{"things":[{"id":"a"}],"others":[],"pagination":{"has_more":false}}`))
	p := list(t, client, adapters.KeysetCatalogue(), things, &adapters.Options{PageSize: 7, ItemsAt: "elsewhere", Header: http.Header{"Authorization": {"t"}}})
	back, err := p.(pager.Rebinder[json.RawMessage]).Rebind(document)
	if err != nil {
		t.Fatal(err)
	}
	pages, _, err := walk(t.Context(), back, pager.At("c"))
	if err != nil || ids(pages...) != "a" || tr.seen[0].url != things+"?limit=7&after=c" || tr.seen[0].header.Get("Authorization") != "t" {
		t.Errorf("got %v, %+v", err, tr.seen)
	}
	if string(back.(pager.Describer).Describe().ContractDocument) != string(document) {
		t.Error("the list has another document than the one it was given")
	}
	for _, broken := range []string{"", "name: x", "nonsense: true"} {
		if _, err := p.(pager.Rebinder[json.RawMessage]).Rebind([]byte(broken)); err == nil {
			t.Errorf("%q is a contract", broken)
		}
	}
}

func TestWindow(t *testing.T) {
	from, to := noon(), noon().Add(time.Hour+time.Second/2)
	page := answer(200, `{"data":[],"has_more":false}`)
	tr, client := api(t, page, page, page, page)
	p := list(t, client, adapters.StripeV1(), things, nil)
	read := func(p pager.Pager[json.RawMessage]) {
		if _, _, err := walk(t.Context(), p, pager.Cursor{}); err != nil {
			t.Fatal(err)
		}
	}
	in, err := p.(pager.Windower[json.RawMessage]).Window(from, to)
	if err != nil {
		t.Fatal(err)
	}
	read(in)
	open, err := p.(pager.Windower[json.RawMessage]).Window(time.Time{}, to)
	if err != nil {
		t.Fatal(err)
	}
	read(open)
	read(p)
	for i, want := range []string{"?limit=10&created%5Bgte%5D=1741176000&created%5Blte%5D=1741179600", "?limit=10&created%5Blte%5D=1741179600", "?limit=10"} {
		if got := tr.seen[i].url; got != things+want {
			t.Errorf("request %d: %s", i, got)
		}
	}
	if a, b := in.(pager.Describer).Describe(), p.(pager.Describer).Describe(); a.Filter != b.Filter || a.Endpoint != b.Endpoint {
		t.Error("the window changes the definition")
	}
	again, err := in.(pager.Rebinder[json.RawMessage]).Rebind(p.(pager.Describer).Describe().ContractDocument)
	if err != nil {
		t.Fatal(err)
	}
	if read(again); tr.seen[3].url != tr.seen[0].url {
		t.Errorf("the rebound window asks for %s", tr.seen[3].url)
	}
	if _, err := p.(pager.Windower[json.RawMessage]).Window(to, from); err == nil {
		t.Error("a window that ends before it begins")
	}
	_, err = list(t, client, adapters.GitHubREST(), things, nil).(pager.Windower[json.RawMessage]).Window(from, to)
	if _, ok := errors.AsType[*adapters.OptionError](err); !ok {
		t.Errorf("GitHub has no such filter: %v", err)
	}
}

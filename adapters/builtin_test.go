package adapters_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// wantPage is what a test expects of a page.
type wantPage struct {
	ids      string
	end      pager.End
	next     string // part of the token; "-" for none
	evidence string // part
	vetoes   int
}

func checkPage(t *testing.T, got pager.Page[[]byte], want wantPage) {
	t.Helper()
	token, set := got.Next.Token()
	if set == (want.next == "-") || set && !strings.Contains(token, want.next) {
		t.Errorf("next is %s, want %s", got.Next, want.next)
	}
	if got.End != want.end || !strings.Contains(got.Evidence, want.evidence) {
		t.Errorf("end is %s by %q, want %s by %q", got.End, got.Evidence, want.end, want.evidence)
	}
	if len(got.Vetoes) != want.vetoes {
		t.Errorf("vetoes are %q, want %d", got.Vetoes, want.vetoes)
	}
}

// TestContractPages reads single answers through each contract.
func TestContractPages(t *testing.T) {
	const address = "https://api.example.test/v1/things"
	named := func(name string) adapters.Contract {
		c, err := adapters.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	more, last, unknown := pager.EndMore, pager.EndLast, pager.EndUnknown
	for _, c := range []struct {
		contract string
		name     string
		body     string
		header   []string
		want     wantPage
	}{
		{"github-rest", "a page", `[{"id":1},{"id":2}]`, []string{"Link", `</v1/things?page=2>; rel="next"`}, wantPage{"1 2", more, "https://api.example.test/v1/things?page=2", "rel=next", 0}},
		{"github-rest", "the last page", `[{"id":3}]`, []string{"Link", `</v1/things?page=1>; rel="first"`}, wantPage{"3", last, "-", "no Link", 0}},
		{"github-rest", "no Link at all", `[]`, nil, wantPage{"", last, "-", "no Link", 0}},
		{"github-rest", "an empty page that goes on", `[]`, []string{"Link", `</v1/things?page=2>; rel="next"`}, wantPage{"", more, "page=2", "", 0}},
		{"github-rest", "two next links", `[]`, []string{"Link", `</a>; rel=next, </b>; rel=next`}, wantPage{"", unknown, "-", "2 different", 0}},
		{"github-rest", "a malformed Link", `[{"id":3}]`, []string{"Link", `/a; rel=next`}, wantPage{"3", unknown, "-", "malformed", 0}},

		{"stripe-v1", "a page", `{"data":[{"id":"a"},{"id":"b"}],"has_more":true}`, nil, wantPage{"a b", more, "b", "has_more=true", 0}},
		{"stripe-v1", "the last page", `{"data":[{"id":"c"}],"has_more":false}`, nil, wantPage{"c", last, "-", "has_more=false", 0}},
		{"stripe-v1", "an empty last page", `{"data":[],"has_more":false}`, nil, wantPage{"", last, "-", "has_more=false", 0}},
		{"stripe-v1", "more, and no ID to go on from", `{"data":[],"has_more":true}`, nil, wantPage{"", more, "-", "no last item", 0}},
		{"stripe-v1", "more, and a last object without ID", `{"data":[{"id":"a"},{}],"has_more":true}`, nil, wantPage{"a ", more, "-", "no ID", 0}},
		{"stripe-v1", "a flag that is a word", `{"data":[{"id":"a"}],"has_more":"false"}`, nil, wantPage{"a", unknown, "a", "is a string", 0}},
		{"stripe-v1", "a flag that is null", `{"data":[{"id":"a"}],"has_more":null}`, nil, wantPage{"a", unknown, "a", "null", 0}},
		{"stripe-v1", "a flag that is 0", `{"data":[{"id":"a"}],"has_more":0}`, nil, wantPage{"a", unknown, "a", "number", 0}},

		{"google-aip158", "a page", `{"books":[{"name":"b/1"}],"nextPageToken":"t"}`, nil, wantPage{"b/1", more, "t", "nextPageToken is set", 0}},
		{"google-aip158", "an empty page goes on", `{"books":[],"nextPageToken":"t"}`, nil, wantPage{"", more, "t", "", 0}},
		{"google-aip158", "a page without its array goes on", `{"nextPageToken":"t"}`, nil, wantPage{"", more, "t", "", 0}},
		{"google-aip158", "nothing at all is a last page", `{}`, nil, wantPage{"", last, "-", "absent", 0}},
		{"google-aip158", "an empty token", `{"books":[{"name":"b/1"}],"nextPageToken":""}`, nil, wantPage{"b/1", last, "-", "empty string", 0}},
		{"google-aip158", "a token that is null was not declared", `{"books":[],"nextPageToken":null}`, nil, wantPage{"", unknown, "-", "null", 0}},
		{"google-aip158", "a total that is reached is no end", `{"books":[{"name":"b/1"}],"nextPageToken":"t","totalSize":1}`, nil, wantPage{"b/1", more, "t", "", 0}},
		{"google-aip158", "something could not be reached", `{"books":[{"name":"b/1"}],"unreachable":["eu"]}`, nil, wantPage{"b/1", last, "-", "absent", 1}},
		{"google-aip158", "nothing was out of reach", `{"books":[{"name":"b/1"}],"unreachable":[]}`, nil, wantPage{"b/1", last, "-", "absent", 0}},
		{"google-aip158", "only what is out of reach", `{"unreachable":["eu"]}`, nil, wantPage{"", last, "-", "absent", 1}},

		{"keyset-catalogue", "a page", `{"recipes":[{"id":"r1"}],"pagination":{"limit":20,"next_cursor":"c2","has_more":true}}`, nil, wantPage{"r1", more, "c2", "has_more=true", 0}},
		{"keyset-catalogue", "the last page", `{"recipes":[{"id":"r2"}],"pagination":{"limit":20,"next_cursor":null,"has_more":false}}`, nil, wantPage{"r2", last, "-", "has_more=false", 0}},
		{"keyset-catalogue", "more without a cursor", `{"recipes":[{"id":"r1"}],"pagination":{"limit":20,"next_cursor":null,"has_more":true}}`, nil, wantPage{"r1", more, "-", "next_cursor is null", 0}},
		{"keyset-catalogue", "the end with a cursor", `{"recipes":[{"id":"r1"}],"pagination":{"limit":20,"next_cursor":"c9","has_more":false}}`, nil, wantPage{"r1", last, "-", "was not used", 0}},
		{"keyset-catalogue", "more with an empty cursor", `{"recipes":[],"pagination":{"limit":20,"next_cursor":"","has_more":true}}`, nil, wantPage{"", more, "-", "empty string", 0}},

		{"keyset-feed", "the one page", `{"recipes":[{"id":"r1"}],"pagination":{"limit":20}}`, nil, wantPage{"r1", last, "-", "bounded", 0}},

		{"docker-registry", "a page", `{"repositories":["a/b","c"]}`, []string{"Link", `</v2/_catalog?last=c&n=2>; rel="next"`}, wantPage{"a/b c", more, "https://api.example.test/v2/_catalog?last=c&n=2", "", 0}},
		{"docker-registry", "the last page", `{"repositories":["d"]}`, nil, wantPage{"d", last, "-", "no Link", 0}},
	} {
		t.Run(c.contract+": "+c.name, func(t *testing.T) {
			_, client := api(t, answer(200, c.body, c.header...))
			p := list(t, client, named(c.contract), address, nil)
			for page, err := range p.Pages(t.Context(), pager.Cursor{}) {
				if err != nil {
					t.Fatal(err)
				}
				if got := ids(page); got != c.want.ids {
					t.Errorf("items are %q, want %q", got, c.want.ids)
				}
				if page.Bounded != (c.contract == "keyset-feed") {
					t.Errorf("bounded is %t", page.Bounded)
				}
				checkPage(t, pager.Page[[]byte]{Next: page.Next, End: page.End, Evidence: page.Evidence, Vetoes: page.Vetoes}, c.want)
				break
			}
		})
	}
}

// TestContractRefusals reads answers that are no list page of their contract.
func TestContractRefusals(t *testing.T) {
	for _, c := range []struct {
		contract string
		name     string
		status   int
		body     string
		want     pager.Code
		detail   string
	}{
		{"github-rest", "an object", 200, `{"items":[]}`, pager.CodeNotAList, "the body is an object"},
		{"github-rest", "an accepted job", 202, `{}`, pager.CodeNotAList, "202"},
		{"github-rest", "no content", 204, ``, pager.CodeNotAList, "204"},
		{"stripe-v1", "no flag", 200, `{"data":[]}`, pager.CodeNotAList, "has_more is absent"},
		{"stripe-v1", "no array", 200, `{"data":{},"has_more":false}`, pager.CodeNotAList, "data is an object"},
		{"stripe-v1", "null for an array", 200, `{"data":null,"has_more":false}`, pager.CodeNotAList, "data is null"},
		{"google-aip158", "an error", 200, `{"error":{"code":7,"message":"no"}}`, pager.CodeNotAList, "error is there"},
		{"google-aip158", "a stranger", 200, `{"success":false,"throttle":true}`, pager.CodeNotAList, "success"},
		{"google-aip158", "an array", 200, `[]`, pager.CodeNotAList, "an array"},
		{"google-aip158", "two arrays", 200, `{"books":[],"shelves":[]}`, pager.CodeNotAList, "several arrays"},
		{"keyset-catalogue", "a feed", 200, `{"recipes":[{"id":"r1"}],"pagination":{"limit":20}}`, pager.CodeNotAList, "pagination.has_more is absent"},
		{"keyset-catalogue", "no pagination", 200, `{"recipes":[{"id":"r1"}]}`, pager.CodeNotAList, "pagination.has_more is absent"},
		{"keyset-catalogue", "an error as 200", 200, `{"error":"rate_limited","error_description":"slow down"}`, pager.CodeRateLimited, "slow down"},
		{"keyset-feed", "a cursor", 200, `{"recipes":[],"pagination":{"limit":20,"next_cursor":null}}`, pager.CodeNotAList, "next_cursor is there"},
		{"keyset-feed", "a flag", 200, `{"recipes":[],"pagination":{"limit":20,"has_more":false}}`, pager.CodeNotAList, "has_more is there"},
		{"docker-registry", "an error", 200, `{"errors":[{"code":"DENIED","message":"no"}],"repositories":[]}`, pager.CodeNotAList, "errors is there"},
	} {
		t.Run(c.contract+": "+c.name, func(t *testing.T) {
			contract, err := adapters.Named(c.contract)
			if err != nil {
				t.Fatal(err)
			}
			_, client := api(t, answer(c.status, c.body, "X-Request-Id", "req_7"))
			pages, fault, err := walk(t.Context(), list(t, client, contract, "https://api.example.test/v1/things", nil), pager.Cursor{})
			if len(pages) != 0 || fault == nil {
				t.Fatalf("got %d pages, %v", len(pages), err)
			}
			if fault.Code != c.want || !strings.Contains(fault.Detail, c.detail) || fault.Answer.RequestID != "req_7" {
				t.Errorf("got %v, want %s with %q", fault, c.want, c.detail)
			}
		})
	}
}

// TestWalks walks whole lists over HTTP on loopback, a page of two at a time.
func TestWalks(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e"}
	object := func(from, to int, id string) string {
		parts := make([]string, 0, 2)
		for _, name := range all[from:min(to, len(all))] {
			parts = append(parts, fmt.Sprintf(id, name))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	at := func(r *http.Request, name string) int {
		i := strings.Index("abcde", r.URL.Query().Get(name))
		return i + len(r.URL.Query().Get(name))
	}
	for _, c := range []struct {
		contract string
		size     string
		serve    http.HandlerFunc
	}{
		{"github-rest", "per_page", func(w http.ResponseWriter, r *http.Request) {
			i := at(r, "after")
			if i+2 < len(all) {
				w.Header().Set("Link", fmt.Sprintf(`<http://%s/elsewhere/7?after=%s&per_page=2>; rel="next"`, r.Host, all[i+1]))
			}
			fmt.Fprint(w, object(i, i+2, `{"id":%q}`))
		}},
		{"docker-registry", "n", func(w http.ResponseWriter, r *http.Request) {
			i := at(r, "last")
			if i+2 < len(all) {
				w.Header().Set("Link", fmt.Sprintf(`</list?last=%s&n=2>; rel="next"`, all[i+1]))
			}
			fmt.Fprintf(w, `{"repositories":%s}`, object(i, i+2, `%q`))
		}},
		{"stripe-v1", "limit", func(w http.ResponseWriter, r *http.Request) {
			i := at(r, "starting_after")
			fmt.Fprintf(w, `{"object":"list","data":%s,"has_more":%t}`, object(i, i+2, `{"id":%q}`), i+2 < len(all))
		}},
		{"google-aip158", "pageSize", func(w http.ResponseWriter, r *http.Request) {
			i := at(r, "pageToken")
			if i >= len(all) {
				fmt.Fprint(w, `{}`)
				return
			}
			fmt.Fprintf(w, `{"things":%s,"nextPageToken":%q}`, object(i, i+2, `{"name":%q}`), all[min(i+1, len(all)-1)])
		}},
		{"keyset-catalogue", "limit", func(w http.ResponseWriter, r *http.Request) {
			i := at(r, "cursor")
			next := "null"
			if i+2 < len(all) {
				next = fmt.Sprintf("%q", all[i+1])
			}
			fmt.Fprintf(w, `{"things":%s,"pagination":{"limit":2,"next_cursor":%s,"has_more":%t}}`, object(i, i+2, `{"id":%q}`), next, i+2 < len(all))
		}},
	} {
		t.Run(c.contract, func(t *testing.T) {
			server, tr, client := served(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get(c.size) != "2" || r.URL.Query().Get("state") == "" && r.URL.Path == "/things" {
					t.Errorf("%s asks for no page of 2 with the filter", r.URL)
				}
				c.serve(w, r)
			})
			contract, err := adapters.Named(c.contract)
			if err != nil {
				t.Fatal(err)
			}
			p := list(t, client, contract, server.URL+"/things?state=open", &adapters.Options{PageSize: 2})
			pages, _, err := walk(t.Context(), p, pager.Cursor{})
			if err != nil {
				t.Fatal(err)
			}
			if got := ids(pages...); got != "a b c d e" || pages[len(pages)-1].End != pager.EndLast {
				t.Errorf("got %q", got)
			}
			// From the second page's cursor on, the walk is the same.
			again, _, err := walk(t.Context(), p, pages[1].Cursor)
			if err != nil || ids(again...) != "c d e" {
				t.Errorf("from the middle: %q, %v", ids(again...), err)
			}
			if len(tr.seen) != len(pages)+len(again) {
				t.Errorf("%d requests for %d pages", len(tr.seen), len(pages)+len(again))
			}
		})
	}
}

package probe_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/adapters/probe"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/pager"
)

func look(t *testing.T, url string, options *probe.Options) *probe.Report {
	t.Helper()
	report, err := probe.List(t.Context(), url, options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// want fails the test unless a report suggests the named contract.
func want(t *testing.T, report *probe.Report, name string) *probe.Suggestion {
	t.Helper()
	s := report.Suggestion
	if s == nil || s.Contract.Name != name {
		t.Fatalf("suggested %+v, want %s\n%s", s, name, all(report))
	}
	return s
}

func all(report *probe.Report) string {
	return strings.Join(append(append(append([]string{}, report.Seen...), report.Doubts...), report.Check...), "\n")
}

func says(t *testing.T, report *probe.Report, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(all(report), text) {
			t.Errorf("the report does not say %q:\n%s", text, all(report))
		}
	}
}

// Each of the simulation's contracts is found by what its answers show.
func TestList_KnownContracts(t *testing.T) {
	for contract, doubt := range map[simapi.Contract]string{
		simapi.GitHubREST:      "The order counts as unstable",
		simapi.StripeV1:        "The end was not seen",
		simapi.GoogleAIP158:    "The end was not seen",
		simapi.KeysetCatalogue: "The end was not seen",
		simapi.KeysetFeed:      "never the whole collection",
	} {
		t.Run(string(contract), func(t *testing.T) {
			first := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
			api := simapi.NewServer(contract, simapi.NewList(simapi.NumberedTickets(first, 400)...), &simapi.ServerOptions{Token: "secret-token"})
			base, stop, err := simapi.Serve(api)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			report := look(t, base+api.Path(), &probe.Options{Header: http.Header{"Authorization": {"Bearer secret-token"}}})
			s := want(t, report, string(contract))
			says(t, report, doubt)
			if !s.Builtin {
				t.Error("a contract of the library is called an own one")
			}
			if pages := map[bool]int{true: 1, false: 3}[contract == simapi.KeysetFeed]; s.Pages != pages || report.Requests > pages+1 {
				t.Errorf("%d pages in %d requests, want %d", s.Pages, report.Requests, pages)
			}
			if named, err := adapters.Named(s.Contract.Name); err != nil || named.Request.Size != s.Contract.Request.Size {
				t.Errorf("the suggested contract is not the library's: %+v, %v", s.Contract.Request.Size, err)
			}
			if strings.Contains(all(report), "secret-token") {
				t.Error("the report shows a credential")
			}
		})
	}
}

// numbers serves n items by a function that writes a page of some of them.
func numbers(t *testing.T, handle func(w http.ResponseWriter, r *http.Request)) (string, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		handle(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1/things", &asked
}

// things writes the items from one number up to another.
func things(key string, from, to int) string {
	var items []string
	for i := from; i < to; i++ {
		items = append(items, fmt.Sprintf(`{%q:"t%d","colour":"red"}`, key, i))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func number(r *http.Request, name string, otherwise int) int {
	if n, err := strconv.Atoi(r.URL.Query().Get(name)); err == nil {
		return n
	}
	return otherwise
}

// What no contract of the library reads becomes a contract of its own, which loads
// and walks the list to its end.
func TestList_OwnContracts(t *testing.T) {
	for _, c := range []struct {
		name   string
		handle func(w http.ResponseWriter, r *http.Request)
		rule   string
		from   adapters.Place
		in     adapters.Place
		says   string
	}{
		{"page number with total and size", func(w http.ResponseWriter, r *http.Request) {
			page := number(r, "page", 1)
			fmt.Fprintf(w, `{"result":{"rows":%s},"page":%d,"per_page":3,"total":8}`, things("uuid", 3*(page-1), min(8, 3*page)), page)
		}, adapters.EndTotal, "counter:page", "query:page", "total is 8"},
		{"page number with total alone", func(w http.ResponseWriter, r *http.Request) {
			page := number(r, "page", 1)
			fmt.Fprintf(w, `{"result":{"rows":%s},"page":%d,"total":8}`, things("uuid", min(8, 3*(page-1)), min(8, 3*page)), page)
		}, adapters.EndEmptyPage, "counter:page", "query:page", "no page size to count with"},
		{"a cursor under another name", func(w http.ResponseWriter, r *http.Request) {
			at := number(r, "start_cursor", 0)
			next := "null"
			if at+3 < 8 {
				next = fmt.Sprintf(`"%d"`, at+3)
			}
			fmt.Fprintf(w, `{"things":%s,"meta":{"next_cursor":%s}}`, things("key", at, min(8, at+3)), next)
		}, adapters.EndCursor, "body:meta.next_cursor", "query:start_cursor", "did not look at the cursor in query:cursor"},
		{"an address and a flag", func(w http.ResponseWriter, r *http.Request) {
			at := number(r, "from", 0)
			fmt.Fprintf(w, `{"payload":%s,"paging":{"next":"/v1/things?from=%d","isLast":%t}}`, things("sku", at, min(8, at+3)), at+3, at+3 >= 8)
		}, adapters.EndFlagTrue, "body:paging.next", "url", "paging.next is an address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, _ := numbers(t, c.handle)
			report := look(t, url, &probe.Options{Pages: 4})
			s := want(t, report, "probed-127-0-0-1")
			if s.Builtin || s.Contract.End.Rule != c.rule || s.Contract.Next.From != c.from || s.Contract.Request.Cursor.In != c.in || !s.EndSeen {
				t.Errorf("suggested %+v\n%s", s, all(report))
			}
			says(t, report, c.says)
			document, err := s.Contract.Document()
			if err != nil {
				t.Fatal(err)
			}
			loaded, err := adapters.Parse(document)
			if err != nil {
				t.Fatal(err)
			}
			list, err := adapters.List[map[string]any](nil, loaded, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			items, end := 0, pager.EndUnknown
			for page, err := range list.Pages(t.Context(), pager.Cursor{}) {
				if err != nil {
					t.Fatal(err)
				}
				items, end = items+len(page.Items), page.End
			}
			if items != 8 || end != pager.EndLast {
				t.Errorf("the suggested contract reads %d items, end %s", items, end)
			}
		})
	}
}

// What is no list, or says nothing of its end, gets no contract.
func TestList_NoSuggestion(t *testing.T) {
	for _, c := range []struct{ name, kind, body, says string }{
		{"an object", "application/json", `{"id":7,"name":"one"}`, "The answer is one object"},
		{"a page for people", "text/html", `<!doctype html><p>Sign in</p>`, "sign-in form"},
		{"a list that says nothing", "application/json", `{"things":[{"id":1},{"id":2}]}`, "an absence alone is not taken for an end"},
		{"a cursor that nobody takes", "application/json", `{"things":[{"id":1}],"next_cursor":"abc"}`, "held no item that was not seen before"},
		{"an array that never ends", "application/json", `[{"id":1},{"id":2}]`, "held no item that was not seen before"},
		{"an empty list", "application/json", `{"things":[],"total":0}`, "The list is empty here"},
		{"nothing", "application/json", ``, "The body is no JSON"},
		{"items without identity", "application/json", `{"things":[{"a":1},{"a":1}],"has_more":true}`, "without a member that tells its elements apart"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, asked := numbers(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				_, _ = io.WriteString(w, c.body)
			})
			report := look(t, url, nil)
			if report.Suggestion != nil {
				t.Errorf("suggested %+v", report.Suggestion.Contract)
			}
			says(t, report, c.says)
			if n := asked.Load(); n > 8 || int(n) != report.Requests {
				t.Errorf("%d requests, and the report says %d", n, report.Requests)
			}
		})
	}
}

func TestList_Errors(t *testing.T) {
	for status, verdict := range map[int]pager.Verdict{401: pager.Review, 404: pager.Review, 429: pager.Pause, 500: pager.Pause} {
		url, asked := numbers(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"error":"no"}`)
		})
		_, err := probe.List(t.Context(), url, nil)
		if fault, ok := errors.AsType[*pager.Fault](err); !ok || fault.Verdict != verdict || fault.Answer.HTTPStatus != status || asked.Load() != 1 {
			t.Errorf("%d: %v, after %d requests", status, err, asked.Load())
		}
	}
	for _, address := range []string{"things", "ftp://a.test/things", "https://"} {
		if _, err := probe.List(t.Context(), address, nil); !isOption(err) {
			t.Errorf("%s: %v is no option error", address, err)
		}
	}
	if _, err := probe.List(t.Context(), "https://a.test/things", &probe.Options{Pages: 1}); !isOption(err) {
		t.Errorf("one page: %v is no option error", err)
	}
}

func isOption(err error) bool {
	_, ok := errors.AsType[*adapters.OptionError](err)
	return ok
}

// A next address or a redirect on another origin is not asked, and gets no header.
func TestList_OneOrigin(t *testing.T) {
	elsewhere, strange := numbers(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) })
	url, _ := numbers(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("moved") {
			http.Redirect(w, r, elsewhere, http.StatusFound)
			return
		}
		w.Header().Set("Link", fmt.Sprintf("<%s?page=2>; rel=\"next\"", elsewhere))
		fmt.Fprint(w, things("id", 0, 3))
	})
	report := look(t, url, &probe.Options{Header: http.Header{"Authorization": {"secret"}}})
	want(t, report, "link-header")
	says(t, report, "The walk stopped early", "is not the list's origin")
	_, err := probe.List(t.Context(), url+"?moved", nil)
	if fault, ok := errors.AsType[*pager.Fault](err); !ok || fault.Code != pager.CodeCrossOrigin {
		t.Errorf("the redirect: %v", err)
	}
	if n := strange.Load(); n != 0 {
		t.Errorf("the other origin was asked %d times", n)
	}
}

// Of several arrays at the top, the one that is named moves the walk.
func TestList_SeveralArrays(t *testing.T) {
	url, _ := numbers(t, func(w http.ResponseWriter, r *http.Request) {
		at := number(r, "cursor", 0)
		fmt.Fprintf(w, `{"tags":["a","b"],"things":%s,"pagination":{"limit":3,"next_cursor":"%d","has_more":%t}}`, things("id", at, at+3), at+3, at < 6)
	})
	report := look(t, url, nil)
	if s := want(t, report, "keyset-catalogue"); s.ItemsAt != "things" {
		t.Errorf("items at %q", s.ItemsAt)
	}
	says(t, report, `Several arrays could hold the items: "things", "tags"`)
}

// An address that begins in the middle of the list is told.
func TestList_Midway(t *testing.T) {
	url, _ := numbers(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, things("id", 0, 3)) })
	report := look(t, url+"?page=3", nil)
	if report.Suggestion != nil {
		t.Errorf("suggested %+v", report.Suggestion)
	}
	says(t, report, "its parameter page says where to begin")
}

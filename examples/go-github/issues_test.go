package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store/pebblestore"
)

const (
	firstPage  = `[{"id":11,"number":1,"title":"one"},{"id":12,"number":2,"title":"two"}]`
	lastPage   = `[{"id":13,"number":3,"title":"three"}]`
	goesOn     = `<https://api.github.com/repositories/7/issues?page=2&after=Y3Vy%2BQ%3D%3D>; rel="next"`
	secondPage = "after=Y3Vy%2BQ%3D%3D&page=2"
	forbidden  = http.StatusForbidden
)

// canned is one answer of a scripted API; header fields come in pairs.
type canned struct {
	status int
	body   string
	header []string
}

func page(body string, header ...string) canned { return canned{http.StatusOK, body, header} }

// world is a scripted API, a client of it and a ledger.
type world struct {
	*testing.T
	script []canned
	asked  []url.Values
	issues *Issues
	ledger *pebblestore.Store
	out    bytes.Buffer
}

func newWorld(t *testing.T, script ...canned) *world {
	t.Helper()
	w := &world{T: t, script: script}
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	client := newClient("test-token")
	base, err := url.Parse(server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	client.BaseURL = base
	w.issues = &Issues{Client: client, Owner: "octo", Repo: "hello", PageSize: 2}
	w.ledger, err = pebblestore.Open(filepath.Join(t.TempDir(), "ledger"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.asked = append(w.asked, r.URL.Query())
	if len(w.script) == 0 {
		http.Error(out, "beyond the script", http.StatusTeapot)
		return
	}
	next := w.script[0]
	w.script = w.script[1:]
	for i := 0; i+1 < len(next.header); i += 2 {
		out.Header().Add(next.header[i], next.header[i+1])
	}
	out.WriteHeader(next.status)
	fmt.Fprint(out, next.body)
}

func (w *world) run() (*state.Receipt, error) {
	return everypage.Run(w.Context(), w.ledger, titlesJob(w.issues, &w.out))
}

func TestWalk(t *testing.T) {
	w := newWorld(t, page(firstPage, "Link", goesOn), page(lastPage, "Link", `<https://api.github.com/x?page=1>; rel="prev"`))
	receipt, err := w.run()
	if err != nil || receipt.Status != state.Complete || receipt.ProcessedUnique != 3 {
		t.Fatalf("got %+v, %v", receipt, err)
	}
	if want := "#1 one\n#2 two\n#3 three\n"; w.out.String() != want {
		t.Errorf("got %q, want %q", w.out.String(), want)
	}
	if len(w.asked) != 2 || w.asked[0].Has("page") || w.asked[1].Get("page") != "2" || w.asked[1].Get("after") != "Y3Vy+Q==" || w.asked[1].Get("per_page") != "2" {
		t.Errorf("asked %v", w.asked)
	}
}

// TestGoesOn stops the walk by each sign of an interruption, and takes it up again
// where it stood.
func TestGoesOn(t *testing.T) {
	soon := time.Now().Add(time.Hour).Truncate(time.Second)
	reset := fmt.Sprint(soon.Unix())
	const secondary = `{"message":"slow down","documentation_url":"https://docs.github.com/rest#about-secondary-rate-limits"}`
	for _, c := range []struct {
		name   string
		answer canned
		code   pager.Code
		until  time.Time // zero for none
	}{
		{"the primary limit", canned{forbidden, `{"message":"API rate limit exceeded"}`, []string{"X-RateLimit-Limit", "60", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset}}, pager.CodeRateLimited, soon},
		{"a secondary limit", canned{forbidden, secondary, []string{"Retry-After", "3600"}}, pager.CodeRateLimited, soon},
		{"a secondary limit without an instant", canned{forbidden, secondary, nil}, pager.CodeRateLimited, soon.Add(-59 * time.Minute)},
		{"a secondary limit that the SDK takes for a refusal", canned{forbidden, `{"message":"You have exceeded a secondary rate limit"}`, nil}, pager.CodeRateLimited, soon.Add(-59 * time.Minute)},
		{"a failing server", canned{http.StatusBadGateway, `<html>`, nil}, pager.CodeServerError, time.Time{}},
		{"an answer cut short", page(`[{"id":13`, "Content-Length", "4096"), pager.CodeTransport, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, page(firstPage, "Link", goesOn), c.answer)
			receipt, err := w.run()
			if !errors.Is(err, everypage.ErrPaused) || receipt.Reason.Code != c.code {
				t.Fatalf("got %+v, %v", receipt.Reason, err)
			}
			if off := receipt.ResumeAt.Sub(c.until).Abs(); !c.until.IsZero() && off > time.Minute/2 {
				t.Errorf("to go on at %v, want about %v", receipt.ResumeAt, c.until)
			}
			w.script = []canned{page(lastPage)}
			job := titlesJob(w.issues, &w.out)
			job.Options.Force = true // a person's word, before the instant
			receipt, err = everypage.Run(t.Context(), w.ledger, job)
			if err != nil || receipt.ProcessedUnique != 3 {
				t.Fatalf("then got %+v, %v", receipt, err)
			}
			if last := w.asked[len(w.asked)-1]; last.Get("page") != "2" || last.Get("after") != "Y3Vy+Q==" {
				t.Errorf("went on at %v, want %s", last, secondPage)
			}
		})
	}
}

// TestAsksAPerson meets what neither the SDK nor the API calls an end.
func TestAsksAPerson(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a request, and with it the token, went to another host")
	}))
	defer elsewhere.Close()
	for _, c := range []struct {
		name   string
		answer canned
		code   pager.Code
	}{
		{"a next link in a second line", page(lastPage, "Link", `</x?page=1>; rel="prev"`, "Link", goesOn), pager.CodeEndUnknown},
		{"a next link without quotes", page(lastPage, "Link", strings.ReplaceAll(goesOn, `"`, "")), pager.CodeEndUnknown},
		{"a next link with a comma in it", page(lastPage, "Link", `</x?page=3&labels=a,b>; rel="next"`), pager.CodeEndUnknown},
		{"null", page(`null`), pager.CodeNotAList},
		{"an empty answer", page(``), pager.CodeNotAList},
		{"an object", page(`{"message":"moved"}`), pager.CodeNotAList},
		{"a page of HTML", page(`<html>`), pager.CodeNotAList},
		{"no such repository", canned{http.StatusNotFound, `{"message":"Not Found"}`, nil}, pager.CodeRequestRefused},
		{"bad credentials", canned{http.StatusUnauthorized, `{"message":"Bad credentials"}`, nil}, pager.CodeUnauthorized},
		{"a redirect to another host", canned{http.StatusMovedPermanently, ``, []string{"Location", elsewhere.URL}}, pager.CodeCrossOrigin},
		{"the cursor that was sent", page(lastPage, "Link", goesOn), state.CodeCursorRepeated},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, page(firstPage, "Link", goesOn), c.answer)
			receipt, err := w.run()
			if !errors.Is(err, everypage.ErrNeedsReview) || receipt.Reason.Code != c.code {
				t.Fatalf("got %+v, %v", receipt.Reason, err)
			}
			if len(w.asked) != 2 {
				t.Errorf("%d requests, want 2", len(w.asked))
			}
		})
	}
}

// TestEntryWithoutID owes an entry that cannot be named, and handles the others.
func TestEntryWithoutID(t *testing.T) {
	w := newWorld(t, page(`[{"id":11,"number":1,"title":"one"},null,{"number":3}]`))
	receipt, err := w.run()
	if !errors.Is(err, everypage.ErrNeedsReview) || receipt.ProcessedUnique != 1 || receipt.PendingCount != 2 {
		t.Errorf("got %+v, %v", receipt, err)
	}
}

package adapters_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// nextURL is a contract whose cursor is an address in the body.
func nextURL() adapters.Contract {
	return adapters.Contract{
		Name:    "next-url",
		Request: adapters.Request{Cursor: adapters.CursorRule{In: "url"}, Size: adapters.Size{In: "query:per_page"}},
		Items:   adapters.Items{At: "items", ID: []adapters.Path{"id"}},
		Next:    adapters.Next{From: "body:meta.next"},
		End:     adapters.EndRule{Rule: adapters.EndFlagFalse, At: "meta.has_more"},
	}
}

func TestCrossOriginCursor(t *testing.T) {
	for _, next := range []string{
		"https://collector.example.net/v1/items?after=b",
		"http://api.example.test/v1/items?after=b",
		"//collector.example.net/v1/items?after=b",
		"https://api.example.test@collector.example.net/v1/items?after=b",
		"https://api.example.test:8443/v1/items?after=b",
		"https://api.example.test.collector.example.net/v1/items?after=b",
		"https://user:secret@api.example.test/v1/items",
		"file:///etc/passwd",
		"mailto:nobody@example.net",
		`https://api.example.test\\@collector.example.net/`,
	} {
		t.Run(next, func(t *testing.T) {
			tr, client := api(t, answer(200, fmt.Sprintf(`{"items":[{"id":"a"}],"meta":{"next":"%s","has_more":true}}`, next)))
			p := list(t, client, nextURL(), "https://api.example.test/v1/items?per_page=2", &adapters.Options{Header: http.Header{"Authorization": {"Bearer s3cret"}}})
			pages, fault, err := walk(t.Context(), p, pager.Cursor{})
			if len(pages) != 1 || ids(pages...) != "a" {
				t.Fatalf("the page itself is still a page; got %d, %v", len(pages), err)
			}
			if fault == nil || fault.Verdict != pager.Review || fault.Code != pager.CodeCrossOrigin && fault.Code != pager.CodeCursorMissing {
				t.Errorf("got %v", err)
			}
			if len(tr.seen) != 1 {
				t.Errorf("%d requests were sent, the last to %s", len(tr.seen), tr.seen[len(tr.seen)-1].url)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows a credential: %v", err)
			}
		})
	}
}

func TestSameOriginInOtherWords(t *testing.T) {
	for _, next := range []string{"/v1/items?after=b", "?after=b", "https://API.example.test:443/v1/items?after=b#top", "https://api.example.test/v1/items?after=b"} {
		tr, client := api(t,
			answer(200, fmt.Sprintf(`{"items":[],"meta":{"next":%q,"has_more":true}}`, next)),
			answer(200, `{"items":[],"meta":{"has_more":false}}`))
		p := list(t, client, nextURL(), "https://api.example.test/v1/items", &adapters.Options{Header: http.Header{"Authorization": {"Bearer s3cret"}}})
		if _, _, err := walk(t.Context(), p, pager.Cursor{}); err != nil {
			t.Errorf("%s: %v", next, err)
		}
		if len(tr.seen) != 2 || tr.seen[1].header.Get("Authorization") == "" || !strings.HasSuffix(tr.seen[1].url, "?after=b") {
			t.Errorf("%s: got %+v", next, tr.seen)
		}
	}
}

func TestAllowedHostIsAGuest(t *testing.T) {
	tr, client := api(t,
		answer(200, `{"items":[],"meta":{"next":"https://pages.example.test/2","has_more":true}}`),
		answer(200, `{"items":[],"meta":{"has_more":false}}`))
	client.Before = func(r *http.Request) error {
		r.Header.Set("X-Signature", "s3cret")
		return nil
	}
	contract := nextURL()
	contract.Request.Header = map[string]string{"Accept": "application/vnd.example+json"}
	p := list(t, client, contract, "https://api.example.test/v1/items", &adapters.Options{
		Header: http.Header{"Authorization": {"Bearer s3cret"}, "X-Api-Key": {"s3cret"}}, AllowedHosts: []string{"pages.example.test"},
	})
	if _, _, err := walk(t.Context(), p, pager.Cursor{}); err != nil {
		t.Fatal(err)
	}
	if first := tr.seen[0].header; first.Get("Authorization") == "" || first.Get("X-Api-Key") == "" || first.Get("X-Signature") == "" {
		t.Errorf("the list's own origin got %v", first)
	}
	guest := tr.seen[1].header
	if strings.Contains(fmt.Sprint(guest), "s3cret") || guest.Get("Accept") != "application/vnd.example+json" {
		t.Errorf("the allowed host got %v", guest)
	}
}

func TestRedirects(t *testing.T) {
	var seen []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, fmt.Sprint(r.URL, r.Header))
		fmt.Fprint(w, `{"items":[{"id":"x"}],"meta":{"has_more":false}}`)
	}))
	t.Cleanup(other.Close)
	server, _, client := served(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			http.Redirect(w, r, "/there?key=s3cret", http.StatusFound)
		case "/away":
			http.Redirect(w, r, other.URL+"/take", http.StatusFound)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		default:
			if r.Header.Get("Authorization") == "" {
				t.Error("a redirect at home lost the credentials")
			}
			fmt.Fprint(w, `{"items":[{"id":"h"}],"meta":{"has_more":false}}`)
		}
	})
	header := http.Header{"Authorization": {"Bearer s3cret"}, "X-Api-Key": {"s3cret"}}
	read := func(path string, allowed ...string) (string, *pager.Fault) {
		pages, fault, _ := walk(t.Context(), list(t, client, nextURL(), server.URL+path, &adapters.Options{Header: header, AllowedHosts: allowed}), pager.Cursor{})
		return ids(pages...), fault
	}
	if got, fault := read("/here"); got != "h" {
		t.Errorf("at home: %q, %v", got, fault)
	}
	if got, fault := read("/away"); got != "" || fault == nil || fault.Code != pager.CodeCrossOrigin || fault.Verdict != pager.Review || len(seen) > 0 {
		t.Errorf("away: %q, %v, %v", got, fault, seen)
	}
	if _, fault := read("/circle"); fault == nil || fault.Code != pager.CodeRequestRefused {
		t.Errorf("in a circle: %v", fault)
	}
	client.HTTP.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if _, fault := read("/here"); fault == nil || fault.Answer.HTTPStatus != http.StatusFound {
		t.Errorf("the caller's own check was not asked: %v", fault)
	}
	client.HTTP.CheckRedirect = nil
	if got, fault := read("/away", other.URL); got != "x" || len(seen) != 1 || strings.Contains(seen[0], "s3cret") {
		t.Errorf("away by leave: %q, %v, %v", got, fault, seen)
	}
}

func TestRedirectMustNotChangeAPost(t *testing.T) {
	server, tr, client := served(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	})
	contract := nextURL()
	contract.Request.Method = http.MethodPost
	_, fault, _ := walk(t.Context(), list(t, client, contract, server.URL, nil), pager.Cursor{})
	if fault == nil || fault.Code != pager.CodeRequestRefused || len(tr.seen) != 1 {
		t.Errorf("got %v after %d requests", fault, len(tr.seen))
	}
}

package adapters_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// TestSeveralEnds applies rules that count together.
func TestSeveralEnds(t *testing.T) {
	more, last, unknown := pager.EndMore, pager.EndLast, pager.EndUnknown
	token := `
request: {cursor: {in: query:c}}
items: {at: data, id: [id]}
next: {from: body:next}
`
	offset := `
request: {cursor: {in: query:startAt}}
page: {total: body:total}
items: {at: data, id: [id]}
next: {from: "counter:offset"}
`
	both := token + `end: {all: [{rule: cursor, when: ["null"]}, {rule: empty_page}]}`
	one := token + `end: {any: [{rule: flag_true, at: isLast}, {rule: cursor, when: [absent, "null"]}]}`
	jira := offset + `end: {any: [{rule: flag_true, at: isLast}, {rule: total_reached}]}`
	for _, c := range []struct {
		name     string
		contract string
		body     string
		end      pager.End
		next     string // "-" for none
	}{
		{"all: both", both, `{"data":[],"next":null}`, last, "-"},
		{"all: the cursor alone", both, `{"data":[{"id":1}],"next":null}`, more, "-"},
		{"all: the empty page alone", both, `{"data":[],"next":"x"}`, more, "x"},
		{"all: neither", both, `{"data":[{"id":1}],"next":"x"}`, more, "x"},
		{"all: one is silent", both, `{"data":[]}`, unknown, "-"},

		{"any: both", one, `{"data":[],"isLast":true}`, last, "-"},
		{"any: the flag beside a cursor", one, `{"data":[],"isLast":true,"next":"x"}`, last, "-"},
		{"any: the cursor where there is no flag", one, `{"data":[],"next":null}`, last, "-"},
		{"any: a flag that contradicts", one, `{"data":[],"isLast":false}`, unknown, "-"},
		{"any: neither", one, `{"data":[],"isLast":false,"next":"x"}`, more, "x"},
		{"any: no flag, and a cursor", one, `{"data":[],"next":"x"}`, more, "x"},
		{"any: an empty cursor that nobody declared", one, `{"data":[],"next":""}`, unknown, "-"},

		{"by offset: the flag", jira, `{"data":[{"id":1}],"isLast":true,"total":5}`, last, "-"},
		{"by offset: the total", jira, `{"data":[{"id":1}],"total":3}`, last, "-"},
		{"by offset: more", jira, `{"data":[{"id":1}],"total":4}`, more, "3"},
		{"by offset: more, says the flag alone", jira, `{"data":[{"id":1}],"isLast":false}`, more, "3"},
		{"by offset: a contradiction", jira, `{"data":[{"id":1}],"isLast":false,"total":3}`, unknown, "-"},
		{"by offset: nobody says anything", jira, `{"data":[{"id":1}]}`, unknown, "-"},
		{"by offset: a total below 0", jira, `{"data":[{"id":1}],"total":-1}`, unknown, "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := api(t, answer(200, c.body))
			for page, err := range list(t, client, parsed(t, c.contract), things, nil).Pages(t.Context(), pager.At("2")) {
				token, set := page.Next.Token()
				if err != nil || page.End != c.end || set == (c.next == "-") || set && token != c.next || page.Evidence == "" {
					t.Errorf("got %s, %s by %q, %v", page.End, page.Next, page.Evidence, err)
				}
				break
			}
		})
	}
}

func TestLastPage(t *testing.T) {
	contract := counter("page", adapters.EndRule{Rule: adapters.EndLastPage, At: "meta.pages"})
	for _, c := range []struct {
		name string
		at   pager.Cursor
		body string
		end  pager.End
	}{
		{"before it", pager.Cursor{}, `{"items":[{"id":1}],"meta":{"pages":3}}`, pager.EndMore},
		{"an empty page before it", pager.At("2"), `{"items":[],"meta":{"pages":3}}`, pager.EndMore},
		{"on it", pager.At("3"), `{"items":[{"id":1}],"meta":{"pages":3}}`, pager.EndLast},
		{"past it", pager.At("4"), `{"items":[],"meta":{"pages":3}}`, pager.EndLast},
		{"past it, with items", pager.At("4"), `{"items":[{"id":1}],"meta":{"pages":3}}`, pager.EndUnknown},
		{"an empty list", pager.Cursor{}, `{"items":[],"meta":{"pages":0}}`, pager.EndLast},
		{"no pages, and items", pager.Cursor{}, `{"items":[{"id":1}],"meta":{"pages":0}}`, pager.EndUnknown},
		{"not counted", pager.Cursor{}, `{"items":[{"id":1}],"meta":{"pages":-1}}`, pager.EndUnknown},
		{"not there", pager.Cursor{}, `{"items":[]}`, pager.EndUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := api(t, answer(200, c.body))
			for page, err := range list(t, client, contract, things, nil).Pages(t.Context(), c.at) {
				if err != nil || page.End != c.end {
					t.Errorf("got %s by %q, %v", page.End, page.Evidence, err)
				}
				break
			}
		})
	}
}

// TestExpectedEmptyEnd notes an end that came with items; it is one all the same.
func TestExpectedEmptyEnd(t *testing.T) {
	contract := tokens()
	contract.End = adapters.EndRule{Rule: adapters.EndCursor, When: []string{"absent"}, ExpectEmpty: true}
	for body, noted := range map[string]bool{`{"items":[{"id":1}]}`: true, `{"items":[]}`: false} {
		page := readOne(t, contract, body)
		if page.End != pager.EndLast || strings.Contains(page.Evidence, "empty one") != noted {
			t.Errorf("%s: %s by %q", body, page.End, page.Evidence)
		}
	}
}

// TestEmptyErrors ends a list by the error that the API documents for an empty
// one, on the first request only.
func TestEmptyErrors(t *testing.T) {
	contract := tokens()
	contract.Page.Forbidden = []adapters.Path{"error"}
	contract.End.EmptyErrors = []string{"no_match"}
	for _, c := range []struct {
		name   string
		at     pager.Cursor
		status int
		body   string
		end    bool
	}{
		{"declared", pager.Cursor{}, http.StatusOK, `{"error":"no_match"}`, true},
		{"declared, with another status", pager.Cursor{}, http.StatusNotFound, `{"error":"no_match"}`, true},
		{"a page that has such a member", pager.Cursor{}, http.StatusOK, `{"items":[{"id":1}],"code":"no_match"}`, false},
		{"another error", pager.Cursor{}, http.StatusOK, `{"error":"no_table"}`, false},
		{"after a page", pager.At("x"), http.StatusOK, `{"error":"no_match"}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := api(t, answer(c.status, c.body))
			pages, fault, err := walk(t.Context(), list(t, client, contract, things, nil), c.at)
			if pages != nil && len(pages[0].Items) > 0 {
				return // a page, and its items stay
			}
			if (fault == nil) != c.end || c.end && (pages[0].End != pager.EndLast || len(pages[0].Items) != 0) {
				t.Errorf("got %v, %v", pages, err)
			}
		})
	}
}

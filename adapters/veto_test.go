package adapters_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/pager"
)

// TestVetoConditions looks at one condition at a time.
func TestVetoConditions(t *testing.T) {
	for _, c := range []struct {
		veto   string
		body   string // after {"items":[{"id":1},{"id":2}],
		vetoed bool
	}{
		{`{at: state, is_not: done}`, `"state":"done"`, false},
		{`{at: state, is_not: done}`, `"state":"partial"`, true},
		{`{at: state, is_not: done}`, `"state":null`, true},
		{`{at: state, is_not: done}`, `"x":1`, false},
		{`{at: sync, absent: true}`, `"x":1`, true},
		{`{at: sync, absent: true}`, `"sync":""`, false},
		{`{at: sync, absent: true, last_page: true}`, `"next":"n"`, false},
		{`{at: sync, absent: true, last_page: true}`, `"x":1`, true},
		{`{at: "scopes.*.warning.code", is: UNREACHABLE}`, `"scopes":{"a":{"warning":{"code":"NO_RESULTS"}},"b":{"warning":{"code":"UNREACHABLE"}}}`, true},
		{`{at: "scopes.*.warning.code", is: UNREACHABLE}`, `"scopes":{"a":{"warning":{"code":"NO_RESULTS"}},"b":{}}`, false},
		{`{at: "items[*].error"}`, `"x":1`, false},
		{`{at: "entry[*].search.mode", is: outcome}`, `"entry":[{},{"search":{"mode":"outcome"}}]`, true},
		{`{at: total, above: 1000}`, `"total":1001`, true},
		{`{at: total, above: 1000}`, `"total":"1001"`, true},
		{`{at: '\*'}`, `"*":true`, true},
	} {
		t.Run(c.veto+" "+c.body, func(t *testing.T) {
			contract := parsed(t, `
request: {cursor: {in: query:cursor}}
items: {at: items, id: [id]}
next: {from: body:next}
end: {rule: cursor, when: [absent]}
vetoes: [`+c.veto+`]`)
			page := readOne(t, contract, `{"items":[{"id":1},{"id":2}],`+c.body+`}`)
			if (len(page.Vetoes) == 1) != c.vetoed {
				t.Errorf("got %q", page.Vetoes)
			}
		})
	}
}

// TestFullPageWithoutLink is for an endpoint that is known to leave the Link
// header out.
func TestFullPageWithoutLink(t *testing.T) {
	contract := parsed(t, `
request: {cursor: {in: url}, size: {in: query:per_page, default: 2}}
items: {id: [id]}
next: {from: link:next}
end: {rule: no_next_link}
vetoes: [{full_page_without_link: true}]`)
	for _, c := range []struct {
		name   string
		body   string
		header []string
		vetoes int
	}{
		{"full, no link", `[{"id":1},{"id":2}]`, nil, 1},
		{"more than full, no link", `[{"id":1},{"id":2},{"id":3}]`, nil, 1},
		{"short, no link", `[{"id":1}]`, nil, 0},
		{"full, a link back", `[{"id":1},{"id":2}]`, []string{"Link", `<https://api.example.test/v1/things?page=1>; rel="prev"`}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := api(t, answer(http.StatusOK, c.body, c.header...))
			pages, _, err := walk(t.Context(), list(t, client, contract, things, nil), pager.Cursor{})
			if err != nil || pages[0].End != pager.EndLast || len(pages[0].Vetoes) != c.vetoes {
				t.Errorf("got %v, %v", pages, err)
			}
		})
	}
}

// TestErrorRulesInAPage looks at errors that come with the status of a page.
func TestErrorRulesInAPage(t *testing.T) {
	const base = `
request: {method: POST, cursor: {in: body:variables.after}}
items: {at: data.nodes, id: [id], skip_null: true}
next: {from: body:data.pageInfo.endCursor}
end: {rule: flag_false, at: data.pageInfo.hasNextPage}
`
	const graph = base + `
page: {forbidden: [errors]}
errors:
  rules:
    - {at: "errors[*].extensions.code", is: THROTTLED, means: rate_limited}
    - {message: timeout, means: server_error}
  codes: {RATE_LIMITED: rate_limited, NOT_FOUND: request_refused}
  wait_seconds: 60`
	const shards = base + `
page: {equals: {ok: ["true"], kind: [list, feed]}}
errors:
  rules:
    - {status: [200], at: timed_out, present: true, means: server_error}
    - {status: [200], at: _shards.failed, above: 0, means: server_error}
  retry_after: details.retryAfterSeconds`
	const page = `"data":{"nodes":[null,{"id":1}],"pageInfo":{"hasNextPage":false}}`
	for _, c := range []struct {
		name     string
		contract string
		body     string
		code     pager.Code // "" for a page
		seconds  int
	}{
		{"a page", graph, `{` + page + `}`, "", 0},
		{"errors beside data", graph, `{"errors":[{"message":"no such field"}],` + page + `}`, pager.CodeNotAList, 0},
		{"errors without data", graph, `{"errors":[{"type":"NOT_FOUND","message":"x"}],"data":null}`, pager.CodeRequestRefused, 0},
		{"a timeout", graph, `{"errors":[{"message":"Something went wrong, perhaps a Timeout"}],"data":{"nodes":null}}`, pager.CodeServerError, 0},
		{"limited, by the second error", graph, `{"errors":[{"message":"x"},{"message":"y","extensions":{"code":"THROTTLED"}}]}`, pager.CodeRateLimited, 60},
		{"limited, by type", graph, `{"errors":[{"type":"RATE_LIMITED"}]}`, pager.CodeRateLimited, 60},

		{"whole", shards, `{"ok":true,"kind":"feed","timed_out":false,"_shards":{"failed":0},` + page + `}`, "", 0},
		{"timed out", shards, `{"ok":true,"kind":"list","timed_out":true,` + page + `}`, pager.CodeServerError, 0},
		{"a shard failed", shards, `{"ok":true,"kind":"list","_shards":{"failed":1},"details":{"retryAfterSeconds":7},` + page + `}`, pager.CodeServerError, 7},
		{"not ok", shards, `{"ok":false,"kind":"list",` + page + `}`, pager.CodeNotAList, 0},
		{"ok is not said", shards, `{"kind":"list",` + page + `}`, pager.CodeNotAList, 0},
		{"another kind", shards, `{"ok":true,"kind":"Status",` + page + `}`, pager.CodeNotAList, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := api(t, answer(http.StatusOK, c.body))
			pages, fault, err := walk(t.Context(), list(t, client, parsed(t, c.contract), things, nil), pager.Cursor{})
			if c.code == "" {
				if err != nil || ids(pages...) != "1" || pages[0].Skipped != 1 {
					t.Errorf("got %v, %v", pages, err)
				}
				return
			}
			if fault == nil || fault.Code != c.code {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			if wait := fault.Until.Sub(noon()).Seconds(); c.seconds > 0 && wait != float64(c.seconds) || c.seconds == 0 && !fault.Until.IsZero() {
				t.Errorf("it waits until %v", fault.Until)
			}
		})
	}
}

// TestSubstituteToken never goes on with the token that an error offers.
func TestSubstituteToken(t *testing.T) {
	contract := parsed(t, `
request: {cursor: {in: query:continue}}
page: {forbidden: [code]}
items: {at: items, id: [metadata.uid], empty_when: ["null"]}
next: {from: body:metadata.continue}
end: {rule: cursor, when: [absent, empty]}
errors: {rules: [{status: [410], means: cursor_expired}]}`)
	tr, client := api(t,
		answer(http.StatusOK, `{"metadata":{"continue":"T1"},"items":[{"metadata":{"uid":"u"}}]}`),
		answer(http.StatusGone, `{"kind":"Status","metadata":{"continue":"INCONSISTENT"},"code":410,"reason":"Expired"}`))
	pages, fault, err := walk(t.Context(), list(t, client, contract, things, nil), pager.Cursor{})
	if fault == nil || fault.Code != pager.CodeCursorExpired || fault.Verdict != pager.Review || len(pages) != 1 || len(tr.seen) != 2 {
		t.Errorf("got %v after %d requests", err, len(tr.seen))
	}
	if strings.Contains(err.Error(), "INCONSISTENT") {
		t.Errorf("the fault shows the token: %v", err)
	}
}

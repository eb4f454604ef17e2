package adapters_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// A list by a contract that comes with the library.
func ExampleList() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("cursor") == "" {
			fmt.Fprint(w, `{"tickets":[{"id":"A"},{"id":"B"}],"pagination":{"limit":2,"next_cursor":"2","has_more":true}}`)
			return
		}
		fmt.Fprint(w, `{"tickets":[{"id":"C"}],"pagination":{"limit":2,"next_cursor":null,"has_more":false}}`)
	}))
	defer server.Close()

	type ticket struct {
		ID string `json:"id"`
	}
	tickets, err := adapters.List[ticket](nil, adapters.KeysetCatalogue(), server.URL+"/tickets", &adapters.Options{PageSize: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for page, err := range tickets.Pages(context.Background(), pager.Cursor{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, item := range page.Items {
			fmt.Println(item.Value.ID)
		}
		fmt.Println(page.End, "by", page.Evidence)
	}
	// Output:
	// A
	// B
	// more by pagination.has_more=true
	// C
	// last by pagination.has_more=false
}

// A contract of one's own is some ten lines of YAML. Without an end it does not
// load.
func ExampleParse() {
	contract, err := adapters.Parse([]byte(`
name: my-api
request:
  size: {in: query:limit, default: 50, max: 200}
  cursor: {in: query:after}
items: {at: results, id: [id], created_at: created}
next: {from: body:paging.next.after}
end: {rule: cursor, when: [absent]}
`))
	fmt.Println(contract.Name, err)
	_, err = adapters.Parse([]byte(`
name: my-api
request: {cursor: {in: query:after}}
items: {at: results, id: [id]}
next: {from: body:paging.next.after}
`))
	fmt.Println(err)
	// Output:
	// my-api <nil>
	// adapters: contract "my-api": line 2: end.rule: is missing; a contract must say what counts as the end of its list: one of flag_false, flag_true, cursor, no_next_link, empty_page, total_reached, last_page, short_page, status, cursor_echoed, bounded
}

// The catalogue's pages hold one array, whose name differs by endpoint; where an
// endpoint has several, the caller names the one.
func ExampleOptions() {
	_, err := adapters.List[json.RawMessage](nil, adapters.KeysetCatalogue(), "https://api.example.test/recipes", &adapters.Options{
		ItemsAt: "recipes",
		Header:  http.Header{"Authorization": {"Bearer …"}},
		Order:   pager.OrderStableAscending,
	})
	fmt.Println(err)
	// Output: <nil>
}

// Errors are read without a contract, too.
func ExampleErrorRules_Fault() {
	rules := adapters.FlatErrors()
	body := `{"error":"rate_limited","error_description":"slow down","request_id":"req_7"}`
	answer := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"30"}}}
	fault := rules.Fault(answer, []byte(body), time.Date(2025, 3, 5, 12, 0, 0, 0, time.UTC))
	fmt.Println(fault.Verdict == pager.Pause, fault.Code, fault.Until.Format(time.TimeOnly), fault.Answer.RequestID)
	// Output: true rate_limited 12:00:30 req_7
}

package adapters_test

import (
	"testing"

	"github.com/everypage-go/everypage/pager"
)

// TestEventStreams reads a page that comes as an event stream.
func TestEventStreams(t *testing.T) {
	contract := parsed(t, `
request: {method: POST, body: {jsonrpc: "2.0", id: 1, method: tools/list}, cursor: {in: body:params.cursor}}
page: {forbidden: [error]}
items: {at: result.tools, id: [name]}
next: {from: body:result.nextCursor}
end: {rule: cursor, when: [absent]}
errors: {codes: {"-32602": cursor_expired}}`)
	const tools = `{"id":1,"result":{"tools":[{"name":"a"}]}}`
	for _, c := range []struct {
		name string
		body string
		ids  string
		code pager.Code
	}{
		{"one message", "event: message\ndata: " + tools + "\n\n", "a", ""},
		{"lines that end in CR LF", "event: message\r\nid: 7\r\ndata:" + tools + "\r\n\r\n", "a", ""},
		{"a notification before it", ": hello\n\ndata: {\"method\":\"notifications/progress\"}\n\ndata: " + tools + "\n\n", "a", ""},
		{"data on two lines", "data: {\"id\":1,\ndata: \"result\":{\"tools\":[{\"name\":\"a\"}]}}\n\n", "a", ""},
		{"an error", "data: {\"id\":1,\"error\":{\"code\":-32602,\"message\":\"no such cursor\"}}\n\n", "", pager.CodeCursorExpired},
		{"a notification alone", "data: {\"method\":\"notifications/progress\"}\n\n", "", pager.CodeNotAList},
		{"nothing", ": hello\n\n", "", pager.CodeNotAList},
	} {
		t.Run(c.name, func(t *testing.T) {
			canned := answer(200, c.body)
			canned.header.Set("Content-Type", "text/event-stream; charset=utf-8")
			_, client := api(t, canned)
			pages, fault, err := walk(t.Context(), list(t, client, contract, things, nil), pager.Cursor{})
			if c.code == "" && (err != nil || ids(pages...) != c.ids) || c.code != "" && (fault == nil || fault.Code != c.code) {
				t.Errorf("got %v, %v", pages, err)
			}
		})
	}
}

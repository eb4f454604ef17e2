package adapters_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/pager"
)

// TestCollectedItems finds items that stand in several places.
func TestCollectedItems(t *testing.T) {
	scopes := `
request: {cursor: {in: query:pageToken}}
items: {at: "items.*.instances", id: [name], empty_when: [absent], beside: [kind]}
next: {from: body:nextPageToken}
end: {rule: cursor, when: [absent]}`
	nodes := `
request: {cursor: {in: query:after}}
items: {at: "data.edges[*].node", id: [id]}
next: {from: body:data.pageInfo.endCursor}
end: {rule: flag_false, at: data.pageInfo.hasNextPage}`
	bundle := `
request: {cursor: {in: url}}
page: {equals: {resourceType: [Bundle], type: [searchset, history]}}
items: {at: entry, id: [resource.id], skip: [{at: search.mode, is: [include, outcome]}]}
next: {from: "body:link[relation=next].url"}
end: {rule: cursor, when: [absent]}`
	nested := `
request: {cursor: {in: url}}
items: {at: _embedded.items, id: [id], empty_when: [absent], beside: [page]}
next: {from: body:_links.next.href}
end: {rule: cursor, when: [absent]}`
	members := `
request: {cursor: {in: query:from}}
items: {at: "query.*", id: [id]}
next: {from: body:from}
end: {rule: cursor, when: [absent]}`
	for _, c := range []struct {
		name     string
		contract string
		body     string
		ids      string
		owed     int // entries without an ID
		skipped  int
		code     pager.Code
	}{
		{"a nested array", nested, `{"_links":{},"_embedded":{"items":[{"id":"1"}]}}`, "1", 0, 0, ""},
		{"an empty list leaves out what holds it", nested, `{"_links":{},"page":{"totalElements":0}}`, "", 0, 0, ""},
		{"what holds the array is empty", nested, `{"_links":{},"_embedded":{}}`, "", 0, 0, ""},
		{"another array in its place", nested, `{"_links":{},"_embedded":{"orders":[{"id":"1"}]}}`, "", 0, 0, pager.CodeNotAList},
		{"members and an array", members, `{"query":{"userinfo":{},"allpages":[{"id":"1"}]}}`, "1", 0, 0, ""},
		{"members and no array", members, `{"query":{"userinfo":{}}}`, "", 0, 0, pager.CodeNotAList},
		{"two scopes", scopes, `{"items":{"a":{"instances":[{"name":"x"},{"name":"y"}]},"b":{"instances":[{"name":"z"}]}}}`, "x y z", 0, 0, ""},
		{"a scope without any", scopes, `{"items":{"a":{"warning":{"code":"NO_RESULTS_ON_PAGE"}},"b":{"instances":[]}}}`, "", 0, 0, ""},
		{"a scope whose array is null", scopes, `{"items":{"a":{"instances":null}}}`, "", 0, 0, ""},
		{"a scope whose array is none", scopes, `{"items":{"a":{"instances":{"name":"x"}}}}`, "", 0, 0, pager.CodeNotAList},
		{"every array of a scope", strings.Replace(scopes, ".instances", ".*", 1), `{"items":{"a":{"warning":{"code":"W"},"instances":[{"name":"x"}],"disks":[{"name":"y"}]}}}`, "x y", 0, 0, ""},
		{"no scopes", scopes, `{"kind":"k"}`, "", 0, 0, ""},
		{"no scopes, and something else", scopes, `{"message":"no"}`, "", 0, 0, pager.CodeNotAList},
		{"scopes that are none", scopes, `{"items":[]}`, "", 0, 0, pager.CodeNotAList},
		{"scopes that are null", scopes, `{"items":null}`, "", 0, 0, pager.CodeNotAList},

		{"edges", nodes, `{"data":{"edges":[{"node":{"id":"a"}},{"node":{"id":"b"}}],"pageInfo":{"hasNextPage":false}}}`, "a b", 0, 0, ""},
		{"a null node is owed", nodes, `{"data":{"edges":[{"node":null},{"node":{"id":"b"}}],"pageInfo":{"hasNextPage":false}}}`, " b", 1, 0, ""},
		{"an edge without a node is owed", nodes, `{"data":{"edges":[{"cursor":"c"}],"pageInfo":{"hasNextPage":false}}}`, "", 1, 0, ""},
		{"a null edge is owed", nodes, `{"data":{"edges":[null],"pageInfo":{"hasNextPage":false}}}`, "", 1, 0, ""},
		{"a null connection", nodes, `{"data":{"edges":null,"pageInfo":{"hasNextPage":false}}}`, "", 0, 0, pager.CodeNotAList},

		{"matches and includes", bundle, `{"resourceType":"Bundle","type":"searchset","entry":[{"search":{"mode":"match"},"resource":{"id":"1"}},{"search":{"mode":"include"},"resource":{"id":"2"}},{"resource":{"id":"3"}}]}`, "1 3", 0, 1, ""},
		{"another resource", bundle, `{"resourceType":"OperationOutcome","entry":[]}`, "", 0, 0, pager.CodeNotAList},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := api(t, answer(http.StatusOK, c.body))
			pages, fault, err := walk(t.Context(), list(t, client, parsed(t, c.contract), things, nil), pager.Cursor{})
			if c.code != "" {
				if fault == nil || fault.Code != c.code {
					t.Errorf("got %v, want %s", err, c.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			owed := 0
			for _, item := range pages[0].Items {
				if item.ID == "" && item.Problem != "" {
					owed++
				}
			}
			if ids(pages...) != c.ids || owed != c.owed || pages[0].Skipped != c.skipped {
				t.Errorf("got %q, %d owed, %d skipped", ids(pages...), owed, pages[0].Skipped)
			}
		})
	}
}

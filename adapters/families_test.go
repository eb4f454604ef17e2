package adapters_test

import (
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// TestFamilies writes contracts of families that have none here yet, as a user
// would, and reads an answer through each.
func TestFamilies(t *testing.T) {
	for _, c := range []struct {
		name     string
		contract string
		at       pager.Cursor
		status   int
		body     string
		ids      string
		end      pager.End
		next     string // "-" for none
		code     pager.Code
	}{
		{
			name: "Slack", status: 200, body: `{"ok":true,"channels":[{"id":"C1"}],"response_metadata":{"next_cursor":""}}`, ids: "C1", end: pager.EndLast, next: "-",
			contract: `
request: {cursor: {in: query:cursor}, size: {in: query:limit, max: 1000}}
page: {required: [ok], forbidden: [error]}
items: {at: channels, id: [id], created_at: created, created_format: unix}
next: {from: body:response_metadata.next_cursor}
end: {rule: cursor, when: [absent, empty]}`,
		},
		{
			name: "Slack, an error as 200", at: pager.At("x"), status: 200, body: `{"ok":false,"error":"invalid_cursor"}`, code: pager.CodeCursorExpired,
			contract: `
request: {cursor: {in: query:cursor}}
page: {required: [ok], forbidden: [error]}
items: {at: channels, id: [id]}
next: {from: body:response_metadata.next_cursor}
end: {rule: cursor, when: [absent, empty]}
errors: {rules: [{error: invalid_cursor, with_cursor: true, means: cursor_expired}], codes: {ratelimited: rate_limited}}`,
		},
		{
			name: "Kubernetes", status: 200, body: `{"metadata":{"continue":"T1","remainingItemCount":7},"items":[{"metadata":{"uid":"u"}}]}`, ids: "u", end: pager.EndMore, next: "T1",
			contract: `
request: {cursor: {in: query:continue}, size: {in: query:limit}}
items: {at: items, id: [metadata.uid], created_at: metadata.creationTimestamp}
next: {from: body:metadata.continue}
end: {rule: cursor, when: [absent, empty]}
vetoes: [{at: metadata.shardInfo}]
errors: {rules: [{status: [410], with_cursor: true, means: cursor_expired}]}`,
		},
		{
			name: "Kubernetes, expired", at: pager.At("T1"), status: 410, body: `{"kind":"Status","reason":"Expired","metadata":{"continue":"INCONSISTENT"}}`, code: pager.CodeCursorExpired,
			contract: `
request: {cursor: {in: query:continue}}
items: {at: items, id: [metadata.uid]}
next: {from: body:metadata.continue}
end: {rule: cursor, when: [absent, empty]}
errors: {rules: [{status: [410], with_cursor: true, means: cursor_expired}]}`,
		},
		{
			name: "Microsoft Graph", status: 200, body: `{"value":[{"id":"m"}],"@odata.nextLink":"https://api.example.test/v1/things?$skiptoken=x"}`, ids: "m", end: pager.EndMore, next: "https://api.example.test/v1/things?$skiptoken=x",
			contract: `
request: {cursor: {in: url}, size: {in: "query:$top"}}
items: {at: value, id: [id], created_at: createdDateTime}
next: {from: 'body:@odata\.nextLink'}
end: {rule: cursor, when: [absent]}`,
		},
		{
			name: "Salesforce", status: 200, body: `{"records":[{"Id":"1"}],"done":false,"totalSize":2,"nextRecordsUrl":"/services/data/query/01g-2000"}`, ids: "1", end: pager.EndMore, next: "https://api.example.test/services/data/query/01g-2000",
			contract: `
request: {cursor: {in: url}}
page: {required: [done], total: body:totalSize}
items: {at: records, id: [Id]}
next: {from: body:nextRecordsUrl}
end: {rule: flag_true, at: done}`,
		},
		{
			name: "a Relay connection", status: 200, body: `{"data":{"repo":{"issues":{"nodes":[{"id":"i"}],"pageInfo":{"hasNextPage":false,"endCursor":"Y"}}}}}`, ids: "i", end: pager.EndLast, next: "-",
			contract: `
request: {method: POST, body: {query: "…"}, cursor: {in: body:variables.after}, size: {in: body:variables.first, default: 100, max: 100}}
page: {forbidden: [errors]}
items: {at: data.repo.issues.nodes, id: [id], skip_null: true}
next: {from: body:data.repo.issues.pageInfo.endCursor}
end: {rule: flag_false, at: data.repo.issues.pageInfo.hasNextPage}
errors: {rules: [{error: RATE_LIMITED, means: rate_limited}]}`,
		},
		{
			name: "GraphQL, limited as 200", status: 200, body: `{"errors":[{"type":"RATE_LIMITED","message":"wait"}],"data":null}`, code: pager.CodeRateLimited,
			contract: `
request: {method: POST, cursor: {in: body:variables.after}}
page: {forbidden: [errors]}
items: {at: data.nodes, id: [id]}
next: {from: body:data.pageInfo.endCursor}
end: {rule: flag_false, at: data.pageInfo.hasNextPage}
errors: {codes: {RATE_LIMITED: rate_limited}}`,
		},
		{
			name: "Elasticsearch search_after", status: 200, body: `{"timed_out":false,"_shards":{"failed":0},"hits":{"hits":[{"_id":"a","sort":[1700000000000,"a"]}]}}`, ids: "a", end: pager.EndMore, next: `[1700000000000,"a"]`,
			contract: `
request: {method: POST, cursor: {in: body:search_after, as: json}, size: {in: body:size, max: 10000}}
items: {at: hits.hits, id: [_id]}
next: {from: last:sort}
end: {rule: empty_page}
vetoes: [{at: timed_out}, {at: _shards.failed}, {at: terminated_early}]`,
		},
		{
			name: "CloudWatch GetLogEvents", at: pager.At("f/2"), status: 200, body: `{"events":[],"nextForwardToken":"f/2"}`, end: pager.EndLast, next: "-",
			contract: `
request: {method: POST, cursor: {in: body:nextToken}}
items: {at: events, id: [timestamp, message]}
next: {from: body:nextForwardToken}
end: {rule: cursor_echoed}`,
		},
		{
			name: "DynamoDB", status: 200, body: `{"Items":[{"pk":{"S":"k"}}],"LastEvaluatedKey":{"pk":{"S":"k"}}}`, ids: "k", end: pager.EndMore, next: `{"pk":{"S":"k"}}`,
			contract: `
request: {method: POST, cursor: {in: body:ExclusiveStartKey, as: json}, size: {in: body:Limit}}
items: {at: Items, id: [pk.S]}
next: {from: body:LastEvaluatedKey}
end: {rule: cursor, when: [absent, empty]}`,
		},
		{
			name: "OpenAlex", at: pager.At("I"), status: 200, body: `{"meta":{"next_cursor":null},"results":[]}`, end: pager.EndLast, next: "-",
			contract: `
request: {cursor: {in: query:cursor, first: "*"}, size: {in: query:per-page, max: 200}}
items: {at: results, id: [id]}
next: {from: body:meta.next_cursor}
end: {rule: cursor, when: ["null"], and_empty: true}`,
		},
		{
			name: "Crossref", status: 200, body: `{"message":{"next-cursor":"A","items":[{"DOI":"10.1/x"}],"items-per-page":20}}`, ids: "10.1/x", end: pager.EndLast, next: "-",
			contract: `
request: {cursor: {in: query:cursor, first: "*"}, size: {in: query:rows}}
page: {size: message.items-per-page}
items: {at: message.items, id: [DOI]}
next: {from: body:message.next-cursor}
end: {rule: short_page}`,
		},
		{
			name: "a FHIR Bundle", status: 200, body: `{"link":[{"relation":"self","url":"?a"},{"relation":"next","url":"?b"}],"entry":[{"resource":{"resourceType":"P","id":"1"}}]}`, ids: "P/1", end: pager.EndMore, next: "https://api.example.test/v1/things?b",
			contract: `
request: {cursor: {in: url}, size: {in: query:_count}}
page: {total: body:total}
items: {at: entry, id: [resource.resourceType, resource.id], empty_when: [absent], beside: [resourceType, type, id, meta, link, total]}
next: {from: "body:link[relation=next].url"}
end: {rule: cursor, when: [absent]}`,
		},
		{
			name: "MCP", status: 200, body: `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}],"nextCursor":""}}`, ids: "a", end: pager.EndMore, next: "",
			contract: `
request: {method: POST, body: {jsonrpc: "2.0", id: 1, method: tools/list}, cursor: {in: body:params.cursor}}
page: {forbidden: [error]}
items: {at: result.tools, id: [name]}
next: {from: body:result.nextCursor, cursors: [empty]}
end: {rule: cursor, when: [absent, "null"]}
errors: {rules: [{error: "-32602", with_cursor: true, means: cursor_expired}]}`,
		},
		{
			name: "a scroll", status: 200, body: `{"data":[],"scroll_param":"s"}`, end: pager.EndLast, next: "-",
			contract: `
not_replayable: true
request: {cursor: {in: query:scroll_param}}
items: {at: data, id: [id]}
next: {from: body:scroll_param}
end: {rule: empty_page}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			contract, err := adapters.Parse([]byte("name: family" + c.contract))
			if err != nil {
				t.Fatal(err)
			}
			_, client := api(t, answer(c.status, c.body))
			for page, err := range list(t, client, contract, things, nil).Pages(t.Context(), c.at) {
				if c.code != "" {
					if fault, ok := err.(*pager.Fault); !ok || fault.Code != c.code { //nolint:errorlint // it is promised as it is
						t.Errorf("got %v, want %s", err, c.code)
					}
					break
				}
				token, set := page.Next.Token()
				if err != nil || ids(page) != c.ids || page.End != c.end || set == (c.next == "-") || set && token != c.next {
					t.Errorf("got %q, %s, %s by %q, %v", ids(page), page.End, page.Next, page.Evidence, err)
				}
				break
			}
		})
	}
}

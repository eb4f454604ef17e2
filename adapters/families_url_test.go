package adapters_test

import "strings"

func flagFamilies() []family {
	notion := func(contract string) family {
		body := func(items, more string) canned { return page(`{"object":"list","results":` + items + more + `}`) }
		return family{
			contract: contract,
			first:    body(`[{"id":"a"},{"id":"b"}]`, `,"has_more":true,"next_cursor":"n2"`), next: "n2",
			last:  body(`[{"id":"c"}]`, `,"has_more":false,"next_cursor":null`),
			short: body(`[]`, `,"has_more":true,"next_cursor":"n3"`), shortNext: "> n3",
			blocked: []canned{
				body(`[{"id":"z"}]`, `,"has_more":false,"next_cursor":null,"request_status":{"type":"incomplete","incomplete_reason":"query_result_limit_reached"}`),
			}, because: "z . vetoed",
			stranger: page(`{"object":"page","id":"a"}`),
			failed:   refusal(400, `{"object":"error","status":400,"code":"validation_error","message":"start_cursor provided is invalid"}`), failure: "cursor_expired",
		}
	}
	stripe := func(contract, name, more, none string, empty canned) family {
		body := func(items, rest string) canned { return page(`{"data":` + items + `,` + rest + `}`) }
		next := func(token string) string { return strings.ReplaceAll(more, "TOKEN", token) }
		return family{
			contract: contract,
			first:    body(`[{"id":"a"},{"id":"b"}]`, next("n2")), next: "n2",
			last:  body(`[{"id":"c"}]`, none),
			short: body(`[{"id":"c"}]`, next("n3")), shortNext: "c > n3",
			blocked: []canned{empty}, because: name,
			stranger: page(`{"error":{"type":"invalid_request_error","message":"no"}}`), refused: "request_refused",
			failed: refusal(429, `{"error":{"type":"invalid_request_error","code":"rate_limit"}}`), failure: "rate_limited",
		}
	}
	lists := stripe("stripe-v1", "cursor_missing", `"has_more":true`, `"has_more":false`, page(`{"data":[],"has_more":true}`))
	lists.next, lists.shortNext = "b", "c > c"
	lists.failed = refusal(400, `{"error":{"type":"invalid_request_error","code":"resource_missing","param":"starting_after"}}`)
	lists.failure = "cursor_expired"
	second := stripe("stripe-v2", "end_unknown", `"next_page_url":"/v1/things?page=TOKEN"`, `"next_page_url":null`, page(`{"data":[],"next_page_url":""}`))
	second.next = "https://api.example.test/v1/things?page=n2"
	second.short, second.shortNext = page(`{"data":[],"next_page_url":"/v1/things?page=n3"}`), "> https://api.example.test/v1/things?page=n3"
	return []family{
		notion("notion"), notion("notion-query"), lists, second,
		stripe("stripe-search", "cursor_missing", `"has_more":true,"next_page":"TOKEN"`, `"has_more":false,"next_page":null`, page(`{"data":[],"has_more":true,"next_page":null}`)),
		{
			contract: "zendesk-cursor",
			first:    page(`{"tickets":[{"id":"a"},{"id":"b"}],"meta":{"has_more":true,"after_cursor":"n2"},"links":{"next":"https://else.test"}}`), next: "n2",
			last:  page(`{"tickets":[{"id":"c"}],"meta":{"has_more":false,"after_cursor":"n3"},"links":{"next":"https://else.test"}}`),
			short: page(`{"tickets":[],"meta":{"has_more":true,"after_cursor":"n3"}}`), shortNext: "> n3",
			blocked: []canned{page(`{"tickets":[{"id":"z"}],"meta":{"has_more":true,"after_cursor":null}}`)}, because: "cursor_missing",
			stranger: page(`{"tickets":[],"next_page":null,"count":0}`),
			failed:   refusal(429, `{"error":"APIRateLimitExceeded"}`, "Retry-After", "9"), failure: "rate_limited",
		},
		{
			contract: "zendesk-incremental", query: "?start_time=5",
			first: page(`{"tickets":[{"id":"a"},{"id":"b"}],"after_cursor":"n2","end_of_stream":false}`), next: "n2",
			last:  page(`{"tickets":[{"id":"c"}],"after_cursor":"n3","end_of_stream":true}`),
			short: page(`{"tickets":[],"after_cursor":"n3","end_of_stream":false}`), shortNext: "> n3",
			blocked: []canned{page(`{"tickets":[],"after_cursor":null,"end_of_stream":false}`)}, because: "cursor_missing",
			stranger: page(`{"calls":[],"count":0,"next_page":"https://else.test"}`),
			failed:   refusal(400, `{"error":"InvalidValue"}`), failure: "request_refused",
		},
		{
			contract: "keyset-catalogue",
			first:    page(`{"recipes":[{"id":"a"},{"id":"b"}],"pagination":{"limit":20,"next_cursor":"n2","has_more":true}}`), next: "n2",
			last:  page(`{"recipes":[{"id":"c"}],"pagination":{"limit":20,"next_cursor":null,"has_more":false}}`),
			short: page(`{"recipes":[],"pagination":{"limit":20,"next_cursor":"n3","has_more":true}}`), shortNext: "> n3",
			blocked: []canned{page(`{"recipes":[],"pagination":{"limit":20,"next_cursor":null,"has_more":true}}`)}, because: "cursor_missing",
			stranger: page(`{"recipes":[],"pagination":{"limit":20}}`),
			failed:   refusal(400, `{"error":"cursor_expired","type":"invalid_request_error"}`), failure: "cursor_expired",
		},
		{
			contract: "salesforce",
			first:    page(`{"records":[{"Id":"a"},{"Id":"b"}],"done":false,"totalSize":3,"nextRecordsUrl":"/services/data/v60.0/query/01g-2000"}`),
			next:     "https://api.example.test/services/data/v60.0/query/01g-2000",
			last:     page(`{"records":[{"Id":"c"}],"done":true,"totalSize":3}`),
			short:    page(`{"records":[],"done":false,"totalSize":3,"nextRecordsUrl":"/next"}`), shortNext: "> https://api.example.test/next",
			blocked: []canned{page(`{"records":[{"Id":"z","Contacts":{"totalSize":900,"done":false,"records":[]}}],"done":true,"totalSize":1}`)}, because: "z . vetoed",
			stranger: page(`{"records":[{"Id":"a"}]}`),
			failed:   refusal(400, `[{"errorCode":"INVALID_QUERY_LOCATOR","message":"gone"}]`), failure: "cursor_expired",
		},
	}
}

func urlFamilies() []family {
	const n2, n3 = "https://api.example.test/v1/things?n=2", "https://api.example.test/v1/things?n=3"
	odata := func(contract, link string) family {
		body := func(items, more string) canned {
			return page(`{"value":` + items + strings.ReplaceAll(more, "LINK", link) + `}`)
		}
		return family{
			contract: contract,
			first:    body(`[{"id":"a"},{"id":"b"}]`, `,"LINK":"`+n2+`"`), next: n2,
			last:  body(`[{"id":"c"}]`, ""),
			short: body(`[]`, `,"LINK":"`+n3+`"`), shortNext: "> " + n3,
			blocked: []canned{body(`[{"id":"z"}]`, `,"LINK":null`)}, because: "end_unknown",
			stranger: page(`{"error":{"code":"BadRequest","message":"no"}}`),
			failed:   refusal(429, `{"error":{"code":"TooManyRequests"}}`, "Retry-After", "5"), failure: "rate_limited",
		}
	}
	graph, delta, note := odata("ms-graph", "@odata.nextLink"), odata("ms-graph-delta", "@odata.nextLink"), odata("ms-graph-onenote", "@odata.nextLink")
	graph.failed, graph.failure = refusal(400, `{"error":{"code":"Directory_ExpiredPageToken","message":"gone"}}`), "cursor_expired"
	delta.last = page(`{"value":[{"id":"c"}],"@odata.deltaLink":"` + n3 + `"}`)
	delta.blocked, delta.because = []canned{page(`{"value":[{"id":"z"}]}`)}, "z . vetoed"
	delta.failed, delta.failure = refusal(410, `{"error":{"code":"resyncRequired"}}`), "cursor_expired"
	note.query, note.blocked, note.because = "?$top=2", []canned{page(`{"value":[{"id":"y"},{"id":"z"}]}`)}, "y z . vetoed"

	twilio := func(contract, before, after string) family {
		body := func(items, next string) canned {
			return page(`{"messages":` + items + `,` + before + next + after + `}`)
		}
		return family{
			contract: contract,
			first:    body(`[{"sid":"a"},{"sid":"b"}]`, `"/v1/things?n=2"`), next: n2,
			last:  body(`[{"sid":"c"}]`, `null`),
			short: body(`[]`, `"/v1/things?n=3"`), shortNext: "> " + n3,
			blocked: []canned{body(`[{"sid":"z"}]`, `""`)}, because: "end_unknown",
			stranger: page(`{"messages":[{"sid":"a"}]}`),
			failed:   refusal(400, `{"code":20006,"message":"no","status":400}`), failure: "cursor_expired",
		}
	}
	newer := twilio("twilio-v1", `"meta":{"page":0,"next_page_url":`, `}`)
	newer.failed, newer.failure = refusal(429, `{"code":20429,"message":"Too Many Requests","status":429}`), "rate_limited"

	bundle := func(kind, items, next string) canned {
		return page(`{"resourceType":"Bundle","type":"` + kind + `","link":[{"relation":"self","url":"?x"}` + next + `]` + items + `}`)
	}
	fhir := func(contract, kind, after string) family {
		entry := func(id string) string {
			return `{"resource":{"resourceType":"P","id":"` + id + `","meta":{"versionId":"1"}},"search":{"mode":"match"}}`
		}
		next := func(n string) string { return `,{"relation":"next","url":"?n=` + n + `"}` }
		return family{
			contract: contract, firstIDs: "P/a" + after + " P/b" + after, ended: "P/c" + after + " .",
			first: bundle(kind, `,"entry":[`+entry("a")+`,`+entry("b")+`,{"resource":{"resourceType":"M","id":"m"},"search":{"mode":"include"}}]`, next("2")), next: n2,
			last:  bundle(kind, `,"entry":[`+entry("c")+`]`, ""),
			short: bundle(kind, "", next("3")), shortNext: "> " + n3,
			blocked: []canned{
				bundle(kind, `,"entry":[`+entry("z")+`,{"resource":{"resourceType":"OperationOutcome","issue":[{"severity":"warning"}]},"search":{"mode":"outcome"}}]`, ""),
			}, because: "P/z" + after + " . vetoed",
			stranger: page(`{"resourceType":"OperationOutcome","issue":[{"severity":"error"}]}`),
			failed:   refusal(410, `{"resourceType":"OperationOutcome"}`), failure: "cursor_expired",
		}
	}
	return []family{
		graph, delta, note, odata("odata", "@odata.nextLink"), odata("azure-arm", "nextLink"),
		twilio("twilio-2010", `"next_page_uri":`, ""), newer,
		fhir("fhir", "searchset", ""), fhir("fhir-history", "history", "/1"),
		{
			contract: "jsonapi", firstIDs: "t/a t/b", ended: "t/c .",
			first: page(`{"data":[{"type":"t","id":"a"},{"type":"t","id":"b"}],"links":{"next":"?n=2"}}`), next: n2,
			last:  page(`{"data":[{"type":"t","id":"c"}],"links":{"next":null}}`),
			short: page(`{"data":[],"links":{"next":{"href":"?n=3"}}}`), shortNext: "> " + n3,
			blocked: []canned{page(`{"data":[{"type":"t","id":"z"}],"meta":{"page":{"rangeTruncated":true}}}`)}, because: "t/z . vetoed",
			stranger: page(`{"errors":[{"status":"400","title":"no"}]}`),
			failed:   refusal(400, `{"errors":[{"code":"x","detail":"no"}]}`), failure: "request_refused",
		},
		{
			contract: "hal", firstIDs: "/a /b", ended: "/c .",
			first: page(`{"_links":{"next":{"href":"?n=2"}},"_embedded":{"items":[{"_links":{"self":{"href":"/a"}}},{"_links":{"self":{"href":"/b"}}}]}}`), next: n2,
			last:  page(`{"_links":{"self":{"href":"?n=2"}},"_embedded":{"items":[{"_links":{"self":{"href":"/c"}}}]}}`),
			short: page(`{"_links":{"next":{"href":"?n=3"}},"_embedded":{"items":[]}}`), shortNext: "> " + n3,
			blocked: []canned{page(`{"_links":{"next":{"href":"?n={n}","templated":true}},"_embedded":{"items":[]}}`)}, because: "not_a_list",
			stranger: page(`{"_links":{},"_embedded":{"orders":[]}}`),
			failed:   refusal(503, ``), failure: "server_error",
		},
	}
}

package adapters_test

func graphFamilies() []family {
	graph := func(contract string) family {
		body := func(nodes, info string) canned {
			return page(`{"data":{"list":{"nodes":` + nodes + `,"pageInfo":` + info + `}}}`)
		}
		return family{
			contract: contract,
			first:    body(`[{"id":"a"},null,{"id":"b"}]`, `{"hasNextPage":true,"endCursor":"Y2"}`), next: "Y2",
			last:  body(`[{"id":"c"}]`, `{"hasNextPage":false,"endCursor":"Y3"}`),
			short: body(`[]`, `{"hasNextPage":true,"endCursor":"Y3"}`), shortNext: "> Y3",
			blocked: []canned{body(`[]`, `{"hasNextPage":true,"endCursor":null}`)}, because: "cursor_missing",
			stranger: page(`{"errors":[{"message":"Field 'x' doesn't exist"}]}`),
			failed:   page(`{"errors":[{"message":"timeout","path":["list"]}],"data":{"list":null}}`), failure: "server_error",
		}
	}
	github, shopify := graph("github-graphql"), graph("shopify-graphql")
	github.blocked = []canned{page(`{"data":{"list":{"issueCount":4000,"nodes":[{"id":"z"}],"pageInfo":{"hasNextPage":false}}}}`)}
	github.because = "z . vetoed"
	github.failed, github.failure = page(`{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`), "rate_limited"
	shopify.failed, shopify.failure = page(`{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}]}`), "rate_limited"
	return []family{graph("relay"), github, shopify}
}

// searchFamilies are the walks by sort values and by scroll, and the documented
// oddities.
func searchFamilies() []family {
	elastic := func(contract string) family {
		body := func(hits, more, failed string) canned {
			return page(`{"_scroll_id":"S1","timed_out":false,"_shards":{"total":2,"failed":` + failed + `},"hits":{"hits":` + hits + `}` + more + `}`)
		}
		return family{
			contract: contract,
			first:    body(`[{"_id":"a","sort":[1700000000000,"a"]},{"_id":"b","sort":[1700000000001,"b"]}]`, `,"pit_id":"P2"`, "0"),
			next:     `[[1700000000001,"b"],"P2"]`,
			last:     body(`[]`, "", "0"), ended: ".",
			short: body(`[{"_id":"c","sort":[7]}]`, "", "0"), shortNext: `c > [[7],null]`,
			blocked: []canned{body(`[]`, "", "1")}, because: ". vetoed",
			stranger: page(`{"hits":{"hits":[]}}`),
			failed:   refusal(404, `{"error":{"root_cause":[{"type":"search_context_missing_exception"}],"type":"search_phase_execution_exception"},"status":404}`),
			failure:  "cursor_expired",
		}
	}
	scroll := elastic("elasticsearch-scroll")
	scroll.next, scroll.shortNext = "S1", "c > S1"
	works := func(items, cursor string) canned {
		return page(`{"status":"ok","message":{"next-cursor":"` + cursor + `","total-results":3,"items-per-page":2,"items":` + items + `}}`)
	}
	wiki := func(items, more string) canned {
		return page(`{"query":{"allpages":` + items + `}` + more + `}`)
	}
	return []family{
		elastic("elasticsearch-search-after"), scroll,
		{
			contract: "intercom-scroll",
			first:    page(`{"type":"list","data":[{"id":"a"},{"id":"b"}],"pages":null,"scroll_param":"s"}`), next: "s",
			last: page(`{"type":"list","data":[],"pages":null,"scroll_param":"s"}`), ended: ".",
			short: page(`{"type":"list","data":[{"id":"c"}],"scroll_param":"s"}`), shortNext: "c > s",
			blocked: []canned{page(`{"type":"list","data":[{"id":"z"}],"scroll_param":null}`)}, because: "cursor_missing",
			stranger: page(`{"type":"list","data":[],"pages":{"next":null}}`),
			failed:   refusal(500, `{"type":"error.list","errors":[{"code":"internal"}]}`), failure: "cursor_expired",
		},
		{
			contract: "crossref",
			first:    works(`[{"DOI":"a"},{"DOI":"b"}]`, "A+/2"), next: "A+/2",
			last: works(`[{"DOI":"c"}]`, "A3"),
			// A page that is full goes on, and so does one that is fuller.
			short: works(`[{"DOI":"c"},{"DOI":"d"},{"DOI":"e"}]`, "A3"), shortNext: "c d e > A3",
			blocked: []canned{page(`{"status":"ok","message":{"next-cursor":"","items":[]}}`)}, because: "end_unknown",
			stranger: page(`{"status":"failed","message-type":"validation-failure","message":[{"message":"no"}]}`),
			failed:   refusal(429, `Too Many Requests`), failure: "rate_limited",
		},
		{
			contract: "openalex",
			first:    page(`{"meta":{"count":3,"next_cursor":"I2"},"results":[{"id":"a"},{"id":"b"}]}`), next: "I2",
			last: page(`{"meta":{"count":3,"next_cursor":null},"results":[]}`), ended: ".",
			short: page(`{"meta":{"count":3,"next_cursor":"I3"},"results":[]}`), shortNext: "> I3",
			blocked: []canned{page(`{"meta":{"count":3,"next_cursor":null},"results":[{"id":"z"}]}`)}, because: "end_unknown",
			stranger: page(`{"error":"Invalid query parameters error.","message":"no"}`),
			failed:   refusal(429, `{"error":"Too many requests"}`), failure: "rate_limited",
		},
		{
			contract: "mediawiki", query: "?action=query&list=allpages&format=json", firstIDs: "1 2", ended: "3 .",
			first: wiki(`[{"pageid":1},{"pageid":2}]`, `,"continue":{"apcontinue":"C","continue":"-||"}`), next: `{"apcontinue":"C","continue":"-||"}`,
			last:  wiki(`[{"pageid":3}]`, `,"batchcomplete":true`),
			short: page(`{"continue":{"apcontinue":"D","continue":"-||"}}`), shortNext: `> {"apcontinue":"D","continue":"-||"}`,
			blocked: []canned{wiki(`[{"pageid":9}]`, `,"warnings":{"result":{"*":"This result was truncated"}}`)}, because: "9 . vetoed",
			stranger: page(`{"batchcomplete":true,"query":{"pages":{"1":{"pageid":1}}}}`),
			failed:   page(`{"error":{"code":"badcontinue","info":"no"}}`), failure: "cursor_expired",
		},
	}
}

// countedFamilies are the walks by offset, page number and last ID without a flag.
func countedFamilies() []family {
	jira := func(items, more string) canned {
		return page(`{"startAt":0,"maxResults":50,"values":` + items + more + `}`)
	}
	discord := func(contract, before, after string) family {
		item := func(id string) string { return before + `{"id":"` + id + `"}` + after }
		return family{
			contract: contract,
			first:    page(`[` + item("a") + `,` + item("b") + `]`), next: "b",
			last: page(`[]`), ended: ".",
			short: page(`[` + item("c") + `]`), shortNext: "c > c",
			blocked: []canned{page(`[` + item("z") + `,{}]`)}, because: "cursor_missing",
			stranger: page(`{"message":"Missing Access","code":50001}`),
			failed:   refusal(429, `{"message":"You are being rate limited.","retry_after":0.3,"global":false}`), failure: "rate_limited",
		}
	}
	messages := discord("discord-messages", "", "")
	messages.failed, messages.failure = refusal(202, `{"message":"Index not yet available","code":110000,"retry_after":2}`), "server_error"
	return []family{
		messages, discord("discord-members", `{"user":`, `}`),
		{
			contract: "jira-offset",
			first:    jira(`[{"id":"a"},{"id":"b"}]`, `,"total":3,"isLast":false`), next: "2",
			last:  jira(`[{"id":"c"}]`, `,"total":3`),
			short: jira(`[{"id":"c"}]`, `,"total":9,"isLast":false`), shortNext: "c > 3",
			blocked: []canned{jira(`[{"id":"z"}]`, "")}, because: "end_unknown",
			stranger: page(`{"errorMessages":["no"],"errors":{}}`),
			failed:   refusal(429, `{}`, "Retry-After", "4"), failure: "rate_limited",
		},
		{
			contract: "offset-total",
			first:    page(`{"things":[{"id":"a"},{"id":"b"}],"total":3}`), next: "2",
			last:  page(`{"things":[{"id":"c"}],"total":3}`),
			short: page(`{"things":[{"id":"c"}],"total":9}`), shortNext: "c > 3",
			blocked: []canned{page(`{"things":[],"total":3}`)}, because: "end_unknown",
			stranger: page(`{"things":[]}`),
			failed:   refusal(400, `{"error":"offset"}`), failure: "request_refused",
		},
		{
			contract: "page-number",
			first:    page(`[{"id":"a"},{"id":"b"}]`), next: "2",
			last: page(`[]`), ended: ".",
			short: page(`[{"id":"c"}]`), shortNext: "c > 3",
			blocked: []canned{refusal(404, `{"message":"no such page"}`)}, because: "request_refused",
			stranger: page(`{}`),
			failed:   refusal(500, ``), failure: "server_error",
		},
		{
			contract: "page-total",
			first:    page(`{"things":[{"id":"a"},{"id":"b"}],"total_pages":2}`), next: "2",
			last:  page(`{"things":[{"id":"c"}],"total_pages":2}`),
			short: page(`{"things":[],"total_pages":3}`), shortNext: "> 3",
			blocked: []canned{page(`{"things":[{"id":"z"}],"total_pages":null}`)}, because: "end_unknown",
			stranger: page(`{"things":[]}`),
			failed:   refusal(503, ``), failure: "server_error",
		},
		{
			contract: "pocketbase",
			first:    page(`{"page":1,"perPage":2,"totalItems":3,"totalPages":2,"items":[{"id":"a"},{"id":"b"}]}`), next: "2",
			last:  page(`{"page":2,"perPage":2,"totalItems":3,"totalPages":2,"items":[{"id":"c"}]}`),
			short: page(`{"page":2,"perPage":2,"totalItems":5,"totalPages":3,"items":[{"id":"c"}]}`), shortNext: "c > 3",
			blocked: []canned{page(`{"page":1,"perPage":2,"totalItems":-1,"totalPages":-1,"items":[{"id":"z"}]}`)}, because: "end_unknown",
			stranger: page(`{"status":400,"message":"no","data":{}}`),
			failed:   refusal(429, `{"status":429,"message":"Too Many Requests."}`), failure: "rate_limited",
		},
	}
}

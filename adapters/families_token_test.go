package adapters_test

import "strings"

func tokenFamilies() []family {
	slack := func(name, id string) family {
		body := func(items, cursor string) canned {
			return page(`{"ok":true,"` + name + `":` + items + `,"response_metadata":{"next_cursor":` + cursor + `}}`)
		}
		item := func(text string) string { return `{"` + id + `":"` + text + `"}` }
		return family{
			first: body("["+item("a")+","+item("b")+"]", `"n2="`), next: "n2=",
			last:  body("["+item("c")+"]", `""`),
			short: body("[]", `"n3="`), shortNext: "> n3=",
			blocked: []canned{page(`{"ok":false,"` + name + `":[]}`)}, because: "not_a_list",
			stranger: page(`{"ok":false,"error":"channel_not_found"}`),
			failed:   page(`{"ok":false,"error":"invalid_cursor"}`), failure: "cursor_expired",
		}
	}
	channels, history := slack("channels", "id"), slack("messages", "ts")
	channels.contract, history.contract = "slack", "slack-history"
	history.last = page(`{"ok":true,"messages":[{"ts":"c"}],"has_more":false}`)
	history.failed, history.failure = page(`{"ok":false,"error":"ratelimited"}`), "rate_limited"

	hubspot := func(contract, before string) family {
		body := func(items, more string) canned { return page(`{` + before + `"results":` + items + more + `}`) }
		return family{
			contract: contract,
			first:    body(`[{"id":"a"},{"id":"b"}]`, `,"paging":{"next":{"after":"10","link":"https://else.test"}}`), next: "10",
			last:  body(`[{"id":"c"}]`, ""),
			short: body(`[]`, `,"paging":{"next":{"after":"20"}}`), shortNext: "> 20",
			blocked: []canned{body(`[{"id":"z"}]`, `,"paging":{"next":{"after":null}}`)}, because: "end_unknown",
			stranger: page(`{"status":"error","category":"VALIDATION_ERROR","message":"no"}`),
			failed:   refusal(429, `{"status":"error","errorType":"RATE_LIMIT","policyName":"DAILY"}`), failure: "quota_exhausted",
		}
	}
	listed, searched := hubspot("hubspot-list", ""), hubspot("hubspot-search", `"total":3,`)
	searched.blocked, searched.because = []canned{page(`{"total":25000,"results":[{"id":"z"}]}`)}, "z . vetoed"
	searched.failed, searched.failure = refusal(400, `{"status":"error","category":"VALIDATION_ERROR"}`), "request_refused"

	intercom := func(contract string) family {
		body := func(items, next string) canned {
			return page(`{"type":"list","data":` + items + `,"pages":{"type":"pages","next":` + next + `,"total_pages":1},"total_count":3}`)
		}
		return family{
			contract: contract,
			first:    body(`[{"id":"a"},{"id":"b"}]`, `{"page":2,"starting_after":"s2"}`), next: "s2",
			last:  body(`[{"id":"c"}]`, `null`),
			short: body(`[]`, `{"starting_after":"s3"}`), shortNext: "> s3",
			blocked: []canned{body(`[{"id":"z"}]`, `{"starting_after":""}`)}, because: "end_unknown",
			stranger: page(`{"type":"list","data":[],"pages":null,"scroll_param":"x"}`),
			failed:   refusal(429, `{"type":"error.list","errors":[{"code":"rate_limit_exceeded","message":"wait"}]}`), failure: "rate_limited",
		}
	}
	companies := intercom("intercom-companies")
	companies.blocked = []canned{page(`{"type":"list","data":[{"id":"z"}],"pages":{"next":null},"total_count":12000}`)}
	companies.because = "z . vetoed"

	jira := func(items, more string) canned { return page(`{"issues":` + items + more + `}`) }
	return []family{
		channels, history, listed, searched, intercom("intercom"), intercom("intercom-search"), companies,
		{
			contract: "airtable",
			first:    page(`{"records":[{"id":"a"},{"id":"b"}],"offset":"itr1/rec1"}`), next: "itr1/rec1",
			last:  page(`{"records":[{"id":"c"}]}`),
			short: page(`{"records":[],"offset":"itr1/rec2"}`), shortNext: "> itr1/rec2",
			blocked: []canned{page(`{"records":[{"id":"z"}],"offset":null}`)}, because: "end_unknown",
			stranger: page(`{"error":"NOT_FOUND"}`),
			failed:   refusal(422, `{"error":{"type":"LIST_RECORDS_ITERATOR_NOT_AVAILABLE","message":"gone"}}`), failure: "cursor_expired",
		},
		{
			contract: "atproto",
			first:    page(`{"records":[{"uri":"a"},{"uri":"b"}],"cursor":"c2"}`), next: "c2",
			last:  page(`{"records":[{"uri":"c"}]}`),
			short: page(`{"records":[],"cursor":"c3"}`), shortNext: "> c3",
			blocked: []canned{page(`{"records":[],"cursor":""}`)}, because: "end_unknown",
			stranger: page(`{"error":"InvalidRequest","message":"no"}`),
			failed:   refusal(429, `{"error":"RateLimitExceeded","message":"wait"}`, "RateLimit-Reset", "60"), failure: "rate_limited",
		},
		{
			contract: "jira-jql",
			first:    jira(`[{"id":"a"},{"id":"b"}]`, `,"nextPageToken":"t2","isLast":false`), next: "t2",
			last:  jira(`[{"id":"c"}]`, `,"isLast":true`),
			short: jira(`[]`, `,"nextPageToken":"t3","isLast":false`), shortNext: "> t3",
			blocked: []canned{jira(`[{"id":"z"}]`, `,"isLast":false`)}, because: "end_unknown",
			stranger: page(`{"startAt":0,"maxResults":50,"total":1,"issues":[{"id":"a"}]}`),
			failed:   refusal(400, `{"errorMessages":["The token is wrong."],"errors":{}}`), failure: "request_refused",
		},
	}
}

func awsFamilies() []family {
	throttled := refusal(400, `{"__type":"com.example#ThrottlingException","message":"Rate exceeded"}`)
	plain := func(contract, token, id string) family {
		body := func(items, more string) canned {
			return page(strings.NewReplacer("ITEMS", strings.ReplaceAll(items, "ID", id), "MORE", strings.ReplaceAll(more, "TOKEN", token)).Replace(`{"clusters":ITEMSMORE}`))
		}
		return family{
			contract: contract,
			first:    body(`[{"ID":"a"},{"ID":"b"}]`, `,"TOKEN":"t2"`), next: "t2",
			last:  body(`[{"ID":"c"}]`, `,"TOKEN":""`),
			short: body(`[]`, `,"TOKEN":"t3"`), shortNext: "> t3",
			blocked: []canned{body(`[{"ID":"z"}]`, `,"TOKEN":false`)}, because: "end_unknown",
			stranger: page(`{"__type":"InternalFailure"}`), refused: "server_error",
			failed: refusal(400, `{"__type":"InvalidNextTokenException","message":"no"}`), failure: "cursor_expired",
		}
	}
	events := func(items, more string) canned { return page(`{"events":` + items + more + `}`) }
	dynamo := func(contract string) family {
		body := func(items, more string) canned {
			return page(`{"Count":2,"ScannedCount":9,"Items":` + items + more + `}`)
		}
		return family{
			contract: contract,
			first:    body(`[{"pk":{"S":"a"}},{"pk":{"S":"b"}}]`, `,"LastEvaluatedKey":{"pk":{"S":"b"}}`), next: `{"pk":{"S":"b"}}`,
			last:  body(`[{"pk":{"S":"c"}}]`, ""),
			short: body(`[]`, `,"LastEvaluatedKey":{"pk":{"S":"h"}}`), shortNext: `> {"pk":{"S":"h"}}`,
			blocked: []canned{body(`[{"pk":{"S":"z"}}]`, `,"LastEvaluatedKey":null`)}, because: "end_unknown",
			stranger: page(`{"message":"no"}`),
			failed:   refusal(400, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"}`), failure: "rate_limited",
		}
	}
	s3 := func(contract, root, item, beside string) family {
		body := func(truncated, inside string) canned {
			return page(strings.NewReplacer("ROOT", root, "TRUNCATED", truncated, "INSIDE", inside, "BESIDE", beside).Replace(
				`<?xml version="1.0"?><ROOT xmlns="http://s3.example.test/"><Prefix/>BESIDE<IsTruncated>TRUNCATED</IsTruncated>INSIDE</ROOT>`))
		}
		items := func(names ...string) string {
			var b strings.Builder
			for _, name := range names {
				b.WriteString(strings.ReplaceAll(item, "KEY", name))
			}
			return b.String()
		}
		f := family{
			contract: contract, last: body("false", items("c")),
			blocked: []canned{body("maybe", items("z"))}, because: "end_unknown",
			stranger: page(`<?xml version="1.0"?><Error><Code>InternalError</Code></Error>`),
			failed:   refusal(503, `<?xml version="1.0"?><Error><Code>SlowDown</Code></Error>`), failure: "rate_limited",
		}
		switch contract {
		case "s3-list-objects-v2":
			f.first, f.next = body("true", items("a", "b")+`<NextContinuationToken>1w+/=</NextContinuationToken>`), "1w+/="
			f.short = body("true", `<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes><NextContinuationToken>2w</NextContinuationToken>`)
			f.shortNext = "> 2w"
		case "s3-list-objects":
			f.first, f.next = body("true", items("a", "b")), "b"
			f.blocked = []canned{body("maybe", "")}
			f.short, f.shortNext = body("true", `<NextMarker>m</NextMarker><CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>`), "> m"
		default:
			f.ended = "c/u ."
			f.first, f.next = body("true", items("a", "b")+`<NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker>`), `["k","u"]`
			f.short, f.shortNext = body("true", `<NextKeyMarker>l</NextKeyMarker><NextUploadIdMarker>v</NextUploadIdMarker>`), `> ["l","v"]`
		}
		return f
	}
	uploads := s3("s3-list-multipart-uploads", "ListMultipartUploadsResult", `<Upload><Key>KEY</Key><UploadId>u</UploadId></Upload>`, `<KeyMarker/>`)
	uploads.firstIDs = "a/u b/u"
	filtered, got := plain("cloudwatch-filter-log-events", "nextToken", "eventId"), plain("cloudwatch-get-log-events", "nextForwardToken", "x")
	for _, f := range []*family{&filtered, &got} {
		f.stranger, f.refused = page(`{"message":"no"}`), ""
		f.failed, f.failure = throttled, "rate_limited"
	}
	filtered.first, filtered.last = events(`[{"eventId":"a"},{"eventId":"b"}]`, `,"nextToken":"t2"`), events(`[{"eventId":"c"}]`, "")
	filtered.short = events(`[]`, `,"nextToken":"t3"`)
	filtered.blocked = []canned{events(`[]`, `,"nextToken":""`)}
	got.first = events(`[{"timestamp":1,"message":"x"},{"timestamp":2,"message":"y"}]`, `,"nextForwardToken":"t2"`)
	got.firstIDs = "1/x 2/y"
	got.last, got.ended = events(`[]`, `,"nextForwardToken":"t2"`), "."
	got.short = events(`[]`, `,"nextForwardToken":"t3"`)
	got.blocked, got.because = []canned{events(`[]`, "")}, "end_unknown"
	return []family{
		plain("aws-json", "nextToken", "arn"), plain("aws-json-pascal", "NextToken", "Arn"), filtered, got,
		dynamo("dynamodb-scan"), dynamo("dynamodb-query"),
		s3("s3-list-objects-v2", "ListBucketResult", `<Contents><Key>KEY</Key><Size>1</Size></Contents>`, ""),
		s3("s3-list-objects", "ListBucketResult", `<Contents><Key>KEY</Key></Contents>`, `<Marker/>`),
		uploads,
	}
}

// protocolFamilies are Kubernetes, MCP and OAI-PMH.
func protocolFamilies() []family {
	kubernetes := func(items, meta string) canned {
		return page(`{"kind":"PodList","metadata":{"resourceVersion":"7"` + meta + `},"items":` + items + `}`)
	}
	mcp := func(contract, name, id string) family {
		body := func(items, more string) canned {
			return page(strings.NewReplacer("NAME", name, "ITEMS", strings.ReplaceAll(items, "ID", id), "MORE", more).Replace(
				`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","NAME":ITEMSMORE}}`))
		}
		f := family{
			contract: contract,
			first:    body(`[{"ID":"a"},{"ID":"b"}]`, `,"nextCursor":"n2"`), next: "n2",
			last:  body(`[{"ID":"c"}]`, ""),
			short: body(`[]`, `,"nextCursor":"n3"`), shortNext: "> n3",
			blocked: []canned{body(`[{"ID":"z"}]`, `,"nextCursor":false`)}, because: "end_unknown",
			stranger: page(`{"jsonrpc":"2.0","id":1,"result":{}}`),
			failed:   page(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid cursor"}}`), failure: "cursor_expired",
		}
		if strings.HasSuffix(contract, "-2025") {
			f.blocked = []canned{body(`[{"ID":"z"}]`, `,"nextCursor":""`)}
		} else {
			f.short, f.shortNext = body(`[]`, `,"nextCursor":""`), "> "
		}
		return f
	}
	oai := func(contract, verb, item string) family {
		body := func(inside string) canned {
			return page(`<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2025-03-05T12:00:00Z</responseDate>` +
				`<request verb="` + verb + `">http://api.example.test/oai</request>` + inside + `</OAI-PMH>`)
		}
		listing := func(token string, names ...string) canned {
			inside := ""
			for _, name := range names {
				inside += strings.ReplaceAll(item, "ID", name)
			}
			return body("<" + verb + ">" + inside + token + "</" + verb + ">")
		}
		return family{
			contract: contract, query: "?verb=" + verb + "&metadataPrefix=oai_dc",
			first: listing(`<resumptionToken completeListSize="3" cursor="0">T1</resumptionToken>`, "a", "b"), next: "T1",
			last:  listing(`<resumptionToken/>`, "c"),
			short: listing(`<resumptionToken>T2</resumptionToken>`, "c"), shortNext: "c > T2",
			blocked: []canned{body(`<error code="badVerb">no</error>`)}, because: "not_a_list",
			stranger: page(`<?xml version="1.0"?><html><body>down</body></html>`),
			failed:   body(`<error code="badResumptionToken">This token is invalid</error>`), failure: "cursor_expired",
		}
	}
	records := oai("oai-pmh", "ListRecords", `<record><header><identifier>ID</identifier></header></record>`)
	identifiers := oai("oai-pmh-identifiers", "ListIdentifiers", `<header><identifier>ID</identifier></header>`)
	return []family{
		{
			contract: "kubernetes",
			first:    kubernetes(`[{"metadata":{"uid":"a"}},{"metadata":{"uid":"b"}}]`, `,"continue":"T1","remainingItemCount":7`), next: `["T1","7"]`,
			last:  kubernetes(`[{"metadata":{"uid":"c"}}]`, `,"continue":""`),
			short: kubernetes(`null`, `,"continue":"T2"`), shortNext: `> ["T2","7"]`,
			blocked: []canned{
				kubernetes(`[{"metadata":{"uid":"a"}}]`, `,"continue":"T1"`),
				page(`{"kind":"PodList","metadata":{"resourceVersion":"8"},"items":[{"metadata":{"uid":"z"}}]}`),
			}, because: "z . vetoed",
			stranger: page(`{"kind":"Status","status":"Success"}`),
			failed:   refusal(410, `{"kind":"Status","reason":"Expired","metadata":{"continue":"INCONSISTENT"},"code":410}`), failure: "cursor_expired",
		},
		mcp("mcp-tools", "tools", "name"), mcp("mcp-resources", "resources", "uri"),
		mcp("mcp-tools-2025", "tools", "name"), mcp("mcp-resources-2025", "resources", "uri"),
		records, identifiers,
	}
}

package adapters_test

import "strings"

func googleFamilies() []family {
	limited := refusal(403, `{"error":{"code":403,"message":"Rate Limit Exceeded","errors":[{"reason":"rateLimitExceeded","message":"slow down"}]}}`)
	badToken := refusal(400, `{"error":{"code":400,"message":"Invalid Value","errors":[{"location":"pageToken","locationType":"parameter","reason":"invalid"}]}}`)
	strange := page(`{"error":{"code":500,"message":"no"}}`)
	// of makes a family whose items stand in an array called name.
	of := func(contract, name string, blocked canned, change func(*family)) family {
		body := func(items, more string) canned {
			return page(strings.NewReplacer("NAME", name, "ITEMS", items, "MORE", more).Replace(`{"NAME":[ITEMS]MORE}`))
		}
		f := family{
			contract: contract,
			first:    body(`{"id":"a"},{"id":"b"}`, `,"nextPageToken":"t2"`), next: "t2",
			last:  body(`{"id":"c"}`, ""),
			short: body("", `,"nextPageToken":"t3"`), shortNext: "> t3",
			blocked: []canned{blocked}, because: "z . vetoed",
			stranger: strange,
			failed:   badToken, failure: "cursor_expired",
		}
		change(&f)
		return f
	}
	scope := func(zone, items, more string) string {
		return `{"kind":"compute#instanceAggregatedList","items":{"zones/` + zone + `":{"instances":[` + items + `]},"zones/x":{"warning":{"code":"NO_RESULTS_ON_PAGE","data":[{"key":"scope"}]}}}` + more + `}`
	}
	return []family{
		of("google-aip158", "books", page(`{"books":[{"name":"z"}],"unreachable":["eu"]}`), func(f *family) {
			f.first, f.last = page(`{"books":[{"name":"a"},{"name":"b"}],"nextPageToken":"t2"}`), page(`{"books":[{"name":"c"}],"nextPageToken":""}`)
			f.short = page(`{"nextPageToken":"t3"}`)
			f.failed = refusal(400, `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"page token"}}`)
		}),
		of("google-drive", "files", page(`{"files":[{"id":"z"}],"incompleteSearch":true}`), func(*family) {}),
		of("google-calendar", "items", page(`{"items":[{"id":"z"}],"nextPageToken":null}`), func(f *family) {
			f.because = "end_unknown"
			f.failed = refusal(410, `{"error":{"code":410,"errors":[{"reason":"fullSyncRequired"}]}}`)
		}),
		of("google-calendar-sync", "items", page(`{"items":[{"id":"z"}]}`), func(f *family) {
			f.last = page(`{"items":[{"id":"c"}],"nextSyncToken":"s1"}`)
			f.failed, f.failure = limited, "rate_limited"
		}),
		of("gmail", "messages", page(`{"messages":[{"id":"z"}],"nextPageToken":""}`), func(f *family) {
			f.last, f.ended = page(`{"resultSizeEstimate":0}`), "."
			f.because = "end_unknown"
			f.stranger = page(`{"threads":[{"id":"a"}],"resultSizeEstimate":1}`)
			f.failed, f.failure = limited, "rate_limited"
		}),
		of("google-compute", "items", page(`{"items":[{"id":"z"}],"warning":{"code":"UNREACHABLE"}}`), func(f *family) {
			f.short = page(`{"kind":"compute#instanceList","warning":{"code":"NO_RESULTS_ON_PAGE"},"nextPageToken":"t3"}`)
		}),
		of("google-compute-aggregated", "items", page(`{"items":{"zones/a":{"instances":[{"id":"z"}]},"zones/b":{"warning":{"code":"UNREACHABLE"}}}}`), func(f *family) {
			f.first, f.last = page(scope("a", `{"id":"a"},{"id":"b"}`, `,"nextPageToken":"t2"`)), page(scope("b", `{"id":"c"}`, ""))
			f.short = page(scope("c", "", `,"nextPageToken":"t3"`))
			f.failed, f.failure = limited, "rate_limited"
		}),
	}
}

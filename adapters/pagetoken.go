package adapters

import "github.com/everypage-go/everypage/pager"

// Airtable is the contract of Airtable's list of records: the offset is a token,
// and its absence is the end. The iterator lives for minutes. maxRecords and the
// filter of a view are the caller's own bounds and no end of the table.
func Airtable() Contract {
	return Contract{
		Name:       "airtable",
		Doc:        "Airtable list records: offset, a token that lives for minutes, until it is absent. maxRecords and a view's filter bound what is listed.",
		Source:     []string{"Airtable Web API, List records", "Airtable support, Getting started with the Web API"},
		Unverified: []string{"errors"},
		Request: Request{
			Size:   Size{In: "query:pageSize", Default: 100, Max: 100},
			Cursor: CursorRule{In: "query:offset"},
		},
		Page:  PageRule{Forbidden: []Path{"error"}},
		Items: Items{At: "records", ID: []Path{"id"}, CreatedAt: "createdTime"},
		Next:  Next{From: "body:offset"},
		End:   EndRule{Rule: EndCursor, When: []string{whenAbsent}},
		Errors: ErrorRules{
			Rules: []ErrorRule{
				{Status: []int{422}, Type: "LIST_RECORDS_ITERATOR_NOT_AVAILABLE", WithCursor: true, Means: pager.CodeCursorExpired},
			},
			WaitSeconds: 30,
		},
	}
}

// ATProto is the contract of the list methods of AT Protocol's XRPC, Bluesky's
// among them. The specification leaves the cursor out of the last page; null is
// what some servers send instead. A page may be short or empty and go on. Searches
// need not reach all their hits by cursor, and some feeds are reported to drop it
// early, which nothing in the answer tells.
func ATProto() Contract {
	return Contract{
		Name:       "atproto",
		Doc:        "AT Protocol lists: cursor until it is absent, or null. Only listRecords and its like vouch for all; searches and feeds may stop early.",
		Source:     []string{"AT Protocol specification, HTTP API (XRPC): Cursors and pagination", "AT Protocol lexicons"},
		Unverified: []string{"end.when[1]", "errors"},
		Request: Request{
			Size:   Size{In: "query:limit", Default: 50, Max: 100},
			Cursor: CursorRule{In: "query:cursor"},
		},
		Page:  PageRule{Forbidden: []Path{"error"}},
		Items: Items{At: anyArray, ID: []Path{"uri"}},
		Next:  Next{From: "body:cursor"},
		End:   EndRule{Rule: EndCursor, When: []string{whenAbsent, whenNull}},
		Errors: ErrorRules{
			Rules: []ErrorRule{{Status: []int{400}, Error: "InvalidRequest", Message: "cursor", WithCursor: true, Means: pager.CodeCursorExpired}},
			Codes: map[string]pager.Code{
				"RateLimitExceeded":      pager.CodeRateLimited,
				"InternalServerError":    pager.CodeServerError,
				"UpstreamFailure":        pager.CodeServerError,
				"AuthMissing":            pager.CodeUnauthorized,
				"AuthenticationRequired": pager.CodeUnauthorized,
				"ExpiredToken":           pager.CodeUnauthorized,
				"InvalidToken":           pager.CodeUnauthorized,
			},
		},
	}
}

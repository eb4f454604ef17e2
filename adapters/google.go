package adapters

import "github.com/everypage-go/everypage/pager"

// GoogleAIP158 is the contract of Google APIs that follow AIP-158 (Pagination):
// the next page token, absent or empty, is the only signal of the end; short and
// empty pages go on, and {} is a legal last page. unreachable[] (AIP-217) vetoes
// completeness, on whatever page it came.
func GoogleAIP158() Contract {
	return Contract{
		Name:       "google-aip158",
		Doc:        "Google APIs after AIP-158: nextPageToken until it is absent or empty. The array's name differs by method.",
		Source:     []string{"AIP-158: Pagination", "AIP-217: Unreachable resources", "AIP-193: Errors"},
		Unverified: []string{"errors.rules"},
		Request: Request{
			Size:   Size{In: "query:pageSize"},
			Cursor: CursorRule{In: "query:pageToken"},
		},
		Page: PageRule{Forbidden: []Path{"error"}, Total: "body:totalSize"},
		Items: Items{
			At: anyArray, ID: []Path{"name"}, CreatedAt: "createTime", EmptyWhen: []string{whenAbsent},
			Beside: []string{"kind", "etag", "selfLink", "unreachable", "warnings"},
		},
		Next: Next{From: "body:nextPageToken"},
		End:  EndRule{Rule: EndCursor, When: []string{whenAbsent, whenEmpty}},
		Vetoes: []Veto{
			{At: "unreachable"},
			{Query: "fields", Lacks: "nextPageToken"},
			{Query: "$fields", Lacks: "nextPageToken"},
		},
		Errors: ErrorRules{
			Rules: []ErrorRule{
				{Status: []int{400}, Error: "INVALID_ARGUMENT", WithCursor: true, Means: pager.CodeCursorExpired},
			},
			Codes: map[string]pager.Code{
				"RESOURCE_EXHAUSTED": pager.CodeRateLimited,
				"UNAVAILABLE":        pager.CodeServerError,
				"DEADLINE_EXCEEDED":  pager.CodeServerError,
				"INTERNAL":           pager.CodeServerError,
				"UNAUTHENTICATED":    pager.CodeUnauthorized,
				"PERMISSION_DENIED":  pager.CodeRequestRefused,
			},
		},
	}
}

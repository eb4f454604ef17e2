package adapters

import "github.com/everypage-go/everypage/pager"

// KeysetCatalogue is the contract of a catalogue that pages by keyset:
// pagination {limit, next_cursor, has_more} beside one array whose name differs
// by endpoint. has_more=false is the end. An answer without has_more is no page
// of it: a top-N feed looks like that, and must not pass for a whole list.
func KeysetCatalogue() Contract {
	return Contract{
		Name:       "keyset-catalogue",
		Doc:        "Keyset catalogue: pagination.next_cursor until pagination.has_more=false.",
		Source:     []string{"Keyset catalogue API, Pagination", "Keyset catalogue API, Errors and limits"},
		Unverified: []string{"items.created_at", "errors.rules"},
		Request: Request{
			Size:   Size{In: "query:limit", Default: 20},
			Cursor: CursorRule{In: "query:cursor"},
		},
		Page:   PageRule{Required: []Path{"pagination.has_more"}, Forbidden: []Path{"error"}, Size: "pagination.limit"},
		Items:  Items{At: anyArray, ID: []Path{"id"}, CreatedAt: "created_at"},
		Next:   Next{From: "body:pagination.next_cursor"},
		End:    EndRule{Rule: EndFlagFalse, At: "pagination.has_more"},
		Order:  pager.OrderStable, // a keyset is a position in an order
		Errors: FlatErrors(),
	}
}

// KeysetFeed is the contract of the same catalogue's top-N feeds: pagination holds
// the limit alone, and the one page is the whole answer, never the whole
// collection. A cursor or a flag in it means that the contract has changed.
func KeysetFeed() Contract {
	c := KeysetCatalogue()
	c.Name = "keyset-feed"
	c.Doc = "Top-N feed of a keyset catalogue: one page by contract, bounded, never the whole collection."
	c.Unverified = []string{"items.created_at"}
	c.Request.Cursor = CursorRule{}
	c.Page.Required = []Path{"pagination.limit"}
	c.Page.Forbidden = []Path{"error", "pagination.has_more", "pagination.next_cursor"}
	c.Next = Next{}
	c.End = EndRule{Rule: EndBounded}
	c.Order = pager.OrderUnspecified // a ranking
	return c
}

// FlatErrors are the rules of APIs that send the flat envelope {error,
// error_description, request_id, type}. A cursor that the API refuses is one
// that has expired; what is refused is known by the error, or by the parameter
// that a validation error names.
func FlatErrors() ErrorRules {
	return ErrorRules{
		Rules: []ErrorRule{
			{Status: []int{400, 410, 422}, Param: "cursor", WithCursor: true, Means: pager.CodeCursorExpired},
			{Error: "invalid_cursor", WithCursor: true, Means: pager.CodeCursorExpired},
			{Error: "cursor_expired", WithCursor: true, Means: pager.CodeCursorExpired},
		},
		// error decides single cases …
		Codes: map[string]pager.Code{
			"rate_limited":            pager.CodeRateLimited,
			"quota_exceeded":          pager.CodeQuotaExhausted,
			"quota_exhausted":         pager.CodeQuotaExhausted,
			"unauthorized":            pager.CodeUnauthorized,
			"invalid_token":           pager.CodeUnauthorized,
			"invalid_client":          pager.CodeUnauthorized,
			"invalid_grant":           pager.CodeUnauthorized,
			"validation_error":        pager.CodeRequestRefused,
			"temporarily_unavailable": pager.CodeServerError,
			"server_error":            pager.CodeServerError,
		},
		// … and type the coarse ones: may it be asked again?
		Types: map[string]pager.Code{
			"rate_limit_error":      pager.CodeRateLimited,
			"quota_error":           pager.CodeQuotaExhausted,
			"authentication_error":  pager.CodeUnauthorized,
			"invalid_request_error": pager.CodeRequestRefused,
			"api_error":             pager.CodeServerError,
			"server_error":          pager.CodeServerError,
		},
	}
}

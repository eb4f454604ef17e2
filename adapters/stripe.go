package adapters

import "github.com/everypage-go/everypage/pager"

// StripeV1 is the contract of Stripe's v1 lists: the ID of the last object is the
// cursor, and has_more=false is the end (Stripe API Reference, "Pagination"). New
// objects land before the cursor, so the order is stable.
func StripeV1() Contract {
	return Contract{
		Name:       "stripe-v1",
		Doc:        "Stripe v1 lists: starting_after the last ID, until has_more=false.",
		Source:     []string{"Stripe API Reference, Pagination", "Stripe API Reference, Errors"},
		Unverified: []string{"errors.rules", "request.window"},
		Request: Request{
			Size:   Size{In: "query:limit", Default: 10, Max: 100},
			Cursor: CursorRule{In: "query:starting_after", Positions: []string{"ending_before"}},
			Window: Window{From: "query:created[gte]", To: "query:created[lte]", Format: formatUnix},
		},
		Page:   PageRule{Required: []Path{"has_more"}, Forbidden: []Path{"error"}},
		Items:  Items{At: "data", ID: []Path{"id"}, CreatedAt: "created", CreatedFormat: formatUnix},
		Next:   Next{From: fromLastID},
		End:    EndRule{Rule: EndFlagFalse, At: "has_more"},
		Order:  pager.OrderStable,
		Errors: stripeErrors(),
	}
}

// StripeSearch is the contract of Stripe's v1 search: a page token, and has_more.
// The index is behind the data by about a minute, so what was created just now may
// be missing; total_count says nothing about the end.
func StripeSearch() Contract {
	return Contract{
		Name:       "stripe-search",
		Doc:        "Stripe v1 search: next_page until has_more=false. The index lags behind the data by about a minute.",
		Source:     []string{"Stripe API Reference, Pagination", "Stripe API Reference, Errors"},
		Unverified: []string{"request", "order", "errors"},
		Request: Request{
			Size:   Size{In: "query:limit", Default: 10, Max: 100},
			Cursor: CursorRule{In: "query:page"},
		},
		Page:   PageRule{Required: []Path{"has_more"}, Forbidden: []Path{"error"}, Total: "body:total_count"},
		Items:  Items{At: "data", ID: []Path{"id"}, CreatedAt: "created", CreatedFormat: formatUnix},
		Next:   Next{From: "body:next_page"},
		End:    EndRule{Rule: EndFlagFalse, At: "has_more"},
		Errors: stripeErrors(),
	}
}

// StripeV2 is the contract of Stripe's v2 lists: the path of the next page, and
// null on the last. A page may be empty and go on.
func StripeV2() Contract {
	return Contract{
		Name:       "stripe-v2",
		Doc:        "Stripe v2 lists: next_page_url, a path, until it is null. Empty pages go on.",
		Source:     []string{"Stripe API v2 Reference, List pagination", "Stripe API Reference, Errors"},
		Unverified: []string{"order", "items.created_at", "errors"},
		Request: Request{
			Size:   Size{In: "query:limit"},
			Cursor: CursorRule{In: inURL},
		},
		Page:   PageRule{Required: []Path{"next_page_url"}, Forbidden: []Path{"error"}},
		Items:  Items{At: "data", ID: []Path{"id"}, CreatedAt: "created"},
		Next:   Next{From: "body:next_page_url"},
		End:    EndRule{Rule: EndCursor, When: []string{whenNull}},
		Errors: stripeErrors(),
	}
}

func stripeErrors() ErrorRules {
	return ErrorRules{
		Rules: []ErrorRule{
			// The object that the cursor names was deleted.
			{Status: []int{400, 404}, Error: "resource_missing", Param: "starting_after", Means: pager.CodeCursorExpired},
		},
		Codes: map[string]pager.Code{"rate_limit": pager.CodeRateLimited, "lock_timeout": pager.CodeServerError},
		Types: map[string]pager.Code{"api_error": pager.CodeServerError, "invalid_request_error": pager.CodeRequestRefused},
	}
}

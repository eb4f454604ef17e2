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
			Cursor: CursorRule{In: "query:starting_after"},
			Window: Window{From: "query:created[gte]", To: "query:created[lte]", Format: formatUnix},
		},
		Page:  PageRule{Required: []Path{"has_more"}, Forbidden: []Path{"error"}},
		Items: Items{At: "data", ID: []Path{"id"}, CreatedAt: "created", CreatedFormat: formatUnix},
		Next:  Next{From: fromLastID},
		End:   EndRule{Rule: EndFlagFalse, At: "has_more"},
		Order: pager.OrderStable,
		Errors: ErrorRules{
			Rules: []ErrorRule{
				// The object that the cursor names was deleted.
				{Status: []int{400, 404}, Error: "resource_missing", Param: "starting_after", Means: pager.CodeCursorExpired},
			},
			Codes: map[string]pager.Code{"rate_limit": pager.CodeRateLimited, "lock_timeout": pager.CodeServerError},
			Types: map[string]pager.Code{"api_error": pager.CodeServerError, "invalid_request_error": pager.CodeRequestRefused},
		},
	}
}

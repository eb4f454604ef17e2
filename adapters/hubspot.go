package adapters

import (
	"net/http"

	"github.com/everypage-go/everypage/pager"
)

// HubSpotList is the contract of HubSpot's CRM lists: paging.next.after until
// there is no paging.next. Short and empty pages go on.
func HubSpotList() Contract {
	return Contract{
		Name:       "hubspot-list",
		Doc:        "HubSpot CRM lists: paging.next.after until it is absent. Short and empty pages go on.",
		Source:     []string{"HubSpot public API specifications, CRM objects: list"},
		Unverified: []string{"request.size.max", "order", "errors"},
		Request: Request{
			Size:   Size{In: "query:limit", Default: 10, Max: 100},
			Cursor: CursorRule{In: "query:after"},
		},
		Page:   PageRule{Forbidden: []Path{"category"}},
		Items:  Items{At: "results", ID: []Path{"id"}, CreatedAt: "createdAt"},
		Next:   Next{From: "body:paging.next.after"},
		End:    EndRule{Rule: EndCursor, When: []string{whenAbsent}},
		Errors: hubSpotErrors(),
	}
}

// HubSpotSearch is the contract of HubSpot's CRM search, a POST whose cursor is an
// offset and which gives 10,000 results for one query at most: past them it
// refuses with 400. A query with more must be split, by hs_object_id or by date.
// The index lags behind the data.
func HubSpotSearch() Contract {
	c := HubSpotList()
	c.Name = "hubspot-search"
	c.Doc = "HubSpot CRM search by POST: paging.next.after until it is absent; a total above 10,000 forbids calling it complete. The index lags behind the data."
	c.Source = []string{"HubSpot API, Search the CRM", "HubSpot API, Usage guidelines and limits"}
	c.Unverified = []string{"errors"}
	c.Request = Request{
		Method: http.MethodPost,
		Size:   Size{In: "body:limit", Max: 200},
		Cursor: CursorRule{In: "body:after"},
	}
	c.Page.Required, c.Page.Total = []Path{"total"}, "body:total"
	c.Vetoes = []Veto{{At: "total", Above: new(int64(10000))}}
	c.Style, c.Order = pager.StyleOffset, pager.OrderUnstable
	return c
}

func hubSpotErrors() ErrorRules {
	return ErrorRules{
		Rules: []ErrorRule{{Status: []int{429}, At: "policyName", Is: "DAILY", Means: pager.CodeQuotaExhausted}},
		Codes: map[string]pager.Code{"RATE_LIMITS": pager.CodeRateLimited},
	}
}

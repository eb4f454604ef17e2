package main

import (
	"net/http"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// Movements is the contract of a warehouse's stock movements. In Go a contract is
// the same data as in YAML; it pays where a program makes several that differ
// little, or where the compiler should see to the names.
func Movements() adapters.Contract {
	return adapters.Contract{
		Name:   "warehouse-movements",
		Doc:    "Stock movements, in the order in which they were booked.",
		Source: []string{"Warehouse API, Movements: query"},
		Request: adapters.Request{
			Method: http.MethodPost,
			Size:   adapters.Size{In: "body:limit", Default: 100, Max: 500},
		},
		// "An answer always says whether there is more." One that does not say is
		// none, whatever else it holds.
		Page:  adapters.PageRule{Required: []adapters.Path{"more"}},
		Items: adapters.Items{At: "movements", ID: []adapters.Path{"id"}, CreatedAt: "booked_at"},
		// "Repeat the query with the time and the number of the last movement." Several
		// are booked at one instant, so the time alone would skip or repeat some. The
		// number exceeds what a float64 holds; As json keeps every digit of it.
		Next: adapters.Next{Parts: []adapters.Part{
			{From: "last:booked_at", In: "body:after.booked_at"},
			{From: "last:id", In: "body:after.id", As: "json"},
		}},
		// "more is false when no movement follows." The last item is there on every
		// page, so its absence could never be the end.
		End: adapters.EndRule{Rule: adapters.EndFlagFalse, At: "more"},
		// "sites_offline lists the sites that could not be asked."
		Vetoes: []adapters.Veto{{At: "sites_offline"}},
		// "Movements are never changed or removed, and booked in order."
		Order: pager.OrderStableAscending,
		Errors: adapters.ErrorRules{
			Codes:      map[string]pager.Code{"position_archived": pager.CodeCursorExpired},
			RetryAfter: "wait_seconds",
		},
	}
}

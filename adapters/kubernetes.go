package adapters

import "github.com/everypage-go/everypage/pager"

// Kubernetes is the contract of a Kubernetes API server's lists: metadata.continue
// until it is empty or absent, at one resourceVersion throughout. A token that has
// expired is a 410; the token inside that answer goes on with an inconsistent
// list, so it is never used. remainingItemCount is an estimate.
func Kubernetes() Contract {
	return Contract{
		Name:       "kubernetes",
		Doc:        "Kubernetes lists: metadata.continue until it is empty or absent. A token lives for some 5 to 15 minutes; the token in a 410 is never used.",
		Source:     []string{"Kubernetes documentation, API concepts: Retrieving large results sets in chunks", "Kubernetes API reference, ListMeta"},
		Unverified: []string{"order"},
		Request: Request{
			Size:   Size{In: "query:limit"},
			Cursor: CursorRule{In: "query:continue"},
		},
		Page:  PageRule{Required: []Path{"metadata"}},
		Items: Items{At: "items", ID: []Path{"metadata.uid"}, CreatedAt: "metadata.creationTimestamp", EmptyWhen: []string{whenNull}},
		Next:  Next{From: "body:metadata.continue"},
		End:   EndRule{Rule: EndCursor, When: []string{whenAbsent, whenEmpty}},
		Vetoes: []Veto{
			{At: "metadata.resourceVersion", Constant: true},
			{At: "metadata.shardInfo"},
		},
		Errors: ErrorRules{
			Rules:      []ErrorRule{{Status: []int{410}, WithCursor: true, Means: pager.CodeCursorExpired}},
			RetryAfter: "details.retryAfterSeconds",
		},
		Order: pager.OrderStable,
	}
}

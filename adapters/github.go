package adapters

import "github.com/everypage-go/everypage/pager"

// GitHubREST is the contract of GitHub's REST API. The last page is a 2xx answer
// without a link to the next one (GitHub Docs, "Using pagination in the REST
// API"). The order is unstable unless the caller declares one: page-number links
// shift when rows are inserted, and only some endpoints take sort and direction.
func GitHubREST() Contract {
	return Contract{
		Name:       "github-rest",
		Doc:        "GitHub REST lists whose body is the array, walked by the Link header.",
		Source:     []string{"GitHub Docs, Using pagination in the REST API", "GitHub Docs, Rate limits for the REST API"},
		Unverified: []string{"errors"},
		Request: Request{
			Header: map[string]string{"Accept": "application/vnd.github+json"},
			Size:   Size{In: "query:per_page", Default: 30, Max: 100},
			Cursor: CursorRule{In: inURL},
		},
		Items: Items{ID: []Path{"id"}, CreatedAt: "created_at"},
		Next:  Next{From: "link:next"},
		End:   EndRule{Rule: EndNoNextLink},
		Order: pager.OrderUnstable,
		Errors: ErrorRules{Rules: []ErrorRule{
			// A secondary limit may come as a 403 that bears no other sign of it.
			{Status: []int{403}, Message: "secondary rate limit", Means: pager.CodeRateLimited},
			{Status: []int{403}, Message: "rate limit exceeded", Means: pager.CodeRateLimited},
			{Status: []int{403}, Message: "abuse detection", Means: pager.CodeRateLimited},
		}},
	}
}

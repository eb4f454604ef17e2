package adapters

import "github.com/everypage-go/everypage/pager"

// GitHubREST is the contract of GitHub's REST API. The last page is a 2xx answer
// without a link to the next one (GitHub Docs, "Using pagination in the REST
// API"). The order is unstable unless the caller declares one: page-number links
// shift when rows are inserted, and only some endpoints take sort and direction.
func GitHubREST() Contract {
	return Contract{
		Name:       "github-rest",
		Doc:        "GitHub REST lists whose body is the array, walked by the Link header. An endpoint that never sends one needs github-rest-unlinked; compare, whose body is an object, is not covered.",
		Source:     []string{"GitHub Docs, Using pagination in the REST API", "GitHub Docs, Rate limits for the REST API"},
		Unverified: []string{"errors"},
		Request: Request{
			Header: map[string]string{"Accept": "application/vnd.github+json"},
			Size:   Size{In: "query:per_page", Default: 30, Max: 100},
			Cursor: CursorRule{In: inURL, Positions: []string{"page", "before", "after"}},
		},
		Items:  Items{ID: []Path{"id"}, CreatedAt: "created_at"},
		Next:   Next{From: "link:next"},
		End:    EndRule{Rule: EndNoNextLink},
		Order:  pager.OrderUnstable,
		Errors: gitHubErrors(),
	}
}

// GitHubUnlinked is the contract of endpoints that are known to leave out the Link
// header although more follows, such as the packages of an organisation: a full
// page without one is no evidence of the end.
func GitHubUnlinked() Contract {
	c := GitHubREST()
	c.Name = "github-rest-unlinked"
	c.Doc = "GitHub REST lists of endpoints that may leave out the Link header: as github-rest, and a full page without one forbids calling the list complete."
	c.Vetoes = []Veto{{FullPageWithoutLink: true}}
	return c
}

// GitHubSearch is the contract of GitHub's search: the same Link header over an
// object, with what a search may leave out. It ends silently after 1,000 results,
// and incomplete_results says that the search itself ran out of time. Repositories
// without access, and matches beyond the repositories that a search covers, leave
// no trace in the answer. A reached total_count is no end.
func GitHubSearch() Contract {
	c := GitHubREST()
	c.Name = "github-search"
	c.Doc = "GitHub REST search, walked by the Link header; incomplete_results and a total_count above 1,000 forbid calling it complete. What the token may not see is left out silently."
	c.Source = []string{"GitHub Docs, REST API endpoints for search", "GitHub Docs, Rate limits for the REST API"}
	c.Unverified = []string{"request", "errors"}
	c.Page = PageRule{Required: []Path{"total_count", "incomplete_results"}, Total: "body:total_count"}
	c.Items.At = "items"
	c.Vetoes = []Veto{{At: "incomplete_results"}, {At: "total_count", Above: new(int64(1000))}}
	c.Style = pager.StylePage
	return c
}

// gitHubErrors tells limits from refusals: a secondary limit may come as a 403
// that bears no other sign of it. Without an instant, the documents ask for a minute.
func gitHubErrors() ErrorRules {
	return ErrorRules{
		Rules: []ErrorRule{
			{Status: []int{403}, Message: "secondary rate limit", Means: pager.CodeRateLimited},
			{Status: []int{403}, Message: "rate limit exceeded", Means: pager.CodeRateLimited},
			{Status: []int{403}, Message: "abuse detection", Means: pager.CodeRateLimited},
		},
		WaitSeconds: 60,
	}
}

package adapters

import (
	"net/http"
	"slices"
	"strings"

	"github.com/everypage-go/everypage/pager"
)

// atConnection is where the connection stands in the answers that [Relay],
// [GitHubGraphQL] and [ShopifyGraphQL] read as they come; see [AtConnection].
const atConnection Path = "data.list"

// Relay is the contract of a GraphQL connection: pageInfo.endCursor, until
// pageInfo.hasNextPage=false. An answer with errors is no page, though it comes as
// a 200: what failed on the way to a field may be tried again, and what was wrong
// with the query may not.
//
// The query declares $first and $after and gives its connection the alias list
// at the top level; for one that stands elsewhere there is [AtConnection].
func Relay() Contract {
	return Contract{
		Name: "relay",
		Doc: "GraphQL connections by POST: pageInfo.endCursor until pageInfo.hasNextPage=false. The query declares $first and $after, selects nodes and pageInfo, " +
			"and gives the connection the alias list at the top level.",
		Source:     []string{"GraphQL Cursor Connections Specification", "GraphQL specification, Response format: Errors"},
		Unverified: []string{"items.created_at", "errors"},
		Request: Request{
			Method: http.MethodPost,
			Size:   Size{In: "body:variables.first", Default: 50},
			Cursor: CursorRule{In: "body:variables.after"},
		},
		Page:  PageRule{Required: []Path{atConnection + ".pageInfo"}, Forbidden: []Path{"errors"}},
		Items: Items{At: atConnection + ".nodes", ID: []Path{"id"}, CreatedAt: "createdAt", SkipNull: true},
		Next:  Next{From: Place("body:" + atConnection + ".pageInfo.endCursor")},
		End:   EndRule{Rule: EndFlagFalse, At: atConnection + ".pageInfo.hasNextPage"},
		Errors: ErrorRules{Rules: []ErrorRule{
			{Status: []int{200}, At: "errors[*].path", Present: true, Means: pager.CodeServerError},
		}},
	}
}

// GitHubGraphQL is the contract of connections in GitHub's GraphQL API. A limit
// comes as a 200 or a 403 with errors of type RATE_LIMITED, and a connection of a
// search ends silently after 1,000 results.
func GitHubGraphQL() Contract {
	c := Relay()
	c.Name = "github-graphql"
	c.Doc = "GitHub GraphQL connections, as relay. Nodes that the token may not see are null and left out; searches end silently after 1,000 results, which a selected issueCount, repositoryCount or userCount gives away."
	c.Source = []string{"GitHub Docs, Using pagination in the GraphQL API", "GitHub Docs, Rate limits and query limits for the GraphQL API"}
	c.Unverified = []string{"items.created_at", "vetoes", "errors"}
	c.Request.Size = Size{In: "body:variables.first", Default: 100, Max: 100}
	for _, count := range []Path{"issueCount", "repositoryCount", "userCount", "discussionCount"} {
		c.Vetoes = append(c.Vetoes, Veto{At: atConnection + "." + count, Above: new(int64(1000))})
	}
	c.Errors = ErrorRules{
		Rules: append([]ErrorRule{
			{Status: []int{200, 403}, At: "errors[*].type", Is: "RATE_LIMITED", Means: pager.CodeRateLimited},
			{Status: []int{200, 403}, At: "errors[*].type", Is: "NOT_FOUND", Means: pager.CodeRequestRefused},
			{Status: []int{200, 403}, At: "errors[*].type", Is: "FORBIDDEN", Means: pager.CodeRequestRefused},
			{Status: []int{200, 403}, At: "errors[*].type", Is: "INSUFFICIENT_SCOPES", Means: pager.CodeRequestRefused},
		}, append(gitHubErrors().Rules, c.Errors.Rules...)...),
		WaitSeconds: 60,
	}
	return c
}

// ShopifyGraphQL is the contract of connections in Shopify's GraphQL Admin API,
// which limits by the cost of queries.
func ShopifyGraphQL() Contract {
	c := Relay()
	c.Name = "shopify-graphql"
	c.Doc = "Shopify GraphQL Admin connections, as relay. A query above the limit by cost comes as a 200 with THROTTLED."
	c.Source = []string{"Shopify API reference, Paginate with the GraphQL Admin API", "GraphQL Cursor Connections Specification"}
	c.Request.Size = Size{In: "body:variables.first", Default: 50, Max: 250}
	c.Errors.Rules = append([]ErrorRule{
		{Status: []int{200}, At: "errors[*].extensions.code", Is: "THROTTLED", Means: pager.CodeRateLimited},
		{Status: []int{200}, At: "errors[*].extensions.code", Is: "INTERNAL_SERVER_ERROR", Means: pager.CodeServerError},
		{Status: []int{200}, At: "errors[*].extensions.code", Is: "ACCESS_DENIED", Means: pager.CodeRequestRefused},
	}, c.Errors.Rules...)
	return c
}

// AtConnection returns [Relay], [GitHubGraphQL] or [ShopifyGraphQL] for a connection
// that stands elsewhere in the answer, as in data.repository.issues.
func AtConnection(c Contract, connection Path) Contract {
	moved := func(p Path) Path {
		if rest, ok := strings.CutPrefix(string(p), string(atConnection)+"."); ok {
			return connection + "." + Path(rest)
		}
		return p
	}
	c.Page.Required, c.Vetoes = slices.Clone(c.Page.Required), slices.Clone(c.Vetoes)
	for i, p := range c.Page.Required {
		c.Page.Required[i] = moved(p)
	}
	for i := range c.Vetoes {
		c.Vetoes[i].At = moved(c.Vetoes[i].At)
	}
	where, name := c.Next.From.split()
	c.Next.From = Place(where + ":" + string(moved(Path(name))))
	c.Items.At, c.End.At = moved(c.Items.At), moved(c.End.At)
	return c
}

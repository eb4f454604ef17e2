package adapters

import "github.com/everypage-go/everypage/pager"

// DockerRegistry is the contract of a registry's _catalog (Docker Registry HTTP
// API V2, "Catalog"): a Link header, relative to the address, until there is none;
// an entry is the name of a repository, and its own ID. Names come in lexical
// order, so what is there stays in place.
func DockerRegistry() Contract {
	return Contract{
		Name:   "docker-registry",
		Doc:    "A registry's /v2/_catalog: names of repositories, walked by the Link header.",
		Source: []string{"Docker Registry HTTP API V2, Catalog"},
		Request: Request{
			Size:   Size{In: "query:n"},
			Cursor: CursorRule{In: inURL, Positions: []string{"last"}},
		},
		Page:   PageRule{Forbidden: []Path{"errors"}},
		Items:  Items{At: "repositories", ID: []Path{""}},
		Next:   Next{From: "link:next"},
		End:    EndRule{Rule: EndNoNextLink},
		Order:  pager.OrderStable,
		Errors: ErrorRules{Codes: map[string]pager.Code{"TOOMANYREQUESTS": pager.CodeRateLimited, "UNAUTHORIZED": pager.CodeUnauthorized}},
	}
}

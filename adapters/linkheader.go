package adapters

import "github.com/everypage-go/everypage/pager"

// LinkHeader is the contract of a list that is walked by the Link header and
// nothing else (RFC 8288, "Web Linking"): the body is the array, and an answer
// without a link of relation next is the last. Which header fields count as links
// of the page, and which relations they have, the engine reads after that RFC.
func LinkHeader() Contract {
	return Contract{
		Name:       "link-header",
		Doc:        "Any list whose body is the array, walked by the Link header (RFC 8288). Several different next links need review.",
		Source:     []string{"RFC 8288, Web Linking"},
		Unverified: []string{"items"},
		Request:    Request{Cursor: CursorRule{In: inURL}},
		Items:      Items{ID: []Path{"id"}},
		Next:       Next{From: "link:next"},
		End:        EndRule{Rule: EndNoNextLink},
	}
}

// GitLabOffset is the contract of GitLab's offset pagination: page numbers inside
// Link headers. The order is unstable unless the caller declares one, and past
// offset 50,000 the API refuses with 405, which needs review: the rest is to be had
// by keyset alone.
func GitLabOffset() Contract {
	return Contract{
		Name:       "gitlab-offset",
		Doc:        "GitLab lists by page number, walked by the Link header; x-total is missing above 10,000 rows, and a 405 past offset 50,000 is a refusal and no end.",
		Source:     []string{"GitLab Docs, REST API: Pagination"},
		Unverified: []string{"errors"},
		Request: Request{
			Size:   Size{In: "query:per_page", Default: 20, Max: 100},
			Cursor: CursorRule{In: inURL, Positions: []string{"page"}},
		},
		Page:  PageRule{Total: "header:X-Total"},
		Items: Items{ID: []Path{"id"}, CreatedAt: "created_at"},
		Next:  Next{From: "link:next"},
		End:   EndRule{Rule: EndNoNextLink},
		Style: pager.StylePage,
		Order: pager.OrderUnstable,
	}
}

// GitLabKeyset is the contract of GitLab's keyset pagination, which the address
// asks for with pagination=keyset, order_by and sort. The documents describe the
// end as a page without a Link header and without items; a last page that still
// has items is taken as the end too, as no link is there to go on by.
func GitLabKeyset() Contract {
	c := GitLabOffset()
	c.Name = "gitlab-keyset"
	c.Doc = "GitLab lists by keyset, walked by the Link header. The address needs pagination=keyset, order_by and sort; the last link may lead to an empty page."
	c.Page.Total = ""
	c.Request.Cursor.Positions = []string{"page", "cursor", "id_after", "id_before"}
	c.End.ExpectEmpty = true
	c.Vetoes = []Veto{{Query: "pagination", Lacks: "keyset"}}
	c.Style, c.Order = pager.StyleCursor, pager.OrderStable
	return c
}

// ShopifyREST is the contract of Shopify's REST Admin API: page_info inside Link
// headers, whose relations are next and previous. Links are temporary. An endpoint
// that does not page by Link at all must not be read with it.
func ShopifyREST() Contract {
	return Contract{
		Name:       "shopify-rest",
		Doc:        "Shopify REST Admin lists, walked by the Link header. Links are temporary; endpoints without Link paging are not covered.",
		Source:     []string{"Shopify API reference, Paginate with the REST Admin API"},
		Unverified: []string{"errors.rules"},
		Request: Request{
			Size:   Size{In: "query:limit", Default: 50, Max: 250},
			Cursor: CursorRule{In: inURL, Positions: []string{"page_info"}},
		},
		Page:  PageRule{Forbidden: []Path{"errors"}},
		Items: Items{At: anyArray, ID: []Path{"id"}, CreatedAt: "created_at"},
		Next:  Next{From: "link:next"},
		End:   EndRule{Rule: EndNoNextLink},
		Errors: ErrorRules{Rules: []ErrorRule{
			{Status: []int{400}, At: "errors.page_info", Is: "Invalid value.", WithCursor: true, Means: pager.CodeCursorExpired},
		}},
	}
}

// Mastodon is the contract of Mastodon's lists: max_id or min_id inside Link
// headers. Rows are filtered after they were counted, so pages are short, and the
// IDs in the links need not be those of the items; the last link may lead to an
// empty page.
func Mastodon() Contract {
	return Contract{
		Name:       "mastodon",
		Doc:        "Mastodon lists, walked by the Link header, newest first. Short pages are normal; the last link may lead to an empty page.",
		Source:     []string{"Mastodon documentation, Guidelines and best practices: Pagination", "Mastodon documentation, Rate limits"},
		Unverified: []string{"request.size.max", "errors"},
		Request: Request{
			Size:   Size{In: "query:limit", Max: 80},
			Cursor: CursorRule{In: inURL, Positions: []string{"max_id", "since_id", "min_id"}},
		},
		Items: Items{ID: []Path{"id"}, CreatedAt: "created_at"},
		Next:  Next{From: "link:next"},
		End:   EndRule{Rule: EndNoNextLink},
		Order: pager.OrderStable,
	}
}

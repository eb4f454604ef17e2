package adapters

import (
	"net/http"

	"github.com/everypage-go/everypage/pager"
)

// Intercom is the contract of Intercom's cursored lists: pages.next.starting_after
// until pages.next is null or absent. An answer with a scroll_param belongs to
// [IntercomScroll], where pages is null on every page.
func Intercom() Contract {
	return Contract{
		Name:       "intercom",
		Doc:        "Intercom lists: pages.next.starting_after until pages.next is null or absent; total_pages and total_count are no end.",
		Source:     []string{"Intercom API description 2.14, Pagination"},
		Unverified: []string{"errors"},
		Request: Request{
			Size:   Size{In: "query:per_page", Default: 20, Max: 150},
			Cursor: CursorRule{In: "query:starting_after"},
		},
		Page:   PageRule{Required: []Path{"pages"}, Forbidden: []Path{"errors", "scroll_param"}, Total: "body:total_count"},
		Items:  Items{At: anyArray, ID: []Path{"id"}, CreatedAt: "created_at", CreatedFormat: formatUnix},
		Next:   Next{From: "body:pages.next.starting_after"},
		End:    EndRule{Rule: EndCursor, When: []string{whenAbsent, whenNull}},
		Errors: intercomErrors(),
	}
}

// IntercomSearch is the contract of Intercom's searches, which are a POST.
func IntercomSearch() Contract {
	c := Intercom()
	c.Name = "intercom-search"
	c.Doc = "Intercom searches by POST: pages.next.starting_after until pages.next is null or absent."
	c.Request = Request{
		Method: http.MethodPost,
		Size:   Size{In: "body:pagination.per_page", Default: 20, Max: 150},
		Cursor: CursorRule{In: "body:pagination.starting_after"},
	}
	return c
}

// IntercomCompanies is the contract of the list of companies, which stops at
// 10,000; the scroll does not.
func IntercomCompanies() Contract {
	c := Intercom()
	c.Name = "intercom-companies"
	c.Doc = "Intercom's list of companies: as intercom, and it stops at 10,000, so a larger total_count forbids calling it complete. The scroll has no such limit."
	c.Vetoes = []Veto{{At: "total_count", Above: new(int64(10000))}}
	return c
}

// IntercomScroll is the contract of the scroll over all companies: every page has a
// scroll_param, and the page without companies is the end. One scroll may be open
// at a time, it closes after a minute of silence, and after a 500 it must be begun
// anew; no page of it can be read twice.
func IntercomScroll() Contract {
	return Contract{
		Name:       "intercom-scroll",
		Doc:        "Intercom's scroll over companies: scroll_param until a page is empty. One scroll may be open at a time; a page cannot be read twice.",
		Source:     []string{"Intercom API description 2.14, Scroll over all companies"},
		Unverified: []string{"errors.rules[1]"},
		Request:    Request{Cursor: CursorRule{In: "query:scroll_param"}},
		Page:       PageRule{Required: []Path{"scroll_param"}, Forbidden: []Path{"errors"}},
		Items:      Items{At: "data", ID: []Path{"id"}, CreatedAt: "created_at", CreatedFormat: formatUnix},
		Next:       Next{From: "body:scroll_param"},
		End:        EndRule{Rule: EndEmptyPage},
		Errors: ErrorRules{Rules: []ErrorRule{
			{Status: []int{500}, WithCursor: true, Means: pager.CodeCursorExpired},
			{Status: []int{400, 404}, WithCursor: true, Means: pager.CodeCursorExpired},
		}},
		NotReplayable: true,
		RepeatLimit:   1, // the scroll_param may stay the same from page to page
	}
}

func intercomErrors() ErrorRules {
	return ErrorRules{Codes: map[string]pager.Code{
		"rate_limit_exceeded": pager.CodeRateLimited,
		"server_error":        pager.CodeServerError,
		"service_unavailable": pager.CodeServerError,
		"unauthorized":        pager.CodeUnauthorized,
	}}
}

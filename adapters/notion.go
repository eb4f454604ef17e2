package adapters

import (
	"net/http"

	"github.com/everypage-go/everypage/pager"
)

// Notion is the contract of Notion's lists that are read by GET: start_cursor,
// until has_more=false. request_status says on any page that the query was cut at
// 10,000 rows.
func Notion() Contract {
	return Contract{
		Name:       "notion",
		Doc:        "Notion lists by GET: next_cursor until has_more=false; request_status=incomplete on any page forbids calling the list complete.",
		Source:     []string{"Notion API reference, Pagination", "Notion guides, Query large data sources"},
		Unverified: []string{"errors"},
		Request: Request{
			Size:   Size{In: "query:page_size", Default: 100, Max: 100},
			Cursor: CursorRule{In: "query:start_cursor"},
		},
		Page:   PageRule{Required: []Path{"has_more"}, Equals: map[Path][]string{"object": {"list"}}},
		Items:  Items{At: "results", ID: []Path{"id"}, CreatedAt: "created_time"},
		Next:   Next{From: "body:next_cursor"},
		End:    EndRule{Rule: EndFlagFalse, At: "has_more"},
		Vetoes: []Veto{{At: "request_status.type", Is: new("incomplete")}},
		Errors: ErrorRules{
			Rules: []ErrorRule{
				{Status: []int{400}, Error: "validation_error", Message: "start_cursor", WithCursor: true, Means: pager.CodeCursorExpired},
			},
			Codes: map[string]pager.Code{"rate_limited": pager.CodeRateLimited, "service_overload": pager.CodeServerError},
		},
	}
}

// NotionQuery is the contract of Notion's queries and of its search, which are a
// POST. The search is best effort and vouches for nothing.
func NotionQuery() Contract {
	c := Notion()
	c.Name = "notion-query"
	c.Doc = "Notion queries by POST: as notion, with page_size and start_cursor in the body. The search endpoint is best effort."
	c.Unverified = []string{"errors"}
	c.Request = Request{
		Method: http.MethodPost,
		Size:   Size{In: "body:page_size", Default: 100, Max: 100},
		Cursor: CursorRule{In: "body:start_cursor"},
	}
	return c
}

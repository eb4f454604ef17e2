package adapters

import "github.com/everypage-go/everypage/pager"

// OffsetTotal is the contract of a list by offset whose answer gives the total: the
// end is the position reaching it. The walk goes on by what arrived, since a
// server may give less than was asked for. Rows that come or go shift the others,
// so it needs the caller's word that this is accepted.
func OffsetTotal() Contract {
	return Contract{
		Name:       "offset-total",
		Doc:        "Any list by offset and limit with a total that is documented as exact. Rows that come or go while it is walked shift the others.",
		Source:     []string{"everypage, docs/contracts.md"},
		Unverified: []string{"request", "page", "items"},
		Request: Request{
			Size:   Size{In: "query:limit"},
			Cursor: CursorRule{In: "query:offset"},
		},
		Page:  PageRule{Required: []Path{"total"}, Total: "body:total"},
		Items: Items{At: anyArray, ID: []Path{"id"}},
		Next:  Next{From: fromOffset},
		End:   EndRule{Rule: EndTotal},
		Order: pager.OrderUnstable,
	}
}

// PageNumber is the contract of a list by page number that says nothing about its
// length: only an empty page is the end, so that one request too many is made.
func PageNumber() Contract {
	return Contract{
		Name:       "page-number",
		Doc:        "Any list by page number whose body is the array: until a page is empty. Rows that come or go while it is walked shift the others.",
		Source:     []string{"everypage, docs/contracts.md"},
		Unverified: []string{"request", "items", "end"},
		Request: Request{
			Size:   Size{In: "query:per_page"},
			Cursor: CursorRule{In: "query:page"},
		},
		Items: Items{ID: []Path{"id"}},
		Next:  Next{From: fromPage},
		End:   EndRule{Rule: EndEmptyPage},
		Order: pager.OrderUnstable,
	}
}

// PageTotal is the contract of a list by page number whose answer gives the number
// of pages: the end is the last of them.
func PageTotal() Contract {
	return Contract{
		Name:       "page-total",
		Doc:        "Any list by page number with the number of pages in total_pages: until that page. Rows that come or go while it is walked shift the others.",
		Source:     []string{"everypage, docs/contracts.md"},
		Unverified: []string{"request", "page", "items", "end"},
		Request: Request{
			Size:   Size{In: "query:per_page"},
			Cursor: CursorRule{In: "query:page"},
		},
		Page:  PageRule{Required: []Path{"total_pages"}, Total: "body:total"},
		Items: Items{At: anyArray, ID: []Path{"id"}},
		Next:  Next{From: fromPage},
		End:   EndRule{Rule: EndLastPage, At: "total_pages"},
		Order: pager.OrderUnstable,
	}
}

// PocketBase is the contract of PocketBase's lists of records, by page number.
// With skipTotal the answer has no number of pages, and then no end.
func PocketBase() Contract {
	c := PageTotal()
	c.Name = "pocketbase"
	c.Doc = "PocketBase records: by page number until totalPages. Without skipTotal, which leaves out the end; sort by a field that does not change."
	c.Source = []string{"PocketBase documentation, API records: List/Search records"}
	c.Unverified = []string{"request.size"}
	c.Request.Size = Size{In: "query:perPage", Default: 30, Max: 1000}
	c.Page = PageRule{Required: []Path{"totalPages"}, Total: "body:totalItems", Size: "perPage"}
	c.Items = Items{At: "items", ID: []Path{"id"}, CreatedAt: "created", CreatedFormat: "layout:2006-01-02 15:04:05.000Z"}
	c.End.At = "totalPages"
	c.Vetoes = []Veto{{Query: "skipTotal", Lacks: "false"}}
	return c
}

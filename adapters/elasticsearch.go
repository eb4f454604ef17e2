package adapters

import (
	"net/http"

	"github.com/everypage-go/everypage/pager"
)

// ElasticsearchSearchAfter is the contract of a search that goes on by the sort
// values of its last hit and, with a point in time, by the newest ID of that. The
// end is a page without hits; one that ran out of time, lost shards or stopped
// early proves nothing. Without a point in time the sort needs a unique last key.
func ElasticsearchSearchAfter() Contract {
	return Contract{
		Name: "elasticsearch-search-after",
		Doc: "Elasticsearch _search with sort: search_after the last hit's sort, and the newest pit_id, until there are no hits; failed shards and timeouts forbid calling it complete. " +
			"Without a point in time the sort needs a unique last key, and values that do not change.",
		Source:     []string{"Elasticsearch documentation, Paginate search results: search_after", "Elasticsearch specification, SearchResponse"},
		Unverified: []string{"errors"},
		Request: Request{
			Method: http.MethodPost,
			Size:   Size{In: "body:size", Max: 10000},
		},
		Page:  PageRule{Required: []Path{"timed_out", "_shards.failed"}},
		Items: Items{At: "hits.hits", ID: []Path{"_id"}},
		Next: Next{Parts: []Part{
			{From: "last:sort", In: "body:search_after", As: asJSON},
			{From: "body:pit_id", In: "body:pit.id", IfAbsent: absentOmits},
		}},
		End:    EndRule{Rule: EndEmptyPage},
		Vetoes: elasticsearchVetoes(),
		Errors: elasticsearchErrors(),
		Order:  pager.OrderStable,
	}
}

// ElasticsearchScroll is the contract of a scroll, which the first request opens by
// the parameter scroll. Its ID need not change from page to page, and gives the
// next page each time, so that no page of it can be read twice.
func ElasticsearchScroll() Contract {
	return Contract{
		Name:       "elasticsearch-scroll",
		Doc:        "Elasticsearch scroll: the address has scroll=1m or the like; until there are no hits. A page cannot be read twice.",
		Source:     []string{"Elasticsearch documentation, Paginate search results: Scroll search results"},
		Unverified: []string{"errors"},
		Request: Request{
			Method: http.MethodPost,
			Size:   Size{In: "body:size", Max: 10000},
			Cursor: CursorRule{In: "body:scroll_id"},
			Follow: &Follow{URL: "/_search/scroll", Keep: []string{"scroll"}},
		},
		Page:          PageRule{Required: []Path{"_scroll_id", "timed_out", "_shards.failed"}},
		Items:         Items{At: "hits.hits", ID: []Path{"_id"}},
		Next:          Next{From: "body:_scroll_id"},
		End:           EndRule{Rule: EndEmptyPage},
		Vetoes:        elasticsearchVetoes(),
		Errors:        elasticsearchErrors(),
		Order:         pager.OrderStable,
		NotReplayable: true,
		RepeatLimit:   1, // the ID may stay the same from page to page
	}
}

func elasticsearchVetoes() []Veto {
	return []Veto{{At: "timed_out"}, {At: "_shards.failed"}, {At: "terminated_early"}}
}

func elasticsearchErrors() ErrorRules {
	const gone = "search_context_missing_exception"
	return ErrorRules{
		Rules: []ErrorRule{
			{Status: []int{404}, Type: gone, WithCursor: true, Means: pager.CodeCursorExpired},
			{Status: []int{404}, At: "error.root_cause[*].type", Is: gone, WithCursor: true, Means: pager.CodeCursorExpired},
		},
		Types: map[string]pager.Code{"es_rejected_execution_exception": pager.CodeRateLimited},
	}
}

package adapters

import "github.com/everypage-go/everypage/pager"

// Crossref is the contract of Crossref's works: the cursor is there on every page,
// and the end is, by the documents, a page with fewer items than rows were asked
// for. That number is taken as the answer repeats it.
func Crossref() Contract {
	return Contract{
		Name:       "crossref",
		Doc:        "Crossref /works: next-cursor until a page has fewer items than the answer's items-per-page. The cursor lives for some five minutes, may stay the same from page to page, and is not read twice.",
		Source:     []string{"Crossref REST API documentation, Deep paging with cursors"},
		Unverified: []string{"errors", "not_replayable", "repeat_limit"},
		Request: Request{
			Size:   Size{In: "query:rows", Default: 20, Max: 1000},
			Cursor: CursorRule{In: "query:cursor", First: new("*")},
		},
		Page:  PageRule{Equals: map[Path][]string{"status": {"ok"}}, Total: "body:message.total-results", Size: "message.items-per-page"},
		Items: Items{At: "message.items", ID: []Path{"DOI"}, CreatedAt: "created.date-time"},
		Next:  Next{From: "body:message.next-cursor"},
		End:   EndRule{Rule: EndShortPage},
		// Whether the cursor is a scroll the documents do not say; to take it for one
		// loses nothing.
		NotReplayable: true,
		RepeatLimit:   1,
	}
}

// OpenAlex is the contract of OpenAlex's lists by cursor: the end is a next_cursor
// that is null on a page without results, both together. Lists by page number stop
// at 10,000 and are not covered.
func OpenAlex() Contract {
	return Contract{
		Name:       "openalex",
		Doc:        "OpenAlex lists by cursor: meta.next_cursor until it is null on a page without results.",
		Source:     []string{"OpenAlex documentation, Page through results: Cursor paging"},
		Unverified: []string{"errors"},
		Request: Request{
			Size:   Size{In: "query:per-page", Default: 25, Max: 200},
			Cursor: CursorRule{In: "query:cursor", First: new("*")},
		},
		Page:  PageRule{Required: []Path{"meta.next_cursor"}, Forbidden: []Path{"error"}, Total: "body:meta.count"},
		Items: Items{At: "results", ID: []Path{"id"}},
		Next:  Next{From: "body:meta.next_cursor"},
		End:   EndRule{Rule: EndCursor, When: []string{whenNull}, AndEmpty: true},
	}
}

// MediaWiki is the contract of the action API's list modules: every member of
// continue becomes a parameter of the next request, and the end is an answer
// without continue. A section may be empty, or absent, and go on. Answers by page,
// as generators and properties give them, are no lists of it.
func MediaWiki() Contract {
	return Contract{
		Name:       "mediawiki",
		Doc:        "MediaWiki action API, one list module with format=json: all of continue until it is absent; warnings forbid calling the list complete. Generators and properties are not covered.",
		Source:     []string{"MediaWiki.org, API:Continue", "MediaWiki.org, API:Etiquette"},
		Unverified: []string{"errors"},
		Request:    Request{Cursor: CursorRule{In: inMembers, As: asJSON}},
		Page:       PageRule{Forbidden: []Path{"error", "query.pages"}},
		Items: Items{
			At: "query.*", ID: []Path{"pageid"},
			EmptyWhen: []string{whenAbsent}, Beside: []string{"batchcomplete", "limits", "servedby", "curtimestamp"},
		},
		Next:   Next{From: "body:continue"},
		End:    EndRule{Rule: EndCursor, When: []string{whenAbsent}},
		Vetoes: []Veto{{At: "warnings"}},
		Errors: ErrorRules{
			Rules: []ErrorRule{{Error: "badcontinue", WithCursor: true, Means: pager.CodeCursorExpired}},
			Codes: map[string]pager.Code{
				"ratelimited": pager.CodeRateLimited,
				"maxlag":      pager.CodeServerError,
				"readonly":    pager.CodeServerError,
			},
		},
	}
}

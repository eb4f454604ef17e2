package adapters

// ZendeskCursor is the contract of Zendesk's cursor pagination. meta.has_more=false
// is the end and nothing else is: links.next and after_cursor stay set on the last
// page of most lists. An answer without meta comes from offset pagination, which
// the server falls back to where page[size] is missing.
func ZendeskCursor() Contract {
	return Contract{
		Name:       "zendesk-cursor",
		Doc:        "Zendesk lists by cursor: meta.after_cursor until meta.has_more=false; links.next stays set on the last page.",
		Source:     []string{"Zendesk developer documentation, Using cursor pagination", "Zendesk developer documentation, Rate limits"},
		Unverified: []string{"errors"},
		Request: Request{
			Size:   Size{In: "query:page[size]", Default: 100, Max: 100},
			Cursor: CursorRule{In: "query:page[after]"},
		},
		Page:  PageRule{Required: []Path{"meta.has_more"}, Forbidden: []Path{"error"}},
		Items: Items{At: anyArray, ID: []Path{"id"}, CreatedAt: "created_at"},
		Next:  Next{From: "body:meta.after_cursor"},
		End:   EndRule{Rule: EndFlagFalse, At: "meta.has_more"},
	}
}

// ZendeskIncremental is the contract of Zendesk's incremental exports by cursor,
// whose first request carries start_time and whose others carry the cursor in its
// place. The cursor of the last page is for a later poll. The exports by time
// repeat items whose times are equal, and those of Talk end by a rule of their own
// and have no end_of_stream: they are no pages of it.
func ZendeskIncremental() Contract {
	return Contract{
		Name:       "zendesk-incremental",
		Doc:        "Zendesk incremental exports by cursor: after_cursor until end_of_stream=true. The last minute of changes is left out, and an item that changes during the walk comes again.",
		Source:     []string{"Zendesk developer documentation, Incremental exports"},
		Unverified: []string{"request.size.max", "request.follow.keep", "errors"},
		Request: Request{
			Size:   Size{In: "query:per_page", Default: 1000, Max: 1000},
			Cursor: CursorRule{In: "query:cursor"},
			Follow: &Follow{Keep: []string{"per_page", "include", "exclude_deleted"}},
		},
		Page:  PageRule{Required: []Path{"end_of_stream"}, Forbidden: []Path{"error"}},
		Items: Items{At: anyArray, ID: []Path{"id"}, CreatedAt: "created_at"},
		Next:  Next{From: "body:after_cursor"},
		End:   EndRule{Rule: EndFlagTrue, At: "end_of_stream"},
	}
}

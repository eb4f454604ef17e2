package adapters

import "github.com/everypage-go/everypage/pager"

// Slack is the contract of Slack's cursored methods. ok=true with a next_cursor
// that is empty, null or absent is the end; filters apply after paging, so pages
// are short or empty and go on. An error comes as a 200 with ok=false. Methods
// that still page by number or timestamp are not covered.
func Slack() Contract {
	return Contract{
		Name:       "slack",
		Doc:        "Slack Web API lists: response_metadata.next_cursor until it is empty, null or absent. Only methods that page by cursor.",
		Source:     []string{"Slack API, Pagination", "Slack API, Rate limits"},
		Unverified: []string{"items.created_at", "errors"},
		Request: Request{
			Size:   Size{In: "query:limit", Default: 200, Max: 1000},
			Cursor: CursorRule{In: "query:cursor"},
		},
		Page:   PageRule{Equals: map[Path][]string{"ok": {"true"}}, Forbidden: []Path{"error"}},
		Items:  Items{At: anyArray, ID: []Path{"id"}, CreatedAt: "created", CreatedFormat: formatUnix},
		Next:   Next{From: "body:response_metadata.next_cursor"},
		End:    EndRule{Rule: EndCursor, When: []string{whenAbsent, whenNull, whenEmpty}},
		Errors: slackErrors(),
	}
}

// SlackHistory is the contract of conversations.history and its like, whose items
// are messages: within one channel a message's ts is its identity and its time.
func SlackHistory() Contract {
	c := Slack()
	c.Name = "slack-history"
	c.Doc = "Slack conversations.history: messages of one channel, known by their ts. has_more on the last page forbids calling it complete."
	c.Items = Items{At: "messages", ID: []Path{"ts"}, CreatedAt: "ts", CreatedFormat: formatUnix}
	c.Vetoes = append(c.Vetoes, Veto{At: "has_more", LastPage: true})
	c.Order = pager.OrderStable
	return c
}

func slackErrors() ErrorRules {
	return ErrorRules{
		Rules: []ErrorRule{{Error: "invalid_cursor", WithCursor: true, Means: pager.CodeCursorExpired}},
		Codes: map[string]pager.Code{
			"ratelimited":         pager.CodeRateLimited,
			"rate_limited":        pager.CodeRateLimited,
			"internal_error":      pager.CodeServerError,
			"fatal_error":         pager.CodeServerError,
			"request_timeout":     pager.CodeServerError,
			"service_unavailable": pager.CodeServerError,
			"not_authed":          pager.CodeUnauthorized,
			"invalid_auth":        pager.CodeUnauthorized,
			"token_expired":       pager.CodeUnauthorized,
			"token_revoked":       pager.CodeUnauthorized,
			"account_inactive":    pager.CodeUnauthorized,
		},
	}
}

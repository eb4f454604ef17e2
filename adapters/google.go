package adapters

import "github.com/everypage-go/everypage/pager"

// GoogleAIP158 is the contract of Google APIs that follow AIP-158 (Pagination):
// the next page token, absent or empty, is the only signal of the end; short and
// empty pages go on, and {} is a legal last page. unreachable[] (AIP-217) vetoes
// completeness, on whatever page it came.
func GoogleAIP158() Contract {
	return Contract{
		Name:       "google-aip158",
		Doc:        "Google APIs after AIP-158: nextPageToken until it is absent or empty. The array's name differs by method.",
		Source:     []string{"AIP-158: Pagination", "AIP-217: Unreachable resources", "AIP-193: Errors"},
		Unverified: []string{"errors.rules"},
		Request: Request{
			Size:   Size{In: "query:pageSize"},
			Cursor: CursorRule{In: "query:pageToken"},
		},
		Page: PageRule{Forbidden: []Path{"error"}, Total: "body:totalSize"},
		Items: Items{
			At: anyArray, ID: []Path{"name"}, CreatedAt: "createTime", EmptyWhen: []string{whenAbsent},
			Beside: []string{"kind", "etag", "selfLink"},
		},
		Next: Next{From: "body:nextPageToken"},
		End:  EndRule{Rule: EndCursor, When: []string{whenAbsent, whenEmpty}},
		Vetoes: []Veto{
			{At: "unreachable"},
			{At: "warnings"},
			{Query: "fields", Lacks: "nextPageToken"},
			{Query: "$fields", Lacks: "nextPageToken"},
		},
		Errors: ErrorRules{
			Rules: []ErrorRule{
				{Status: []int{400}, Error: "INVALID_ARGUMENT", WithCursor: true, Means: pager.CodeCursorExpired},
			},
			Codes: map[string]pager.Code{
				"RESOURCE_EXHAUSTED": pager.CodeRateLimited,
				"UNAVAILABLE":        pager.CodeServerError,
				"DEADLINE_EXCEEDED":  pager.CodeServerError,
				"INTERNAL":           pager.CodeServerError,
				"UNAUTHENTICATED":    pager.CodeUnauthorized,
				"PERMISSION_DENIED":  pager.CodeRequestRefused,
			},
		},
	}
}

// GoogleDrive is the contract of Drive's files.list. incompleteSearch says that
// not all corpora were searched, and a fields mask without it and without
// nextPageToken leaves nothing by which the end could be known.
func GoogleDrive() Contract {
	return Contract{
		Name:       "google-drive",
		Doc:        "Google Drive v3 files.list: nextPageToken until it is absent; incompleteSearch forbids calling the list complete.",
		Source:     []string{"Google Drive API v3 reference, files.list", "Google Drive API v3 reference, FileList"},
		Unverified: []string{"request", "errors"},
		Request: Request{
			Size:   Size{In: "query:pageSize", Default: 100, Max: 1000},
			Cursor: CursorRule{In: "query:pageToken"},
		},
		Page:  PageRule{Forbidden: []Path{"error"}},
		Items: Items{At: "files", ID: []Path{"id"}, CreatedAt: "createdTime"},
		Next:  Next{From: "body:nextPageToken"},
		End:   EndRule{Rule: EndCursor, When: []string{whenAbsent}},
		Vetoes: []Veto{
			{At: "incompleteSearch"},
			{Query: "fields", Lacks: "nextPageToken"},
			{Query: "fields", Lacks: "incompleteSearch"},
		},
		Errors: googleErrors(),
	}
}

// GoogleCalendar is the contract of Calendar's events.list. nextSyncToken comes on
// the last page alone, and only where the request allows a later sync, so it is no
// condition of the end. A sync token that has expired is a 410, and what was
// synced before it must be read anew.
func GoogleCalendar() Contract {
	c := GoogleDrive()
	c.Name = "google-calendar"
	c.Doc = "Google Calendar events.list: nextPageToken until it is absent. A walk for a later sync needs google-calendar-sync."
	c.Source = []string{"Google Calendar API, Synchronize resources efficiently", "Google Calendar API reference, Events: list"}
	c.Unverified = []string{"errors"}
	c.Request.Size = Size{In: "query:maxResults", Default: 250, Max: 2500}
	c.Items = Items{At: "items", ID: []Path{"id"}, CreatedAt: "created"}
	c.Vetoes = []Veto{{Query: "fields", Lacks: "nextPageToken"}}
	c.Errors.Rules = append(c.Errors.Rules, ErrorRule{Status: []int{410}, WithCursor: true, Means: pager.CodeCursorExpired})
	return c
}

// GoogleCalendarSync is the contract of a walk that is to be followed by a sync:
// without nextSyncToken on the last page, the next sync has nothing to go on from.
func GoogleCalendarSync() Contract {
	c := GoogleCalendar()
	c.Name = "google-calendar-sync"
	c.Doc = "Google Calendar events.list for a later sync: as google-calendar, and a last page without nextSyncToken is not complete."
	c.Vetoes = append(c.Vetoes, Veto{At: "nextSyncToken", Absent: true, LastPage: true})
	return c
}

// Gmail is the contract of Gmail's messages.list, which leaves out the array where
// it is empty. resultSizeEstimate is an estimate and no total. For threads and
// drafts the caller names another array.
func Gmail() Contract {
	c := GoogleDrive()
	c.Name = "gmail"
	c.Doc = "Gmail messages.list: nextPageToken until it is absent. The array is left out where it is empty; resultSizeEstimate says nothing."
	c.Source = []string{"Gmail API reference, users.messages.list"}
	c.Unverified = []string{"request.size.default", "errors"}
	c.Request.Size = Size{In: "query:maxResults", Default: 100, Max: 500}
	c.Items = Items{At: "messages", ID: []Path{"id"}, EmptyWhen: []string{whenAbsent}, Beside: []string{"resultSizeEstimate"}}
	c.Vetoes = []Veto{{Query: "fields", Lacks: "nextPageToken"}}
	return c
}

// GoogleCompute is the contract of Compute Engine's list methods. A warning that
// no result was on the page is harmless; one that something could not be reached,
// or that the list succeeded in part, is not.
func GoogleCompute() Contract {
	c := GoogleDrive()
	c.Name = "google-compute"
	c.Doc = "Google Compute list: nextPageToken until it is absent; what could not be reached forbids calling the list complete."
	c.Source = []string{"Compute Engine API reference, instances.list", "Compute Engine API reference, warning.code"}
	c.Unverified = []string{"request", "vetoes[0]", "errors"}
	c.Request.Size = Size{In: "query:maxResults", Default: 500, Max: 500}
	c.Items = Items{
		At: "items", ID: []Path{"id"}, CreatedAt: "creationTimestamp",
		EmptyWhen: []string{whenAbsent}, Beside: []string{"kind", "id", "selfLink", "etag"},
	}
	c.Vetoes = []Veto{
		{At: "unreachables"},
		{At: "warning.code", Is: new("UNREACHABLE")},
		{At: "warning.code", Is: new("PARTIAL_SUCCESS")},
		{Query: "fields", Lacks: "nextPageToken"},
	}
	return c
}

// GoogleComputeAggregated is the contract of Compute's aggregatedList methods,
// whose items stand in arrays by scope; each scope has a warning of its own.
func GoogleComputeAggregated() Contract {
	c := GoogleCompute()
	c.Name = "google-compute-aggregated"
	c.Doc = "Google Compute aggregatedList: nextPageToken until it is absent, items by scope; a scope that could not be reached forbids calling the list complete."
	c.Source = []string{"Compute Engine API reference, instances.aggregatedList", "Compute Engine API reference, warning.code"}
	c.Items.At = "items.*.*"
	c.Vetoes = append(c.Vetoes,
		Veto{At: "items.*.warning.code", Is: new("UNREACHABLE")},
		Veto{At: "items.*.warning.code", Is: new("PARTIAL_SUCCESS")},
	)
	return c
}

// googleErrors reads the errors of the APIs that are older than AIP-193: the
// reason stands in the first of error.errors, and a limit may come as a 403.
func googleErrors() ErrorRules {
	rules := []ErrorRule{
		{Status: []int{400}, At: "error.errors[0].location", Is: "pageToken", WithCursor: true, Means: pager.CodeCursorExpired},
	}
	for _, r := range []struct {
		reason string
		means  pager.Code
	}{
		{"rateLimitExceeded", pager.CodeRateLimited},
		{"userRateLimitExceeded", pager.CodeRateLimited},
		{"dailyLimitExceeded", pager.CodeQuotaExhausted},
		{"quotaExceeded", pager.CodeQuotaExhausted},
	} {
		rules = append(rules, ErrorRule{Status: []int{403, 429}, At: "error.errors[0].reason", Is: r.reason, Means: r.means})
	}
	return ErrorRules{Rules: rules, Codes: map[string]pager.Code{"RESOURCE_EXHAUSTED": pager.CodeRateLimited, "UNAVAILABLE": pager.CodeServerError}}
}

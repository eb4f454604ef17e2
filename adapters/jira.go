package adapters

import "github.com/everypage-go/everypage/pager"

// jiraTime is how Jira writes an instant.
const jiraTime = "layout:2006-01-02T15:04:05.000-0700"

// JiraJQL is the contract of Jira Cloud's search/jql: a page token and isLast, of
// which the last page may lack either. An answer with startAt or total comes from
// the older search, whose missing token would say nothing.
func JiraJQL() Contract {
	return Contract{
		Name:       "jira-jql",
		Doc:        "Jira Cloud search/jql: nextPageToken until isLast=true, or until it is absent or null. The JQL must be bounded; the index lags behind the data.",
		Source:     []string{"Jira Cloud REST API v3, Search for issues using JQL enhanced search", "JRACLOUD-92184"},
		Unverified: []string{"request.size.max", "errors"},
		Request: Request{
			Size:   Size{In: "query:maxResults", Max: 5000},
			Cursor: CursorRule{In: "query:nextPageToken"},
		},
		Page:  PageRule{Forbidden: []Path{"startAt", "total", "errorMessages"}},
		Items: Items{At: "issues", ID: []Path{"id"}, CreatedAt: "fields.created", CreatedFormat: jiraTime},
		Next:  Next{From: "body:nextPageToken"},
		End: EndRule{Any: []EndRule{
			{Rule: EndFlagTrue, At: "isLast"},
			{Rule: EndCursor, When: []string{whenAbsent, whenNull}},
		}},
	}
}

// JiraOffset is the contract of Jira's lists by startAt. The server lowers
// maxResults silently, so the walk goes on by what arrived; isLast=true is the
// end, or the total, where it is documented as exact. With neither, or with
// isLast=false beside a reached total, the end is unknown.
func JiraOffset() Contract {
	return Contract{
		Name:       "jira-offset",
		Doc:        "Jira lists by startAt: until isLast=true, or until total is reached. A total that changes between pages needs review.",
		Source:     []string{"Jira Cloud REST API v3, Introduction: Pagination", "JRACLOUD-92183"},
		Unverified: []string{"errors"},
		Request: Request{
			Size:   Size{In: "query:maxResults", Default: 50},
			Cursor: CursorRule{In: "query:startAt"},
		},
		Page:  PageRule{Required: []Path{"startAt"}, Forbidden: []Path{"errorMessages"}, Total: "body:total", Size: "maxResults"},
		Items: Items{At: anyArray, ID: []Path{"id"}, Beside: []string{"warningMessages"}},
		Next:  Next{From: fromOffset},
		End: EndRule{Any: []EndRule{
			{Rule: EndFlagTrue, At: "isLast"},
			{Rule: EndTotal},
		}},
		Order: pager.OrderUnstable,
	}
}

package adapters

import "github.com/everypage-go/everypage/pager"

// Salesforce is the contract of Salesforce's REST queries: nextRecordsUrl, a path
// of the instance, until done=true. A reached totalSize is no end. The lists of
// children inside a record have a done of their own, and one that is false means
// that they were cut.
func Salesforce() Contract {
	return Contract{
		Name:       "salesforce",
		Doc:        "Salesforce REST queries: nextRecordsUrl until done=true; a list of children with done=false forbids calling the list complete. A custom Apex endpoint has no such envelope.",
		Source:     []string{"Salesforce REST API Developer Guide, Query: more results", "Salesforce Help 000384958, API query cursor limits"},
		Unverified: []string{"errors.codes"},
		Request:    Request{Cursor: CursorRule{In: inURL}},
		Page:       PageRule{Required: []Path{"done"}, Total: "body:totalSize"},
		Items:      Items{At: "records", ID: []Path{"Id"}, CreatedAt: "CreatedDate", CreatedFormat: "layout:2006-01-02T15:04:05.000-0700"},
		Next:       Next{From: "body:nextRecordsUrl"},
		End:        EndRule{Rule: EndFlagTrue, At: "done"},
		Vetoes:     []Veto{{At: "records[*].*.done", Is: new("false")}},
		Errors: ErrorRules{
			Rules: []ErrorRule{{Status: []int{400}, Error: "INVALID_QUERY_LOCATOR", WithCursor: true, Means: pager.CodeCursorExpired}},
			Codes: map[string]pager.Code{
				"REQUEST_LIMIT_EXCEEDED": pager.CodeQuotaExhausted,
				"SERVER_UNAVAILABLE":     pager.CodeServerError,
				"INVALID_SESSION_ID":     pager.CodeUnauthorized,
			},
		},
	}
}

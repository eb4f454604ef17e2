package adapters

import "github.com/everypage-go/everypage/pager"

// FHIR is the contract of a FHIR search or history: the link with relation next,
// until there is none. What a search includes beside its matches is left out, and
// an outcome that reports a problem forbids calling the list complete. The total
// may be absent or estimated, and some servers do not page at all.
func FHIR() Contract {
	return Contract{
		Name:       "fhir",
		Doc:        "FHIR searches: Bundle.link[relation=next] until it is absent. Included resources are left out; a reported problem forbids calling the list complete.",
		Source:     []string{"HL7 FHIR, Search: Paging", "HL7 FHIR, Bundle"},
		Unverified: []string{"errors.rules"},
		Request: Request{
			Header: map[string]string{"Accept": "application/fhir+json"},
			Size:   Size{In: "query:_count"},
			Cursor: CursorRule{In: inURL},
		},
		Page: PageRule{
			Equals: map[Path][]string{"resourceType": {"Bundle"}, "type": {"searchset", "history"}},
			Total:  "body:total",
		},
		Items: Items{
			At: "entry", ID: []Path{"resource.resourceType", "resource.id"},
			EmptyWhen: []string{whenAbsent}, Beside: []string{"id", "meta", "link", "implicitRules", "language", "identifier", "timestamp", "signature", "issues"},
			Skip: []Skip{{At: "search.mode", Is: []string{"include", "outcome"}}},
		},
		Next: Next{From: "body:link[relation=next].url"},
		End:  EndRule{Rule: EndCursor, When: []string{whenAbsent}},
		Vetoes: []Veto{
			{At: "entry[*].resource.issue[*].severity", Is: new("fatal")},
			{At: "entry[*].resource.issue[*].severity", Is: new("error")},
			{At: "entry[*].resource.issue[*].severity", Is: new("warning")},
		},
		Errors: ErrorRules{Rules: []ErrorRule{
			{Status: []int{404, 410}, WithCursor: true, Means: pager.CodeCursorExpired},
		}},
	}
}

// FHIRHistory is the contract of a FHIR history, which has one entry for each
// version of a resource. The entry of a deletion holds no resource, and so no ID.
func FHIRHistory() Contract {
	c := FHIR()
	c.Name = "fhir-history"
	c.Doc = "FHIR histories: as fhir, an item for each version. An entry of a deletion has no ID and is owed."
	c.Source = []string{"HL7 FHIR, RESTful API: history", "HL7 FHIR, Bundle"}
	c.Page.Equals["type"] = []string{"history"}
	c.Items.ID = append(c.Items.ID, "resource.meta.versionId")
	return c
}

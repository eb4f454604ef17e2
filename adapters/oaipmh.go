package adapters

import "github.com/everypage-go/everypage/pager"

// OAIPMH is the contract of OAI-PMH's ListRecords, in XML. The resumptionToken
// goes alone beside the verb, and an empty element is the end, as is none on a list
// of one page. None after a page with a token is against the protocol, and is taken
// for the end as most harvesters do. completeListSize is optional and may be wrong;
// noRecordsMatch is a list without records.
func OAIPMH() Contract {
	return Contract{
		Name:   "oai-pmh",
		Doc:    "OAI-PMH ListRecords: the resumptionToken until it is empty or absent. completeListSize may be wrong; a token that has expired needs a walk from the start.",
		Source: []string{"Open Archives Initiative Protocol for Metadata Harvesting 2.0, Flow control", "Open Archives Initiative Protocol for Metadata Harvesting 2.0, Error and exception conditions"},
		Format: formatXML,
		XML: XMLRule{
			Root:    "OAI-PMH",
			Arrays:  []Path{"ListRecords.record", "error"},
			Numbers: []Path{"ListRecords.resumptionToken.@completeListSize", "ListRecords.resumptionToken.@cursor"},
		},
		Request: Request{
			Header: map[string]string{"Accept": "text/xml"},
			Cursor: CursorRule{In: "query:resumptionToken"},
			Follow: &Follow{Keep: []string{"verb"}},
		},
		Page:  PageRule{Required: []Path{"responseDate"}, Forbidden: []Path{"error"}, Total: "body:ListRecords.resumptionToken.@completeListSize"},
		Items: Items{At: "ListRecords.record", ID: []Path{"header.identifier"}},
		Next:  Next{From: "body:ListRecords.resumptionToken.#text"},
		End:   EndRule{Rule: EndCursor, When: []string{whenAbsent, whenEmpty}, EmptyErrors: []string{"noRecordsMatch"}},
		Errors: ErrorRules{Rules: []ErrorRule{
			{At: "error[*].@code", Is: "badResumptionToken", WithCursor: true, Means: pager.CodeCursorExpired},
		}},
	}
}

// OAIPMHIdentifiers is the contract of ListIdentifiers, whose items are headers.
func OAIPMHIdentifiers() Contract {
	c := OAIPMH()
	c.Name = "oai-pmh-identifiers"
	c.Doc = "OAI-PMH ListIdentifiers: the resumptionToken until it is empty or absent; otherwise as oai-pmh."
	c.XML.Arrays = []Path{"ListIdentifiers.header", "error"}
	c.XML.Numbers = []Path{"ListIdentifiers.resumptionToken.@completeListSize", "ListIdentifiers.resumptionToken.@cursor"}
	c.Page.Total = "body:ListIdentifiers.resumptionToken.@completeListSize"
	c.Items = Items{At: "ListIdentifiers.header", ID: []Path{"identifier"}}
	c.Next.From = "body:ListIdentifiers.resumptionToken.#text"
	return c
}

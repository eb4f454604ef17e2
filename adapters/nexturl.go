package adapters

import "github.com/everypage-go/everypage/pager"

// MicrosoftGraph is the contract of Microsoft Graph: @odata.nextLink, an address,
// until it is absent. A page may be empty and go on. Collections that do not page
// at all look complete after one page.
func MicrosoftGraph() Contract {
	return Contract{
		Name:       "ms-graph",
		Doc:        "Microsoft Graph: @odata.nextLink until it is absent. The largest page differs by API and is often 999; headers such as ConsistencyLevel go with every request.",
		Source:     []string{"Microsoft Graph, Paging Microsoft Graph data in your app", "Microsoft REST API Guidelines, Graph: Collections"},
		Unverified: []string{"errors.rules"},
		Request: Request{
			Size:   Size{In: "query:$top"},
			Cursor: CursorRule{In: inURL},
		},
		Page:  PageRule{Forbidden: []Path{"error"}, Total: `body:@odata\.count`},
		Items: Items{At: "value", ID: []Path{"id"}, CreatedAt: "createdDateTime"},
		Next:  Next{From: `body:@odata\.nextLink`},
		End:   EndRule{Rule: EndCursor, When: []string{whenAbsent}},
		Errors: ErrorRules{Rules: []ErrorRule{
			{Error: "Directory_ExpiredPageToken", WithCursor: true, Means: pager.CodeCursorExpired},
			{Status: []int{410}, WithCursor: true, Means: pager.CodeCursorExpired},
		}},
	}
}

// MicrosoftGraphDelta is the contract of delta queries, whose last page carries
// @odata.deltaLink for the next round.
func MicrosoftGraphDelta() Contract {
	c := MicrosoftGraph()
	c.Name = "ms-graph-delta"
	c.Doc = "Microsoft Graph delta queries: @odata.nextLink until it is absent; a last page without @odata.deltaLink is not complete."
	c.Vetoes = []Veto{{At: `@odata\.deltaLink`, Absent: true, LastPage: true}}
	return c
}

// MicrosoftOneNote is the contract of endpoints that never send a next link where
// $top is used: a full page is then no evidence of the end.
func MicrosoftOneNote() Contract {
	c := MicrosoftGraph()
	c.Name = "ms-graph-onenote"
	c.Doc = "Microsoft Graph endpoints that send no @odata.nextLink with $top, such as OneNote's: as ms-graph, and a full last page forbids calling the list complete."
	c.Source = append(c.Source, "Microsoft Q&A 1251169")
	c.Vetoes = []Veto{{FullPageWithoutLink: true, LastPage: true}}
	return c
}

// OData is the contract of services that follow OData 4: @odata.nextLink, until it
// is absent. A nested collection with a next link of its own is not walked.
func OData() Contract {
	return Contract{
		Name:       "odata",
		Doc:        "OData 4 services: @odata.nextLink until it is absent. A nested collection that goes on by a link of its own is not walked.",
		Source:     []string{"OData JSON Format Version 4.01, Control information: nextLink", "Microsoft REST API Guidelines, Azure: Collections"},
		Unverified: []string{"items.id", "errors"},
		Request: Request{
			Size:   Size{In: "query:$top"},
			Cursor: CursorRule{In: inURL, Positions: []string{"$skip", "$skiptoken"}},
		},
		Page:  PageRule{Forbidden: []Path{"error"}, Total: `body:@odata\.count`},
		Items: Items{At: "value", ID: []Path{"id"}},
		Next:  Next{From: `body:@odata\.nextLink`},
		End:   EndRule{Rule: EndCursor, When: []string{whenAbsent}},
	}
}

// AzureARM is the contract of Azure's services: nextLink, until it is absent. The
// guidelines forbid null, so null is no end but needs review.
func AzureARM() Contract {
	c := OData()
	c.Name = "azure-arm"
	c.Doc = "Azure services: nextLink until it is absent; null, which Azure's guidelines forbid, needs review."
	c.Source = []string{"Microsoft REST API Guidelines, Azure: Collections"}
	c.Unverified = []string{"errors"}
	c.Request.Size = Size{}
	c.Page.Total = ""
	c.Next.From = "body:nextLink"
	return c
}

// JSONAPI is the contract of JSON:API: links.next, a string or an object with
// href, until it is absent or null. The cursor profile's rangeTruncated says that a
// range was cut.
func JSONAPI() Contract {
	return Contract{
		Name:       "jsonapi",
		Doc:        "JSON:API: links.next until it is absent or null; meta.page.rangeTruncated forbids calling the list complete.",
		Source:     []string{"JSON:API 1.1, Pagination", "JSON:API profile, Cursor Pagination"},
		Unverified: []string{"errors"},
		Request: Request{
			Header: map[string]string{"Accept": "application/vnd.api+json"},
			Size:   Size{In: "query:page[size]"},
			Cursor: CursorRule{In: inURL},
		},
		Page:   PageRule{Forbidden: []Path{"errors"}},
		Items:  Items{At: "data", ID: []Path{"type", "id"}},
		Next:   Next{From: "body:links.next", Or: []Place{"body:links.next.href"}},
		End:    EndRule{Rule: EndCursor, When: []string{whenAbsent, whenNull}},
		Vetoes: []Veto{{At: "meta.page.rangeTruncated"}},
	}
}

// HAL is the contract of HAL documents: _links.next.href, until _links.next is
// absent. The array inside _embedded has a name of its own, which the caller
// gives; a template instead of an address is no page that could be gone on from.
func HAL() Contract {
	return Contract{
		Name:       "hal",
		Doc:        "HAL: _links.next.href until it is absent. The caller names the array, as in _embedded.orders; a page without items may leave _embedded out. A next link that is a template needs review.",
		Source:     []string{"draft-kelly-json-hal, JSON Hypertext Application Language"},
		Unverified: []string{"request", "items", "next", "end"},
		Request: Request{
			Header: map[string]string{"Accept": "application/hal+json, application/json"},
			Cursor: CursorRule{In: inURL},
		},
		Page:  PageRule{Required: []Path{"_links"}},
		Items: Items{At: "_embedded.items", ID: []Path{"_links.self.href"}, EmptyWhen: []string{whenAbsent}, Beside: []string{"page"}},
		Next:  Next{From: "body:_links.next.href"},
		End:   EndRule{Rule: EndCursor, When: []string{whenAbsent}},
		Errors: ErrorRules{Rules: []ErrorRule{
			{Status: []int{200}, At: "_links.next.templated", Is: "true", Means: pager.CodeNotAList},
		}},
	}
}

// Twilio2010 is the contract of Twilio's 2010 API: next_page_uri, a path, until it
// is null. page and end count what was sent and say nothing about the end.
func Twilio2010() Contract {
	return Contract{
		Name:       "twilio-2010",
		Doc:        "Twilio's 2010-04-01 API: next_page_uri, a path, until it is null.",
		Source:     []string{"Twilio API, REST API: Pagination", "Twilio OpenAPI, twilio_api_v2010"},
		Unverified: []string{"order", "errors"},
		Request: Request{
			Size:   Size{In: "query:PageSize", Default: 50, Max: 1000},
			Cursor: CursorRule{In: inURL},
		},
		Page:   PageRule{Required: []Path{"next_page_uri"}},
		Items:  Items{At: anyArray, ID: []Path{"sid"}, CreatedAt: "date_created", CreatedFormat: "layout:Mon, 02 Jan 2006 15:04:05 -0700"},
		Next:   Next{From: "body:next_page_uri"},
		End:    EndRule{Rule: EndCursor, When: []string{whenNull}},
		Errors: twilioErrors(),
	}
}

// TwilioV1 is the contract of Twilio's newer APIs: meta.next_page_url, an address,
// until it is null.
func TwilioV1() Contract {
	c := Twilio2010()
	c.Name = "twilio-v1"
	c.Doc = "Twilio's v1 and v2 APIs: meta.next_page_url, an address, until it is null."
	c.Source = []string{"Twilio API, REST API: Pagination", "Twilio OpenAPI, twilio_conversations_v1"}
	c.Page.Required = []Path{"meta.next_page_url"}
	c.Items.CreatedFormat = formatRFC3339
	c.Next.From = "body:meta.next_page_url"
	return c
}

func twilioErrors() ErrorRules {
	return ErrorRules{
		Rules: []ErrorRule{{Status: []int{400}, Error: "20006", WithCursor: true, Means: pager.CodeCursorExpired}},
		Codes: map[string]pager.Code{"20429": pager.CodeRateLimited},
	}
}

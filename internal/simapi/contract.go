package simapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Contract is the pagination contract that a server speaks.
type Contract string

const (
	// GitHubREST is a bare array with a Link header; per_page and page.
	GitHubREST Contract = "github-rest"
	// StripeV1 is data and has_more; limit and starting_after.
	StripeV1 Contract = "stripe-v1"
	// GoogleAIP158 is nextPageToken, absent on the last page; pageSize and
	// pageToken. An empty page has no items field.
	GoogleAIP158 Contract = "google-aip158"
	// KeysetCatalogue is pagination with limit, next_cursor and has_more; limit
	// and cursor.
	KeysetCatalogue Contract = "keyset-catalogue"
	// KeysetFeed is pagination with limit only: the first few, and no more pages.
	KeysetFeed Contract = "keyset-feed"
)

// Contracts returns all contracts.
func Contracts() []Contract {
	return []Contract{GitHubREST, StripeV1, GoogleAIP158, KeysetCatalogue, KeysetFeed}
}

// Page is one page of a list before its contract writes it down.
type Page struct {
	Contract Contract
	Items    []Item
	// Limit is the page size after clamping.
	Limit int
	// Cursor is what the request named as its position, Next what the answer
	// names; a page number under GitHubREST. Under StripeV1 Next is not written:
	// the last item says it.
	Cursor  string
	Next    string
	HasMore bool
	// Number and Last are page numbers, from 1; Last is known only under
	// GitHubREST.
	Number int
	Last   int
}

// names are the parameters and the usual page size of a contract.
type names struct {
	size, cursor string
	usual        int
	requestID    string
}

func (c Contract) names() names {
	switch c {
	case GitHubREST:
		return names{size: "per_page", cursor: "page", usual: 30, requestID: "X-Github-Request-Id"}
	case StripeV1:
		return names{size: "limit", cursor: "starting_after", usual: 10, requestID: "Request-Id"}
	case GoogleAIP158:
		return names{size: "pageSize", cursor: "pageToken", usual: 20, requestID: "X-Request-Id"}
	case KeysetCatalogue:
		return names{size: "limit", cursor: "cursor", usual: 20, requestID: "X-Request-Id"}
	case KeysetFeed:
		return names{size: "limit", usual: 20, requestID: "X-Request-Id"}
	}
	return names{}
}

// write gives the page as the contract's API sends it.
func (p *Page) write(request *http.Request, itemsField string) (Answer, error) {
	items := make([]json.RawMessage, len(p.Items))
	for i, item := range p.Items {
		encoded, err := item.encode(p.Contract)
		if err != nil {
			return Answer{}, err
		}
		items[i] = encoded
	}
	switch p.Contract {
	case GitHubREST:
		answer := jsonAnswer(http.StatusOK, items)
		if link := p.link(request); link != "" {
			answer.Header.Set("Link", link)
		}
		return answer, nil
	case StripeV1:
		return jsonAnswer(http.StatusOK, map[string]any{
			"object": "list", "url": request.URL.Path, "has_more": p.HasMore, "data": items,
		}), nil
	case GoogleAIP158:
		document := map[string]any{}
		if len(items) > 0 {
			document[itemsField] = items
		}
		if p.Next != "" {
			document["nextPageToken"] = p.Next
		}
		return jsonAnswer(http.StatusOK, document), nil
	case KeysetCatalogue:
		var next *string
		if p.Next != "" {
			next = &p.Next
		}
		return jsonAnswer(http.StatusOK, map[string]any{
			itemsField:   items,
			"pagination": map[string]any{"limit": p.Limit, "next_cursor": next, "has_more": p.HasMore},
		}), nil
	case KeysetFeed:
		return jsonAnswer(http.StatusOK, map[string]any{
			itemsField: items, "pagination": map[string]any{"limit": p.Limit},
		}), nil
	}
	return Answer{}, fmt.Errorf("simapi: unknown contract %q", p.Contract)
}

// link writes the Link header: absolute URLs that keep the request's other
// parameters, as GitHub's do.
func (p *Page) link(request *http.Request) string {
	var links []string
	add := func(relation, page string) {
		query := request.URL.Query()
		query.Set("page", page)
		target := url.URL{Scheme: "http", Host: request.Host, Path: request.URL.Path, RawQuery: query.Encode()}
		links = append(links, fmt.Sprintf("<%s>; rel=%q", target.String(), relation))
	}
	if p.Number > 1 {
		add("prev", strconv.Itoa(p.Number-1))
	}
	if p.Next != "" {
		add("next", p.Next)
		add("last", strconv.Itoa(p.Last))
	}
	if p.Number > 1 {
		add("first", "1")
	}
	return strings.Join(links, ", ")
}

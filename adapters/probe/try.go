package probe

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// found is a page as the engine reads it, whatever its items are.
type found = pager.Page[json.RawMessage]

// reading is what one candidate makes of the first answer.
type reading struct {
	candidate
	page  found
	score int
	// shown says that the end stands in the answer, as against something that is
	// not there and would look the same in an answer that was cut or changed.
	shown bool
}

// read returns a page at a cursor, as a contract has it.
func (p *prober) read(ctx context.Context, transport http.RoundTripper, c *candidate, at pager.Cursor) (found, error) {
	list, err := p.list(transport, c.contract, c.itemsAt)
	if err != nil {
		return found{}, err
	}
	for page, err := range list.Pages(ctx, at) {
		return page, err
	}
	return found{}, errors.New("probe: a list without a first page")
}

// list is the list by a contract. Trials ask nobody, so that no limit stands in
// the way of the next one and nothing of them is logged.
func (p *prober) list(transport http.RoundTripper, c adapters.Contract, itemsAt adapters.Path) (pager.Pager[json.RawMessage], error) {
	client := p.client
	if transport != p.live {
		trial := p.http
		trial.Transport = transport
		client = &adapters.Client{HTTP: &trial, Now: p.options.Now, BodyLimit: p.options.BodyLimit, Unpaced: true}
	}
	return adapters.List[json.RawMessage](client, c, p.address, &adapters.Options{Header: p.options.Header, ItemsAt: itemsAt})
}

// tryAll reads the first answer with every candidate and returns those that read
// it as a page and know how the list goes on or that it ended, the best first.
func (p *prober) tryAll(ctx context.Context, first *recorded, all []candidate) []reading {
	var readings []reading
	for i := range all {
		c := &all[i]
		page, err := p.read(ctx, replayed{first}, c, pager.Cursor{})
		if option, ok := errors.AsType[*adapters.OptionError](err); ok && option.Option == "url" {
			p.midway = option.Problem
		}
		if err != nil || len(page.Items) == 0 || page.End == pager.EndUnknown || page.End == pager.EndMore && page.Next.IsStart() {
			continue
		}
		if slices.ContainsFunc(page.Items, func(item pager.Item[json.RawMessage]) bool { return item.ID == "" || item.Problem != "" }) {
			continue
		}
		r := reading{candidate: *c, page: page, shown: p.shows(&c.contract)}
		r.score = p.score(&r, first)
		readings = append(readings, r)
	}
	slices.SortStableFunc(readings, func(a, b reading) int { return b.score - a.score })
	return readings
}

// shows reports whether the answer holds what the contract's end is read from.
func (p *prober) shows(c *adapters.Contract) bool {
	if len(c.End.All)+len(c.End.Any) > 0 {
		return slices.ContainsFunc(slices.Concat(c.End.All, c.End.Any), func(e adapters.EndRule) bool {
			_, there := p.look.scalar(e.At)
			return e.At != "" && there
		})
	}
	switch c.End.Rule {
	case adapters.EndNoNextLink, adapters.EndEmptyPage:
		return false
	case adapters.EndBounded: // at least something must tell it from any other answer
		return len(c.Page.Required)+len(c.Page.Equals) > 0
	case adapters.EndCursor:
		where, name, _ := strings.Cut(string(c.Next.From), ":")
		_, there := p.look.scalar(adapters.Path(name))
		return where == "body" && there || where == "header" && len(p.look.header.Values(name)) > 0
	}
	return true
}

// The weights of what speaks for a contract. They order the candidates; which one
// is suggested, following it decides.
const (
	givesCursor   = 40 // the answer holds a next cursor where the contract looks
	showsEnd      = 30 // the answer holds the end
	derivesCursor = 25 // the answer says that more follows, and the last item where
	countsOn      = 10 // nothing in the answer contradicts counting on
	isBuiltin     = 10 // it was read in an API's documentation, and not guessed
	ofThisVendor  = 30
	ofAnother     = -8
	isBounded     = -40 // it explains the answer, and every other explanation goes before it
)

func (p *prober) score(r *reading, first *recorded) int {
	c := &r.contract
	score := min(15, 5*len(c.Page.Required)) + 10*len(c.Page.Equals)
	switch where, _, _ := strings.Cut(string(c.Next.From), ":"); {
	case r.page.Bounded:
		score += isBounded
	case r.page.End == pager.EndLast && r.shown:
		score += showsEnd
	case r.page.End == pager.EndLast:
	case where == "counter":
		score += countsOn
		if c.End.Rule != adapters.EndEmptyPage {
			score += 5 // the answer says how far
		}
	case where == "last", where == "last_id":
		score += derivesCursor
	default:
		score += givesCursor
	}
	if r.builtin {
		score += isBuiltin + vendor(c.Name, first)
	}
	if !r.page.Items[0].CreatedAt.IsZero() {
		score += 4
	}
	if c.Items.At != "" && c.Items.At != "*" {
		score += 3
	}
	if r.page.Meta.Total != nil {
		score += 3
	}
	if len(p.look.arrays) > 0 && r.itemsAt != "" && string(r.itemsAt) == p.look.arrays[0].path {
		score += 2
	}
	return score
}

// vendor compares the first word of a contract's name with the host and with the
// names of the answer's header fields, where vendors put their own.
func vendor(name string, first *recorded) int {
	word, _, _ := strings.Cut(name, "-")
	if slices.Contains([]string{
		"link-header", "offset-total", "page-number", "page-total", "keyset-catalogue", "keyset-feed",
		"google-aip158", "odata", "jsonapi", "hal", "relay", "oai-pmh", "fhir",
	}, name) {
		return 0
	}
	if strings.Contains(first.request.URL.Hostname(), word) {
		return ofThisVendor
	}
	for field := range first.answer.Header {
		if strings.Contains(strings.ToLower(field), word) {
			return ofThisVendor
		}
	}
	return ofAnother
}

package peers_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/realtest"
	"github.com/everypage-go/everypage/state"
)

// jsonServerLink is the contract of json-server 0.17 by its links.
func jsonServerLink() adapters.Contract {
	return adapters.Contract{
		Name: "json-server-link",
		Request: adapters.Request{
			Size:   adapters.Size{In: "query:_limit"},
			Cursor: adapters.CursorRule{In: "url"},
		},
		Items: adapters.Items{ID: []adapters.Path{"id"}},
		Next:  adapters.Next{From: "link:next"},
		End:   adapters.EndRule{Rule: adapters.EndNoNextLink},
	}
}

// jsonServerPage is the contract of json-server 0.17 by page number: the header
// says how many items there are, and nothing else says where the list ends.
func jsonServerPage() adapters.Contract {
	return adapters.Contract{
		Name: "json-server-page",
		Request: adapters.Request{
			Size:   adapters.Size{In: "query:_limit"},
			Cursor: adapters.CursorRule{In: "query:_page"},
		},
		Page:  adapters.PageRule{Total: "header:X-Total-Count"},
		Items: adapters.Items{ID: []adapters.Path{"id"}},
		Next:  adapters.Next{From: "counter:page"},
		End:   adapters.EndRule{Rule: adapters.EndTotal},
	}
}

// jsonServerEnvelope is the contract of json-server 1.0: the number of the next
// page, null on the last one. A page behind the last is the last page again, so
// that an empty page never comes.
func jsonServerEnvelope() adapters.Contract {
	first := "1" // without a page number the answer is the bare array of all
	return adapters.Contract{
		Name: "json-server-envelope",
		Request: adapters.Request{
			Size:   adapters.Size{In: "query:_per_page"},
			Cursor: adapters.CursorRule{In: "query:_page", First: &first},
		},
		Page:  adapters.PageRule{Required: []adapters.Path{"next", "pages"}, Total: "body:items"},
		Items: adapters.Items{At: "data", ID: []adapters.Path{"id"}},
		Next:  adapters.Next{From: "body:next"},
		End:   adapters.EndRule{Rule: adapters.EndCursor, When: []string{"null"}},
		Style: "page",
	}
}

func numbers(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(i + 1)
	}
	return ids
}

// 25 posts, 4 a page: a process is killed on page 3, the next one is stopped on
// page 5, and the third comes to the end.
func TestJSONServerThroughAKillAndAStop(t *testing.T) {
	for _, c := range []struct {
		server   realtest.JSONServer
		contract adapters.Contract
		filter   string // makes the first answer a page
		end      string
	}{
		{realtest.JSONServer0, jsonServerLink(), "?_page=1", "no Link with rel=next"},
		{realtest.JSONServer0, jsonServerPage(), "", "25 of total=25 read"},
		{realtest.JSONServer1, jsonServerEnvelope(), "", "next is null"},
	} {
		t.Run(c.contract.Name, func(t *testing.T) {
			posts := c.server.Start(t, 25)
			w := newWalk(t, c.contract, list{URL: posts + c.filter, Size: 4, AcceptUnstable: true})
			w.killAt(10)
			w.cancelAt(18, 4)
			receipt, err := w.finish()
			w.wantWhole(receipt, err, wanted{pages: 7, items: 25, end: c.end})
			w.wantIDs(numbers(25))
		})
	}
}

// A list of one page has a Link header without a link, and no items have an empty
// array: both are whole lists.
func TestJSONServerListsOfOnePage(t *testing.T) {
	for _, n := range []int{0, 3} {
		posts := realtest.JSONServer0.Start(t, n)
		var all []any
		header := read(t, nil, posts+"?_page=1&_limit=4", &all)
		if link, there := header["Link"]; !there || !slices.Equal(link, []string{""}) || len(all) != n {
			t.Fatalf("this test is about an empty Link header: have %q and %d items", link, len(all))
		}
		w := newWalk(t, jsonServerLink(), list{URL: posts + "?_page=1", Size: 4, AcceptUnstable: true})
		receipt, err := w.finish()
		w.wantWhole(receipt, err, wanted{pages: 1, items: n, end: "no Link with rel=next"})
	}
}

// A post is deleted while the run is stopped, so that every later one moves up and
// one of them would be missed: the total says so, and a person has to look.
func TestJSONServerListThatShifts(t *testing.T) {
	posts := realtest.JSONServer0.Start(t, 25)
	w := newWalk(t, jsonServerPage(), list{URL: posts, Size: 4, AcceptUnstable: true})
	w.cancelAt(8, 1)
	remove(t, posts+"/1")
	receipt, err := w.finish()
	if !errors.Is(err, everypage.ErrNeedsReview) || !slices.Contains(receipt.BlockedBy, state.CodeListShifted) {
		t.Errorf("want review because the list shifted, have %+v, %v", receipt, err)
	}
	if missed := slices.Delete(numbers(25), 8, 9); receipt.ProcessedUnique != 24 {
		t.Errorf("want post 9 missed, have %+v", receipt)
	} else {
		w.wantIDs(missed)
	}
}

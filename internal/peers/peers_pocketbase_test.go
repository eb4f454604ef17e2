package peers_test

import (
	"errors"
	"net/url"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/realtest"
	"github.com/everypage-go/everypage/pager"
)

// 25 tickets, 4 a page: killed on page 3, stopped on page 5, and then the end. The
// IDs are random, so what there is comes from a read of its own.
func TestPocketBaseThroughAKillAndAStop(t *testing.T) {
	tickets := realtest.StartPocketBase(t, 25).Tickets
	var all struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	read(t, nil, tickets+"?perPage=100&sort=@rowid", &all)
	var ids []string
	for _, item := range all.Items {
		ids = append(ids, item.ID)
	}

	w := newWalk(t, adapters.PocketBase(), list{URL: tickets, Filter: url.Values{"sort": {"@rowid"}}, Size: 4, AcceptUnstable: true})
	w.killAt(10)
	w.cancelAt(18, 4)
	receipt, err := w.finish()
	w.wantWhole(receipt, err, wanted{pages: 7, items: 25, end: "page 7 of totalPages=7"})
	w.wantIDs(ids)
}

// An exact last page, and no record at all.
func TestPocketBaseWithoutRest(t *testing.T) {
	for _, c := range []struct {
		records int
		want    wanted
	}{
		{8, wanted{pages: 2, items: 8, end: "page 2 of totalPages=2"}},
		{0, wanted{pages: 1, items: 0, end: "page 1 of totalPages=0"}},
	} {
		tickets := realtest.StartPocketBase(t, c.records).Tickets
		w := newWalk(t, adapters.PocketBase(), list{URL: tickets, Size: 4, AcceptUnstable: true})
		receipt, err := w.finish()
		w.wantWhole(receipt, err, c.want)
	}
}

// A total of -1 is no total that the first page could have reached.
func TestPocketBaseWithoutTotals(t *testing.T) {
	tickets := realtest.StartPocketBase(t, 25).Tickets
	byTotal := adapters.PocketBase()
	byTotal.Name, byTotal.End = "pocketbase-total", adapters.EndRule{Rule: adapters.EndTotal}
	for _, contract := range []adapters.Contract{adapters.PocketBase(), byTotal} {
		w := newWalk(t, contract, list{URL: tickets, Filter: url.Values{"skipTotal": {"1"}}, Size: 4, AcceptUnstable: true})
		receipt, err := w.finish()
		if !errors.Is(err, everypage.ErrNeedsReview) || receipt.TerminalObserved || receipt.ProcessedUnique != 4 {
			t.Errorf("%s: want review after the first page, have %+v, %v", contract.Name, receipt, err)
		}
	}
}

// The server itself is killed while a page is being handled: the run pauses at the
// next page, and goes on when the server is back.
func TestPocketBaseThatDies(t *testing.T) {
	server := realtest.StartPocketBase(t, 25)
	w := newWalk(t, adapters.PocketBase(), list{URL: server.Tickets, Filter: url.Values{"sort": {"@rowid"}}, Size: 4, AcceptUnstable: true})
	receipt, err := w.run(func(func()) {
		if len(w.crm.Notes()) == 10 {
			server.Kill(t)
		}
	})
	if !errors.Is(err, everypage.ErrPaused) || receipt.Reason.Code != pager.CodeTransport || receipt.ProcessedUnique != 12 {
		t.Fatalf("want a pause after the page that was read, have %+v, %v", receipt, err)
	}
	server.Restart(t)
	w.force = true
	receipt, err = w.finish()
	w.wantWhole(receipt, err, wanted{pages: 7, items: 25, end: "page 7 of totalPages=7"})
}

package everypage_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/realtest"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// What GitHub really answered when somebody walked 13 issues, 3 a page. One
// process is killed on page 3, the next is stopped on page 4, and a third comes
// to the end: each issue got its note once, and nothing was asked that was not in
// the recording.
func TestReplayOfPaginateIssuesThroughAKill(t *testing.T) {
	server, first := realtest.PaginateIssues(t)
	w := newRealWalk(t, failurePlace{List: first, Contract: "github-rest", Size: 3, AcceptUnstable: true})
	failureKilled(t, w.place, "notes 8")
	if receipt, err := w.run(11); !errors.Is(err, context.Canceled) || receipt.PageIndex != 3 {
		t.Fatalf("want it stopped on the page of index 3, have %v", err)
	}
	receipt, err := w.run(0)
	w.wantWhole(receipt, err, 5, 13)

	var pages []int
	for _, request := range server.Requests() {
		pages = append(pages, request.Exchange)
	}
	if want := []int{1, 2, 3, 3, 4, 4, 5}; !slices.Equal(pages, want) {
		t.Errorf("the recorded pages were asked for in the order %v, want %v", pages, want)
	}
}

// realWalk is a list that nobody here made, and a CRM that gets a note for each of
// its items.
type realWalk struct {
	t     *testing.T
	place failurePlace
	crm   *simapi.CRM
	clock *stepClock
}

func newRealWalk(t *testing.T, at failurePlace) *realWalk {
	t.Helper()
	w := &realWalk{t: t, place: at, crm: simapi.NewCRM(nil), clock: &stepClock{now: start()}}
	w.place.CRM, w.place.Ledger = failureServe(t, w.crm)+w.crm.Path(), t.TempDir()
	return w
}

// run goes on with the job, as a process of its own would, until there are the
// given number of notes; 0 for as many as there will be.
func (w *realWalk) run(notes int) (*state.Receipt, error) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ledger, err := pebblestore.Open(w.place.Ledger, &pebblestore.Options{Now: w.clock.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := ledger.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	job, err := w.place.job(client, w.clock, func(string) {
		if notes > 0 && len(w.crm.Notes()) == notes {
			cancel()
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return everypage.Run(ctx, ledger, job)
}

// wantWhole fails unless the run is complete, with one note for each item.
func (w *realWalk) wantWhole(r *state.Receipt, err error, pages, items int) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	if r.Status != state.Complete || !r.TerminalObserved || r.EndEvidence != "no Link with rel=next" || r.PageIndex != pages-1 || r.Pages != pages {
		w.t.Errorf("want %d pages with the end observed on the last, have %d, %t, %q", pages, r.Pages, r.TerminalObserved, r.EndEvidence)
	}
	if r.ProcessedUnique != int64(items) || r.DuplicateConflicts != 0 || r.PendingCount != 0 || r.InPageDuplicates != 0 {
		w.t.Errorf("want %d items and nothing owed, have %+v", items, r)
	}
	for by, effects := range map[string]map[string]int{"key": w.crm.EffectsByKey(), "item": w.crm.EffectsByTicket()} {
		if len(effects) != items || len(w.crm.Notes()) != items {
			w.t.Errorf("want one note for each of %d items, have %d, by %s: %v", items, len(w.crm.Notes()), by, effects)
		}
	}
}

package everypage_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// earlyLooks is a ledger that records a page only when the items of the next one
// have been looked up, if somebody reads ahead.
type earlyLooks struct {
	store.Store
	of   []string // the next page's IDs
	most int      // looks for them to wait for

	mu    sync.Mutex
	looks int
	done  chan struct{}
}

func (l *earlyLooks) Items(ctx context.Context, scope string, ids []string) ([]store.Item, error) {
	items, err := l.Store.Items(ctx, scope, ids)
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Equal(ids, l.of) {
		if l.looks++; l.looks == l.most {
			close(l.done)
		}
	}
	return items, err
}

func (l *earlyLooks) Commit(ctx context.Context, change store.Change) error {
	if change.Page != nil && change.Page.Index == 0 {
		select {
		case <-l.done:
		case <-time.After(20 * time.Second): // it is looked up later, then
		}
	}
	return l.Store.Commit(ctx, change)
}

// Rules 1 and 16: what a page no longer has when it is read again, and the page read
// ahead has, is handled there, without conflict, also where it was looked up before
// the record that says that it is gone.
func TestRule16_LookedUpBeforeItWasGone(t *testing.T) {
	w := newWorld(t, 2, "a", "b")
	w.stopAt("b", w.job())
	w.list = slices.Insert(w.list, 0, ticket{ID: "x", Created: start()})
	ledger := &earlyLooks{Store: w.ledger, of: []string{"b"}, most: 2, done: make(chan struct{})} // by page 0 and for page 1
	receipt, err := everypage.Run(t.Context(), ledger, w.job(func(j *everypage.Job[ticket]) { j.Options.ReadAhead = true }))
	wantComplete(t, err)
	w.recount(receipt.RunID)
	w.wantCalls("a", "b", "x", "b")
	w.wantState(receipt.RunID, "b", store.StateDone)
	want(t, "duplicate_conflicts", receipt.DuplicateConflicts, 0)
	want(t, "the status", receipt.Status, state.Complete)
}

// duplicate-once: an ID of the page before is a conflict, also where it was looked up
// before that page was recorded.
func TestRule16_LookedUpBeforeItWasRecorded(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "b", "c")
	ledger := &earlyLooks{Store: w.ledger, of: []string{"b", "c"}, most: 1, done: make(chan struct{})}
	receipt, err := everypage.Run(t.Context(), ledger, w.job(func(j *everypage.Job[ticket]) { j.Options.ReadAhead = true }))
	wantReview(t, receipt, err, state.CodeConflictsOpen)
	w.recount(receipt.RunID)
	w.wantCalls("a", "b", "c")
	want(t, "duplicate_conflicts", receipt.DuplicateConflicts, 1)
}

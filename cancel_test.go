package everypage_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// watchedLedger tells of each call before it is made.
type watchedLedger struct {
	store.Store
	called func(method string)
}

func (l watchedLedger) Commit(ctx context.Context, change store.Change) error {
	l.called("Commit")
	return l.Store.Commit(ctx, change)
}

func (l watchedLedger) Run(ctx context.Context, runID string) (store.Run, error) {
	l.called("Run")
	return l.Store.Run(ctx, runID)
}

func (l watchedLedger) Runs(ctx context.Context, filter store.RunFilter) iter.Seq2[store.Run, error] {
	l.called("Runs")
	return l.Store.Runs(ctx, filter)
}

func (l watchedLedger) Items(ctx context.Context, scope string, ids []string) ([]store.Item, error) {
	l.called("Items")
	return l.Store.Items(ctx, scope, ids)
}

func (l watchedLedger) Held(ctx context.Context, scope string) iter.Seq2[store.Item, error] {
	l.called("Held")
	return l.Store.Held(ctx, scope)
}

func (l watchedLedger) Pages(ctx context.Context, runID string, from int) iter.Seq2[store.Page, error] {
	l.called("Pages")
	return l.Store.Pages(ctx, runID, from)
}

func (l watchedLedger) PageAt(ctx context.Context, runID string, cursor pager.Cursor) (int, bool, error) {
	l.called("PageAt")
	return l.Store.PageAt(ctx, runID, cursor)
}

func (l watchedLedger) Conflicts(ctx context.Context, runID string) iter.Seq2[store.Conflict, error] {
	l.called("Conflicts")
	return l.Store.Conflicts(ctx, runID)
}

// Rule 14: at whichever instant its caller leaves, a run that was begun is paused,
// and not left as if its process had died; or it was complete by then. Everything
// that finished is recorded, and nothing is called twice.
func TestRule14_CancelledAtAnyInstant(t *testing.T) {
	for name, edit := range map[string]func(*everypage.Job[ticket]){
		"plain":          func(*everypage.Job[ticket]) {},
		"at most once":   atMostOnce,
		"not replayable": func(j *everypage.Job[ticket]) { j.List.NotReplayable = true },
		"repeating":      func(j *everypage.Job[ticket]) { j.List.RepeatLimit = 3 },
		"drop vanished":  func(j *everypage.Job[ticket]) { j.DropVanished = true },
	} {
		t.Run(name, func(t *testing.T) {
			for at := 1; ; at++ {
				w := newWorld(t, 2, "a", "b", "c", "d", "e")
				ctx, cancel := context.WithCancel(t.Context())
				var mu sync.Mutex
				n, method := 0, ""
				ledger := watchedLedger{w.ledger, func(called string) {
					mu.Lock()
					defer mu.Unlock()
					if n++; n == at {
						method = called
						cancel()
					}
				}}
				job := w.job(edit, func(j *everypage.Job[ticket]) { j.RunID = "march" })
				_, err := everypage.Run(ctx, ledger, job)
				cancel()
				if method == "" {
					wantComplete(t, err)
					return // the caller left at every instant once
				}
				run, missing := w.ledger.Run(t.Context(), "march")
				switch {
				case errors.Is(missing, store.ErrNotFound):
					if !errors.Is(err, context.Canceled) {
						t.Errorf("left at call %d (%s), nothing begun: %v", at, method, err)
					}
				case run.Receipt.Status == state.Complete:
					wantComplete(t, err)
				case run.Receipt.Status != state.Paused || !errors.Is(err, everypage.ErrPaused) || !errors.Is(err, context.Canceled) || run.Active:
					t.Errorf("left at call %d (%s): the run is %s (active %t), and the error %v", at, method, run.Receipt.Status, run.Active, err)
				}
				receipt, err := w.run(job)
				if job.List.NotReplayable && errors.Is(err, everypage.ErrNeedsReview) { // it left during a fetch
					wantReview(t, receipt, err, state.CodeCursorLost)
					w.supersede(receipt.RunID)
					_, err = w.run(job)
				}
				wantComplete(t, err)
				w.wantCalls("a", "b", "c", "d", "e")
			}
		})
	}
}

// The same for a caller that leaves while an observer is told of a step.
func TestRule14_CancelledInAnObserver(t *testing.T) {
	for _, step := range []string{"page", "call", "settled", "transition"} {
		for at := range 3 {
			w := newWorld(t, 1, "a", "b", "c", "d")
			ctx, cancel := context.WithCancel(t.Context())
			var mu sync.Mutex
			n := 0
			tell := func(what string) {
				mu.Lock()
				defer mu.Unlock()
				if what != step {
					return
				}
				if n == at {
					cancel()
				}
				n++
			}
			receipt, err := w.runContext(ctx, w.job(func(j *everypage.Job[ticket]) {
				j.Options.Observer = everypage.Observer{
					Page:       func(state.Receipt, store.Page) { tell("page") },
					Call:       func(string, string, int) { tell("call") },
					Settled:    func(state.Receipt, store.Item) { tell("settled") },
					Transition: func(state.Receipt, state.Transition) { tell("transition") },
				}
			}))
			cancel()
			if err != nil {
				wantPause(t, receipt, err, state.CodeCancelled)
			}
			_, err = w.run(w.job(func(j *everypage.Job[ticket]) { j.RunID = receipt.RunID }))
			wantComplete(t, err)
			w.wantCalls("a", "b", "c", "d")
		}
	}
}

// Rule 16: reading ahead never goes past a page that names its own cursor, also
// where that page is not recorded yet.
func TestRule16_NeverAheadOfItsOwnCursor(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c", "d", "e")
	w.answer = on(1, func(page *pager.Page[ticket]) error {
		page.Next = pager.At("2")
		return nil
	})
	slow := watchedLedger{w.ledger, func(method string) {
		if method == "Commit" {
			_ = leaveTime(t.Context(), everypage.Item[ticket]{})
		}
	}}
	receipt, err := everypage.Run(t.Context(), slow, w.job(func(j *everypage.Job[ticket]) { j.Options.ReadAhead = true }))
	wantReview(t, receipt, err, state.CodeCursorRepeated)
	w.wantRequests("(start)", `"2"`)
}

package everypage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

var errDisk = errors.New("the disk is full")

// failingLedger fails one commit, applied or not, and takes none after it.
type failingLedger struct {
	store.Store
	at      int
	applied bool
	commits int
}

func (l *failingLedger) Commit(ctx context.Context, change store.Change) error {
	l.commits++
	switch {
	case l.commits > l.at:
		return fmt.Errorf("again: %w", errDisk)
	case l.commits == l.at:
		if l.applied {
			if err := l.Store.Commit(ctx, change); err != nil {
				return err
			}
		}
		return errDisk
	}
	return l.Store.Commit(ctx, change)
}

// A ledger that fails, at whichever commit, ends the run with its own error, which
// is neither a pause nor a review; nothing is written after it, and the run goes on
// from what the ledger holds. At-most-once calls nothing twice over it.
func TestLedgerFails(t *testing.T) {
	for _, once := range []bool{false, true} {
		for _, applied := range []bool{false, true} {
			t.Run(fmt.Sprintf("at most once %t, applied %t", once, applied), func(t *testing.T) {
				for at := 1; ; at++ {
					w := newWorld(t, 2, "a", "b", "c", "d", "e")
					job := w.job(func(j *everypage.Job[ticket]) { j.RunID, j.AtMostOnce, j.Options.Concurrency = "march", once, 2 })
					ledger := &failingLedger{Store: w.ledger, at: at, applied: applied}
					_, err := everypage.Run(t.Context(), ledger, job)
					if ledger.commits < at {
						wantComplete(t, err)
						return // every commit failed once
					}
					if !errors.Is(err, errDisk) || errors.Is(err, everypage.ErrPaused) || errors.Is(err, everypage.ErrNeedsReview) {
						t.Fatalf("commit %d failed and the error is %v", at, err)
					}
					receipt, err := w.run(job)
					if once && err != nil {
						wantReview(t, receipt, err, state.CodeItemsHeld)
					} else {
						wantComplete(t, err)
					}
					calls := map[string]int{}
					for _, call := range w.calls {
						calls[call.ID]++
					}
					for _, id := range []string{"a", "b", "c", "d", "e"} {
						if n := calls[id]; n < 1 && w.item(receipt.RunID, id).State != store.StateHeld || once && n > 1 {
							t.Errorf("commit %d failed, and %s was called %d times", at, id, n)
						}
					}
					w.wantOneKey()
				}
			})
		}
	}
}

// A caller that leaves while the next attempt is waited for does not wait for it.
func TestCancelledDuringBackoff(t *testing.T) {
	w := newWorld(t, 2, "a")
	w.handle = failing("a")
	ctx, cancel := context.WithCancel(t.Context())
	receipt, err := w.runContext(ctx, w.job(func(j *everypage.Job[ticket]) { j.Options.Clock = stoppedClock{w.clock, cancel} }))
	wantPause(t, receipt, err, state.CodeCancelled)
	w.wantCalls("a")
	want(t, "attempts", receipt.Attempts, 1)
	want(t, "the item's attempts", w.item(receipt.RunID, "a").Attempts, 1)
}

// A held item that a person wants tried again, in a run that is superseded before
// that, is handled once and counts once, also where the successor meets it.
func TestRule09_RetriedThenSuperseded(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	w.handle = failing("b")
	receipt, err := w.run(w.job(maxAttempts(1)))
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.handle = nil
	if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
		t.Fatal(err)
	}
	w.supersede(receipt.RunID)
	receipt, err = w.run(w.job())
	wantComplete(t, err)
	w.wantCalls("a", "b", "c", "b")
	want(t, "processed_unique", receipt.ProcessedUnique, 1)
	want(t, "inherited", receipt.Inherited, 2)
	w.wantOneKey()
}

// Items that are done once a job are done with one action: a run of the job with
// another one would take them for done although nobody did that. The next run may
// change what is no part of that, such as the filter.
func TestOnceAJob_AnotherAction(t *testing.T) {
	once := func(j *everypage.Job[ticket]) { j.Once = everypage.OnceAJob }
	w := newWorld(t, 2, "a", "b", "c")
	_, err := w.run(w.job(once))
	wantComplete(t, err)
	requests := len(w.requests)
	receipt, err := w.run(w.job(once, func(j *everypage.Job[ticket]) { j.Action = "close" }))
	if err == nil {
		t.Errorf("the run with another action is complete: processed_unique %d, inherited %d", receipt.ProcessedUnique, receipt.Inherited)
	}
	want(t, "the number of requests", len(w.requests), requests)
	_, err = w.run(w.job(once, func(j *everypage.Job[ticket]) { j.List = pager.Description{Filter: "all"} }))
	wantComplete(t, err)
}

package everypage_test

import (
	"context"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// What a dead runner may have called stays in doubt when the next one stops before
// it has read the page again: the key is too old to be sent once more.
func TestRule20_DoubtOutlivesARefusedFetch(t *testing.T) {
	for _, replayable := range []bool{true, false} {
		w := newWorld(t, 2, "a", "b", "c").crashable()
		job := w.job(func(j *everypage.Job[ticket]) {
			j.KeyRetention = 24 * time.Hour
			j.List.NotReplayable = !replayable
		})
		w.die("b", true, job)
		w.answer = on(1, func(*pager.Page[ticket]) error {
			return &pager.Fault{Code: pager.CodeUnauthorized, Detail: "the token has expired"}
		})
		if replayable {
			receipt, err := w.run(job)
			wantReview(t, receipt, err, pager.CodeUnauthorized)
			if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, everypage.Decision{By: "Ada", Clock: w.clock}); err != nil {
				t.Fatal(err)
			}
		} else { // nothing is fetched before what is stored is handled
			ctx, cancel := context.WithCancel(t.Context())
			w.handle = func(context.Context, everypage.Item[ticket]) error { cancel(); return ctx.Err() }
			w.clock.advance(time.Minute)
			_, _ = w.runContext(ctx, job)
			w.handle, w.answer = nil, nil
		}
		w.clock.advance(48 * time.Hour)
		calls := len(w.calls)
		receipt, err := w.run(job)
		wantReview(t, receipt, err, state.CodeItemsHeld)
		w.wantHeld(receipt.RunID, "b", state.HoldInDoubt)
		for _, call := range w.calls[calls:] {
			if call.ID == "b" {
				t.Errorf("b is called again after its key was forgotten")
			}
		}
	}
}

// The same where the run is superseded instead.
func TestRule20_DoubtOutlivesASuperseding(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c").crashable()
	job := w.job(func(j *everypage.Job[ticket]) { j.KeyRetention = 24 * time.Hour })
	w.die("b", true, job)
	w.answer = on(1, func(*pager.Page[ticket]) error {
		return &pager.Fault{Code: pager.CodeCursorExpired, Detail: "410 Gone"}
	})
	receipt, err := w.run(job)
	wantReview(t, receipt, err, pager.CodeCursorExpired)
	if _, err := everypage.Supersede(t.Context(), w.ledger, receipt.RunID, everypage.Decision{By: "Ada", Note: "expired", Clock: w.clock, Random: w.random}); err != nil {
		t.Fatal(err)
	}
	w.clock.advance(48 * time.Hour)
	calls := len(w.calls)
	receipt, err = w.run(job)
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantHeld(receipt.RunID, "b", state.HoldInDoubt)
	for _, call := range w.calls[calls:] {
		if call.ID == "b" {
			t.Errorf("b is called again after its key was forgotten")
		}
	}
}

package everypage_test

import (
	"errors"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

func TestAssert(t *testing.T) {
	ask := func(w *failureWorld, options everypage.AssertOptions) (*state.Receipt, everypage.Denial) {
		w.t.Helper()
		options.Clock = w.clock
		receipt, err := everypage.Assert(w.t.Context(), w.ledger, "overdue-tickets", &options)
		if err == nil {
			return receipt, ""
		}
		denied, ok := errors.AsType[*everypage.AssertError](err)
		if !ok || receipt != nil {
			w.t.Fatalf("Assert returns %v and %v", receipt, err)
		}
		return denied.Receipt, denied.Why
	}
	want := func(w *failureWorld, options everypage.AssertOptions, why everypage.Denial) {
		w.t.Helper()
		if _, got := ask(w, options); got != why {
			w.t.Errorf("%+v: denied with %q, want %q", options, got, why)
		}
	}
	w := newFailureWorld(t, failureRow{})
	w.open()
	want(w, everypage.AssertOptions{}, everypage.DenialNoRun)
	w.server.Script().At(2, simapi.Lost())
	if _, err := w.run(t.Context()); !errors.Is(err, everypage.ErrPaused) {
		t.Fatal(err)
	}
	want(w, everypage.AssertOptions{}, everypage.DenialNotComplete)
	w.clock.advance(time.Hour)
	first, err := w.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(w, everypage.AssertOptions{}, "")
	want(w, everypage.AssertOptions{MaxAge: time.Minute, Newest: true}, "")
	w.clock.advance(-time.Hour)
	want(w, everypage.AssertOptions{}, everypage.DenialFuture)
	w.clock.advance(time.Hour + 2*time.Minute)
	want(w, everypage.AssertOptions{MaxAge: time.Minute}, everypage.DenialTooOld)
	want(w, everypage.AssertOptions{MaxAge: 3 * time.Minute}, "")

	// A later run that stopped is no obstacle, unless the newest one is asked for.
	w.server.Script().At(w.server.Log().Len()+2, simapi.Lost())
	if _, err := w.run(t.Context()); !errors.Is(err, everypage.ErrPaused) {
		t.Fatal(err)
	}
	if receipt, why := ask(w, everypage.AssertOptions{}); why != "" || receipt.RunID != first.RunID {
		t.Errorf("beside a paused run: %v, denied with %q", receipt, why)
	}
	want(w, everypage.AssertOptions{Newest: true}, everypage.DenialNotComplete)

	// A receipt whose records do not add up to it is worth nothing.
	run, err := w.ledger.Run(t.Context(), first.RunID)
	if err != nil {
		t.Fatal(err)
	}
	run.Receipt.ProcessedUnique++
	if err := w.ledger.Commit(t.Context(), store.Change{Run: run}); err != nil {
		t.Fatal(err)
	}
	want(w, everypage.AssertOptions{}, everypage.DenialUnverified)
}

package everypage_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

func TestSmoke(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
	r, err := w.run(w.job())
	wantComplete(t, err)
	y, _ := r.YAML()
	t.Log("\n" + string(y))
	w.wantCalls("a", "b", "c", "d", "e", "f", "g")
	w.wantRequests("(start)", `"3"`, `"6"`)
	for e, err := range w.ledger.Events(t.Context(), r.RunID) {
		t.Log(e, err)
	}
}

func TestSmokeCancel(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
	ctx, cancel := context.WithCancel(t.Context())
	w.handle = func(_ context.Context, i everypage.Item[ticket]) error {
		if i.ID == "e" {
			cancel()
		}
		return nil
	}
	r, err := w.runContext(ctx, w.job())
	wantPause(t, r, err, state.CodeCancelled)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.handle = nil
	r, err = w.run(w.job())
	wantComplete(t, err)
	w.wantCalls("a", "b", "c", "d", "e", "f", "g")
	w.wantRequests("(start)", `"3"`, `"3"`, `"6"`)
}

func TestSmokeHold(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
	w.handle = func(_ context.Context, i everypage.Item[ticket]) error {
		if i.ID == "b" {
			return errors.New("no")
		}
		return nil
	}
	r, err := w.run(w.job(func(j *everypage.Job[ticket]) { j.Options.Concurrency = 4 }))
	wantReview(t, r, err, state.CodeItemsHeld)
	t.Log(err)
	w.handle = nil
	_, err = everypage.Retry(t.Context(), w.ledger, r.RunID, everypage.Decision{By: "me", Clock: w.clock})
	if err != nil {
		t.Fatal(err)
	}
	r, err = w.run(w.job())
	wantComplete(t, err)
	if len(w.requests) != 3 {
		t.Fatal(w.requests)
	}
	if len(w.calls) != 10 {
		t.Fatal(w.called())
	}
}

func TestSmokeRateLimit(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
	w.answer = func(n int, at pager.Cursor, page *pager.Page[ticket]) error {
		if n == 1 {
			return &pager.Fault{Verdict: pager.Pause, Code: pager.CodeRateLimited, Until: w.clock.Now().Add(time.Minute)}
		}
		return nil
	}
	r, err := w.run(w.job())
	wantPause(t, r, err, pager.CodeRateLimited)
	t.Log(err)
	r, err = w.run(w.job())
	wantPause(t, r, err, pager.CodeRateLimited)
	r, err = w.run(w.job(func(j *everypage.Job[ticket]) { j.Options.WaitUpTo = time.Hour; j.Options.ReadAhead = true }))
	wantComplete(t, err)
	w.wantCalls("a", "b", "c", "d", "e", "f", "g")
}

func TestSmokeSupersede(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
	w.answer = func(n int, at pager.Cursor, page *pager.Page[ticket]) error {
		if n == 1 {
			return &pager.Fault{Code: pager.CodeCursorExpired}
		}
		return nil
	}
	r, err := w.run(w.job())
	wantReview(t, r, err, pager.CodeCursorExpired)
	_, err = everypage.Retry(t.Context(), w.ledger, r.RunID, everypage.Decision{By: "me", Clock: w.clock})
	t.Log(err)
	n, err := everypage.Supersede(t.Context(), w.ledger, r.RunID, everypage.Decision{By: "me", Clock: w.clock, Random: w.random})
	if err != nil {
		t.Fatal(err)
	}
	r, err = w.run(w.job())
	wantComplete(t, err)
	if r.RunID != n.RunID || r.Inherited != 3 || r.ProcessedUnique != 4 {
		t.Fatal(r)
	}
	w.wantCalls("a", "b", "c", "d", "e", "f", "g")
}

package everypage_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

func atMostOnce(j *everypage.Job[ticket]) { j.AtMostOnce = true }

func maxAttempts(n int) func(*everypage.Job[ticket]) {
	return func(j *everypage.Job[ticket]) { j.Options.MaxAttempts = n }
}

// Rule 14: a caller that leaves during a call costs the item no attempt; what
// finished in spite of that is recorded, without the caller's context; and the
// error is both a pause and a cancellation.
func TestRule14_CancelledDuringACall(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c")
	ctx, cancel := context.WithCancel(t.Context())
	var entered sync.WaitGroup
	entered.Add(2)
	w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
		entered.Done()
		entered.Wait()
		cancel()
		if item.ID == "a" {
			return nil
		}
		return fmt.Errorf("post: %w", ctx.Err())
	}
	two := func(j *everypage.Job[ticket]) { j.Options.Concurrency, j.Options.MaxAttempts = 2, 1 }
	receipt, err := w.runContext(ctx, w.job(two))
	wantPause(t, receipt, err, state.CodeCancelled)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v does not unwrap to context.Canceled", err)
	}
	want(t, "the number of calls that returned", len(w.calls), 2)
	w.wantState(receipt.RunID, "a", store.StateDone)
	want(t, "attempts", receipt.Attempts, 1)
	w.handle = nil
	receipt, err = w.run(w.job(two))
	wantComplete(t, err)
	want(t, "attempts", receipt.Attempts, 3)
	for _, call := range w.calls {
		want(t, "the attempt of "+call.ID, call.Attempt, 1)
	}
	w.wantOneKey()
}

// Rule 14: the caller's cause is the run's.
func TestRule14_CauseAndDeadlineOfTheContext(t *testing.T) {
	errQuit := errors.New("the operator pressed Ctrl-C")
	w := newWorld(t, 3, "a", "b", "c")
	ctx, cancel := context.WithCancelCause(t.Context())
	w.answer = on(0, func(*pager.Page[ticket]) error {
		cancel(errQuit)
		return ctx.Err()
	})
	receipt, err := w.runContext(ctx, w.job())
	wantPause(t, receipt, err, state.CodeCancelled)
	if !errors.Is(err, errQuit) {
		t.Errorf("%v does not unwrap to the cause", err)
	}
	w.wantRequests("(start)")

	requests := len(w.requests)
	receipt, err = w.runContext(ctx, w.job()) // asked with a context that has ended
	if err == nil || receipt != nil || !errors.Is(err, errQuit) {
		t.Errorf("have %v, want an error with the cause", err)
	}
	want(t, "the number of requests", len(w.requests), requests)
}

// Rule 14: Run returns only after every handler has.
func TestRule14_RunReturnsAfterEveryHandler(t *testing.T) {
	w := newWorld(t, 4, "a", "b", "c", "d")
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	running := 0
	var entered sync.WaitGroup
	entered.Add(4)
	w.handle = func(ctx context.Context, _ everypage.Item[ticket]) error {
		mu.Lock()
		running++
		mu.Unlock()
		entered.Done()
		entered.Wait()
		cancel()
		for range 1000 {
			runtime.Gosched() // let Run return, if it wants to
		}
		mu.Lock()
		defer mu.Unlock()
		running--
		return ctx.Err()
	}
	_, err := w.runContext(ctx, w.job(func(j *everypage.Job[ticket]) { j.Options.Concurrency = 4 }))
	if !errors.Is(err, everypage.ErrPaused) {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	want(t, "the number of handlers that are still running", running, 0)
}

// Rule 14: with at-most-once the intent is durable before the call.
func TestRule14_IntentIsDurableBeforeTheCall(t *testing.T) {
	for _, once := range []bool{true, false} {
		w := newWorld(t, 2, "a", "b").crashable()
		w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
			items, err := w.onDisk().Items(ctx, item.RunID, []string{item.ID})
			if err != nil {
				return err
			}
			want(t, "the durable intent of "+item.ID, items[0].Intent, once)
			return nil
		}
		_, err := w.run(w.job(func(j *everypage.Job[ticket]) { j.AtMostOnce = once }))
		wantComplete(t, err)
	}
}

// Rule 14: with at-most-once anything but success, Permanent, PauseRun or NotDone
// is held in doubt; nothing in doubt is called again.
func TestRule14_AtMostOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fail  error
		code  pager.Code
		calls int
	}{
		"plain":               {errNo, state.HoldInDoubt, 1},
		"permanent":           {everypage.Permanent(errNo), state.HoldPermanent, 1},
		"permanent, wrapped":  {fmt.Errorf("crm: %w", everypage.Permanent(errNo)), state.HoldPermanent, 1},
		"not done":            {everypage.NotDone(errNo), "", 2},
		"not done, wrapped":   {fmt.Errorf("crm: %w", everypage.NotDone(errNo)), "", 2},
		"pause":               {everypage.PauseRun(start().Add(time.Second), errNo), "", 2},
		"permanent with code": {&everypage.PermanentError{Code: state.HoldKeyMismatch, Err: errNo}, state.HoldKeyMismatch, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b")
			first := true
			w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
				if item.ID == "a" && first {
					first = false
					return c.fail
				}
				return nil
			}
			receipt, err := w.run(w.job(atMostOnce, waitUpTo(time.Minute)))
			if c.code == "" {
				wantComplete(t, err)
			} else {
				wantReview(t, receipt, err, state.CodeItemsHeld)
				w.wantHeld(receipt.RunID, "a", c.code)
			}
			want(t, "the number of calls for a", len(w.calls)-1, c.calls)
		})
	}
}

// Rule 14: a cancelled call is in doubt as well, unless the handler knows better.
func TestRule14_AtMostOnceCancelled(t *testing.T) {
	for name, notDone := range map[string]bool{"unknown": false, "not done": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b")
			ctx, cancel := context.WithCancel(t.Context())
			w.handle = func(ctx context.Context, _ everypage.Item[ticket]) error {
				cancel()
				if notDone {
					return everypage.NotDone(ctx.Err())
				}
				return ctx.Err()
			}
			receipt, err := w.runContext(ctx, w.job(atMostOnce, maxAttempts(1)))
			wantPause(t, receipt, err, state.CodeCancelled)
			w.handle = nil
			receipt, err = w.run(w.job(atMostOnce, maxAttempts(1)))
			if notDone {
				wantComplete(t, err)
				w.wantCalls("a", "a", "b")
				return
			}
			wantReview(t, receipt, err, state.CodeItemsHeld)
			w.wantHeld(receipt.RunID, "a", state.HoldInDoubt)
			w.wantCalls("a", "b")
		})
	}
}

// Rule 14: a process that dies in a call leaves the item in doubt, before its
// effect or after it, on a list that can be read again or not.
func TestRule14_AtMostOnceOverACrash(t *testing.T) {
	for _, after := range []bool{false, true} {
		for _, again := range []bool{true, false} {
			t.Run(fmt.Sprintf("after the effect %t, replayable %t", after, again), func(t *testing.T) {
				w := newWorld(t, 3, "a", "b", "c", "d").crashable()
				job := w.job(atMostOnce, w.as(pager.Description{NotReplayable: !again}))
				w.die("b", after, job)
				receipt, err := w.run(job)
				wantReview(t, receipt, err, state.CodeItemsHeld)
				w.wantHeld(receipt.RunID, "b", state.HoldInDoubt)
				w.wantCalls("a", "b", "c", "d")
			})
		}
	}
}

// confirmed-once and same-key: without at-most-once the item is called again with
// its key, one at a time and with an intent.
func TestRule21_CarefulAfterACrash(t *testing.T) {
	for _, again := range []bool{true, false} {
		w := newWorld(t, 4, "a", "b", "c", "d", "e", "f").crashable()
		var mu sync.Mutex
		running, most := 0, 0
		job := w.job(w.as(pager.Description{NotReplayable: !again}), func(j *everypage.Job[ticket]) { j.Options.Concurrency = 4 })
		w.die("b", true, w.job(w.as(pager.Description{NotReplayable: !again})))
		w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
			mu.Lock()
			running++
			if item.Page == 0 {
				most = max(most, running)
			}
			mu.Unlock()
			for range 100 {
				runtime.Gosched()
			}
			items, err := w.onDisk().Items(ctx, item.RunID, []string{item.ID})
			if err != nil {
				return err
			}
			want(t, "the durable intent of "+item.ID, items[0].Intent, item.Page == 0)
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		}
		receipt, err := w.run(job)
		wantComplete(t, err)
		want(t, "the most calls at a time on the page of the crash", most, 1)
		want(t, "processed_unique", receipt.ProcessedUnique, 6)
		w.wantOneKey()
	}
}

// A run whose runner died is running still, and goes on by the event resume; it
// needs no force, since nobody paused it.
func TestResumeOfADeadRunner(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c").crashable()
	w.die("b", true, w.job())
	runID := w.newestRun()
	run, err := w.ledger.Run(t.Context(), runID)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "status after the crash", run.Receipt.Status, state.Running)
	want(t, "active after the crash", run.Active, true)
	receipt, err := w.run(w.job())
	wantComplete(t, err)
	want(t, "the run", receipt.RunID, runID)
	wantList(t, "the events", w.transitions(runID), "begin", "resume", "finish")
}

// Rule 21: a page that a process died on stays careful over a pause.
func TestRule21_CarefulOverAPause(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c").crashable()
	w.die("a", false, w.job())
	w.stopAt("b", w.job())
	w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
		items, err := w.onDisk().Items(ctx, item.RunID, []string{item.ID})
		if err == nil {
			want(t, "the durable intent of "+item.ID, items[0].Intent, true)
		}
		return err
	}
	_, err := w.run(w.job())
	wantComplete(t, err)
}

// Rule 15: a process that dies costs the item in flight an attempt, so a crash
// loop ends: past its limit the item is held, and the rest of the list is done.
// That the sink says the effect did not happen does not keep the loop going.
func TestRule15_CrashLoopEnds(t *testing.T) {
	for name, edit := range map[string]func(*everypage.Job[ticket]){
		"replayable":     func(*everypage.Job[ticket]) {},
		"not replayable": func(j *everypage.Job[ticket]) { j.List.NotReplayable = true },
		"at most once":   atMostOnce,
		"confirmed as not done": func(j *everypage.Job[ticket]) {
			j.Confirm = func(context.Context, string) (bool, error) { return false, nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "poison", "b").crashable()
			job := w.job(edit, maxAttempts(2))
			deaths := 0
			for deaths < 10 && w.diesAgain("poison", job) {
				deaths++
			}
			if deaths == 10 {
				t.Fatal("the crash loop does not end")
			}
			if deaths > 3 {
				t.Errorf("the process died %d times with a limit of 2 attempts", deaths)
			}
			receipt, err := w.run(job)
			wantReview(t, receipt, err, state.CodeItemsHeld)
			code := state.HoldPoison
			if job.AtMostOnce {
				code = state.HoldInDoubt
			}
			w.wantHeld(receipt.RunID, "poison", code)
			w.wantState(receipt.RunID, "b", store.StateDone)
			w.wantOneKey()
		})
	}
}

// Rule 15: an item that moves to another page after each death keeps its limit.
func TestRule15_CrashLoopOfAMovingItemEnds(t *testing.T) {
	w := newWorld(t, 2, "a", "poison", "b", "c").crashable()
	job := w.job(maxAttempts(1))
	for range 2 { // once, and once more alone, with an intent
		w.diesAgain("poison", job)
	}
	w.answer = func(_ int, at pager.Cursor, page *pager.Page[ticket]) error {
		if at.IsStart() {
			show(page, "a", "b")
		} else {
			show(page, "c", "poison")
		}
		return nil
	}
	calls := len(w.calls)
	receipt, err := w.run(job)
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantHeld(receipt.RunID, "poison", state.HoldPoison)
	for _, call := range w.calls[calls:] {
		if call.ID == "poison" {
			t.Errorf("it is called as attempt %d of 1", call.Attempt)
		}
	}
}

// Rule 15: the same for a held item that a person wants tried again.
func TestRule15_CrashLoopOfARetriedItemEnds(t *testing.T) {
	w := newWorld(t, 2, "a", "poison", "b").crashable()
	w.handle = failing("poison")
	receipt, err := w.run(w.job(maxAttempts(1)))
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.handle = nil
	if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
		t.Fatal(err)
	}
	deaths := 0
	for deaths < 10 && w.diesAgain("poison", w.job(maxAttempts(2))) {
		deaths++
	}
	if deaths > 3 {
		t.Errorf("the process died %d times with a limit of 2 attempts", deaths)
	}
	receipt, err = w.run(w.job(maxAttempts(2)))
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantHeld(receipt.RunID, "poison", state.HoldPoison)
}

// diesAgain is die, and reports whether the handler was called for the item.
func (w *world) diesAgain(id string, job everypage.Job[ticket]) bool {
	w.t.Helper()
	calls := len(w.calls)
	called := func() bool {
		for _, call := range w.calls[calls:] {
			if call.ID == id {
				return true
			}
		}
		return false
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	fs := w.fs
	w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
		if item.ID == id {
			fs = w.crashed(0)
			cancel()
			return ctx.Err()
		}
		return nil
	}
	_, _ = everypage.Run(ctx, w.ledger, job)
	w.handle = nil
	died := called()
	w.open(fs)
	return died
}

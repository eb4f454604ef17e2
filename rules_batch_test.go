package everypage_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// batches makes the job's handler one of batches, which hands each batch to the
// world's handler item by item, unless whole says what becomes of it as a whole.
func (w *world) batches(size int, whole func([]everypage.Item[ticket]) []error) (func(*everypage.Job[ticket]), *[][]string) {
	var seen [][]string
	return func(j *everypage.Job[ticket]) {
		j.Handle, j.Options.BatchSize = nil, size
		j.HandleBatch = func(ctx context.Context, items []everypage.Item[ticket]) []error {
			ids := make([]string, len(items))
			outcomes := make([]error, len(items))
			for i, item := range items {
				ids[i] = item.ID
			}
			w.mu.Lock()
			seen = append(seen, ids)
			w.mu.Unlock()
			if whole != nil {
				return whole(items)
			}
			for i, item := range items {
				outcomes[i] = w.handler(ctx, item)
			}
			return outcomes
		}
	}, &seen
}

func wantBatches(t *testing.T, seen [][]string, batches ...string) {
	t.Helper()
	var got []string
	for _, ids := range seen {
		got = append(got, strings.Join(ids, " "))
	}
	wantList(t, "the batches", got, batches...)
}

// A batch has items of one page, as many as the job asks for, in order; nil says
// that all of them succeeded.
func TestBatch(t *testing.T) {
	for name, c := range map[string]struct {
		size    int
		batches []string
	}{
		"by two":     {2, []string{"a b", "c", "d e", "f", "g"}},
		"by default": {0, []string{"a b c", "d e f", "g"}},
		"by one":     {1, []string{"a", "b", "c", "d", "e", "f", "g"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
			batch, seen := w.batches(c.size, func([]everypage.Item[ticket]) []error { return nil })
			receipt, err := w.run(w.job(batch))
			wantComplete(t, err)
			wantBatches(t, *seen, c.batches...)
			want(t, "processed_unique", receipt.ProcessedUnique, 7)
			want(t, "attempts", receipt.Attempts, 7)
		})
	}
}

// page-before-work and page-settled-before-next, for batches that run beside each
// other: when one is handed out, its page is on disk and so is every outcome of the
// pages before.
func TestBatch_PageBeforeWorkAndSettledBeforeNext(t *testing.T) {
	w := newWorld(t, 4, "a", "b", "c", "d", "e", "f", "g", "h", "i").crashable()
	batch, _ := w.batches(2, nil)
	w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
		ledger := w.onDisk()
		recorded := false
		for page, err := range ledger.Pages(ctx, item.RunID, 0) {
			if err != nil {
				return err
			}
			if page.Index > item.Page {
				t.Errorf("page %d is recorded while %s of page %d is handled", page.Index, item.ID, item.Page)
			}
			recorded = recorded || page.Index == item.Page && slices.Contains(page.IDs, item.ID)
			items, err := ledger.Items(ctx, item.RunID, page.IDs)
			if err != nil {
				return err
			}
			for _, other := range items {
				if page.Index < item.Page && other.State != store.StateDone {
					t.Errorf("%s is handed out while %s of page %d is %v on disk", item.ID, other.ID, page.Index, other.State)
				}
			}
		}
		if !recorded {
			t.Errorf("%s is handed out before its page is recorded", item.ID)
		}
		return nil
	}
	_, err := w.run(w.job(batch, func(j *everypage.Job[ticket]) { j.Options.Concurrency, j.Options.ReadAhead = 2, true }))
	wantComplete(t, err)
	want(t, "the number of items", len(w.calls), 9)
}

// Each item of a batch has its own outcome: what succeeded is never called again,
// what failed is called again, together, under its old key, and held past its limit.
func TestBatch_OutcomesOfItems(t *testing.T) {
	w := newWorld(t, 4, "a", "b", "c", "d")
	batch, seen := w.batches(0, nil)
	w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
		switch {
		case item.ID == "b":
			return errNo
		case item.ID == "c" && item.Attempt == 1:
			return errNo
		case item.ID == "d":
			return everypage.Permanent(errNo)
		}
		return nil
	}
	receipt, err := w.run(w.job(batch))
	wantReview(t, receipt, err, state.CodeItemsHeld)
	wantBatches(t, *seen, "a b c d", "b c", "b")
	w.wantState(receipt.RunID, "a", store.StateDone)
	w.wantState(receipt.RunID, "c", store.StateDone)
	w.wantHeld(receipt.RunID, "b", state.HoldAttempts)
	w.wantHeld(receipt.RunID, "d", state.HoldPermanent)
	want(t, "attempts", receipt.Attempts, 7)
	w.wantOneKey()

	w.handle = nil
	if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
		t.Fatal(err)
	}
	_, err = w.run(w.job(batch))
	wantComplete(t, err)
	wantBatches(t, (*seen)[3:], "b d")
}

// A batch of which nobody knows what became of which item: all have failed, are
// called again with their keys, and held; with at-most-once they are in doubt at
// once.
func TestBatch_UnknownOutcome(t *testing.T) {
	for name, whole := range map[string]func([]everypage.Item[ticket]) []error{
		"too few outcomes":  func([]everypage.Item[ticket]) []error { return []error{nil} },
		"too many outcomes": func([]everypage.Item[ticket]) []error { return make([]error, 7) },
		"none, not nil":     func([]everypage.Item[ticket]) []error { return []error{} },
		"panic":             func([]everypage.Item[ticket]) []error { panic("2 outcomes") },
		"Goexit":            func([]everypage.Item[ticket]) []error { runtime.Goexit(); return nil },
	} {
		for _, once := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, at most once %t", name, once), func(t *testing.T) {
				w := newWorld(t, 2, "a", "b", "c", "d")
				batch, seen := w.batches(0, whole)
				receipt, err := w.run(w.job(batch, maxAttempts(2), func(j *everypage.Job[ticket]) { j.AtMostOnce = once }))
				wantReview(t, receipt, err, state.CodeItemsHeld)
				code := state.HoldAttempts
				if once {
					code = state.HoldInDoubt
					wantBatches(t, *seen, "a b", "c d")
				} else {
					wantBatches(t, *seen, "a b", "a b", "c d", "c d")
				}
				for _, id := range []string{"a", "b", "c", "d"} {
					w.wantHeld(receipt.RunID, id, code)
				}
				if detail := w.item(receipt.RunID, "a").Detail; name == "too few outcomes" && !strings.Contains(detail, "1 outcomes for 2 items") {
					t.Errorf("%q does not say what was wrong", detail)
				}
			})
		}
	}
}

// Rule 14: the intents of a whole batch are durable before the call.
func TestBatch_IntentsAreDurableBeforeTheCall(t *testing.T) {
	for _, once := range []bool{true, false} {
		w := newWorld(t, 3, "a", "b", "c", "d").crashable()
		batch, _ := w.batches(0, func(items []everypage.Item[ticket]) []error {
			ledger := w.onDisk()
			for _, item := range items {
				known, err := ledger.Items(t.Context(), item.RunID, []string{item.ID})
				if err != nil {
					t.Error(err)
					return nil
				}
				want(t, "the durable intent of "+item.ID, known[0].Intent, once)
			}
			return nil
		})
		_, err := w.run(w.job(batch, func(j *everypage.Job[ticket]) { j.AtMostOnce = once }))
		wantComplete(t, err)
	}
}

// dieInBatch runs the job until the process dies in the batch with an item.
func (w *world) dieInBatch(id string, job everypage.Job[ticket]) (called bool) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	left := w.fs
	handle := job.HandleBatch
	job.HandleBatch = func(ctx context.Context, items []everypage.Item[ticket]) []error {
		for _, item := range items {
			if item.ID == id {
				left, called = w.crashed(0), true
				cancel()
				return slices.Repeat([]error{context.Canceled}, len(items))
			}
		}
		return handle(ctx, items)
	}
	_, _ = everypage.Run(ctx, w.ledger, job)
	if called {
		w.open(left)
	}
	return called
}

// Rule 15 and rule 21: after a process died in a batch, the items of its page are
// called one by one, each with an intent, so that the one that kills it is found
// and the crash loop ends; the next page is called in batches again.
func TestBatch_CrashLoopEnds(t *testing.T) {
	w := newWorld(t, 3, "a", "poison", "b", "c", "d").crashable()
	batch, seen := w.batches(0, nil)
	job := w.job(batch, maxAttempts(2))
	deaths := 0
	for deaths < 10 && w.dieInBatch("poison", job) {
		deaths++
	}
	if deaths > 3 {
		t.Fatalf("the process died %d times with a limit of 2 attempts", deaths)
	}
	receipt, err := w.run(job)
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantHeld(receipt.RunID, "poison", state.HoldPoison)
	w.wantState(receipt.RunID, "b", store.StateDone)
	wantBatches(t, *seen, "a", "b", "c d")
	w.wantOneKey()
}

// With at-most-once every item of the batch in which the process died is in doubt,
// and none is called again.
func TestBatch_AtMostOnceOverACrash(t *testing.T) {
	w := newWorld(t, 4, "a", "b", "c", "d", "e").crashable()
	batch, seen := w.batches(2, nil)
	job := w.job(batch, atMostOnce)
	if !w.dieInBatch("c", job) {
		t.Fatal("the process did not die")
	}
	receipt, err := w.run(job)
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantHeld(receipt.RunID, "c", state.HoldInDoubt)
	w.wantHeld(receipt.RunID, "d", state.HoldInDoubt)
	wantBatches(t, *seen, "a b", "e")
}

// Rule 14: a caller that leaves during a batch: what succeeded is recorded, what
// was interrupted costs no attempt and is called again.
func TestBatch_CancelledDuringACall(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d")
	ctx, cancel := context.WithCancel(t.Context())
	batch, seen := w.batches(0, nil)
	w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
		if item.ID == "b" {
			cancel()
		}
		return ctx.Err()
	}
	receipt, err := w.runContext(ctx, w.job(batch, maxAttempts(1)))
	wantPause(t, receipt, err, state.CodeCancelled)
	w.wantState(receipt.RunID, "a", store.StateDone)
	w.wantState(receipt.RunID, "c", store.StatePending)
	w.handle = nil
	receipt, err = w.run(w.job(batch, maxAttempts(1)))
	wantComplete(t, err)
	wantBatches(t, *seen, "a b c", "b c", "d")
	want(t, "attempts", receipt.Attempts, 4)
}

// One item of a batch asks for a pause: the others are settled, and it is called
// again when the pause is over.
func TestBatch_Pause(t *testing.T) {
	for _, inPlace := range []bool{true, false} {
		w := newWorld(t, 3, "a", "b", "c", "d")
		batch, seen := w.batches(0, nil)
		first := true
		w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
			if item.ID == "b" && first {
				first = false
				return everypage.PauseRun(start().Add(time.Second), errNo)
			}
			return nil
		}
		edit := waitUpTo(time.Minute)
		if !inPlace {
			edit = waitUpTo(0)
		}
		receipt, err := w.run(w.job(batch, maxAttempts(1), edit))
		if !inPlace {
			wantPause(t, receipt, err, state.CodeSinkLimited)
			w.clock.advance(time.Minute)
			_, err = w.run(w.job(batch, maxAttempts(1)))
		}
		wantComplete(t, err)
		wantBatches(t, *seen, "a b c", "b", "d")
	}
}

// As many batches at a time as the job asks for, and no more.
func TestBatch_Concurrency(t *testing.T) {
	w := newWorld(t, 6, "a", "b", "c", "d", "e", "f")
	var mu sync.Mutex
	running, most := 0, 0
	var entered sync.WaitGroup
	entered.Add(2)
	first := 0
	batch, _ := w.batches(2, func([]everypage.Item[ticket]) []error {
		mu.Lock()
		running++
		most = max(most, running)
		first++
		wait := first <= 2
		mu.Unlock()
		if wait { // two are at work at once
			entered.Done()
			entered.Wait()
		}
		mu.Lock()
		defer mu.Unlock()
		running--
		return nil
	})
	_, err := w.run(w.job(batch, func(j *everypage.Job[ticket]) { j.Options.Concurrency = 2 }))
	wantComplete(t, err)
	want(t, "the most batches at a time", most, 2)
}

// A list that cannot be read twice is handled in batches from what was stored.
func TestBatch_NotReplayable(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d")
	batch, seen := w.batches(0, nil)
	job := w.job(batch, w.as(scroll()))
	w.handle = func(context.Context, everypage.Item[ticket]) error {
		return everypage.PauseRun(start().Add(time.Second), errNo)
	}
	receipt, err := w.run(job)
	wantPause(t, receipt, err, state.CodeSinkLimited)
	w.handle = nil
	w.clock.advance(time.Minute)
	_, err = w.run(job)
	wantComplete(t, err)
	wantBatches(t, *seen, "a b c", "a b c", "d")
	w.wantRequests("(start)", `"3"`)
}

// What does not go together is refused, and nothing happens.
func TestBatch_Misuse(t *testing.T) {
	nothing := func(context.Context, []everypage.Item[ticket]) []error { return nil }
	for name, c := range map[string]struct {
		edit func(*everypage.Job[ticket])
		says string
	}{
		"both":                  {func(j *everypage.Job[ticket]) { j.HandleBatch = nothing }, "Handle and HandleBatch are both set"},
		"neither":               {func(j *everypage.Job[ticket]) { j.Handle = nil }, "set Handle or HandleBatch, or range over Each"},
		"a size and no batches": {func(j *everypage.Job[ticket]) { j.Options.BatchSize = 10 }, "BatchSize is 10 and HandleBatch is missing"},
		"a negative size":       {func(j *everypage.Job[ticket]) { j.Handle, j.HandleBatch, j.Options.BatchSize = nil, nothing, -1 }, "BatchSize is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b")
			job := w.job(c.edit)
			_, err := w.run(job)
			if !errors.Is(err, everypage.ErrInvalidJob) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("have %v, want a JobError that says %q", err, c.says)
			}
			if err := job.Validate(); !errors.Is(err, everypage.ErrInvalidJob) {
				t.Errorf("Validate says %v", err)
			}
			w.nothingHappened()
		})
	}
}

// duplicate-once: two copies of an ID, on one page and on another, are one item of
// one batch.
func TestBatch_Duplicates(t *testing.T) {
	w := newWorld(t, 3, "a", "a", "b", "b", "c")
	batch, seen := w.batches(0, nil)
	receipt, err := w.run(w.job(batch))
	wantReview(t, receipt, err, state.CodeConflictsOpen)
	wantBatches(t, *seen, "a b", "c")
	want(t, "in_page_duplicates", receipt.InPageDuplicates, 1)
	want(t, "duplicate_conflicts", receipt.DuplicateConflicts, 1)
	if _, err := everypage.Accept(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
		t.Fatal(err)
	}
}

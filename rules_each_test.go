package everypage_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// loopJob returns the world's job for a loop.
func (w *world) loopJob(edit ...func(*everypage.Job[ticket])) everypage.Job[ticket] {
	job := w.job(edit...)
	job.Handle = nil
	return job
}

// each ranges over the job and does with each item what the world's handler does,
// unless say says something else. It returns the error of the last pair.
func (w *world) each(ctx context.Context, job everypage.Job[ticket], say func(*everypage.OpenItem[ticket]) (goOn bool)) (ended error) {
	w.t.Helper()
	for item, err := range everypage.Each(ctx, w.ledger, job) {
		switch {
		case ended != nil:
			w.t.Errorf("a pair follows the one with the error %v", ended)
		case err != nil:
			ended = err
			want(w.t, "whether an item comes with the error", item == nil, true)
		case say != nil:
			w.calls = append(w.calls, item.Item)
			if !say(item) {
				return nil
			}
		default:
			if err := w.handler(ctx, item.Item); err != nil {
				item.Fail(err)
			} else {
				item.Done()
			}
		}
	}
	return ended
}

// newest returns the receipt of the newest run, after a recount.
func (w *world) newest() *state.Receipt {
	w.t.Helper()
	runID := w.newestRun()
	w.recount(runID)
	run, err := w.ledger.Run(w.t.Context(), runID)
	if err != nil {
		w.t.Fatal(err)
	}
	return &run.Receipt
}

// A loop gets every item once and in order, and what a handler would get with it;
// a loop that ends without an error has left the run complete.
func TestEach(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
	err := w.each(t.Context(), w.loopJob(), nil)
	wantComplete(t, err)
	receipt := w.newest()
	want(t, "the status", receipt.Status, state.Complete)
	want(t, "processed_unique", receipt.ProcessedUnique, 7)
	want(t, "attempts", receipt.Attempts, 7)
	w.wantCalls("a", "b", "c", "d", "e", "f", "g")
	for i, call := range w.calls {
		want(t, "the key", call.Key, everypage.Key(receipt.RunID, call.ID, "remind"))
		want(t, "the page", call.Page, i/3)
		want(t, "the attempt", call.Attempt, 1)
	}
	err = w.each(t.Context(), w.loopJob(func(j *everypage.Job[ticket]) { j.RunID = receipt.RunID }), nil)
	wantComplete(t, err)
	want(t, "the number of items, after a loop over a complete run", len(w.calls), 7)
}

// Nothing happens before the range, and each range is a call of Run.
func TestEach_IsLazy(t *testing.T) {
	w := newWorld(t, 3, "a")
	sequence := everypage.Each(t.Context(), w.ledger, w.loopJob())
	w.nothingHappened()
	for range 2 {
		for item, err := range sequence {
			if err != nil {
				t.Fatal(err)
			}
			item.Done()
		}
	}
	w.wantRequests("(start)", "(start)")
}

// page-before-work and page-settled-before-next hold of a loop's items as well.
func TestEach_PageBeforeWorkAndSettledBeforeNext(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c", "d", "e").crashable()
	err := w.each(t.Context(), w.loopJob(), func(item *everypage.OpenItem[ticket]) bool {
		ledger := w.onDisk()
		recorded := false
		for page, err := range ledger.Pages(t.Context(), item.RunID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			recorded = recorded || page.Index == item.Page && slices.Contains(page.IDs, item.ID)
			items, err := ledger.Items(t.Context(), item.RunID, page.IDs)
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range items {
				if page.Index < item.Page && other.State != store.StateDone {
					t.Errorf("%s is handed out while %s of page %d is %v on disk", item.ID, other.ID, page.Index, other.State)
				}
			}
		}
		want(t, "whether the page of "+item.ID+" is on disk", recorded, true)
		item.Done()
		return true
	})
	wantComplete(t, err)
	want(t, "the number of items", len(w.calls), 5)
}

// What a loop says with Fail is what a handler says with its error.
func TestEach_Fail(t *testing.T) {
	w := newWorld(t, 4, "a", "b", "c", "d")
	err := w.each(t.Context(), w.loopJob(maxAttempts(2), waitUpTo(time.Minute)), func(item *everypage.OpenItem[ticket]) bool {
		switch {
		case item.ID == "a":
			item.Fail(everypage.Permanent(errNo))
		case item.ID == "b" && item.Attempt == 1:
			item.Fail(errNo)
		case item.ID == "c":
			item.Fail(nil)
		case item.ID == "d" && w.clock.Now().Before(start().Add(time.Second)):
			item.Fail(everypage.PauseRun(start().Add(time.Second), errNo))
		default:
			item.Done()
		}
		return true
	})
	receipt := w.newest()
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantHeld(receipt.RunID, "a", state.HoldPermanent)
	w.wantHeld(receipt.RunID, "c", state.HoldAttempts)
	w.wantState(receipt.RunID, "b", store.StateDone)
	w.wantState(receipt.RunID, "d", store.StateDone)
	w.wantOneKey()
}

// An item of which the loop says nothing is never done: it has failed, is tried
// again, and is held; with at-most-once it is in doubt at once.
func TestEach_NeitherDoneNorFail(t *testing.T) {
	for _, once := range []bool{false, true} {
		w := newWorld(t, 2, "a", "b", "c")
		err := w.each(t.Context(), w.loopJob(maxAttempts(2), func(j *everypage.Job[ticket]) { j.AtMostOnce = once }), func(item *everypage.OpenItem[ticket]) bool {
			if item.ID != "a" {
				item.Done()
			}
			return true
		})
		receipt := w.newest()
		wantReview(t, receipt, err, state.CodeItemsHeld)
		if once {
			w.wantHeld(receipt.RunID, "a", state.HoldInDoubt)
			w.wantCalls("a", "b", "c")
		} else {
			w.wantHeld(receipt.RunID, "a", state.HoldAttempts)
			w.wantCalls("a", "b", "a", "c")
		}
		if detail := w.item(receipt.RunID, "a").Detail; !strings.Contains(detail, "neither Done nor Fail") {
			t.Errorf("the detail %q does not say what the loop forgot", detail)
		}
	}
}

// The first word about an item counts, and none that comes after the next item was
// asked for.
func TestEach_FirstWordCounts(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c")
	var before *everypage.OpenItem[ticket]
	err := w.each(t.Context(), w.loopJob(maxAttempts(1)), func(item *everypage.OpenItem[ticket]) bool {
		if before != nil {
			before.Done() // too late
		}
		before = item
		switch item.ID {
		case "a":
			item.Done()
			item.Fail(errNo)
		case "b":
			item.Fail(everypage.Permanent(errNo))
			item.Done()
		case "c":
			item.Done()
		}
		return true
	})
	receipt := w.newest()
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantState(receipt.RunID, "a", store.StateDone)
	w.wantHeld(receipt.RunID, "b", state.HoldPermanent)
	w.wantState(receipt.RunID, "c", store.StateDone)
}

// A loop that is left early leaves the run paused. What it has said counts; what it
// had in hand stays pending, at no cost, and comes again with its key; what it has
// not seen is called for the first time.
func TestEach_Left(t *testing.T) {
	for name, c := range map[string]struct {
		say   func(*everypage.OpenItem[ticket])
		after store.ItemState
		again []string
	}{
		"with nothing said":  {func(*everypage.OpenItem[ticket]) {}, store.StatePending, []string{"b", "c", "d"}},
		"when it was done":   {func(i *everypage.OpenItem[ticket]) { i.Done() }, store.StateDone, []string{"c", "d"}},
		"when it had failed": {func(i *everypage.OpenItem[ticket]) { i.Fail(errNo) }, store.StatePending, []string{"b", "c", "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, "a", "b", "c", "d")
			job := w.loopJob(maxAttempts(1))
			err := w.each(t.Context(), job, func(item *everypage.OpenItem[ticket]) bool {
				if item.ID == "b" {
					c.say(item)
					return false
				}
				item.Done()
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			receipt := w.newest()
			want(t, "the status", receipt.Status, state.Paused)
			want(t, "the reason", receipt.Reason.Code, state.CodeCancelled)
			if !strings.Contains(receipt.Reason.Detail, "loop") {
				t.Errorf("the reason %q does not name the loop", receipt.Reason.Detail)
			}
			w.wantState(receipt.RunID, "a", store.StateDone)
			w.wantState(receipt.RunID, "b", c.after)
			w.wantState(receipt.RunID, "c", store.StatePending)
			w.wantCalls("a", "b")
			if err := w.each(t.Context(), job, nil); err != nil {
				t.Fatal(err)
			}
			wantList(t, "the items of the next loop", w.called()[2:], c.again...)
			receipt = w.newest()
			want(t, "attempts", receipt.Attempts, 4)
			want(t, "the run", receipt.ProcessedUnique, 4)
			w.wantOneKey()
		})
	}
}

// With at-most-once what a loop had in hand when it was left is in doubt, since the
// action may have been done.
func TestEach_LeftAtMostOnce(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d")
	err := w.each(t.Context(), w.loopJob(atMostOnce), func(item *everypage.OpenItem[ticket]) bool { return item.ID != "a" })
	if err != nil {
		t.Fatal(err)
	}
	err = w.each(t.Context(), w.loopJob(atMostOnce), nil)
	receipt := w.newest()
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantHeld(receipt.RunID, "a", state.HoldInDoubt)
	w.wantCalls("a", "b", "c", "d")
}

// A panic in the loop's body goes on to its caller, and the run is paused by then.
func TestEach_Panic(t *testing.T) {
	w := newWorld(t, 3, "a", "b")
	func() {
		defer func() { want(t, "what the caller recovers", recover(), any("out of ideas")) }()
		_ = w.each(t.Context(), w.loopJob(), func(*everypage.OpenItem[ticket]) bool { panic("out of ideas") })
	}()
	receipt := w.newest()
	want(t, "the status", receipt.Status, state.Paused)
	want(t, "attempts", receipt.Attempts, 0)
	wantComplete(t, w.each(t.Context(), w.loopJob(), nil))
	w.wantCalls("a", "a", "b")
}

// A caller that leaves: the last pair says so, and what failed by that costs no
// attempt.
func TestEach_Cancelled(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c")
	ctx, cancel := context.WithCancel(t.Context())
	err := w.each(ctx, w.loopJob(maxAttempts(1)), func(item *everypage.OpenItem[ticket]) bool {
		cancel()
		item.Fail(ctx.Err())
		return true
	})
	if !errors.Is(err, everypage.ErrPaused) || !errors.Is(err, context.Canceled) {
		t.Fatalf("have %v, want a pause by a cancellation", err)
	}
	wantComplete(t, w.each(t.Context(), w.loopJob(maxAttempts(1)), nil))
	w.wantCalls("a", "a", "b", "c")
}

// The last pair has the error of Run: a pause, a review, a refusal.
func TestEach_LastPair(t *testing.T) {
	w := newWorld(t, 1, "a", "b")
	w.answer = on(1, func(*pager.Page[ticket]) error { return &pager.Fault{Code: pager.CodeUnauthorized} })
	err := w.each(t.Context(), w.loopJob(), nil)
	var review *everypage.ReviewError
	if !errors.As(err, &review) || review.Receipt.Reason.Code != pager.CodeUnauthorized {
		t.Errorf("have %v, want a review", err)
	}
	w.wantCalls("a")

	release, err := w.ledger.Hold(t.Context(), "tickets")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.each(t.Context(), w.loopJob(), nil); !errors.Is(err, store.ErrHeld) {
		t.Errorf("one-runner: have %v, want that another runner is at work", err)
	}
	release()
}

// confirmed-once and same-key over a crash: what was durable is not yielded again,
// what was in hand is, with its key.
func TestEach_OverACrash(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d").crashable()
	job := w.loopJob()
	outcomes := observe(&job)
	left := w.fs
	_ = w.each(t.Context(), job, func(item *everypage.OpenItem[ticket]) bool {
		if item.ID == "b" {
			outcomes.wait([]string{"a"})
			left = w.crashed(0)
			return false
		}
		item.Done()
		return true
	})
	w.open(left)
	wantComplete(t, w.each(t.Context(), w.loopJob(), nil))
	w.wantCalls("a", "b", "b", "c", "d")
	w.wantOneKey()
	w.newest()
}

// What does not go together is refused, by a pair and before anything happens.
func TestEach_Misuse(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*everypage.Job[ticket])
		says string
	}{
		"a handler": {func(j *everypage.Job[ticket]) {
			j.Handle = func(context.Context, everypage.Item[ticket]) error { return nil }
		}, "leave Handle and HandleBatch out"},
		"a batch handler": {func(j *everypage.Job[ticket]) {
			j.HandleBatch = func(context.Context, []everypage.Item[ticket]) []error { return nil }
		}, "leave Handle and HandleBatch out"},
		"concurrency":  {func(j *everypage.Job[ticket]) { j.Options.Concurrency = 2 }, "one item at a time"},
		"a batch size": {func(j *everypage.Job[ticket]) { j.Options.BatchSize = 2 }, "one item at a time"},
		"no action":    {func(j *everypage.Job[ticket]) { j.Action = "" }, "Action is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b")
			job := w.loopJob()
			c.edit(&job)
			err := w.each(t.Context(), job, nil)
			if !errors.Is(err, everypage.ErrInvalidJob) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("have %v, want a JobError that says %q", err, c.says)
			}
			w.nothingHappened()
		})
	}
}

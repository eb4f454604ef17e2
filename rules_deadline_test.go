package everypage_test

import (
	"context"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

func deadline(j *everypage.Job[ticket]) { j.Deadline = time.Hour }

// Rule 11: the run during which the deadline passes pauses once, at the next item;
// later calls go on, late, and the receipt says by how much.
func TestRule11_DeadlinePausesOnce(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c", "d")
	w.handle = func(context.Context, everypage.Item[ticket]) error {
		w.clock.advance(25 * time.Minute)
		return nil
	}
	receipt, err := w.run(w.job(deadline))
	wantPause(t, receipt, err, state.CodeDeadlinePassed)
	w.wantCalls("a", "b", "c")
	want(t, "deadline_at", receipt.DeadlineAt, start().Add(time.Hour))
	want(t, "late_by", receipt.LateBy, state.Duration(15*time.Minute))
	receipt, err = w.run(w.job(deadline))
	wantComplete(t, err)
	w.wantCalls("a", "b", "c", "d")
	want(t, "late_by", receipt.LateBy, state.Duration(40*time.Minute))
	want(t, "finished_at", receipt.FinishedAt, start().Add(100*time.Minute))
	wantList(t, "the events", w.transitions(receipt.RunID), "begin", "pause", "resume", "finish")

	w.clock.advance(time.Hour) // a complete run is not later every day
	receipt, err = w.run(w.job(deadline, func(j *everypage.Job[ticket]) { j.RunID = receipt.RunID }))
	wantComplete(t, err)
	want(t, "late_by", receipt.LateBy, state.Duration(40*time.Minute))
}

// Rule 11: between two pages it stops before the request.
func TestRule11_DeadlineBeforeARequest(t *testing.T) {
	w := newWorld(t, 1, "a", "b")
	w.handle = func(context.Context, everypage.Item[ticket]) error {
		w.clock.advance(2 * time.Hour)
		return nil
	}
	receipt, err := w.run(w.job(deadline))
	wantPause(t, receipt, err, state.CodeDeadlinePassed)
	w.wantRequests("(start)")
	want(t, "pending_count", receipt.PendingCount, 0)
}

// Rule 11: exactly at the deadline is not late, and a run that makes it is not.
func TestRule11_NotLate(t *testing.T) {
	w := newWorld(t, 1, "a", "b")
	w.handle = func(context.Context, everypage.Item[ticket]) error {
		w.clock.advance(30 * time.Minute)
		return nil
	}
	receipt, err := w.run(w.job(deadline))
	wantComplete(t, err)
	want(t, "late_by", receipt.LateBy, 0)
}

// Rule 11: late or not, a run is complete only by the guard.
func TestRule11_LateIsNoExcuse(t *testing.T) {
	w := newWorld(t, 1, "a", "a")
	w.handle = func(context.Context, everypage.Item[ticket]) error {
		w.clock.advance(2 * time.Hour)
		return nil
	}
	receipt, err := w.run(w.job(deadline))
	wantPause(t, receipt, err, state.CodeDeadlinePassed)
	receipt, err = w.run(w.job(deadline))
	wantReview(t, receipt, err, state.CodeConflictsOpen)
	want(t, "late_by", receipt.LateBy, state.Duration(time.Hour))
}

// Rule 11: the pause of the deadline is spent over a crash and a wait in place.
func TestRule11_SpentOnce(t *testing.T) {
	w := newWorld(t, 1, "a", "b", "c")
	w.handle = func(context.Context, everypage.Item[ticket]) error {
		w.clock.advance(2 * time.Hour)
		return nil
	}
	receipt, err := w.run(w.job(deadline, waitUpTo(time.Hour)))
	wantPause(t, receipt, err, state.CodeDeadlinePassed)
	w.crashlessReopen()
	w.answer = limited(1, pager.CodeRateLimited, w.clock.Now().Add(time.Minute))
	_, err = w.run(w.job(deadline, waitUpTo(time.Hour)))
	wantComplete(t, err)
}

// Rule 11: late_by is that of the end itself, also where nothing was recorded
// shortly before, and stays so.
func TestRule11_LateByIsOfTheEnd(t *testing.T) {
	w := newWorld(t, 1)
	receipt, err := w.run(w.job(deadline, func(j *everypage.Job[ticket]) {
		j.Options.Observer.Page = func(state.Receipt, store.Page) { w.clock.advance(90 * time.Minute) }
	}))
	wantComplete(t, err)
	want(t, "finished_at", receipt.FinishedAt, start().Add(90*time.Minute))
	want(t, "late_by", receipt.LateBy, state.Duration(30*time.Minute))
}

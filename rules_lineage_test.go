package everypage_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// expired makes one request fail as a cursor that the API no longer knows.
func expired(request int) func(int, pager.Cursor, *pager.Page[ticket]) error {
	return on(request, func(*pager.Page[ticket]) error { return &pager.Fault{Code: pager.CodeCursorExpired} })
}

func (w *world) supersede(runID string) *state.Receipt {
	w.t.Helper()
	receipt, err := everypage.Supersede(w.t.Context(), w.ledger, runID, decision(w))
	if err != nil {
		w.t.Fatal(err)
	}
	w.recount(receipt.RunID)
	return receipt
}

// Rule 9 and duplicate-once: a conflict is one ID on two pages of one run. The
// item is handled once, the copy is kept, and the run is not complete.
func TestRule09_ConflictIsTwoPagesOfOneRun(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c", "a", "d")
	w.list[3].Text = "the copy"
	receipt, err := w.run(w.job())
	wantReview(t, receipt, err, state.CodeConflictsOpen)
	w.wantCalls("a", "b", "c", "d")
	want(t, "duplicate_conflicts", receipt.DuplicateConflicts, 1)
	for c, err := range w.ledger.Conflicts(t.Context(), receipt.RunID) {
		if err != nil {
			t.Fatal(err)
		}
		want(t, "the conflict's pages", [2]int{c.FirstPage, c.Page}, [2]int{0, 1})
		want(t, "the copy", string(c.Payload), string(asItem(w.list[3]).Raw))
	}

	// The successor meets a on one of its pages only, and that is no conflict.
	w.list = append(w.list[:3:3], w.list[4])
	w.supersede(receipt.RunID)
	receipt, err = w.run(w.job())
	wantComplete(t, err)
	want(t, "the successor's inherited", receipt.Inherited, 4)
	want(t, "the successor's processed_unique", receipt.ProcessedUnique, 0)
	w.wantCalls("a", "b", "c", "d")
}

// Rule 9: Run on a job whose run needs review returns the review, without a
// request and without a call.
func TestRule09_ReviewIsReturnedWithoutARequest(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	w.answer = expired(1)
	first, err := w.run(w.job())
	wantReview(t, first, err, pager.CodeCursorExpired)
	again, err := w.run(w.job())
	wantReview(t, again, err, pager.CodeCursorExpired)
	want(t, "the run", again.RunID, first.RunID)
	w.wantRequests("(start)", `"2"`)
	w.wantCalls("a", "b")
}

// Rule 9: a paused run that is superseded is reviewed first. What was pending
// passes to the successor under its old key; what it does not meet stays owed.
func TestRule09_PausedRunIsReviewedThenSuperseded(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d")
	first := w.stopAt("b", w.job())
	w.list = []ticket{w.list[0], w.list[1], w.list[3]} // c is gone
	second := w.supersede(first.RunID)
	want(t, "the successor's pending_count", second.PendingCount, 2)
	wantList(t, "the events of the first run", w.transitions(first.RunID), "begin", "pause", "review", "supersede")
	old, err := w.ledger.Run(t.Context(), first.RunID)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the first run's status", old.Receipt.Status, state.NeedsReview)
	want(t, "superseded_by", old.Receipt.SupersededBy, second.RunID)
	want(t, "supersedes", second.Supersedes, first.RunID)

	receipt, err := w.run(w.job())
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantCalls("a", "b", "b", "d")
	w.wantOneKey()
	want(t, "held_count", receipt.HeldCount, 1)
	w.wantHeld(receipt.RunID, "c", state.HoldVanished)
	want(t, "inherited", receipt.Inherited, 1)
	want(t, "processed_unique", receipt.ProcessedUnique, 2)
}

// Rule 9: held items pass as well: those that the successor meets are tried
// afresh with their old key, except those in doubt under at-most-once.
func TestRule09_HeldItemsPass(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c", "d", "e")
	once := func(j *everypage.Job[ticket]) { j.AtMostOnce, j.Options.MaxAttempts = true, 1 }
	w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
		switch item.ID {
		case "b":
			return errNo // in doubt
		case "c":
			return everypage.Permanent(errNo)
		}
		return nil
	}
	w.answer = expired(2)
	first, err := w.run(w.job(once))
	wantReview(t, first, err, pager.CodeCursorExpired)
	w.handle = nil
	w.supersede(first.RunID)
	receipt, err := w.run(w.job(once))
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantCalls("a", "b", "c", "d", "c", "e")
	w.wantOneKey()
	w.wantHeld(receipt.RunID, "b", state.HoldInDoubt)
	w.wantState(receipt.RunID, "c", store.StateDone)
}

// Rule 9: what a successor settles without meeting it on a page of its own counts
// in its receipt, and a recount finds it: retried, written off, or dropped.
func TestRule09_OwedItemsSettledFromThere(t *testing.T) {
	setup := func(t *testing.T, edit ...func(*everypage.Job[ticket])) (*world, *state.Receipt) {
		t.Helper()
		w := newWorld(t, 2, "a", "b", "c", "d", "e")
		w.handle = failing("b")
		w.answer = expired(2)
		job := w.job(append(edit, func(j *everypage.Job[ticket]) { j.Options.MaxAttempts = 1 })...)
		first, err := w.run(job)
		wantReview(t, first, err, pager.CodeCursorExpired)
		w.handle = nil
		w.list = append(w.list[:1:1], w.list[2:]...) // b is gone
		w.supersede(first.RunID)
		receipt, err := w.run(job)
		wantReview(t, receipt, err, state.CodeItemsHeld)
		want(t, "held_count", receipt.HeldCount, 1)
		return w, receipt
	}
	t.Run("retried", func(t *testing.T) {
		w, receipt := setup(t)
		if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
			t.Fatal(err)
		}
		receipt, err := w.run(w.job())
		wantComplete(t, err)
		w.wantOneKey()
		want(t, "processed_unique", receipt.ProcessedUnique, 2) // b and e
	})
	t.Run("written off", func(t *testing.T) {
		w, receipt := setup(t)
		receipt, err := everypage.Accept(t.Context(), w.ledger, receipt.RunID, decision(w, "b"))
		if err != nil {
			t.Fatal(err)
		}
		w.recount(receipt.RunID)
		want(t, "status", receipt.Status, state.Complete)
		want(t, "written_off", receipt.WrittenOff, 1)
	})
	t.Run("dropped", func(t *testing.T) {
		w := newWorld(t, 2, "a", "b", "c", "d", "e")
		drop := w.job(func(j *everypage.Job[ticket]) { j.DropVanished = true })
		first := w.stopAt("d", drop)
		w.list = append(w.list[:3:3], w.list[4:]...) // d is gone
		w.supersede(first.RunID)
		receipt, err := w.run(drop)
		wantComplete(t, err)
		want(t, "vanished_count", receipt.VanishedCount, 1)
	})
	t.Run("two runs later", func(t *testing.T) {
		w, receipt := setup(t)
		w.supersede(receipt.RunID)
		receipt, err := w.run(w.job())
		wantReview(t, receipt, err, state.CodeItemsHeld)
		if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
			t.Fatal(err)
		}
		_, err = w.run(w.job())
		wantComplete(t, err)
		w.wantOneKey()
	})
}

// Rule 9: lost cursors may be superseded without a person where the job says so,
// and so often only.
func TestRule09_SupersedeLostIsBounded(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c", "d", "e")
	w.answer = func(_ int, at pager.Cursor, _ *pager.Page[ticket]) error {
		if !at.IsStart() {
			return &pager.Fault{Code: pager.CodeCursorExpired}
		}
		return nil
	}
	lost := func(j *everypage.Job[ticket]) { j.Options.SupersedeLost = 2 }
	receipt, err := w.run(w.job(lost))
	wantReview(t, receipt, err, pager.CodeCursorExpired)
	w.wantRequests("(start)", `"2"`, "(start)", `"2"`, "(start)", `"2"`)
	w.wantCalls("a", "b")
	runs := 0
	for _, err := range w.ledger.Runs(t.Context(), store.RunFilter{Job: "tickets"}) {
		if err != nil {
			t.Fatal(err)
		}
		runs++
	}
	want(t, "the number of runs", runs, 3)
	if _, err = w.run(w.job(lost)); !errors.Is(err, everypage.ErrNeedsReview) {
		t.Errorf("the bound was passed: %v", err)
	}
	want(t, "the number of requests", len(w.requests), 6)

	w.answer = nil
	w.supersede(receipt.RunID) // a person may go on
	receipt, err = w.run(w.job(lost))
	wantComplete(t, err)
	want(t, "inherited", receipt.Inherited, 2)
}

// Rule 9: only lost cursors are superseded without a person.
func TestRule09_OtherReasonsAreAPersons(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	w.answer = on(1, func(*pager.Page[ticket]) error { return &pager.Fault{Code: pager.CodeRequestRefused} })
	receipt, err := w.run(w.job(func(j *everypage.Job[ticket]) { j.Options.SupersedeLost = 5 }))
	wantReview(t, receipt, err, pager.CodeRequestRefused)
	want(t, "superseded_by", receipt.SupersededBy, "")
}

// A lineage shares one key scope, so its action and its once cannot change; the
// filter can.
func TestLineage_WhatASuccessorMayChange(t *testing.T) {
	for field, change := range map[string]func(*everypage.Job[ticket]){
		"action": func(j *everypage.Job[ticket]) { j.Action = "other" },
		"once":   func(j *everypage.Job[ticket]) { j.Once = everypage.OnceAJob },
		"":       func(j *everypage.Job[ticket]) { j.List.Filter = "status=open" },
	} {
		t.Run(field, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b", "c")
			first := w.stopAt("b", w.job())
			w.supersede(first.RunID)
			requests := len(w.requests)
			_, err := w.run(w.job(change))
			if field == "" {
				wantComplete(t, err)
				w.wantOneKey()
				return
			}
			var different *everypage.DefinitionError
			if !errors.As(err, &different) || len(different.Differences) != 1 || different.Differences[0].Field != field {
				t.Fatalf("the error is %v, want it to name %s", err, field)
			}
			want(t, "the number of requests", len(w.requests), requests)
		})
	}
}

// Superseding a run whose process died keeps the doubt: what may have been called
// is asked about before it is called again.
func TestRule09_SupersedeKeepsDoubt(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c").crashable()
	w.die("b", true, w.job())
	var asked []string
	confirm := func(j *everypage.Job[ticket]) {
		j.Confirm = func(_ context.Context, key string) (bool, error) {
			asked = append(asked, key)
			return w.effects[key] > 0, nil
		}
	}
	w.supersede(w.newestRun())
	_, err := w.run(w.job(confirm))
	wantComplete(t, err)
	w.wantCalls("a", "b", "c")
	if len(asked) == 0 {
		t.Error("nobody asked whether the effect of b happened")
	}
}

// A held item whose last call's outcome is not known stays in doubt in the
// successor, and for a retry that does not name it: after the sink has forgotten
// its key it is held, not repeated.
func TestRule20_HeldItemsKeepTheirDoubt(t *testing.T) {
	const kept = 24 * time.Hour
	for name, then := range map[string]func(w *world, runID string){
		"superseded": func(w *world, runID string) { w.supersede(runID) },
		"retried": func(w *world, runID string) {
			if _, err := everypage.Retry(w.t.Context(), w.ledger, runID, decision(w)); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, "a", "b", "c")
			w.handle = failing("b")
			job := w.job(func(j *everypage.Job[ticket]) { j.KeyRetention, j.Options.MaxAttempts = kept, 1 })
			receipt, err := w.run(job)
			wantReview(t, receipt, err, state.CodeItemsHeld)
			w.wantHeld(receipt.RunID, "b", state.HoldAttempts)
			w.handle = nil
			w.clock.advance(kept + time.Hour)
			then(w, receipt.RunID)
			receipt, err = w.run(job)
			wantReview(t, receipt, err, state.CodeItemsHeld)
			w.wantHeld(receipt.RunID, "b", state.HoldInDoubt)
			w.wantCalls("a", "b", "c")

			// A person who names it takes the doubt upon themselves.
			if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w, "b")); err != nil {
				t.Fatal(err)
			}
			_, err = w.run(job)
			wantComplete(t, err)
			w.wantCalls("a", "b", "c", "b")
		})
	}
}

func (w *world) newestRun() string {
	w.t.Helper()
	for run, err := range w.ledger.Runs(w.t.Context(), store.RunFilter{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		return run.Receipt.RunID
	}
	w.t.Fatal("there is no run")
	return ""
}

// Rules 9, 14 and 20: a held item that was let go, and whose call was under way when
// the process died, passes to a successor as what it is: in doubt with
// at-most-once, and otherwise to be asked about.
func TestRule09_ARetriedItemInDoubtPasses(t *testing.T) {
	for _, once := range []bool{true, false} {
		t.Run(fmt.Sprintf("at-most-once %t", once), func(t *testing.T) {
			w := newWorld(t, 3, "a", "b", "c").crashable()
			w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
				if item.ID == "b" {
					return everypage.Permanent(errNo)
				}
				return nil
			}
			asked := 0
			job := w.job(func(j *everypage.Job[ticket]) {
				if j.AtMostOnce = once; !once {
					j.Confirm = func(context.Context, string) (bool, error) { asked++; return true, nil }
				}
			})
			receipt, err := w.run(job)
			wantReview(t, receipt, err, state.CodeItemsHeld)
			if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
				t.Fatal(err)
			}
			w.handle, w.calls = nil, nil
			w.die("b", true, job)
			if _, err := everypage.Supersede(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
				t.Fatal(err)
			}
			receipt, err = w.run(job)
			w.wantCalls("b")
			if once {
				wantReview(t, receipt, err, state.CodeItemsHeld)
				w.wantHeld(receipt.RunID, "b", state.HoldInDoubt)
				return
			}
			wantComplete(t, err)
			want(t, "questions", asked, 1)
		})
	}
}

package everypage_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// Rule 10: conflicts are accepted by a named person with a note, and both stand
// in the ledger. Where nothing else is in the way the run is complete.
func TestRule10_AcceptByNameWithANote(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "a", "c")
	receipt, err := w.run(w.job())
	wantReview(t, receipt, err, state.CodeConflictsOpen)
	for name, d := range map[string]everypage.Decision{
		"no name": {Note: "fine"},
		"no note": {By: "Ada"},
		"other":   {By: "Ada", Note: "fine", Items: []string{"c"}},
	} {
		var refused *everypage.DecisionError
		if _, err := everypage.Accept(t.Context(), w.ledger, receipt.RunID, d); !errors.As(err, &refused) {
			t.Errorf("accepted with %s: %v", name, err)
		}
	}
	w.recount(receipt.RunID)
	receipt, err = everypage.Accept(t.Context(), w.ledger, receipt.RunID, decision(w))
	if err != nil {
		t.Fatal(err)
	}
	w.recount(receipt.RunID)
	want(t, "status", receipt.Status, state.Complete)
	want(t, "duplicate_conflicts", receipt.DuplicateConflicts, 0)
	want(t, "conflicts_accepted", receipt.ConflictsAccepted, 1)
	want(t, "the reason", receipt.Reason, nil)
	for c, err := range w.ledger.Conflicts(t.Context(), receipt.RunID) {
		if err != nil {
			t.Fatal(err)
		}
		want(t, "who accepted, and why", c.AcceptedBy+": "+c.Note, "Ada: looked at it")
	}
	wantList(t, "the events", w.transitions(receipt.RunID), "begin", "review", "note", "reopen", "finish")
	requests := len(w.requests)
	receipt, err = w.run(w.job(func(j *everypage.Job[ticket]) { j.RunID = receipt.RunID }))
	wantComplete(t, err)
	want(t, "the number of requests", len(w.requests), requests)
}

// Rule 10: held items are written off one by one, by name; each counts once, also
// where it is named twice.
func TestRule10_AcceptWritesHeldItemsOff(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c", "d")
	w.handle = failing("b", "d")
	receipt, err := w.run(w.job())
	wantReview(t, receipt, err, state.CodeItemsHeld)
	if _, err := everypage.Accept(t.Context(), w.ledger, receipt.RunID, decision(w)); err == nil {
		t.Error("held items were written off without being named")
	}
	receipt, err = everypage.Accept(t.Context(), w.ledger, receipt.RunID, decision(w, "b", "b"))
	if err != nil {
		t.Fatal(err)
	}
	w.recount(receipt.RunID)
	want(t, "status", receipt.Status, state.NeedsReview)
	want(t, "held_count", receipt.HeldCount, 1)
	want(t, "written_off", receipt.WrittenOff, 1)
	receipt, err = everypage.Accept(t.Context(), w.ledger, receipt.RunID, decision(w, "d"))
	if err != nil {
		t.Fatal(err)
	}
	w.recount(receipt.RunID)
	want(t, "status", receipt.Status, state.Complete)
	want(t, "written_off", receipt.WrittenOff, 2)
	want(t, "processed_unique", receipt.ProcessedUnique, 2)
}

// Rule 10: accepting conflicts in the middle of a walk leaves what stopped it; what
// is accepted is no longer named as in the way.
func TestRule10_AcceptInTheMiddle(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "a", "c", "d")
	w.answer = on(2, func(*pager.Page[ticket]) error { return &pager.Fault{Code: pager.CodeRequestRefused} })
	receipt, err := w.run(w.job())
	wantReview(t, receipt, err, pager.CodeRequestRefused)
	nobody := everypage.Decision{Note: "fine", Clock: w.clock, Random: w.random}
	if _, err := everypage.Accept(t.Context(), w.ledger, receipt.RunID, nobody); err == nil {
		t.Error("nobody accepted a conflict")
	}
	if _, err := everypage.Supersede(t.Context(), w.ledger, receipt.RunID, nobody); err == nil {
		t.Error("nobody superseded a run")
	}
	receipt, err = everypage.Accept(t.Context(), w.ledger, receipt.RunID, decision(w))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "status", receipt.Status, state.NeedsReview)
	want(t, "the reason", receipt.Reason.Code, pager.CodeRequestRefused)
	for _, code := range receipt.BlockedBy {
		if code == state.CodeConflictsOpen {
			t.Error("blocked_by still names the conflict that was accepted")
		}
	}
	if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
		t.Fatal(err)
	}
	receipt, err = w.run(w.job())
	wantComplete(t, err)
	want(t, "conflicts_accepted", receipt.ConflictsAccepted, 1)
}

// Rule 10: held items are tried again from their stored bytes, with their old key
// and fresh attempts, and no page is read for them.
func TestRule10_RetryFromStoredBytes(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c", "d")
	w.list[1].Text = "as it was"
	w.handle = failing("b")
	receipt, err := w.run(w.job())
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.list[1].Text = "as it is now"
	requests, calls := len(w.requests), len(w.calls)
	if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, everypage.Decision{Clock: w.clock}); err == nil {
		t.Error("a run was reopened by nobody")
	}
	receipt, err = everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "status", receipt.Status, state.Running)
	receipt, err = w.run(w.job())
	wantReview(t, receipt, err, state.CodeItemsHeld) // three attempts more
	want(t, "the number of calls", len(w.calls)-calls, 3)
	w.handle = nil
	if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w, "b")); err != nil {
		t.Fatal(err)
	}
	receipt, err = w.run(w.job())
	wantComplete(t, err)
	want(t, "the number of requests", len(w.requests), requests)
	last := w.calls[len(w.calls)-1]
	want(t, "the text", last.Value.Text, "as it was")
	want(t, "the attempt", last.Attempt, 1)
	w.wantOneKey()
	want(t, "processed_unique", receipt.ProcessedUnique, 4)
}

// Rule 10: items in doubt, and those whose key the sink knows with another body,
// are tried again only by name.
func TestRule10_DoubtIsRetriedByNameOnly(t *testing.T) {
	for name, fail := range map[string]error{
		"in doubt":   errNo,
		"key reused": &everypage.PermanentError{Code: state.HoldKeyMismatch, Err: errNo},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b")
			w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
				if item.ID == "b" {
					return fail
				}
				return nil
			}
			job := w.job(func(j *everypage.Job[ticket]) { j.AtMostOnce = true })
			receipt, err := w.run(job)
			wantReview(t, receipt, err, state.CodeItemsHeld)
			if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err == nil {
				t.Fatal("it was retried without being named")
			}
			w.handle = nil
			if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w, "b")); err != nil {
				t.Fatal(err)
			}
			_, err = w.run(job)
			wantComplete(t, err)
			w.wantCalls("a", "b", "b")
			w.wantOneKey()
		})
	}
}

// Rule 10: each reason can be reopened if and only if its explanation says so.
func TestRule10_ReasonsHaveRemedies(t *testing.T) {
	for _, e := range state.Explanations() {
		if e.Allows(state.RunAgain) {
			continue // a pause
		}
		t.Run(string(e.Code), func(t *testing.T) {
			w := newWorld(t, 2, "a", "b", "c")
			w.answer = on(1, func(*pager.Page[ticket]) error { return &pager.Fault{Code: e.Code, Detail: "as planned"} })
			receipt, err := w.run(w.job())
			wantReview(t, receipt, err, e.Code)
			var needs *everypage.ReviewError
			if !errors.As(err, &needs) || len(needs.Remedies()) == 0 {
				t.Fatalf("the error names no remedy: %v", err)
			}
			for _, remedy := range needs.Remedies() {
				if !strings.Contains(err.Error(), string(remedy)) {
					t.Errorf("%q does not name the remedy %s", err, remedy)
				}
			}
			if e.Code == state.CodeItemsHeld {
				return // there is none to retry here
			}
			_, err = everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w))
			want(t, "whether it was reopened", err == nil, e.Allows(state.Reopen))
			if err == nil {
				_, err = w.run(w.job())
				wantComplete(t, err)
				return
			}
			w.supersede(receipt.RunID)
			_, err = w.run(w.job())
			wantComplete(t, err)
			w.wantCalls("a", "b", "c")
		})
	}
}

// Rule 10: entries without an ID are owed and never handled. They are known by
// page and position, and the review names the first.
func TestRule10_EntriesWithoutID(t *testing.T) {
	w := newWorld(t, 2, "a", "", "b", "", "c")
	receipt, err := w.run(w.job())
	wantReview(t, receipt, err, state.CodeEntriesWithoutID)
	w.wantCalls("a", "b", "c")
	want(t, "pending_count", receipt.PendingCount, 2)
	want(t, "entries_without_id", receipt.EntriesWithoutID, 2)
	if page := w.pages(receipt.RunID)[1]; len(page.Unidentified) != 1 || page.Unidentified[0] != 1 {
		t.Errorf("the entry without ID is recorded at %v, want [1]", page.Unidentified)
	}
	if !strings.Contains(receipt.Reason.Detail, "page 0: entry 1") {
		t.Errorf("%q does not say where", receipt.Reason.Detail)
	}
}

// complete-is-final: no act changes a complete run, nor does one on a run that
// was superseded, is not under review, or does not exist.
func TestCompleteIsFinal(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	receipt, err := w.run(w.job())
	wantComplete(t, err)
	before, err := receipt.YAML()
	if err != nil {
		t.Fatal(err)
	}
	acts := map[string]func(context.Context, store.Store, string, everypage.Decision) (*state.Receipt, error){
		"retry": everypage.Retry, "accept": everypage.Accept, "supersede": everypage.Supersede,
	}
	for name, act := range acts {
		var refused *everypage.DecisionError
		if _, err := act(t.Context(), w.ledger, receipt.RunID, decision(w)); !errors.As(err, &refused) {
			t.Errorf("%s of a complete run: %v", name, err)
		}
		if _, err := act(t.Context(), w.ledger, "nobody", decision(w)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s of a run that does not exist: %v", name, err)
		}
	}
	run, err := w.ledger.Run(t.Context(), receipt.RunID)
	if err != nil {
		t.Fatal(err)
	}
	after, _ := run.Receipt.YAML()
	want(t, "the receipt", string(after), string(before))

	paused := w.stopAt("b", w.job())
	for _, name := range []string{"retry", "accept"} {
		if _, err := acts[name](t.Context(), w.ledger, paused.RunID, decision(w)); err == nil {
			t.Errorf("%s of a paused run", name)
		}
	}
	w.supersede(paused.RunID)
	for name, act := range acts {
		if _, err := act(t.Context(), w.ledger, paused.RunID, decision(w)); err == nil {
			t.Errorf("%s of a superseded run", name)
		}
	}
}

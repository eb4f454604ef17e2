package state_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

func noon() time.Time { return time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC) }

// finishable returns a receipt that every guard lets pass.
func finishable(status state.Status) *state.Receipt {
	return &state.Receipt{RunID: "r", Status: status, TerminalObserved: true}
}

// change asks for an event in a way that every guard lets pass.
func change(event state.Event) state.Change {
	return state.Change{Event: event, At: noon(), Who: "Ada", Force: true, Reason: state.Reason{Code: state.CodeCancelled}}
}

// The whole table: each event from each status, allowed and refused. What is
// refused leaves the receipt as it was; complete lets nothing pass.
func TestFire_Table(t *testing.T) {
	to := map[state.Status]map[state.Event]state.Status{
		state.Running: {
			state.EventPause: state.Paused, state.EventResume: state.Running,
			state.EventFinish: state.Complete, state.EventReview: state.NeedsReview,
		},
		state.Paused:      {state.EventResume: state.Running, state.EventReview: state.NeedsReview},
		state.NeedsReview: {state.EventReopen: state.Running},
		state.Complete:    {},
		"":                {},
		"unheard_of":      {},
	}
	events := []state.Event{
		state.EventBegin, state.EventPause, state.EventResume, state.EventFinish, state.EventReview,
		state.EventReopen, state.EventSupersede, state.EventNote, "", "unheard_of",
	}
	for from, allowed := range to {
		for _, event := range events {
			t.Run(fmt.Sprintf("%s %s", from, event), func(t *testing.T) {
				r := finishable(from)
				before := *r
				transition, err := state.Fire(t.Context(), r, change(event))
				after, ok := allowed[event]
				if !ok {
					var refused *state.TransitionError
					if !errors.As(err, &refused) || refused.From != from || refused.Event != event || refused.Why != nil {
						t.Fatalf("have %v, want a TransitionError of the table", err)
					}
					if r.Status != before.Status || r.Reason != nil || !r.UpdatedAt.IsZero() {
						t.Errorf("the receipt was changed to %+v", *r)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				want := state.Transition{At: noon(), Event: event, From: from, To: after, Reason: change(event).Reason, Who: "Ada"}
				if fmt.Sprint(transition) != fmt.Sprint(want) {
					t.Errorf("the transition is %+v, want %+v", transition, want)
				}
				if r.Status != after || !r.UpdatedAt.Equal(noon()) {
					t.Errorf("the receipt says %s at %s, want %s", r.Status, r.UpdatedAt, after)
				}
			})
		}
	}
}

// A cancelled context does not leave the machine between two states.
func TestFire_CancelledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := finishable(state.Running)
	if _, err := state.Fire(ctx, r, change(state.EventPause)); err != nil || r.Status != state.Paused {
		t.Errorf("the run is %s: %v", r.Status, err)
	}
}

// Every guard is asked: a callback whose name the machine does not know would be
// ignored without a word.
func TestFire_GuardsAreAsked(t *testing.T) {
	for name, c := range map[string]struct {
		receipt state.Receipt
		change  state.Change
		says    string
	}{
		"resume, too early": {
			state.Receipt{Status: state.Paused, ResumeAt: noon().Add(time.Second)},
			state.Change{Event: state.EventResume, At: noon()},
			"not before 2026-03-05T12:00:01Z",
		},
		"resume, a quota without an instant": {
			state.Receipt{Status: state.Paused, Reason: &state.Reason{Code: pager.CodeQuotaExhausted}},
			state.Change{Event: state.EventResume, At: noon()},
			"by force",
		},
		"finish, end not observed": {
			state.Receipt{Status: state.Running}, state.Change{Event: state.EventFinish}, "end_not_observed",
		},
		"finish, vetoed": {
			state.Receipt{Status: state.Running, Vetoes: []string{"x"}}, state.Change{Event: state.EventFinish}, "end_vetoed",
		},
		"finish, held": {
			state.Receipt{Status: state.Running, TerminalObserved: true, PendingCount: 1, HeldCount: 1},
			state.Change{Event: state.EventFinish},
			"items_held",
		},
		"finish, pending": {
			state.Receipt{Status: state.Running, TerminalObserved: true, PendingCount: 1},
			state.Change{Event: state.EventFinish},
			"items_pending",
		},
		"finish, without ID": {
			state.Receipt{Status: state.Running, TerminalObserved: true, PendingCount: 1, EntriesWithoutID: 1},
			state.Change{Event: state.EventFinish},
			"entries_without_id",
		},
		"finish, a conflict": {
			state.Receipt{Status: state.Running, TerminalObserved: true, DuplicateConflicts: 1},
			state.Change{Event: state.EventFinish},
			"conflicts_open",
		},
		"finish, shifted": {
			state.Receipt{Status: state.Running, TerminalObserved: true, Contradictions: []pager.Code{state.CodeListShifted}},
			state.Change{Event: state.EventFinish},
			"list_shifted",
		},
		"reopen, by nobody": {
			state.Receipt{Status: state.NeedsReview}, state.Change{Event: state.EventReopen}, "needs a name",
		},
		"reopen, superseded": {
			state.Receipt{Status: state.NeedsReview, SupersededBy: "s"}, state.Change{Event: state.EventReopen, Who: "Ada"}, "superseded by s",
		},
		"reopen, the cursor is lost": {
			state.Receipt{Status: state.NeedsReview, Reason: &state.Reason{Code: state.CodeCursorLost}},
			state.Change{Event: state.EventReopen, Who: "Ada"},
			"cursor_lost cannot be reopened",
		},
		"reopen, shifted behind another reason": {
			state.Receipt{Status: state.NeedsReview, Reason: &state.Reason{Code: state.CodeItemsHeld}, Contradictions: []pager.Code{state.CodeListShifted}},
			state.Change{Event: state.EventReopen, Who: "Ada"},
			"list_shifted cannot be reopened",
		},
		"reopen, vetoed behind another reason": {
			state.Receipt{Status: state.NeedsReview, Reason: &state.Reason{Code: pager.CodeRequestRefused}, Vetoes: []string{"x"}},
			state.Change{Event: state.EventReopen, Who: "Ada"},
			"end_vetoed cannot be reopened",
		},
		"reopen, entries without ID behind another reason": {
			state.Receipt{Status: state.NeedsReview, Reason: &state.Reason{Code: state.CodeItemsHeld}, EntriesWithoutID: 1},
			state.Change{Event: state.EventReopen, Who: "Ada"},
			"entries_without_id cannot be reopened",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.receipt.RunID = "r"
			r := c.receipt
			_, err := state.Fire(t.Context(), &r, c.change)
			var refused *state.TransitionError
			if !errors.As(err, &refused) || refused.Why == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("have %v, want a guard that says %q", err, c.says)
			}
			if fmt.Sprintf("%+v", r) != fmt.Sprintf("%+v", c.receipt) {
				t.Errorf("the receipt was changed to %+v", r)
			}
		})
	}
}

// What lets a run resume: its instant, none where none is needed, force, and a
// runner that is gone.
func TestFire_MayResume(t *testing.T) {
	for name, c := range map[string]struct {
		receipt state.Receipt
		change  state.Change
	}{
		"at the instant":       {state.Receipt{Status: state.Paused, ResumeAt: noon()}, state.Change{At: noon()}},
		"no instant needed":    {state.Receipt{Status: state.Paused, Reason: &state.Reason{Code: state.CodeCancelled}}, state.Change{At: noon()}},
		"forced":               {state.Receipt{Status: state.Paused, ResumeAt: noon().Add(time.Hour)}, state.Change{At: noon(), Force: true}},
		"a quota, forced":      {state.Receipt{Status: state.Paused, Reason: &state.Reason{Code: pager.CodeQuotaExhausted}}, state.Change{At: noon(), Force: true}},
		"its runner is gone":   {state.Receipt{Status: state.Running}, state.Change{At: noon()}},
		"a quota, the instant": {state.Receipt{Status: state.Paused, ResumeAt: noon(), Reason: &state.Reason{Code: pager.CodeQuotaExhausted}}, state.Change{At: noon()}},
	} {
		t.Run(name, func(t *testing.T) {
			c.change.Event = state.EventResume
			if _, err := state.Fire(t.Context(), &c.receipt, c.change); err != nil {
				t.Fatal(err)
			}
			if r := c.receipt; r.Status != state.Running || r.Reason != nil || !r.ResumeAt.IsZero() {
				t.Errorf("a running run says %+v", r)
			}
		})
	}
}

// What each status keeps: a pause its reason and instant, a review its reason and
// everything in the way, a complete run when it finished.
func TestFire_WhatAStatusKeeps(t *testing.T) {
	r := &state.Receipt{Status: state.Running, TerminalObserved: true, DuplicateConflicts: 1, PendingCount: 1, HeldCount: 1}
	fire := func(c state.Change) {
		t.Helper()
		if _, err := state.Fire(t.Context(), r, c); err != nil {
			t.Fatal(err)
		}
	}
	fire(state.Change{Event: state.EventPause, At: noon(), Reason: state.Reason{Code: pager.CodeRateLimited}, ResumeAt: noon().Add(time.Minute)})
	if r.Reason == nil || r.Reason.Code != pager.CodeRateLimited || !r.ResumeAt.Equal(noon().Add(time.Minute)) || r.BlockedBy != nil {
		t.Errorf("a paused run says %+v", *r)
	}
	fire(state.Change{Event: state.EventReview, At: noon(), Reason: state.Reason{Code: state.CodeConflictsOpen}})
	if r.Reason.Code != state.CodeConflictsOpen || !r.ResumeAt.IsZero() || len(r.BlockedBy) != 2 {
		t.Errorf("a run that needs review says %+v", *r)
	}
	fire(state.Change{Event: state.EventReopen, At: noon(), Who: "Ada"})
	if r.Reason != nil || r.BlockedBy != nil {
		t.Errorf("a reopened run says %+v", *r)
	}
	r.DuplicateConflicts, r.PendingCount, r.HeldCount = 0, 0, 0
	fire(state.Change{Event: state.EventFinish, At: noon().Add(time.Hour)})
	if !r.FinishedAt.Equal(noon().Add(time.Hour)) || r.Reason != nil {
		t.Errorf("a complete run says %+v", *r)
	}
}

// A reason is of one code, has a meaning and a remedy; every code of the packages
// is explained, and an unknown one is not a dead end.
func TestExplanations(t *testing.T) {
	seen := map[pager.Code]bool{}
	for _, e := range state.Explanations() {
		if seen[e.Code] {
			t.Errorf("%s is explained twice", e.Code)
		}
		seen[e.Code] = true
		if len(e.Remedies) == 0 {
			t.Errorf("%s has no remedy", e.Code)
		}
		inWords(t, e)
		if e.Allows(state.RunAgain) && len(e.Remedies) > 1 {
			t.Errorf("%s is a pause and a review", e.Code)
		}
		if !e.Allows(state.RunAgain) && !e.Allows(state.Supersede) {
			t.Errorf("%s cannot be superseded: a run would be stuck", e.Code)
		}
	}
	for _, code := range []pager.Code{
		pager.CodeRateLimited, pager.CodeQuotaExhausted, pager.CodeServerError, pager.CodeTransport, pager.CodeUnauthorized,
		pager.CodeRequestRefused, pager.CodeCursorExpired, pager.CodeNotAList, pager.CodeBodyTooLarge, pager.CodeCursorMissing,
		pager.CodeCrossOrigin, pager.CodeEndUnknown, pager.CodePagerFailed,
		state.CodeCancelled, state.CodeDeadlinePassed, state.CodeSinkLimited, state.CodeItemsHeld, state.CodeItemsPending,
		state.CodeEntriesWithoutID, state.CodeConflictsOpen, state.CodeEndNotObserved, state.CodeEndVetoed, state.CodeListShifted,
		state.CodeCursorRepeated, state.CodeNoProgress, state.CodeCursorLost, state.CodeSequenceStopped, state.CodeSuperseded,
	} {
		if !seen[code] {
			t.Errorf("%s is not explained", code)
		}
		delete(seen, code)
	}
	for code := range seen {
		t.Errorf("%s is explained, and this test does not know it: add it", code)
	}
	for _, lost := range []pager.Code{state.CodeListShifted, state.CodeCursorLost, pager.CodeCursorExpired} {
		if state.Explain(lost).Allows(state.Reopen) {
			t.Errorf("%s can be reopened", lost)
		}
	}
	if e := state.Explain("from_tomorrow"); !e.Allows(state.Reopen) || !e.Allows(state.Supersede) {
		t.Errorf("an unknown code has the remedies %v", e.Remedies)
	}
}

// inWords fails unless an explanation says in whole sentences what happened and what
// to do.
func inWords(t *testing.T, e state.Explanation) {
	t.Helper()
	for what, text := range map[string]string{"meaning": e.Meaning, "advice": e.Advice} {
		if len(text) < 20 || !strings.HasSuffix(text, ".") || text[0] < 'A' || text[0] > 'Z' {
			t.Errorf("the %s of %s is no sentence: %q", what, e.Code, text)
		}
	}
}

// So is every reason for which an item is held.
func TestHoldExplanations(t *testing.T) {
	seen := map[pager.Code]bool{}
	for _, e := range state.HoldExplanations() {
		if seen[e.Code] {
			t.Errorf("%s is explained twice", e.Code)
		}
		seen[e.Code] = true
		inWords(t, e)
		if got := state.ExplainHold(e.Code); got.Advice != e.Advice {
			t.Errorf("ExplainHold(%s) is %+v", e.Code, got)
		}
	}
	for _, code := range []pager.Code{
		state.HoldAttempts, state.HoldPermanent, state.HoldInDoubt, state.HoldPoison, state.HoldVanished,
		state.HoldCreatedAt, state.HoldPayload, state.HoldKeyMismatch, state.WrittenOff,
	} {
		if !seen[code] {
			t.Errorf("%s is not explained", code)
		}
		delete(seen, code)
	}
	for code := range seen {
		t.Errorf("%s is explained, and this test does not know it: add it", code)
	}
	inWords(t, state.ExplainHold("from_tomorrow"))
	inWords(t, state.Explain("from_tomorrow"))
}

// ReasonOf keeps everything that the API said.
func TestReasonOf(t *testing.T) {
	answer := pager.Answer{HTTPStatus: 403, Error: "forbidden", RequestID: "req-1", Details: []string{"x"}, Hint: "h"}
	cause := errors.New("the cause")
	for detail, want := range map[string]string{"": "the cause", "said so": "said so: the cause"} {
		got := state.ReasonOf(&pager.Fault{Code: pager.CodeRequestRefused, Detail: detail, Answer: answer, Err: cause}, 7)
		if fmt.Sprint(got) != fmt.Sprint(state.Reason{Code: pager.CodeRequestRefused, Detail: want, Answer: answer, PageIndex: 7}) {
			t.Errorf("the reason is %+v", got)
		}
	}
}

package state

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/looplab/fsm"
)

// Transition is one event of a run, as the ledger keeps it.
type Transition struct {
	At     time.Time `json:"at" yaml:"at"`
	Event  Event     `json:"event" yaml:"event"`
	From   Status    `json:"from" yaml:"from"`
	To     Status    `json:"to" yaml:"to"`
	Reason Reason    `json:"reason,omitzero" yaml:"reason,omitempty"`
	// Who is the person who asked for it; empty for the engine itself.
	Who string `json:"who,omitempty" yaml:"who,omitempty"`
}

// TransitionError is a transition that the machine refused.
type TransitionError struct {
	RunID string
	Event Event
	From  Status
	// Why is the guard's answer; nil where the table has no such transition.
	Why error
}

func (e *TransitionError) Error() string {
	if e.Why == nil {
		return fmt.Sprintf("everypage: run %s is %s, which %s does not change", e.RunID, e.From, e.Event)
	}
	return fmt.Sprintf("everypage: run %s: %s refused: %v", e.RunID, e.Event, e.Why)
}

// Unwrap returns the guard's answer.
func (e *TransitionError) Unwrap() error { return e.Why }

// Change asks for a transition.
type Change struct {
	Event Event
	At    time.Time
	// Reason is kept in the receipt by pause and review.
	Reason Reason
	// ResumeAt is the instant before which a paused run does not go on. The zero
	// time means at once, or, for a reason that needs an instant, only by force.
	ResumeAt time.Time
	// Force lets a run resume before its instant.
	Force bool
	// Who is the person who asks; reopen needs one.
	Who string
}

// table is the whole of what can happen to a status.
func table() fsm.Events {
	return fsm.Events{
		{Name: string(EventPause), Src: []string{string(Running)}, Dst: string(Paused)},
		{Name: string(EventResume), Src: []string{string(Paused), string(Running)}, Dst: string(Running)},
		{Name: string(EventFinish), Src: []string{string(Running)}, Dst: string(Complete)},
		{Name: string(EventReview), Src: []string{string(Running), string(Paused)}, Dst: string(NeedsReview)},
		{Name: string(EventReopen), Src: []string{string(NeedsReview)}, Dst: string(Running)},
	}
}

// guards returns the conditions, by the callback name that fsm calls them by.
func guards(r *Receipt, c Change) map[string]fsm.Callback {
	guard := func(check func() error) fsm.Callback {
		return func(_ context.Context, e *fsm.Event) {
			if err := check(); err != nil {
				e.Cancel(err)
			}
		}
	}
	return map[string]fsm.Callback{
		"before_" + string(EventResume): guard(func() error { return mayResume(r, c) }),
		"before_" + string(EventFinish): guard(r.MayFinish),
		"before_" + string(EventReopen): guard(func() error { return mayReopen(r, c) }),
	}
}

func mayResume(r *Receipt, c Change) error {
	switch {
	case r.Status != Paused || c.Force:
		return nil
	case c.At.Before(r.ResumeAt):
		return fmt.Errorf("not before %s", r.ResumeAt.Format(time.RFC3339Nano))
	case r.ResumeAt.IsZero() && r.Reason != nil && Explain(r.Reason.Code).NeedsInstant:
		return fmt.Errorf("%s came without an instant, and everypage does not poll: resume it by force", r.Reason.Code)
	}
	return nil
}

func mayReopen(r *Receipt, c Change) error {
	if c.Who == "" {
		return errors.New("reopening is a person's act and needs a name")
	}
	if r.SupersededBy != "" {
		return fmt.Errorf("the run was superseded by %s", r.SupersededBy)
	}
	for _, code := range r.reviewCodes() {
		if !Explain(code).Allows(Reopen) {
			return fmt.Errorf("%s cannot be reopened; supersede the run", code)
		}
	}
	return nil
}

// Fire asks the machine for a transition. On success the receipt has its new
// status, reason and instants, and the transition is for the ledger; on failure
// the receipt is as it was and the error is a [*TransitionError].
func Fire(ctx context.Context, r *Receipt, c Change) (Transition, error) {
	from := r.Status
	machine := fsm.NewFSM(string(from), table(), guards(r, c))
	// A cancelled context would leave the machine between two states.
	err := machine.Event(context.WithoutCancel(ctx), string(c.Event))
	var canceled fsm.CanceledError
	var stays fsm.NoTransitionError
	switch {
	case errors.As(err, &canceled):
		return Transition{}, &TransitionError{RunID: r.RunID, Event: c.Event, From: from, Why: canceled.Err}
	case err != nil && !errors.As(err, &stays): // running stays running where its runner is gone
		return Transition{}, &TransitionError{RunID: r.RunID, Event: c.Event, From: from}
	}
	r.Status = Status(machine.Current())
	r.UpdatedAt = c.At
	r.settle(c)
	return Transition{At: c.At, Event: c.Event, From: from, To: r.Status, Reason: c.Reason, Who: c.Who}, nil
}

// settle makes the receipt's reason and instants follow its new status.
func (r *Receipt) settle(c Change) {
	r.Reason, r.ResumeAt, r.BlockedBy = nil, time.Time{}, nil
	switch r.Status {
	case Running:
	case Paused:
		r.Reason, r.ResumeAt = &c.Reason, c.ResumeAt
	case NeedsReview:
		r.Reason, r.BlockedBy = &c.Reason, r.Blocks()
	case Complete:
		r.FinishedAt = c.At
	}
}

// Diagram draws the table in Mermaid's notation.
func Diagram() (string, error) {
	return fsm.VisualizeForMermaidWithGraphType(fsm.NewFSM(string(Running), table(), nil), fsm.StateDiagram)
}

package everypage

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// The two ways in which a run that was asked for is not complete, to be tested
// with errors.Is.
var (
	ErrPaused      = errors.New("the run is paused")
	ErrNeedsReview = errors.New("the run needs review")
)

// ErrInvalidJob is wrapped by every [*JobError].
var ErrInvalidJob = errors.New("the job is not valid")

// PausedError says that a run was interrupted and goes on when it is asked for
// again. errors.Is finds ErrPaused in it, and the cause, such as
// context.Canceled.
type PausedError struct {
	Receipt *state.Receipt
	Cause   error
}

func (e *PausedError) Error() string {
	next := "run the job again to go on"
	if at := e.Receipt.ResumeAt; !at.IsZero() {
		next = "run the job again at or after " + at.Format(time.RFC3339Nano) + " to go on"
	} else if r := e.Receipt.Reason; r != nil && state.Explain(r.Code).NeedsInstant {
		next = "no instant was given: run the job again by force when the quota is restored"
	}
	return fmt.Sprintf("everypage: run %s is paused%s; %s", e.Receipt.RunID, because(e.Receipt.Reason), next)
}

// Is reports whether target is ErrPaused.
func (e *PausedError) Is(target error) bool { return target == ErrPaused }

// Unwrap returns the cause.
func (e *PausedError) Unwrap() error { return e.Cause }

// ReviewError says that only a person can let a run go on, and how. errors.Is
// finds ErrNeedsReview in it, and the cause.
type ReviewError struct {
	Receipt *state.Receipt
	Cause   error
}

func (e *ReviewError) Error() string {
	text := fmt.Sprintf("everypage: run %s needs review%s", e.Receipt.RunID, because(e.Receipt.Reason))
	if len(e.Receipt.BlockedBy) > 1 {
		words := make([]string, len(e.Receipt.BlockedBy))
		for i, code := range e.Receipt.BlockedBy {
			words[i] = string(code)
		}
		text += "; blocked by " + strings.Join(words, ", ")
	}
	if remedies := e.Remedies(); len(remedies) > 0 {
		words := make([]string, len(remedies))
		for i, remedy := range remedies {
			words[i] = string(remedy)
		}
		text += "; remedies: " + strings.Join(words, ", ")
	}
	return text
}

// Remedies returns what a person can do, the gentlest first.
func (e *ReviewError) Remedies() []state.Remedy { return e.Receipt.Remedies() }

// Is reports whether target is ErrNeedsReview.
func (e *ReviewError) Is(target error) bool { return target == ErrNeedsReview }

// Unwrap returns the cause.
func (e *ReviewError) Unwrap() error { return e.Cause }

func because(r *state.Reason) string {
	if r == nil {
		return ""
	}
	text := ": " + string(r.Code)
	if r.Detail != "" {
		text += ": " + pager.RedactText(r.Detail)
	}
	if r.RequestID != "" {
		text += " (request id " + r.RequestID + ")"
	}
	return text
}

// JobError says what is wrong with a job. Nothing was called and nothing was
// recorded.
type JobError struct {
	Job string
	Err error // every problem, joined
}

func (e *JobError) Error() string { return fmt.Sprintf("everypage: job %q: %v", e.Job, e.Err) }

// Is reports whether target is ErrInvalidJob.
func (e *JobError) Is(target error) bool { return target == ErrInvalidJob }

// Unwrap returns the problems.
func (e *JobError) Unwrap() error { return e.Err }

// DefinitionError says that a run was begun with another definition than the one
// it is asked to go on with. Nothing was called and nothing was recorded.
type DefinitionError struct {
	RunID       string
	Differences []Difference
}

// Difference is one field of a definition that differs.
type Difference struct {
	Field    string
	Recorded string
	Given    string
}

func (e *DefinitionError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "everypage: run %s was begun with another definition:", e.RunID)
	for _, d := range e.Differences {
		fmt.Fprintf(&b, " %s was %q and is %q;", d.Field, pager.RedactURL(d.Recorded), pager.RedactURL(d.Given))
	}
	b.WriteString(" go on with the recorded one, or supersede the run")
	return b.String()
}

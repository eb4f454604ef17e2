package everypage

import (
	"context"
	"fmt"
	"time"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// clockSkew is how far in the future a receipt may seem to end: machines do not
// agree on the second.
const clockSkew = time.Minute

// AssertOptions say what [Assert] asks of a receipt.
type AssertOptions struct {
	// MaxAge is how long ago the run may have become complete. Defaults to 0: any
	// age will do.
	MaxAge time.Duration
	// Newest asks that the job's newest run itself is complete, so that an earlier
	// complete one does not stand in for one that is paused, at work or in review.
	// Defaults to false.
	Newest bool
	// Clock is where the time comes from. Defaults to SystemClock.
	Clock Clock
}

// Denial says why an assertion does not hold. The texts are kept.
type Denial string

// Why an assertion does not hold.
const (
	DenialNoRun       Denial = "no_run"       // the job has never run here
	DenialNotComplete Denial = "not_complete" // no run that counts is complete
	DenialTooOld      Denial = "too_old"      // the receipt is older than MaxAge
	DenialFuture      Denial = "future"       // the receipt ends in the future: a clock is wrong
	DenialUnverified  Denial = "unverified"   // the records do not add up to the receipt
)

// AssertError says that no complete receipt answers an assertion.
type AssertError struct {
	Job string
	Why Denial
	// Receipt is the one that came closest: the newest complete one, else the one
	// of the newest run. It is nil where the job has no run.
	Receipt *state.Receipt
	Detail  string
	Err     error // the cause, such as what Verify found; may be nil
}

func (e *AssertError) Error() string {
	return fmt.Sprintf("everypage: job %q is not vouched for: %s", e.Job, e.Detail)
}

// Unwrap returns the cause.
func (e *AssertError) Unwrap() error { return e.Err }

// Assert returns the receipt of the job's newest complete run, if that is not too
// old and its records add up to it: the gate before the word "done". Otherwise the
// error is an [*AssertError], or the ledger's. The age counts from finished_at.
//
// Without Newest a run that was begun later and is not complete is no obstacle: a
// job that runs every hour is vouched for while it is at work.
func Assert(ctx context.Context, ledger store.Reader, job string, options *AssertOptions) (*state.Receipt, error) {
	var o AssertOptions
	if options != nil {
		o = *options
	}
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	var newest, complete *state.Receipt
	for run, err := range ledger.Runs(ctx, store.RunFilter{Job: job}) {
		if err != nil {
			return nil, fmt.Errorf("everypage: assert job %q: %w", job, err)
		}
		if newest == nil {
			newest = &run.Receipt
		}
		if run.Receipt.Status == state.Complete {
			complete = &run.Receipt
		}
		if complete != nil || o.Newest {
			break
		}
	}
	deny := func(why Denial, receipt *state.Receipt, err error, detail string, args ...any) (*state.Receipt, error) {
		return nil, &AssertError{Job: job, Why: why, Receipt: receipt, Detail: fmt.Sprintf(detail, args...), Err: err}
	}
	switch {
	case newest == nil:
		return deny(DenialNoRun, nil, nil, "the ledger has no run of it")
	case complete == nil && o.Newest:
		return deny(DenialNotComplete, newest, nil, "its newest run %s is %s%s", newest.RunID, newest.Status, because(newest.Reason))
	case complete == nil:
		return deny(DenialNotComplete, newest, nil, "none of its runs is complete; the newest, %s, is %s%s", newest.RunID, newest.Status, because(newest.Reason))
	}
	age := o.Clock.Now().Sub(complete.FinishedAt)
	switch {
	case age < -clockSkew:
		return deny(DenialFuture, complete, nil, "run %s became complete %s from now, so a clock is wrong", complete.RunID, (-age).Round(time.Second))
	case o.MaxAge > 0 && age > o.MaxAge:
		return deny(DenialTooOld, complete, nil, "its newest complete run %s became complete %s ago, at %s, and at most %s is asked for",
			complete.RunID, age.Round(time.Second), complete.FinishedAt.UTC().Format(time.RFC3339), o.MaxAge)
	}
	if verified, err := Verify(ctx, ledger, complete.RunID); err != nil {
		if verified == nil {
			return nil, err // the ledger's
		}
		return deny(DenialUnverified, complete, err, "the records of run %s do not add up to its receipt: %s", complete.RunID, verified.Findings[0])
	}
	return complete, nil
}

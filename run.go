package everypage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// Run starts the job, or goes on with its open run, and returns the receipt. The
// error is nil if and only if the receipt says complete.
//
// A paused run gives a [*PausedError], also when it is asked for before its
// instant; one that needs a person gives a [*ReviewError], without a request. A
// job that is not valid gives a [*JobError], one that differs from what its run
// was begun with a [*DefinitionError]; an error that wraps store.ErrHeld says
// that another runner is at work. Any other error is the ledger's, and the run
// goes on from what the ledger holds when it is asked for again. The receipt is
// nil only where there is no run, or where the one that Job.RunID names is
// complete and was begun with another definition.
//
// After a complete run, the next Run starts a new one, unless Job.RunID names the
// complete one. Run returns only after every handler has.
func Run[T any](ctx context.Context, ledger store.Store, job Job[T]) (*state.Receipt, error) {
	job = job.withDefaults()
	if err := job.invalid(job.problems()); err != nil {
		return nil, err
	}
	if ledger == nil {
		return nil, &JobError{Job: job.Name, Err: errors.New("the ledger is nil: open one, for example with pebblestore.Open")}
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("everypage: job %s: not begun: %w", job.Name, context.Cause(ctx))
	}
	release, err := ledger.Hold(ctx, job.Name)
	if err != nil {
		return nil, fmt.Errorf("everypage: job %s: %w", job.Name, err)
	}
	defer release()
	for {
		receipt, err := job.runOnce(ctx, ledger)
		again, lost := job.supersedeLost(ctx, ledger, err)
		if lost != nil {
			return receipt, errors.Join(err, lost)
		}
		if !again {
			return receipt, err
		}
	}
}

// runOnce runs one run until it is complete or stops.
func (j Job[T]) runOnce(ctx context.Context, ledger store.Store) (*state.Receipt, error) {
	run, err := find(ctx, ledger, j.Name, j.RunID)
	if err != nil {
		return nil, err
	}
	isNew := run.Receipt.RunID == ""
	switch {
	case isNew:
		if run, err = j.begin(ctx, ledger); err != nil {
			return nil, err
		}
	case run.Receipt.Status == state.NeedsReview:
		return &run.Receipt, &ReviewError{Receipt: &run.Receipt}
	case run.Definition == nil: // a successor that nobody has run yet
		err = j.bind(ctx, ledger, &run)
	default:
		if j, err = j.under(run); err == nil {
			err = sameDefinition(run.Receipt.RunID, run.Definition, j.definition())
		}
	}
	switch complete := run.Receipt.Status == state.Complete; {
	case err != nil && complete: // no receipt says complete beside an error
		return nil, err
	case err != nil || complete:
		return &run.Receipt, err
	}
	r, err := newRunner(ctx, ledger, j, run)
	switch {
	case err != nil && isNew:
		return nil, err
	case err != nil:
		return &run.Receipt, err
	}
	receipt, err := r.run(ctx, isNew)
	if failed := r.book.close(ctx); failed != nil && err == nil {
		err = failed
	}
	return receipt, err
}

// runner is one run at work.
type runner[T any] struct {
	job    Job[T]
	list   pager.Description
	pager  pager.Pager[T]
	ledger store.Store
	book   *book
	clock  Clock
	log    *slog.Logger
	// crashed says that the runner before this one died; it is over once the page
	// that it died on is settled.
	crashed bool
	// resumed says that an earlier process recorded pages of the run.
	resumed bool
	// failures counts answers in a row that were no page, and pauses of the
	// handler since the last one.
	failures atomic.Int64
	random   sync.Mutex // held while the job's Random is read

	keys  keys
	sheet sheet[T] // of the newest page; its room is used again
	// ahead has what was known of a page's items when it was read ahead, and unseen
	// the newest cursor at which no page had been read then.
	looking sync.Mutex
	ahead   map[pager.Cursor][]store.Item
	unseen  pager.Cursor
}

func newRunner[T any](ctx context.Context, ledger store.Store, job Job[T], run store.Run) (*runner[T], error) {
	list, err := job.pagerFor(run)
	if err != nil {
		return nil, err
	}
	o := job.Options
	log := o.Logger.With("job", job.Name, "run_id", run.Receipt.RunID)
	logs := logging(log)
	observer := Tee(o.Observer, logs)
	observer.Settled = o.Observer.Settled // the log is of held items alone
	book := newBook(ctx, ledger, o.Clock, observer, run)
	book.held = logs.Settled
	return &runner[T]{
		job: job, list: job.description(job.Pager), pager: list, ledger: steady{ledger}, clock: o.Clock, log: log,
		book: book, crashed: run.Active || run.Died, resumed: run.Receipt.Pages > 0,
		keys:  newKeys(run.Scope, job.Action),
		ahead: make(map[pager.Cursor][]store.Item),
	}, nil
}

// run makes the run running, and walks until there is nothing left to do or
// something stops it.
func (r *runner[T]) run(ctx context.Context, isNew bool) (*state.Receipt, error) {
	err := r.start(ctx, isNew)
	for err == nil {
		err = r.walk(ctx)
		if err == nil {
			return r.book.receipt(), nil // finish was the last that walk did
		}
		err = r.halt(ctx, err)
	}
	return r.book.receipt(), err
}

// start records that the run has a runner.
func (r *runner[T]) start(ctx context.Context, isNew bool) error {
	if isNew {
		return r.book.commit(ctx, func(s step) error {
			s.run.Active = true
			s.change.Begin = true
			s.change.Events = append(s.change.Events, state.Transition{At: s.now, Event: state.EventBegin, To: state.Running})
			return nil
		})
	}
	receipt := r.book.receipt()
	if forgetter, ok := r.pager.(pager.LimitForgetter); ok && r.job.Options.Force {
		forgetter.ForgetLimits()
	}
	err := r.resume(ctx, r.job.Options.Force)
	if _, refused := errors.AsType[*state.TransitionError](err); !refused {
		return err
	}
	paused := &PausedError{Receipt: receipt, Cause: err}
	if !r.mayWait(ctx, receipt.ResumeAt) {
		return paused
	}
	return r.waitAndResume(ctx, receipt, paused)
}

// resume makes the run running again.
func (r *runner[T]) resume(ctx context.Context, force bool) error {
	return r.book.commit(ctx, func(s step) error {
		s.run.Active = true
		s.run.Died = r.crashed // known until the page is read again, whatever comes between
		return s.fire(ctx, state.Change{Event: state.EventResume, Force: force})
	})
}

// stop is what ends a walk before its end.
type stop struct {
	event  state.Event // pause or review
	reason state.Reason
	until  time.Time // when a pause may end; zero: at once, or only by force
	cause  error
	// refused says that the API answered and gave nothing away, so that the cursor
	// of a list that cannot be read twice was not used up.
	refused bool
}

func (s *stop) Error() string { return string(s.event) + because(&s.reason) }

func (s *stop) Unwrap() error { return s.cause }

// halt records why the walk stopped. It returns nil if the pause was waited out
// in place and the walk goes on, else the error for the caller.
func (r *runner[T]) halt(ctx context.Context, err error) error {
	var s *stop
	if !errors.As(err, &s) {
		return err // the ledger's: nothing can be recorded any more
	}
	err = r.book.commit(ctx, func(st step) error {
		st.run.Active = false
		st.run.Died = st.run.Died && r.crashed
		if s.refused {
			st.run.Fetching = -1
		}
		if s.reason.Code == state.CodeDeadlinePassed {
			st.run.DeadlineSpent = true
		}
		return st.fire(ctx, state.Change{Event: s.event, Reason: s.reason, ResumeAt: s.until})
	})
	if err != nil {
		return err
	}
	receipt := r.book.receipt()
	if s.event == state.EventReview {
		return &ReviewError{Receipt: receipt, Cause: s.cause}
	}
	paused := &PausedError{Receipt: receipt, Cause: s.cause}
	if !r.mayWait(ctx, s.until) {
		return paused
	}
	return r.waitAndResume(ctx, receipt, paused)
}

// mayWait reports whether a pause until the given instant is waited out in place.
func (r *runner[T]) mayWait(ctx context.Context, until time.Time) bool {
	most := r.job.Options.WaitUpTo
	if most == 0 || until.IsZero() || ctx.Err() != nil || until.Sub(r.clock.Now()) > most {
		return false
	}
	deadline, ok := ctx.Deadline()
	return !ok || deadline.After(until)
}

// waitAndResume waits a recorded pause out. Where the wait is cut short, the run
// stays paused as it is.
func (r *runner[T]) waitAndResume(ctx context.Context, receipt *state.Receipt, paused *PausedError) error {
	r.book.observer.wait(receipt.RunID, receipt.Reason.Code, receipt.ResumeAt)
	if err := wait(ctx, r.clock, receipt.ResumeAt); err != nil {
		paused.Cause = err
		return paused
	}
	return r.resume(ctx, false)
}

package everypage

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/everypage-go/everypage/store"
)

// errLeft is why a run pauses whose loop was left.
var errLeft = errors.New("the loop over its items was left")

// errUnsaid is the outcome of an item about which the loop said nothing.
var errUnsaid = errors.New("the loop asked for the next item and had called neither Done nor Fail, so nobody knows what became of this one")

// OpenItem is an item that a loop over [Each] has in hand. It is settled by what
// the loop says about it: nothing else makes it done.
type OpenItem[T any] struct {
	Item[T]

	mu      sync.Mutex
	said    bool
	outcome error
}

// Done says that the action on the item succeeded. Its record is durable with the
// next page's, or some milliseconds later at most, like that of a handler that
// returned nil.
//
// The first of all calls of Done and Fail counts, and only until the loop asks for
// the next item.
func (o *OpenItem[T]) Done() { o.say(nil) }

// Fail says that the action failed, in the words that a handler has for it: a
// plain error is tried again with backoff up to the limit; see [Permanent],
// [PauseRun] and [NotDone] for the others.
func (o *OpenItem[T]) Fail(err error) { o.say(orUnknown(err)) }

func (o *OpenItem[T]) say(outcome error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.said {
		o.said, o.outcome = true, outcome
	}
}

// closed returns what was said, or else the given error. Nothing that is said
// later counts.
func (o *OpenItem[T]) closed(unsaid error) error {
	o.say(unsaid)
	return o.outcome
}

// Each is [Run] for those who would rather write a loop than a handler. It yields
// the items one at a time, and the loop says of each what became of it:
//
//	for item, err := range everypage.Each(ctx, ledger, job) {
//		if err != nil {
//			return err // the run is not complete: a *PausedError, a *ReviewError, …
//		}
//		if err := crm.Remind(ctx, item.Value, item.Key); err != nil {
//			item.Fail(err)
//			continue
//		}
//		item.Done()
//	}
//
// The job has neither Handle nor HandleBatch, and no Concurrency. Every promise of
// Run holds. The last pair has the error of Run and no item; a loop that ends
// without one has left the run complete, and its receipt in the ledger.
//
// An item for which the loop called neither Done nor Fail has failed as soon as the
// next one is asked for: it is tried again and in the end held, and with AtMostOnce
// it is held in doubt at once. Leaving the loop, also by a panic, pauses the run;
// the item in hand stays pending unless the loop had said what became of it, and
// costs no attempt. With AtMostOnce it is held in doubt. What failed to be recorded
// then, the next Run finds out.
//
// Each range over the sequence is a call of Run; nothing happens before.
func Each[T any](ctx context.Context, ledger store.Store, job Job[T]) iter.Seq2[*OpenItem[T], error] {
	return func(yield func(*OpenItem[T], error) bool) {
		l := loop[T]{offered: make(chan *OpenItem[T]), outcome: make(chan error)}
		job, err := l.job(job)
		if err == nil {
			err = l.run(ctx, ledger, job, yield)
		}
		if err != nil && !l.left {
			yield(nil, err)
		}
	}
}

// loop hands the items of a run over to a loop, one at a time.
type loop[T any] struct {
	offered chan *OpenItem[T]
	outcome chan error
	open    *OpenItem[T] // in the loop's hand
	left    bool
}

// job returns a job whose handler is the loop.
func (l *loop[T]) job(job Job[T]) (Job[T], error) {
	var problems []error
	if job.Handle != nil || job.HandleBatch != nil {
		problems = append(problems, errors.New("Each hands the items to the loop: leave Handle and HandleBatch out, or use Run"))
	}
	if job.Options.Concurrency > 1 || job.Options.BatchSize > 0 {
		problems = append(problems, errors.New("Each hands out one item at a time: leave Options.Concurrency and Options.BatchSize out, or use Run with Handle or HandleBatch"))
	}
	job.Handle, job.HandleBatch, job.Options.BatchSize = l.handle, nil, 0
	return job, job.invalid(append(problems, job.problems()...))
}

// handle is the job's handler.
func (l *loop[T]) handle(_ context.Context, item Item[T]) error {
	l.offered <- &OpenItem[T]{Item: item}
	return <-l.outcome
}

// run yields the items of a run until it ends or the loop is left, and returns how
// it ended. The run is on a goroutine of its own, so that the loop's body can stay
// on its caller's.
func (l *loop[T]) run(ctx context.Context, ledger store.Store, job Job[T], yield func(*OpenItem[T], error) bool) error {
	ctx, leave := context.WithCancelCause(ctx)
	var ended error
	go func() {
		defer close(l.offered)
		_, ended = Run(ctx, ledger, job)
	}()
	defer func() { // also where the body panics: the run has ended before the loop has
		leave(errLeft)
		l.drain()
	}()
	l.left = true
	for l.open = range l.offered {
		if !yield(l.open, nil) {
			return nil
		}
		l.outcome <- l.open.closed(errUnsaid)
		l.open = nil
	}
	l.left = false
	return ended
}

// drain lets a run that was left end. What the loop had in hand is as it said.
func (l *loop[T]) drain() {
	if l.open != nil {
		l.outcome <- l.open.closed(errLeft)
	}
	for range l.offered {
		l.outcome <- NotDone(errLeft) // nobody saw it
	}
}

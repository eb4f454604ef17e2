package everypage

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/everypage-go/everypage/store"
)

// work calls the handler for what is ready, until nothing is.
func (s *shift[T]) work(ctx context.Context) {
	w := worker[T]{shift: s}
	defer w.end(ctx)
	for {
		w.batch = s.take(ctx, w.batch[:0])
		if len(w.batch) == 0 {
			return
		}
		w.attempt(ctx)
	}
}

// worker is one goroutine of a shift. Handlers run on it: a panic of theirs is
// caught, and one that ends its goroutine ends the worker and nothing else.
type worker[T any] struct {
	*shift[T]
	batch    []*task[T]
	outcomes []error // of the batch's call, nil where all succeeded
	calling  bool
	began    time.Time // the call
	now      time.Time // when it had returned
	spread   float64   // of the waits after it; 0 until one is needed
}

// end is the last that a worker does.
func (w *worker[T]) end(ctx context.Context) {
	if w.calling {
		w.calling = false
		w.failAll(errors.New("it ended its own goroutine (runtime.Goexit)"))
		w.judgeAll(ctx)
	}
	w.mu.Lock()
	w.running--
	w.mu.Unlock()
	select {
	case w.ended <- struct{}{}:
	default: // nobody has looked since another one ended
	}
}

// attempt calls the handler once for the batch and settles what came of it.
func (w *worker[T]) attempt(ctx context.Context) {
	if !w.clear(ctx) {
		return
	}
	if w.intent {
		if err := w.intend(ctx); err != nil {
			w.halted(err)
			return
		}
	}
	w.began, w.outcomes = w.clock.Now(), w.outcomes[:0]
	w.calling = true
	err := w.call(ctx)
	w.calling = false
	if err != nil {
		w.failAll(err)
	}
	w.judgeAll(ctx)
}

// clear takes from the batch what must not be called again, or need not be. It
// returns false if nothing is left to call.
func (w *worker[T]) clear(ctx context.Context) bool {
	left := w.batch[:0]
	halt := false
	for _, t := range w.batch {
		settled, err := w.resolveDoubt(ctx, t)
		switch {
		case err != nil:
			halt = w.unconfirmed(ctx, t, err) || halt
		case !settled:
			left = append(left, t)
		}
	}
	if halt {
		left = left[:0] // the run stops, and they stay pending
	}
	w.batch = left
	return len(left) > 0
}

// intend makes it durable that the batch is about to be called.
func (w *worker[T]) intend(ctx context.Context) error {
	now := w.clock.Now()
	for _, t := range w.batch {
		is := t.record
		is.Intent, is.Attempts, is.UpdatedAt = true, is.Attempts+1, now
		if is.DoubtSince.IsZero() {
			is.DoubtSince = now
		}
		t.doubt = t.record.DoubtSince
		w.put(t, is, 1)
	}
	return w.book.flush(ctx)
}

// call hands the batch to the handler. Its error is that of every item.
func (w *worker[T]) call(ctx context.Context) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	run := w.book.current()
	if w.job.Handle != nil {
		w.outcomes = append(w.outcomes, w.job.Handle(ctx, w.asItem(run, w.batch[0])))
		return nil
	}
	items := make([]Item[T], len(w.batch))
	for i, t := range w.batch {
		items[i] = w.asItem(run, t)
	}
	outcomes := w.job.HandleBatch(ctx, items)
	if outcomes != nil && len(outcomes) != len(items) {
		return fmt.Errorf("HandleBatch returned %d outcomes for %d items, so nobody knows what became of which: return one for each, in order, or nil if all succeeded", len(outcomes), len(items))
	}
	w.outcomes = append(w.outcomes, outcomes...)
	return nil
}

// asItem returns a task as its handler sees it.
func (w *worker[T]) asItem(run *store.Run, t *task[T]) Item[T] {
	attempt := t.record.Attempts
	if !w.intent {
		attempt++ // an intent has counted it already
	}
	item := Item[T]{
		ID: t.item.ID, Key: w.keys.of(t.item.ID), RunID: run.Receipt.RunID, Page: t.record.Page,
		Attempt: attempt, CreatedAt: t.item.CreatedAt, Value: t.item.Value, Raw: t.item.Raw,
	}
	if item.Raw == nil {
		item.Raw = w.raw(t.item)
	}
	w.book.observer.call(item.RunID, item.ID, attempt)
	return item
}

// failAll makes an error the outcome of every item of the batch.
func (w *worker[T]) failAll(err error) {
	w.outcomes = w.outcomes[:0]
	for range w.batch {
		w.outcomes = append(w.outcomes, err)
	}
}

// judgeAll settles what came of the batch's call, or puts back what is called
// again: those of one batch together, so that they can be one batch again.
func (w *worker[T]) judgeAll(ctx context.Context) {
	w.now, w.spread = w.clock.Now(), 0
	for i, t := range w.batch {
		if !w.intent {
			t.doubt = t.record.DoubtSince
		}
		var err error
		if len(w.outcomes) > 0 {
			err = w.outcomes[i]
		}
		if err != nil && t.record.DoubtSince.IsZero() {
			t.record.DoubtSince = w.began
		}
		w.judge(ctx, t, err)
	}
}

// guarded calls what a caller supplied on a goroutine of its own. A panic, or a
// call that ends its own goroutine, becomes an error.
func guarded(do func() error) (err error) {
	done := make(chan struct{})
	go func() { // of its own, so that runtime.Goexit ends the call and not the run
		defer close(done)
		err = errors.New("it ended its own goroutine (runtime.Goexit)")
		defer func() {
			if value := recover(); value != nil {
				err = &PanicError{Value: value, Stack: debug.Stack()}
			}
		}()
		err = do()
	}()
	<-done
	return err
}

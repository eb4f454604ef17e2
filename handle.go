package everypage

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// task is an item that is to be handled, with its record as of the last outcome.
type task[T any] struct {
	item    pager.Item[T]
	record  store.Item
	first   bool      // not called yet by this runner
	careful bool      // a process died with it, or near it: an intent is durable first
	ready   time.Time // not to be called earlier
	doubt   time.Time // since when earlier calls are in doubt, whatever the next one says
}

// handle calls the handler for every task until all are settled, and waits in
// place where the handler asks for a pause that is short enough. Careful tasks
// are called one at a time, since a process died with one of them.
func (r *runner[T]) handle(ctx context.Context, tasks []*task[T], careful bool) error {
	for _, t := range tasks {
		t.careful = careful
	}
	for {
		err := r.work(ctx, tasks)
		var s *stop
		if !errors.As(err, &s) || s.reason.Code != state.CodeSinkLimited {
			return err
		}
		if err := r.halt(ctx, err); err != nil {
			return err
		}
		tasks = slices.DeleteFunc(tasks, func(t *task[T]) bool {
			return t.record.State != store.StatePending && !t.record.Released
		})
	}
}

// work handles tasks, as many at a time as the job asks for, until all are
// settled or something stops the run. It returns only after every call has.
func (r *runner[T]) work(ctx context.Context, tasks []*task[T]) error {
	queue := slices.Clone(tasks) // by the time at which a task is ready, stable
	limit := r.job.Options.Concurrency
	results := make(chan result[T])
	running := 0
	var halt error
	for {
		for halt == nil && running < limit && len(queue) > 0 && !queue[0].ready.After(r.clock.Now()) {
			if halt = r.mayGoOn(ctx, queue[0].record.Page); halt != nil {
				break
			}
			t := queue[0]
			queue = queue[1:]
			if t.careful {
				limit = 1 // so that a process that dies again died with this one
			}
			running++
			go func() { results <- r.attempt(ctx, t) }()
		}
		if running == 0 && (halt != nil || len(queue) == 0) {
			return halt
		}
		res, due := r.await(ctx, results, queue, running < limit && halt == nil)
		switch {
		case res == nil && due: // the next task is ready
		case res == nil:
			halt = r.cancelled(ctx, r.book.current().Receipt.PageIndex)
		default:
			running--
			halt = later(halt, res.halt)
			if res.again {
				queue = enqueue(queue, res.task)
			}
		}
	}
}

// await returns the next result; or due, when the next task in the queue is
// ready; or neither, when the context ends while nothing is running.
func (r *runner[T]) await(ctx context.Context, results <-chan result[T], queue []*task[T], more bool) (res *result[T], due bool) {
	var ready <-chan time.Time
	var gone <-chan struct{}
	if more && len(queue) > 0 {
		timer, release := r.clock.Timer(max(0, queue[0].ready.Sub(r.clock.Now())))
		defer release()
		ready, gone = timer, ctx.Done()
	}
	select {
	case res := <-results:
		return &res, false
	case <-ready:
		return nil, true
	case <-gone:
		return nil, false
	}
}

// enqueue puts a task back, behind all that are ready no later.
func enqueue[T any](queue []*task[T], t *task[T]) []*task[T] {
	at, _ := slices.BinarySearchFunc(queue, t, func(other, t *task[T]) int {
		if other.ready.After(t.ready) {
			return 1
		}
		return -1
	})
	return slices.Insert(queue, at, t)
}

// result is what one attempt led to.
type result[T any] struct {
	task  *task[T]
	again bool  // the task goes back into the queue
	halt  error // why the run should stop
}

// later returns what stops the run: of two pauses the one that ends later, a
// review before a pause, and what is no stop at all before both.
func later(a, b error) error {
	var p, q *stop
	switch {
	case b == nil:
		return a
	case a == nil || !errors.As(b, &q):
		return b
	case !errors.As(a, &p) || p.event == state.EventReview:
		return a
	case q.event == state.EventReview || q.until.After(p.until):
		return b
	}
	return a
}

// attempt calls the handler once for a task and settles what came of it.
func (r *runner[T]) attempt(ctx context.Context, t *task[T]) result[T] {
	settled, err := r.resolveDoubt(ctx, t)
	if err != nil {
		return r.unconfirmed(ctx, t, err)
	}
	if settled {
		return result[T]{task: t}
	}
	t.doubt = t.record.DoubtSince
	intent := t.careful || r.job.AtMostOnce
	if intent {
		is := t.record
		is.Intent, is.Attempts, is.UpdatedAt = true, is.Attempts+1, r.clock.Now()
		if is.DoubtSince.IsZero() {
			is.DoubtSince = is.UpdatedAt
		}
		r.put(t, is, 1)
		if err := r.book.flush(ctx); err != nil {
			return result[T]{task: t, halt: err}
		}
	}
	began := r.clock.Now()
	err = r.call(ctx, t, intent)
	if err != nil && t.record.DoubtSince.IsZero() {
		t.record.DoubtSince = began
	}
	return r.judge(ctx, t, err, intent)
}

// call hands an item to the handler.
func (r *runner[T]) call(ctx context.Context, t *task[T], intent bool) error {
	attempt := t.record.Attempts
	if !intent {
		attempt++ // an intent has counted it already
	}
	run := r.book.current()
	item := Item[T]{
		ID: t.item.ID, Key: Key(run.Scope, t.item.ID, r.job.Action), RunID: run.Receipt.RunID, Page: t.record.Page,
		Attempt: attempt, CreatedAt: t.item.CreatedAt, Value: t.item.Value, Raw: t.item.Raw,
	}
	if item.Raw == nil {
		item.Raw = r.raw(t.item)
	}
	r.book.observer.call(item.RunID, item.ID, attempt)
	return guarded(func() error { return r.job.Handle(ctx, item) })
}

// guarded calls what a caller supplied. A panic, or a call that ends its own
// goroutine, becomes an error.
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

// judge settles the outcome of a call, or says when it is made again. counted
// says that an intent has counted the attempt already.
func (r *runner[T]) judge(ctx context.Context, t *task[T], err error, counted bool) result[T] {
	calls := int64(1)
	if counted {
		calls = 0
	}
	var permanent *PermanentError
	var pause *PauseRunError
	var notDone *NotDoneError
	switch {
	case err == nil:
		r.done(t, calls)
	case errors.As(err, &pause):
		r.uncount(t, counted, true)
		return result[T]{task: t, halt: r.sinkLimited(pause, t.record.Page)}
	case errors.As(err, &permanent):
		code := permanent.Code
		if code == "" {
			code = state.HoldPermanent
		}
		t.record.DoubtSince = t.doubt
		r.hold(t, code, permanent.Err.Error(), calls)
	case ctx.Err() != nil && (!r.job.AtMostOnce || errors.As(err, &notDone)):
		r.uncount(t, counted, errors.As(err, &notDone))
		return result[T]{task: t, halt: r.cancelled(ctx, t.record.Page)}
	case r.job.AtMostOnce && !errors.As(err, &notDone):
		r.hold(t, state.HoldInDoubt, err.Error(), calls)
	default:
		return r.failed(t, err, calls, errors.As(err, &notDone))
	}
	return result[T]{task: t}
}

// done settles a task as done.
func (r *runner[T]) done(t *task[T], calls int64) {
	is := t.record
	is.State, is.SettledBy, is.UpdatedAt = store.StateDone, r.book.current().Receipt.RunID, r.clock.Now()
	is.Attempts += int(calls)
	is.Intent, is.Released, is.DoubtSince, is.Payload, is.Code, is.Detail = false, false, time.Time{}, nil, "", ""
	r.put(t, is, calls)
}

// hold settles a task as held, with its bytes, for a person.
func (r *runner[T]) hold(t *task[T], code pager.Code, detail string, calls int64) {
	is := t.record
	is.State, is.Code, is.Detail, is.UpdatedAt = store.StateHeld, code, bounded(detail), r.clock.Now()
	is.Attempts += int(calls)
	is.Intent, is.Released = false, false
	if is.Payload == nil {
		is.Payload = r.raw(t.item)
	}
	r.put(t, is, calls)
}

// failed counts a failed call, and says when the next is due or holds the item.
func (r *runner[T]) failed(t *task[T], err error, calls int64, notDone bool) result[T] {
	is := t.record
	is.Attempts += int(calls)
	if notDone {
		is.DoubtSince = t.doubt
	}
	if is.Attempts >= r.job.Options.MaxAttempts {
		t.record.DoubtSince = is.DoubtSince
		r.hold(t, state.HoldAttempts, err.Error(), calls)
		return result[T]{task: t}
	}
	is.Intent, is.Detail, is.UpdatedAt = false, bounded(err.Error()), r.clock.Now()
	r.put(t, is, calls)
	t.ready = is.UpdatedAt.Add(r.jitter(interval(r.job.Options.Backoff, is.Attempts)))
	r.log.Debug("a call failed and is made again", "item_id", is.ID, "attempt", is.Attempts, "again_at", t.ready, "error", is.Detail)
	return result[T]{task: t, again: true}
}

// uncount takes back an attempt that was interrupted: it costs none.
func (r *runner[T]) uncount(t *task[T], counted, notDone bool) {
	is := t.record
	is.Intent, is.UpdatedAt = false, r.clock.Now()
	if notDone {
		is.DoubtSince = t.doubt
	}
	calls := int64(0)
	if counted {
		is.Attempts--
		calls = -1
	}
	r.put(t, is, calls)
}

// put queues a task's new record.
func (r *runner[T]) put(t *task[T], is store.Item, calls int64) {
	r.book.settle(outcome{was: t.record, is: is, calls: calls})
	t.record = is
}

// sinkLimited is the pause that a handler asked for; where its own API gave a
// fault that only a person can mend, such as a bad credential, it is a review.
func (r *runner[T]) sinkLimited(p *PauseRunError, page int) *stop {
	reason := state.Reason{Code: state.CodeSinkLimited, Detail: bounded(p.Err.Error()), PageIndex: page}
	if fault, ok := errors.AsType[*pager.Fault](p.Err); ok {
		reason = state.ReasonOf(fault, page)
		reason.Detail = bounded("the handler: " + reason.Detail)
		switch {
		case fault.Verdict == pager.Review:
			return &stop{event: state.EventReview, reason: reason, cause: p}
		case !state.Explain(fault.Code).NeedsInstant: // a quota stays one, and is not polled
			reason.Code = state.CodeSinkLimited
		}
	}
	return &stop{event: state.EventPause, reason: reason, until: r.resumeAt(reason.Code, p.Until), cause: p}
}

// jitter returns a span of half to one and a half times d, so that items that
// failed together are not called together.
func (r *runner[T]) jitter(d time.Duration) time.Duration {
	var b [2]byte
	r.random.Lock()
	_, err := r.job.Options.Random.Read(b[:])
	r.random.Unlock()
	if err != nil {
		return d // jitter is a courtesy
	}
	share := float64(uint16(b[0])<<8|uint16(b[1])) / math.MaxUint16
	return time.Duration(float64(d) * (0.5 + share))
}

// maxDetail bounds what is stored of an error's text, in bytes.
const maxDetail = 4096

func bounded(text string) string {
	cut := ""
	if len(text) > maxDetail {
		text, cut = text[:maxDetail], "…"
		for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) { // whole characters only
			text = text[:len(text)-1]
		}
		if len(text) > 0 && text[len(text)-1] >= utf8.RuneSelf {
			text = text[:len(text)-1]
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD") + cut
}

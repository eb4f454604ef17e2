package everypage

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// task is an item that is to be handled, with its record as of the last outcome.
type task[T any] struct {
	item   pager.Item[T]
	record store.Item
	first  bool      // not called yet by this runner
	ready  time.Time // not to be called earlier; zero: at once
	doubt  time.Time // since when earlier calls are in doubt, whatever the next one says
}

// handle calls the handler for every task until all are settled, and waits in
// place where the handler asks for a pause that is short enough. Careful tasks are
// called one at a time, each with an intent, since a process died with one of them.
func (r *runner[T]) handle(ctx context.Context, tasks []*task[T], careful bool) error {
	for len(tasks) > 0 {
		s := r.newShift(tasks, careful)
		err := s.run(ctx)
		var asked *stop
		if !errors.As(err, &asked) || asked.reason.Code != state.CodeSinkLimited {
			return err
		}
		if err := r.halt(ctx, err); err != nil {
			return err
		}
		tasks = slices.DeleteFunc(tasks, func(t *task[T]) bool {
			return t.record.State != store.StatePending && !t.record.Released
		})
	}
	return nil
}

// shift is the handling of some tasks: workers take them from a queue, as many
// at a time as the job asks for, until all are settled or something stops the run.
type shift[T any] struct {
	*runner[T]
	careful bool // a process died with one of the tasks
	intent  bool // durable before each call
	workers int  // at most
	size    int  // tasks of one call, at most

	mu      sync.Mutex
	queue   []*task[T]    // by the time at which a task is ready, stable
	running int           // workers
	stopped error         // why nothing more is called
	ended   chan struct{} // has one if a worker ended since somebody looked
}

func (r *runner[T]) newShift(tasks []*task[T], careful bool) *shift[T] {
	s := &shift[T]{
		runner: r, careful: careful, intent: careful || r.job.AtMostOnce,
		workers: r.job.Options.Concurrency, size: r.job.batchSize(),
		queue: slices.Clone(tasks), ended: make(chan struct{}, 1),
	}
	if careful { // so that a process that dies again died with this one
		s.workers, s.size = 1, 1
	}
	return s
}

// run returns why the run should stop, nil if all tasks are settled. It returns
// only after every call has.
func (s *shift[T]) run(ctx context.Context) error {
	for {
		next, over := s.hire(ctx)
		if over {
			return s.stopped // no worker is left to change it
		}
		s.wait(ctx, next)
	}
}

// hire starts workers for the tasks that are ready. It returns the instant at
// which it should look again, zero where only the end of a worker can change
// anything; or that the shift is over.
func (s *shift[T]) hire(ctx context.Context) (next time.Time, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ready := 0
	for ready < len(s.queue) && ready < (s.workers-s.running)*s.size && s.ready(s.queue[ready]) {
		ready++
	}
	for ; s.stopped == nil && s.running < s.workers && ready > 0; ready -= s.size {
		s.running++
		go s.work(ctx)
	}
	switch {
	case s.running == 0 && (s.stopped != nil || len(s.queue) == 0):
		return time.Time{}, true
	case s.stopped == nil && s.running < s.workers && len(s.queue) > 0:
		return s.queue[0].ready, false
	}
	return time.Time{}, false
}

// wait returns when a worker ended, when the instant has come, or when the
// context ends while everybody waits.
func (s *shift[T]) wait(ctx context.Context, next time.Time) {
	var ready <-chan time.Time
	var gone <-chan struct{}
	if !next.IsZero() {
		timer, release := s.clock.Timer(max(0, next.Sub(s.clock.Now())))
		defer release()
		ready, gone = timer, ctx.Done()
	}
	select {
	case <-s.ended:
	case <-ready:
	case <-gone:
		s.halted(s.cancelled(ctx, s.book.current().Receipt.PageIndex))
	}
}

func (s *shift[T]) ready(t *task[T]) bool {
	return t.ready.IsZero() || !t.ready.After(s.clock.Now())
}

// take moves the tasks of the next call from the queue to a batch; none where
// there is nothing to call now.
func (s *shift[T]) take(ctx context.Context, batch []*task[T]) []*task[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped != nil || len(s.queue) == 0 || !s.ready(s.queue[0]) {
		return batch
	}
	if s.stopped = s.mayGoOn(ctx, s.queue[0].record.Page); s.stopped != nil {
		return batch
	}
	for len(batch) < s.size && len(s.queue) > 0 && s.ready(s.queue[0]) {
		batch = append(batch, s.queue[0])
		s.queue = s.queue[1:]
	}
	return batch
}

// again puts a task back, behind all that are ready no later.
func (s *shift[T]) again(t *task[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, _ := slices.BinarySearchFunc(s.queue, t, func(other, t *task[T]) int {
		if other.ready.After(t.ready) {
			return 1
		}
		return -1
	})
	s.queue = slices.Insert(s.queue, at, t)
}

// halted makes the run stop once every call under way has returned.
func (s *shift[T]) halted(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = later(s.stopped, why)
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

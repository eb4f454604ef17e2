package everypage

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// settleLag is how long an outcome may wait for the next page's record, to be
// durable with the same sync. Handlers that take longer are not delayed by it, and
// their outcomes are durable while the next one is at work.
const settleLag = 3 * time.Millisecond

// book is the only writer of a run while the run has a runner. Every change of
// the run's counters goes through it, in the same commit as what it counts.
//
// Outcomes are queued and made durable by whoever commits next: the run itself when
// it records a page, an intent or a change of its status, or else the book after
// settleLag. So what a crash can expose is what finished during that and one sync.
type book struct {
	ledger   store.Store
	clock    Clock
	observer Observer
	held     func(state.Receipt, store.Item) // beside the observer's Settled; may be nil

	run    atomic.Pointer[store.Run] // as of the last commit; what it points to never changes
	broken atomic.Bool               // err is set

	mu     sync.Mutex
	queue  []store.Item // outcomes that no commit has taken
	counts counts       // what they change
	err    error        // the first failure; after it nothing is written
	closed bool
	lag    *time.Timer

	committing sync.Mutex   // held during a commit, so that commits have an order
	spare      []store.Item // room for the next queue
}

// step is a commit that is being put together.
type step struct {
	now    time.Time
	run    *store.Run
	change *store.Change
}

func newBook(ctx context.Context, ledger store.Store, clock Clock, observer Observer, run store.Run) *book {
	b := &book{ledger: steady{ledger}, clock: clock, observer: observer}
	b.run.Store(&run)
	b.lag = time.AfterFunc(time.Hour, func() { //nolint:forbidigo // the disk's time, which no run decides by
		_ = b.flush(ctx) // the error stays in the book, for the run to find
	})
	b.lag.Stop()
	return b
}

// close commits what is queued. Nothing is written afterwards.
func (b *book) close(ctx context.Context) error {
	b.lag.Stop()
	err := b.flush(ctx)
	b.committing.Lock() // a flush that began by itself is over, or finds the book closed
	defer b.committing.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return err
}

// receipt returns the receipt as of the last commit.
func (b *book) receipt() *state.Receipt {
	r := b.current().Receipt
	return &r
}

// current returns the run as of the last commit, for reading.
func (b *book) current() *store.Run { return b.run.Load() }

// failure returns the first failure to write.
func (b *book) failure() error {
	if !b.broken.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// settle queues what became of an item, and how many calls of it count. It is
// durable when the next flush returns nil.
func (b *book) settle(was, is *store.Item, calls int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		b.lag.Reset(settleLag)
	}
	b.counts.move(b.current().Receipt.RunID, was, is)
	b.counts.attempts += calls
	b.queue = append(b.queue, *is)
}

// flush makes every outcome durable that was queued before.
func (b *book) flush(ctx context.Context) error { return b.commit(ctx, nil) }

// commit makes the queued outcomes durable together with whatever edit adds. An
// error of edit leaves the outcomes queued and the run as it was.
func (b *book) commit(ctx context.Context, edit func(step) error) error {
	b.committing.Lock()
	defer b.committing.Unlock()
	queue, counted, err := b.take()
	if err != nil || len(queue) == 0 && edit == nil {
		return err
	}
	next, now := *b.current(), b.clock.Now()
	counted.addTo(&next.Receipt)
	change := store.Change{Items: queue}
	if edit != nil {
		if err := edit(step{now: now, run: &next, change: &change}); err != nil {
			b.putBack(queue, counted)
			return err
		}
	}
	touch(&next.Receipt, now)
	change.Run = next
	if err := b.ledger.Commit(ctx, change); err != nil {
		err = fmt.Errorf("everypage: run %s: record what happened: %w", next.Receipt.RunID, err)
		b.mu.Lock()
		b.err = err
		b.mu.Unlock()
		b.broken.Store(true)
		return err
	}
	b.run.Store(&next)
	took := b.clock.Now().Sub(now)
	b.tell(&next.Receipt, &change)
	b.observer.commit(next.Receipt.RunID, len(change.Items), took)
	clear(change.Items)
	b.spare = change.Items[:0]
	return nil
}

// take returns the queued outcomes and what they change. The caller commits.
func (b *book) take() ([]store.Item, counts, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil || b.closed {
		return nil, counts{}, b.err
	}
	queue, counted := b.queue, b.counts
	b.queue, b.spare, b.counts = b.spare, nil, counts{}
	return queue, counted, nil
}

// putBack queues outcomes again, before those that came since.
func (b *book) putBack(queue []store.Item, counted counts) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(queue, b.queue...)
	b.counts.add(counted)
	b.lag.Reset(settleLag)
}

// tell lets the observer see what is durable now.
func (b *book) tell(r *state.Receipt, change *store.Change) {
	if change.Page != nil {
		b.observer.page(*r, *change.Page)
	}
	for i := range change.Items {
		item := &change.Items[i]
		inherited := item.State == store.StateDone && item.SettledBy != r.RunID
		if item.State == store.StatePending || inherited {
			continue
		}
		b.observer.settled(r, item)
		if item.State == store.StateHeld && b.held != nil {
			b.held(*r, *item)
		}
	}
	for _, c := range change.Conflicts {
		b.observer.conflict(*r, c)
	}
	for _, t := range change.Events {
		b.observer.transition(*r, t)
	}
}

// touch sets what follows from the time alone.
func touch(r *state.Receipt, now time.Time) {
	r.UpdatedAt = now
	if r.DeadlineAt.IsZero() || !now.After(r.DeadlineAt) {
		return
	}
	if r.FinishedAt.IsZero() || r.FinishedAt.Equal(now) {
		r.LateBy = state.Duration(now.Sub(r.DeadlineAt))
	}
}

// fire asks the machine for a transition, as part of a commit.
func (s step) fire(ctx context.Context, c state.Change) error {
	c.At = s.now
	transition, err := state.Fire(ctx, &s.run.Receipt, c)
	if err != nil {
		return err
	}
	s.change.Events = append(s.change.Events, transition)
	return nil
}

// note records something worth knowing that changes no status.
func (s step) note(reason state.Reason) {
	status := s.run.Receipt.Status
	s.change.Events = append(s.change.Events, state.Transition{
		At: s.now, Event: state.EventNote, From: status, To: status, Reason: reason,
	})
}

// contradict adds a contradiction of the walk, which blocks finish.
func contradict(r *state.Receipt, code pager.Code) {
	if !slices.Contains(r.Contradictions, code) {
		r.Contradictions = append(slices.Clip(r.Contradictions), code) // receipts share no room
	}
}

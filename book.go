package everypage

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// book is the only writer of a run while the run has a runner. Every change of
// the run's counters goes through it, in the same commit as what it counts.
//
// Outcomes are queued and made durable by whoever commits next: a goroutine that
// commits whenever it is idle, or the run itself when it records a page or
// changes its status. It never waits for more to come, so what a crash can
// expose is what finished during one sync.
type book struct {
	ledger   store.Store
	clock    Clock
	observer Observer

	mu    sync.Mutex
	run   store.Run // as of the last commit
	queue []outcome
	err   error // the first failure; after it nothing is written

	committing sync.Mutex // held during a commit, so that commits have an order
	wake       chan struct{}
	stopped    sync.WaitGroup
}

// outcome is what became of one item.
type outcome struct {
	was, is store.Item
	calls   int64 // that count
}

// step is a commit that is being put together.
type step struct {
	now    time.Time
	run    *store.Run
	change *store.Change
}

func newBook(ctx context.Context, ledger store.Store, clock Clock, observer Observer, run store.Run) *book {
	b := &book{ledger: steady{ledger}, clock: clock, observer: observer, run: run, wake: make(chan struct{}, 1)}
	b.stopped.Go(func() {
		for range b.wake {
			_ = b.flush(ctx) // the error stays in the book, for the run to find
		}
	})
	return b
}

// close commits what is queued and ends the committer.
func (b *book) close(ctx context.Context) error {
	close(b.wake)
	b.stopped.Wait()
	return b.flush(ctx)
}

// receipt returns the receipt as of the last commit.
func (b *book) receipt() *state.Receipt {
	r := b.current().Receipt
	return &r
}

// current returns the run as of the last commit.
func (b *book) current() store.Run {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.run
}

// settle queues an outcome. It is durable when the next flush returns nil.
func (b *book) settle(o outcome) {
	b.mu.Lock()
	b.queue = append(b.queue, o)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default: // the committer has yet to look
	}
}

// flush makes every outcome durable that was queued before.
func (b *book) flush(ctx context.Context) error { return b.commit(ctx, nil) }

// commit makes the queued outcomes durable together with whatever edit adds. An
// error of edit leaves the outcomes queued and the run as it was.
func (b *book) commit(ctx context.Context, edit func(step) error) error {
	b.committing.Lock()
	defer b.committing.Unlock()
	b.mu.Lock()
	next, queue, err := b.run, b.queue, b.err
	b.queue = nil
	b.mu.Unlock()
	if err != nil || len(queue) == 0 && edit == nil {
		return err
	}
	var change store.Change
	now := b.clock.Now()
	for _, o := range queue {
		tally(&next.Receipt, o.was, o.is)
		next.Receipt.Attempts += o.calls
		change.Items = append(change.Items, o.is)
	}
	if edit != nil {
		if err := edit(step{now: now, run: &next, change: &change}); err != nil {
			b.mu.Lock()
			b.queue = append(queue, b.queue...)
			b.mu.Unlock()
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
		return err
	}
	b.mu.Lock()
	b.run = next
	b.mu.Unlock()
	took := b.clock.Now().Sub(now)
	b.tell(next.Receipt, change)
	b.observer.commit(next.Receipt.RunID, len(change.Items), took)
	return nil
}

// tell lets the observer see what is durable now.
func (b *book) tell(r state.Receipt, change store.Change) {
	if change.Page != nil {
		b.observer.page(r, *change.Page)
	}
	for _, item := range change.Items {
		inherited := item.State == store.StateDone && item.SettledBy != r.RunID
		if item.State != store.StatePending && !inherited {
			b.observer.settled(r, item)
		}
	}
	for _, c := range change.Conflicts {
		b.observer.conflict(r, c)
	}
	for _, t := range change.Events {
		b.observer.transition(r, t)
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

// tally moves an item's weight in the receipt from what it was to what it is.
func tally(r *state.Receipt, was, is store.Item) {
	if was.RunID == r.RunID || was.SettledBy == r.RunID || owed(was.State) {
		// What an earlier run of the lineage still owes counts from the start, and
		// what this run settled of it without meeting it counts already.
		weigh(r, was, -1)
	}
	weigh(r, is, +1)
}

// owed reports whether an item in the state counts as pending.
func owed(s store.ItemState) bool { return s == store.StatePending || s == store.StateHeld }

// weigh adds an item's weight to the counters. Together they are the recount:
// each ID of the run is in exactly one of processed_unique, inherited,
// deferred_count, vanished_count, written_off and pending_count.
func weigh(r *state.Receipt, item store.Item, by int64) {
	switch item.State {
	case store.StateUnknown:
	case store.StatePending:
		r.PendingCount += by
	case store.StateHeld:
		r.PendingCount += by
		r.HeldCount += by
	case store.StateDone:
		if item.SettledBy == r.RunID {
			r.ProcessedUnique += by
		} else {
			r.Inherited += by
		}
	case store.StateDeferred:
		r.DeferredCount += by
	case store.StateDropped:
		if item.Code == state.HoldVanished {
			r.VanishedCount += by
		} else {
			r.WrittenOff += by
		}
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

package everypage

import (
	"context"
	"fmt"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// handleReleased handles the held items that a person wants tried again, from
// their stored bytes; no page is read for them.
func (r *runner[T]) handleReleased(ctx context.Context) error {
	var tasks []*task[T]
	for item, err := range r.ledger.Held(ctx, r.book.current().Scope) {
		if err != nil {
			return fmt.Errorf("everypage: read the hold queue: %w", err)
		}
		if !item.Released {
			continue
		}
		if r.crashed && item.DoubtSince.IsZero() && !r.job.AtMostOnce {
			item.DoubtSince = item.UpdatedAt // it may have been called before the runner died
		}
		tasks = r.fromPayload(tasks, item)
	}
	if err := r.handle(ctx, tasks, r.crashed); err != nil {
		return err
	}
	return r.book.flush(ctx) // a page that shows one of them must find it settled
}

// handleStored handles what is unsettled of a page that cannot be read again,
// from the bytes that were stored before work.
func (r *runner[T]) handleStored(ctx context.Context, page store.Page) error {
	run := r.book.current()
	known, err := r.ledger.Items(ctx, run.Scope, page.IDs)
	if err != nil {
		return fmt.Errorf("everypage: look the items of page %d up: %w", page.Index, err)
	}
	careful := r.crashed || run.Careful == page.Index
	if r.crashed {
		err := r.book.commit(ctx, func(s step) error {
			s.run.Careful = page.Index
			return nil
		})
		if err != nil {
			return err
		}
	}
	var tasks []*task[T]
	seen := make(map[string]bool)
	for _, item := range known {
		if item.State != store.StatePending || item.Page != page.Index || seen[item.ID] {
			continue
		}
		seen[item.ID] = true
		if r.crashed && item.DoubtSince.IsZero() && !r.job.AtMostOnce {
			item.DoubtSince = page.At // it may have been called before the runner died
		}
		tasks = r.fromPayload(tasks, item)
	}
	if err := r.handle(ctx, tasks, careful); err != nil {
		return err
	}
	r.crashed = false
	return nil
}

// fromPayload adds a task made of an item's stored bytes. An item whose bytes do
// not decode is held.
func (r *runner[T]) fromPayload(tasks []*task[T], record store.Item) []*task[T] {
	t := &task[T]{record: record, first: true}
	var value T
	err := guarded(func() (err error) {
		value, err = r.job.Decode(record.Payload)
		return err
	})
	if err != nil {
		r.hold(t, state.HoldPayload, "its stored bytes do not decode: "+err.Error(), 0)
		return tasks
	}
	t.item = pager.Item[T]{ID: record.ID, Value: value, Raw: record.Payload}
	return append(tasks, t)
}

// dropVanished drops what predecessors of the lineage recorded and this run did
// not meet.
func (r *runner[T]) dropVanished(ctx context.Context) error {
	if err := r.book.flush(ctx); err != nil {
		return err
	}
	run := r.book.current()
	for item, err := range r.ledger.Held(ctx, run.Scope) {
		if err != nil {
			return fmt.Errorf("everypage: read the hold queue: %w", err)
		}
		if item.Code != state.HoldVanished || item.Released || item.RunID == run.Receipt.RunID {
			continue
		}
		is := item
		is.State, is.SettledBy, is.UpdatedAt = store.StateDropped, run.Receipt.RunID, r.clock.Now()
		r.book.settle(&item, &is, 0)
	}
	return nil
}

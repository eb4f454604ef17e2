package proptest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// memory is a ledger in memory, for tests that need none that outlives them. It
// keeps every rule of a store but one: nothing of it is durable.
type memory struct {
	mu     sync.Mutex
	closed bool
	held   map[string]bool
	*records
}

var _ store.Store = (*memory)(nil)

func newMemory(r *records) *memory { return &memory{records: r, held: map[string]bool{}} }

// read returns what get finds, unless the store is closed or the context ended.
func read[V any](ctx context.Context, m *memory, get func() V) (v V, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return v, store.ErrClosed
	case ctx.Err() != nil:
		return v, context.Cause(ctx)
	}
	return get(), nil
}

// scan is a sequence over a list as it is when the scan begins.
func scan[V any](ctx context.Context, m *memory, get func() []V) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		list, err := read(ctx, m, get)
		if err != nil {
			var zero V
			yield(zero, err)
			return
		}
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func (m *memory) Run(ctx context.Context, runID string) (store.Run, error) {
	type found struct {
		run   store.Run
		there bool
	}
	f, err := read(ctx, m, func() found {
		run, there := m.runs[runID]
		return found{run, there}
	})
	if err == nil && !f.there {
		err = fmt.Errorf("run %s: %w", runID, store.ErrNotFound)
	}
	return f.run, err
}

func (m *memory) Runs(ctx context.Context, filter store.RunFilter) iter.Seq2[store.Run, error] {
	return scan(ctx, m, func() (runs []store.Run) {
		for _, id := range slices.Backward(m.order) {
			run := m.runs[id]
			if (filter.Job == "" || filter.Job == run.Receipt.Job) && (filter.Status == "" || filter.Status == run.Receipt.Status) {
				runs = append(runs, run)
			}
		}
		return runs
	})
}

func (m *memory) Items(ctx context.Context, scope string, ids []string) ([]store.Item, error) {
	return read(ctx, m, func() []store.Item {
		items := make([]store.Item, len(ids))
		for i, id := range ids {
			items[i] = m.item(scope, id)
		}
		return items
	})
}

func (m *memory) Held(ctx context.Context, scope string) iter.Seq2[store.Item, error] {
	return scan(ctx, m, func() []store.Item { return m.records.held(scope) })
}

func (m *memory) Pages(ctx context.Context, runID string, from int) iter.Seq2[store.Page, error] {
	return scan(ctx, m, func() []store.Page { return m.pagesFrom(runID, from) })
}

func (m *memory) PageAt(ctx context.Context, runID string, cursor pager.Cursor) (index int, found bool, err error) {
	_, err = read(ctx, m, func() bool {
		index, found = m.pageAt(runID, cursor)
		return found
	})
	return index, found, err
}

func (m *memory) Conflicts(ctx context.Context, runID string) iter.Seq2[store.Conflict, error] {
	return scan(ctx, m, func() []store.Conflict { return slices.Clone(m.conflicts[runID]) })
}

func (m *memory) Events(ctx context.Context, runID string) iter.Seq2[state.Transition, error] {
	return scan(ctx, m, func() []state.Transition { return slices.Clone(m.events[runID]) })
}

func (m *memory) Commit(ctx context.Context, change store.Change) error {
	failed, err := read(context.WithoutCancel(ctx), m, func() error { return m.apply(change) })
	if err != nil {
		return err
	}
	return failed
}

func (m *memory) Hold(ctx context.Context, job string) (release func(), err error) {
	taken, err := read(ctx, m, func() bool {
		taken := m.held[job]
		m.held[job] = true
		return taken
	})
	switch {
	case err != nil:
		return nil, err
	case taken:
		return nil, fmt.Errorf("job %s: %w", job, store.ErrHeld)
	}
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.held, job)
	}), nil
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

package pebblestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// openScans are the scans that hold something of the database's, so that Close
// can take it back from a caller who stopped in the middle.
type openScans struct {
	mu   sync.Mutex
	open map[*scan]struct{}
}

// release ends all scans. The caller holds the store's mu for writing, so no
// scan is between two steps.
func (o *openScans) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for c := range o.open {
		c.iterators.close()
	}
	clear(o.open)
}

// scan reads a range of keys, all as of the instant at which it began. It holds
// the store only during a step, never while its consumer works.
type scan struct {
	store     *Store
	ctx       context.Context //nolint:containedctx // it lives as long as the call that brought it
	op        string
	prefix    []byte
	iterators iterators
	started   bool
}

// iterators are two views of the same instant: one walks, one looks up.
type iterators struct {
	walk, lookup *pebble.Iterator
}

// close is called once for each scan, by the scan or by Close. What an iterator
// has to say it said during the scan.
func (i *iterators) close() {
	for _, it := range []*pebble.Iterator{i.walk, i.lookup} {
		if it != nil {
			_ = it.Close()
		}
	}
	i.walk, i.lookup = nil, nil
}

// begin opens the iterators. from is where the walk starts, within the prefix.
func (c *scan) begin(from []byte) error {
	return c.store.read(c.ctx, c.op, func() (err error) {
		bounds := &pebble.IterOptions{LowerBound: from, UpperBound: afterPrefix(c.prefix)}
		if c.iterators.walk, err = c.store.database.NewIter(bounds); err != nil {
			return err
		}
		scans := &c.store.scans
		scans.mu.Lock()
		defer scans.mu.Unlock()
		scans.open[c] = struct{}{}
		return nil
	})
}

// step moves on and hands key and value to use, which must not keep them. It
// reports whether there was a next one.
func (c *scan) step(use func(key, value []byte) error) (more bool, err error) {
	err = c.store.read(c.ctx, c.op, func() error {
		walk := c.iterators.walk
		if c.started {
			more = walk.Next()
		} else {
			more, c.started = walk.First(), true
		}
		if !more {
			return walk.Error()
		}
		value, err := walk.ValueAndErr()
		if err != nil {
			return err
		}
		return use(walk.Key(), value)
	})
	return more, err
}

// get looks a key up as of the scan's instant. Only use may call it.
func (c *scan) get(key []byte) ([]byte, error) {
	if c.iterators.lookup == nil {
		lookup, err := c.iterators.walk.Clone(pebble.CloneOptions{IterOptions: &pebble.IterOptions{}})
		if err != nil {
			return nil, err
		}
		c.iterators.lookup = lookup
	}
	return seek(c.iterators.lookup, key)
}

func (c *scan) end() {
	c.store.mu.RLock()
	defer c.store.mu.RUnlock()
	if c.store.disk.hasFailed() {
		return // the database was given up with everything in it
	}
	scans := &c.store.scans
	scans.mu.Lock()
	_, open := scans.open[c]
	delete(scans.open, c)
	scans.mu.Unlock()
	if open {
		c.iterators.close()
	}
}

// decode turns a key and its value into a record, and says whether it is wanted.
type decode[T any] func(c *scan, key, value []byte) (record T, wanted bool, err error)

// sequence scans the keys with a prefix, beginning at from. Each range over it
// scans afresh; it yields at most one error, then stops.
func sequence[T any](ctx context.Context, s *Store, op string, prefix, from []byte, decode decode[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		c := &scan{store: s, ctx: ctx, op: op, prefix: prefix}
		if err := c.begin(from); err != nil {
			var none T
			yield(none, err)
			return
		}
		defer c.end()
		for {
			var record T
			var wanted bool
			more, err := c.step(func(key, value []byte) (err error) {
				record, wanted, err = decode(c, key, value)
				return err
			})
			switch {
			case err != nil:
				var none T
				yield(none, err)
				return
			case !more:
				return
			case wanted && !yield(record, nil):
				return
			}
		}
	}
}

// Runs returns runs, the newest first.
func (s *Store) Runs(ctx context.Context, filter store.RunFilter) iter.Seq2[store.Run, error] {
	prefix := runsPrefix(filter)
	return s.runs(ctx, filter, prefix, prefix)
}

// RunsAfter returns runs, the newest first, beginning behind the one with the given
// ID.
func (s *Store) RunsAfter(ctx context.Context, filter store.RunFilter, runID string) iter.Seq2[store.Run, error] {
	return func(yield func(store.Run, error) bool) {
		var header runHeader
		err := s.read(ctx, "read run", func() (err error) {
			header, _, err = s.loadRun(runID)
			if errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("run %q is %w", runID, err)
			}
			return err
		})
		if err != nil {
			yield(store.Run{}, err)
			return
		}
		prefix := runsPrefix(filter)
		from := binary.BigEndian.AppendUint64(slices.Clone(prefix), newestFirst(header.seq)+1)
		for run, err := range s.runs(ctx, filter, prefix, from) {
			if !yield(run, err) {
				return
			}
		}
	}
}

// runsPrefix is the prefix of the keys that list the runs of a filter, among others.
func runsPrefix(filter store.RunFilter) []byte {
	switch {
	case filter.Job != "":
		return partKey(keyJob, filter.Job)
	case filter.Status != "":
		return partKey(keyStatus, string(filter.Status))
	}
	return []byte{keyBegun}
}

func (s *Store) runs(ctx context.Context, filter store.RunFilter, prefix, from []byte) iter.Seq2[store.Run, error] {
	return sequence(ctx, s, "read runs", prefix, from, func(c *scan, _, value []byte) (store.Run, bool, error) {
		_, run, err := readRun(c.get, string(value))
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("%w: run %q is listed and missing", store.ErrCorrupt, value)
		}
		return run, filter.Status == "" || run.Receipt.Status == filter.Status, err
	})
}

// Held returns the items of a scope whose state is Held, in the order of their
// IDs.
func (s *Store) Held(ctx context.Context, scope string) iter.Seq2[store.Item, error] {
	prefix := partKey(keyHeld, scope)
	return sequence(ctx, s, "read held items", prefix, prefix, func(c *scan, key, _ []byte) (store.Item, bool, error) {
		id := lastPart(prefix, key)
		item, err := c.heldItem(scope, id)
		if errors.Is(err, store.ErrNotFound) {
			err = fmt.Errorf("%w: item %q is held and missing", store.ErrCorrupt, id)
		}
		return item, true, err
	})
}

// heldItem returns an item that is held, and so has a record of its own.
func (c *scan) heldItem(scopeText, id string) (store.Item, error) {
	numbered, err := c.store.scope(scopeText, c.get)
	if err != nil {
		return store.Item{}, err
	}
	if numbered != nil {
		value, err := c.get(numbered.appendItemKey(nil, id))
		switch {
		case err == nil:
			at, own, err := decodeItemValue(value)
			if err == nil && own == nil {
				err = fmt.Errorf("%w: item %q is held and on the sheet of page %d", store.ErrCorrupt, id, at.page)
			}
			if err != nil {
				return store.Item{}, err
			}
			return store.DecodeItem(scopeText, id, own)
		case !errors.Is(err, store.ErrNotFound):
			return store.Item{}, err
		}
	}
	record, err := c.get(textKey(keyItem, scopeText, id)) // of an older build
	if err != nil {
		return store.Item{}, err
	}
	return store.DecodeItem(scopeText, id, record)
}

// Pages returns the page revisions of a run with an index of at least from, by
// index and then by revision.
func (s *Store) Pages(ctx context.Context, runID string, from int) iter.Seq2[store.Page, error] {
	prefix := partKey(keyPage, runID)
	start := numberKey(keyPage, runID, uint64(max(from, 0)))
	return sequence(ctx, s, "read pages", prefix, start, func(_ *scan, key, value []byte) (store.Page, bool, error) {
		index, revision, err := pageNumbers(prefix, key)
		if err != nil {
			return store.Page{}, false, err
		}
		page, err := store.DecodePage(runID, index, revision, value)
		return page, true, err
	})
}

// Conflicts returns a run's conflicts in the order in which they were seen.
func (s *Store) Conflicts(ctx context.Context, runID string) iter.Seq2[store.Conflict, error] {
	prefix := partKey(keyConflict, runID)
	return sequence(ctx, s, "read conflicts", prefix, prefix, func(_ *scan, _, value []byte) (store.Conflict, bool, error) {
		conflict, err := store.DecodeConflict(value)
		return conflict, true, err
	})
}

// Events returns a run's transitions in order.
func (s *Store) Events(ctx context.Context, runID string) iter.Seq2[state.Transition, error] {
	prefix := partKey(keyEvent, runID)
	return sequence(ctx, s, "read events", prefix, prefix, func(_ *scan, _, value []byte) (state.Transition, bool, error) {
		transition, err := store.DecodeTransition(value)
		return transition, true, err
	})
}

package pebblestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store"
)

// read runs a read while the store is open.
func (s *Store) read(ctx context.Context, op string, act func() error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(); err != nil {
		return fault(op, s.dir, err)
	}
	if err := ctx.Err(); err != nil {
		return fault(op, s.dir, err)
	}
	return fault(op, s.dir, act())
}

// get hands the value of a key to use, which must not keep it. It returns an
// error that wraps store.ErrNotFound if there is none.
func (s *Store) get(key []byte, use func(value []byte) error) error {
	value, closer, err := s.database.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return store.ErrNotFound
	}
	if err != nil {
		return err
	}
	return errors.Join(use(value), closer.Close())
}

// Run returns a run, or an error that wraps store.ErrNotFound.
func (s *Store) Run(ctx context.Context, runID string) (run store.Run, err error) {
	err = s.read(ctx, "read run", func() error {
		_, run, err = s.loadRun(runID)
		if errors.Is(err, store.ErrNotFound) {
			if gone := s.pruned(runID); gone != nil {
				return fmt.Errorf("%w: %v", err, gone) //nolint:errorlint // that it exists is for a begin
			}
			return fmt.Errorf("run %q is %w", runID, err)
		}
		return err
	})
	return run, err
}

func (s *Store) loadRun(runID string) (header runHeader, run store.Run, err error) {
	it, err := s.database.NewIter(nil) // its record and its progress, as of one instant
	if err != nil {
		return header, run, err
	}
	header, run, err = readRun(func(key []byte) ([]byte, error) { return seek(it, key) }, runID)
	return header, run, errors.Join(err, it.Close())
}

// readRun reads a run's record, and what came since. It returns an error that wraps
// store.ErrNotFound if there is no such run.
func readRun(get getter, runID string) (header runHeader, run store.Run, err error) {
	value, err := get(runKey(runID))
	if err != nil {
		return header, run, err
	}
	header, record, err := cutRunHeader(value)
	if err != nil {
		return header, run, err
	}
	if run, err = store.DecodeRun(record); err != nil || header.version < runHeaderVersion {
		return header, run, err
	}
	progress, err := get(progressKey(runID))
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: run %q has no progress", store.ErrCorrupt, runID)
	}
	if err != nil {
		return header, run, err
	}
	return header, run, store.DecodeProgress(progress, &run)
}

// Items looks up items of a scope by ID. The answer has one element for each ID,
// in the same order; an item that was never recorded has StateUnknown.
func (s *Store) Items(ctx context.Context, scope string, ids []string) (items []store.Item, err error) {
	err = s.read(ctx, "read items", func() error {
		items, err = s.loadItems(scope, ids)
		return err
	})
	return items, err
}

// seek returns the value of a key. It returns store.ErrNotFound if there is none.
func seek(it *pebble.Iterator, key []byte) ([]byte, error) {
	if !it.SeekGE(key) {
		if err := it.Error(); err != nil {
			return nil, err
		}
		return nil, store.ErrNotFound
	}
	if !slices.Equal(it.Key(), key) {
		return nil, store.ErrNotFound
	}
	return it.ValueAndErr()
}

// PageAt returns the index of the page that the run has read at a cursor, the
// newest where there are several, and whether there is one.
func (s *Store) PageAt(ctx context.Context, runID string, cursor pager.Cursor) (index int, found bool, err error) {
	err = s.read(ctx, "read cursor", func() error {
		err := s.get(cursorKey(runID, cursor), func(value []byte) error {
			n, length := binary.Uvarint(value)
			if length <= 0 {
				return fmt.Errorf("%w: a cursor's record is cut short", store.ErrCorrupt)
			}
			recorded, err := store.DecodeCursor(value[length:])
			switch {
			case err != nil:
				return err
			case recorded != cursor:
				return fmt.Errorf("%w: a cursor's record holds another cursor", store.ErrCorrupt)
			}
			index, found = int(n), true //nolint:gosec // written from an int
			return nil
		})
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	return index, found, err
}

// nextSequence returns the number of the next run that begins.
func (s *Store) nextSequence() (next uint64, err error) {
	prefix := []byte{keyBegun}
	it, err := s.database.NewIter(bounds(prefix))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	if !it.First() {
		return 1, it.Error()
	}
	seq, err := sequenceOf(prefix, it.Key())
	return seq + 1, err
}

func sequenceOf(prefix, key []byte) (uint64, error) {
	rest := key[len(prefix):]
	if len(rest) != 8 {
		return 0, fmt.Errorf("%w: a run's key has %d bytes after its prefix, not 8", store.ErrCorrupt, len(rest))
	}
	return newestFirst(binary.BigEndian.Uint64(rest)), nil
}

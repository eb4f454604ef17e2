package pebblestore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

var _ store.Pruner = (*Store)(nil)

// keyPruned is the first byte of the key of what stays of a run that was removed.
const keyPruned = 'x'

func prunedKey(runID string) []byte { return append([]byte{keyPruned}, runID...) }

// tombstone is what stays of a run that was removed.
type tombstone struct {
	At time.Time `json:"at"`
	By string    `json:"by,omitempty"`
}

// Prune removes runs with everything that belongs to them, and the items of scopes,
// in one step. A few bytes stay of each run, so that its ID is not used again. The
// room on the disk comes back as the database is compacted.
func (s *Store) Prune(_ context.Context, removal store.Removal) error {
	if len(removal.RunIDs) == 0 {
		return nil
	}
	return fault("prune", s.dir, s.await(s.enqueueRemoval(removal)))
}

func (s *Store) enqueueRemoval(removal store.Removal) (*prepared, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	if damage := s.damage.Load(); damage != nil {
		return nil, *damage
	}
	p := &prepared{batch: s.database.NewBatch(), removal: &removal, answer: make(chan error, 1)}
	select {
	case s.writer.queue <- p:
		return p, nil
	case <-s.disk.failed:
		return nil, s.failure()
	}
}

// addRemoval puts a removal into the group: all of it, or nothing.
func (s *Store) addRemoval(g *group, p *prepared) error {
	headers := make(map[string]runHeader, len(p.removal.RunIDs))
	runs := make(map[string]store.Run, len(p.removal.RunIDs))
	for _, runID := range p.removal.RunIDs {
		if entry, ok := g.runs[runID]; ok && !entry.exists {
			return fmt.Errorf("run %q is %w", runID, store.ErrNotFound)
		}
		header, run, err := s.loadRun(runID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return fmt.Errorf("run %q is %w", runID, err)
		case err != nil:
			return err
		case run.Receipt.Status != state.Complete && run.Receipt.SupersededBy == "":
			return fmt.Errorf("run %q is %s: %w", runID, run.Receipt.Status, store.ErrOpen)
		}
		headers[runID], runs[runID] = header, run
	}
	stays, err := json.Marshal(tombstone{At: p.removal.At.UTC(), By: p.removal.By})
	if err != nil {
		return err
	}
	numbered := make([]*scope, 0, len(p.removal.Scopes))
	for _, text := range p.removal.Scopes {
		c, ok := g.newScopes[text]
		if !ok {
			if c, err = s.scope(text, s.copied); err != nil {
				return err
			}
		}
		if c != nil {
			numbered = append(numbered, c)
		}
	}
	if g.batch == nil {
		g.batch = p.batch
	} else if err := p.batch.Close(); err != nil {
		return s.broken(err)
	}
	for _, runID := range p.removal.RunIDs {
		if err := g.remove(runs[runID], headers[runID], stays); err != nil {
			return s.broken(err)
		}
	}
	for _, scope := range p.removal.Scopes {
		g.scopes[scope] = false
		for _, kind := range []byte{keyItem, keyHeld} {
			if err := removeAll(g.batch, partKey(kind, scope)); err != nil {
				return s.broken(err)
			}
		}
	}
	for _, c := range numbered {
		for _, kind := range []byte{keyShort, keyLong, keySheet} {
			if err := removeAll(g.batch, c.kindKey(kind)); err != nil {
				return s.broken(err)
			}
		}
	}
	return nil
}

// remove removes a run and all that is kept under its ID.
func (g *group) remove(run store.Run, header runHeader, stays []byte) error {
	r := &run.Receipt
	g.runs[r.RunID] = runEntry{}
	for _, kind := range []byte{keyPage, keyCursor, keyConflict, keyEvent} {
		if err := removeAll(g.batch, partKey(kind, r.RunID)); err != nil {
			return err
		}
	}
	for _, key := range [][]byte{
		runKey(r.RunID), progressKey(r.RunID), begunKey(header.seq),
		numberKey(keyJob, r.Job, newestFirst(header.seq)), numberKey(keyStatus, string(r.Status), newestFirst(header.seq)),
	} {
		if err := g.batch.Delete(key, nil); err != nil {
			return err
		}
	}
	return g.batch.Set(prunedKey(r.RunID), stays, nil)
}

func removeAll(batch *pebble.Batch, prefix []byte) error {
	return batch.DeleteRange(prefix, afterPrefix(prefix), nil)
}

// pruned returns an error if a run was removed under the ID.
func (s *Store) pruned(runID string) error {
	var gone tombstone
	err := s.get(prunedKey(runID), func(value []byte) error { return json.Unmarshal(value, &gone) })
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return &prunedError{runID: runID, tombstone: gone}
}

// prunedError says that a run was in the ledger once.
type prunedError struct {
	runID string
	tombstone
}

func (e *prunedError) Error() string {
	text := fmt.Sprintf("run %q was removed on %s", e.runID, e.At.Format(time.DateOnly))
	if e.By != "" {
		text += " by " + e.By
	}
	return text
}

func (e *prunedError) Unwrap() error { return store.ErrExists }

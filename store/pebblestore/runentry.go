package pebblestore

import (
	"errors"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// runEntry is what the writer must know of a run to move its keys.
type runEntry struct {
	exists bool
	header runHeader
	job    string
	status state.Status
	// base is the run as its record has it; nil: it has to be written anew.
	base *store.Run
	// nextSheet is the page from which on there is no sheet, for items of the scope.
	nextSheet int
	scope     string
}

// entry returns what is known of a run, within the group first.
func (s *Store) entry(g *group, runID string) (runEntry, error) {
	if entry, ok := g.runs[runID]; ok {
		return entry, nil
	}
	if entry, ok := s.writer.runs[runID]; ok {
		return entry, nil
	}
	header, run, err := s.loadRun(runID)
	if errors.Is(err, store.ErrNotFound) {
		return runEntry{}, nil
	}
	if err != nil {
		return runEntry{}, err
	}
	entry := runEntry{exists: true, header: header, job: run.Receipt.Job, status: run.Receipt.Status, scope: run.Scope}
	if header.version == runHeaderVersion {
		entry.base = &run
	}
	entry.nextSheet, err = s.nextSheet(run.Scope, header.seq)
	return entry, err
}

// base returns the run's record, if it has to be written: where a reader that has
// the one before and the progress would not know all.
func (r *preparedRun) base(before runEntry) ([]byte, error) {
	if before.base != nil && len(r.events) == 0 && store.SameBase(before.base, &r.run) {
		return nil, nil
	}
	return store.AppendRun(nil, &r.run)
}

// put writes a run, its transitions and the keys that lead to it.
func (g *group) put(r *preparedRun, before runEntry, base []byte) error {
	receipt := &r.run.Receipt
	after := before
	after.exists, after.job, after.status = true, receipt.Job, receipt.Status
	if !before.exists {
		if err := g.batch.Set(begunKey(after.header.seq), []byte(receipt.RunID), nil); err != nil {
			return err
		}
	}
	for _, event := range r.events {
		if err := g.batch.Set(numberKey(keyEvent, receipt.RunID, after.header.events), event, nil); err != nil {
			return err
		}
		after.header.events++
	}
	if err := g.move(keyJob, before.exists, before.job, after.job, after.header.seq, receipt.RunID); err != nil {
		return err
	}
	if err := g.move(keyStatus, before.exists, string(before.status), string(after.status), after.header.seq, receipt.RunID); err != nil {
		return err
	}
	r.notable = r.notable || !before.exists || before.status != after.status
	g.completes = g.completes || after.status == state.Complete && before.status != state.Complete
	if base != nil {
		written, err := store.DecodeRun(base) // what the caller's points to may change
		if err != nil {
			return err
		}
		after.base = &written
		if err := g.batch.Set(runKey(receipt.RunID), append(after.header.append(nil), base...), nil); err != nil {
			return err
		}
	}
	g.runs[receipt.RunID] = after
	return g.batch.Set(progressKey(receipt.RunID), r.progress, nil)
}

// move makes an index follow a run from one text to another.
func (g *group) move(kind byte, existed bool, before, after string, seq uint64, runID string) error {
	if existed && before == after {
		return nil
	}
	if existed {
		if err := g.batch.Delete(numberKey(kind, before, newestFirst(seq)), nil); err != nil {
			return err
		}
	}
	return g.batch.Set(numberKey(kind, after, newestFirst(seq)), []byte(runID), nil)
}

package pebblestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// prepared is a change as its caller hands it to the writer: what does not
// depend on the ledger is encoded already.
type prepared struct {
	batch *pebble.Batch // page, cursor and conflicts; the writer adds the rest
	items *[]store.Item // a copy, in room that is used again
	page  pageMark
	run   preparedRun
	also  *preparedRun
	begin bool
	// removal is set instead of the above where runs are removed.
	removal *store.Removal
	answer  chan error
}

// pageMark is what the writer has to know of a change's page.
type pageMark struct {
	runID string // empty: there is no page
	index int
	at    time.Time
	first bool // the first revision
}

// preparedRun is a run with the transitions that it gains.
type preparedRun struct {
	run      store.Run // a copy; nobody changes what it points to
	progress []byte
	events   [][]byte
	// notable says that people want to see the change at once.
	notable bool
}

// Commit applies a change as a whole and returns when it is durable. Changes of
// other goroutines that come at the same time share its sync.
//
// Commit does not look at the context: an outcome has to be written although
// the caller was told to stop. The run of a change that does not begin it, and
// the run in Also, must exist, or Commit returns an error that wraps
// store.ErrNotFound. After an error that wraps store.ErrFailed the change may be
// in the ledger, and may not.
func (s *Store) Commit(_ context.Context, change store.Change) error {
	return fault("commit", s.dir, s.await(s.enqueue(&change)))
}

// await waits for the writer's answer to what was handed to it.
func (s *Store) await(p *prepared, err error) error {
	if err != nil {
		return err
	}
	select {
	case err = <-p.answer:
	case <-s.disk.failed:
		select {
		case err = <-p.answer: // it was durable before the disk failed
		default:
			err = s.failure()
		}
	}
	return err
}

// enqueue prepares a change and hands it to the writer.
func (s *Store) enqueue(change *store.Change) (*prepared, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(); err != nil {
		return nil, err
	}
	if damage := s.damage.Load(); damage != nil {
		return nil, *damage
	}
	p, err := s.prepare(change)
	if err != nil {
		return nil, err
	}
	select {
	case s.writer.queue <- p:
		return p, nil
	case <-s.disk.failed:
		return nil, s.failure()
	}
}

func (s *Store) prepare(change *store.Change) (*prepared, error) {
	if err := validate(change); err != nil {
		return nil, err
	}
	p := &prepared{batch: s.database.NewBatch(), begin: change.Begin, answer: make(chan error, 1)}
	if err := p.encode(change); err != nil {
		return nil, errors.Join(err, p.batch.Close())
	}
	p.items, _ = s.itemRoom.Get().(*[]store.Item)
	if p.items == nil {
		p.items = new([]store.Item)
	}
	*p.items = append((*p.items)[:0], change.Items...)
	return p, nil
}

// reuse gives the room of a change back that the writer is done with.
func (s *Store) reuse(p *prepared) {
	if p.items != nil {
		clear(*p.items)
		s.itemRoom.Put(p.items)
		p.items = nil
	}
}

func validate(change *store.Change) error {
	var problems []error
	if change.Run.Receipt.RunID == "" {
		problems = append(problems, errors.New("the run has no ID"))
	}
	if also := change.Also; also != nil && (also.Run.Receipt.RunID == "" || also.Run.Receipt.RunID == change.Run.Receipt.RunID) {
		problems = append(problems, errors.New("the second run has no ID of its own"))
	}
	if page := change.Page; page != nil && (page.Index < 0 || page.Revision < 0) {
		problems = append(problems, errors.New("the page has a negative index or revision"))
	}
	for i := range change.Conflicts {
		if change.Conflicts[i].Seq < 0 {
			problems = append(problems, errors.New("a conflict has a negative number"))
			break
		}
	}
	return errors.Join(problems...)
}

func (p *prepared) encode(change *store.Change) error {
	var buffer []byte
	if page := change.Page; page != nil {
		p.page = pageMark{runID: page.RunID, index: page.Index, at: page.At.Round(0), first: page.Revision == 0}
		buffer = store.AppendPage(make([]byte, 0, 4<<10), page)
		if err := p.batch.Set(pageKey(page.RunID, page.Index, page.Revision), buffer, nil); err != nil {
			return err
		}
		buffer = binary.AppendUvarint(buffer[:0], uint64(page.Index)) //nolint:gosec // checked to be no less than 0
		buffer = store.AppendCursor(buffer, page.Cursor)
		if err := p.batch.Set(cursorKey(page.RunID, page.Cursor), buffer, nil); err != nil {
			return err
		}
	}
	for i := range change.Conflicts {
		conflict := &change.Conflicts[i]
		record, err := store.AppendConflict(nil, conflict)
		if err != nil {
			return err
		}
		key := numberKey(keyConflict, conflict.RunID, uint64(conflict.Seq)) //nolint:gosec // checked to be no less than 0
		if err := p.batch.Set(key, record, nil); err != nil {
			return err
		}
	}
	if err := p.run.encode(&change.Run, change.Events); err != nil {
		return err
	}
	if also := change.Also; also != nil {
		p.also = new(preparedRun)
		return p.also.encode(&also.Run, also.Events)
	}
	return nil
}

func (r *preparedRun) encode(run *store.Run, events []state.Transition) error {
	r.run = *run
	r.progress = store.AppendProgress(make([]byte, 0, 256), run)
	for i := range events {
		record, err := store.AppendTransition(nil, &events[i])
		if err != nil {
			return err
		}
		r.events = append(r.events, record)
		r.notable = r.notable || events[i].Event != state.EventNote
	}
	return nil
}

// runHeaderVersion is the version of what stands before a run's record. With 1 the
// record is the newest; from 2 on the run's progress stands beside it.
const runHeaderVersion = 2

// runHeader is what the store keeps with a run for itself.
type runHeader struct {
	version byte   // as it was read
	seq     uint64 // the place among all runs, by their begin; counted from 1
	events  uint64 // the number of transitions
}

func (h runHeader) append(dst []byte) []byte {
	dst = binary.AppendUvarint(append(dst, runHeaderVersion), h.seq)
	return binary.AppendUvarint(dst, h.events)
}

// cutRunHeader splits a run's value into the header and the record.
func cutRunHeader(value []byte) (runHeader, []byte, error) {
	switch {
	case len(value) == 0 || value[0] == 0:
		return runHeader{}, nil, fmt.Errorf("%w: a run has no header", store.ErrCorrupt)
	case value[0] > runHeaderVersion:
		return runHeader{}, nil, fmt.Errorf("%w: a run's header has version %d, this build reads up to %d", store.ErrVersion, value[0], runHeaderVersion)
	}
	rest := value[1:]
	seq, n := binary.Uvarint(rest)
	if n <= 0 {
		return runHeader{}, nil, fmt.Errorf("%w: a run's header is cut short", store.ErrCorrupt)
	}
	rest = rest[n:]
	events, n := binary.Uvarint(rest)
	if n <= 0 {
		return runHeader{}, nil, fmt.Errorf("%w: a run's header is cut short", store.ErrCorrupt)
	}
	return runHeader{version: value[0], seq: seq, events: events}, rest[n:], nil
}

package jsonlines

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// Suffix is what the name of the folder beside a file ends with.
const Suffix = ".everypage"

// Options say whose file it is.
type Options struct {
	// Job is the name of the job that writes the file. Required.
	Job string
	// RunID is the run that is asked for, where the job pins one.
	RunID string
	// NewFile lets an open run go on in a file that does not hold what it has done
	// so far. Defaults to false: that is refused.
	NewFile bool
	// JournalLimit is the size in bytes at which the journal is begun anew.
	// Defaults to 4 MiB.
	JournalLimit int64
}

// Line is what is written for one item.
type Line struct {
	// Key is the item's idempotency key, RunID and ItemID where it was met.
	Key    string
	RunID  string
	ItemID string
	// JSON is one JSON value. It is written in compact form.
	JSON []byte
}

// File is a file of JSON lines. Its methods may be called from several goroutines.
type File struct {
	path    string
	folder  string
	options Options
	lock    *flock.Flock

	mu       sync.Mutex
	marks    map[string]*mark // by key: lines whose items may not be known as done
	filling  *batch           // what the next sync takes
	flushing bool
	failed   error // the first failure; after it nothing is written

	// The flushing goroutine has these for itself.
	out         *os.File
	journal     *os.File
	journalSize int64
	point       checkpoint // as of the last line that was written
}

// mark is a line that stands in the file, or is on its way to it.
type mark struct {
	RunID  string `json:"run_id"`
	ItemID string `json:"item_id"`
	batch  *batch // nil once it is durable
}

// batch is what shares one sync.
type batch struct {
	frames []byte // for the journal
	lines  []byte // for the file
	last   []byte // the last of the lines
	runID  string // of the last
	keys   []string
	done   chan struct{}
	err    error
}

// Handler returns a job's handler that appends each item to a file.
func Handler[T any](f *File) func(context.Context, everypage.Item[T]) error {
	return func(_ context.Context, item everypage.Item[T]) error {
		return f.Append(Line{Key: item.Key, RunID: item.RunID, ItemID: item.ID, JSON: item.Raw})
	}
}

// Append writes a line, unless the key has one, and returns when it is durable.
//
// It returns an [*everypage.PermanentError] if the line is not one JSON value, and
// an [*everypage.PauseRunError] that wraps ErrFailed if the disk failed or is full:
// the file then takes nothing more, and what was confirmed is safe.
func (f *File) Append(line Line) error {
	var text bytes.Buffer
	if err := json.Compact(&text, line.JSON); err != nil {
		return everypage.Permanent(fmt.Errorf("it is not one JSON value: %w", err))
	}
	text.WriteByte('\n')
	b, leads, err := f.join(line, text.Bytes())
	if err != nil || b == nil {
		return err
	}
	if leads {
		f.flush()
	}
	<-b.done
	if b.err != nil {
		return everypage.PauseRun(time.Time{}, b.err)
	}
	return nil
}

// join puts a line into the batch that is being filled. leads says that the caller
// has to flush. A nil batch is a line that is there already.
func (f *File) join(line Line, text []byte) (b *batch, leads bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return nil, false, everypage.PauseRun(time.Time{}, f.failed)
	}
	if known := f.marks[line.Key]; known != nil {
		return known.batch, false, nil
	}
	if f.filling == nil {
		f.filling = &batch{done: make(chan struct{})}
	}
	b = f.filling
	frame, err := lineFrame(line, text)
	if err != nil {
		return nil, false, everypage.Permanent(err)
	}
	b.frames = append(b.frames, frame...)
	b.lines = append(b.lines, text...)
	b.last, b.runID = text, line.RunID
	b.keys = append(b.keys, line.Key)
	f.marks[line.Key] = &mark{RunID: line.RunID, ItemID: line.ItemID, batch: b}
	leads = !f.flushing
	f.flushing = true
	return b, leads, nil
}

// flush writes batches until none is waiting. One goroutine at a time does.
func (f *File) flush() {
	for {
		f.mu.Lock()
		b := f.filling
		f.filling = nil
		if b == nil {
			f.flushing = false
			f.mu.Unlock()
			return
		}
		b.err = f.failed
		f.mu.Unlock()
		if b.err == nil {
			b.err = f.write(b)
		}
		f.mu.Lock()
		for _, key := range b.keys {
			if m := f.marks[key]; b.err != nil {
				delete(f.marks, key)
			} else if m != nil {
				m.batch = nil
			}
		}
		if b.err != nil && f.failed == nil {
			f.failed = b.err
		}
		f.mu.Unlock()
		close(b.done)
	}
}

// write makes a batch durable.
func (f *File) write(b *batch) error {
	if _, err := f.journal.Write(b.frames); err != nil {
		return f.broken("write to its journal", err)
	}
	if err := f.journal.Sync(); err != nil {
		return f.broken("sync its journal", err)
	}
	f.journalSize += int64(len(b.frames))
	if _, err := f.out.WriteAt(b.lines, f.point.Size); err != nil {
		return f.broken("write to it", err)
	}
	f.point.follow(b)
	if f.journalSize < f.options.JournalLimit {
		return nil
	}
	return f.restart()
}

func (f *File) broken(what string, err error) error {
	return &FileError{Path: f.path, Err: fmt.Errorf("%w: %s: %w", ErrFailed, what, err), Hint: "see that the disk has room and is well, then run the job again"}
}

// Confirm reports whether a key has its line, for a job's Confirm. It knows the
// keys of items that the ledger does not count as done, and those are the ones
// that a run is in doubt about.
func (f *File) Confirm(_ context.Context, key string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return false, everypage.PauseRun(time.Time{}, f.failed)
	}
	m := f.marks[key]
	return m != nil && m.batch == nil, nil
}

// Observer returns what tells the file which items are done. Without it the
// journal keeps every key.
func (f *File) Observer() everypage.Observer {
	return everypage.Observer{Settled: func(r state.Receipt, item store.Item) {
		if item.State == store.StateDone {
			f.forget(everypage.Key(item.Scope, item.ID, r.Action))
		}
	}}
}

func (f *File) forget(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.marks[key]; m != nil && m.batch == nil {
		delete(f.marks, key)
	}
}

// Close syncs the file and lets go of it. No Append may be under way.
func (f *File) Close() error {
	f.mu.Lock()
	failed := f.failed
	if failed == nil {
		f.failed = &FileError{Path: f.path, Err: errors.New("it is closed")}
	}
	f.mu.Unlock()
	if f.lock == nil {
		return nil
	}
	if failed == nil {
		failed = f.restart()
	}
	err := errors.Join(failed, closeAll(f.journal, f.out), f.lock.Unlock())
	f.lock = nil
	return err
}

func closeAll(files ...*os.File) error {
	var problems []error
	for _, file := range files {
		if file != nil {
			problems = append(problems, file.Close())
		}
	}
	return errors.Join(problems...)
}

// follow moves the checkpoint behind a batch.
func (c *checkpoint) follow(b *batch) {
	c.Size += int64(len(b.lines))
	c.RunID = b.runID
	sum := sha256.Sum256(b.last)
	c.LastLength, c.LastHash = len(b.last), sum[:]
}

func journalPath(folder string) string { return filepath.Join(folder, "journal") }

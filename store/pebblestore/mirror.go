package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// mirrorSuffix ends the name of a mirrored receipt; a file that is still being
// written has another one.
const (
	mirrorSuffix = ".yaml"
	mirrorTemp   = ".yaml.tmp"
)

// mirror writes the newest receipt of each job as a file that a person can read
// while a process works on the ledger. The records count, not the mirror: it is
// written behind the commits, without a sync, and a failure is only logged.
type mirror struct {
	store *Store
	dir   string

	mu     sync.Mutex
	dirty  map[string]bool // by job: whether its file is wanted at once
	warned bool

	wake    chan struct{} // holds one element: something is wanted at once, or dirty
	closing chan struct{}
	done    chan struct{}
}

func startMirror(s *Store) *mirror {
	m := &mirror{
		store:   s,
		dir:     filepath.Join(s.dir, receiptsName),
		dirty:   make(map[string]bool),
		wake:    make(chan struct{}, 1),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	go m.run()
	return m
}

// changed says that a job's newest receipt may be another one. It never waits.
func (m *mirror) changed(job string, atOnce bool) {
	m.mu.Lock()
	was, known := m.dirty[job]
	m.dirty[job] = was || atOnce
	m.mu.Unlock()
	if known && !atOnce {
		return // the next round takes it along
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// stop writes what is still to be written and ends the mirror.
func (m *mirror) stop() {
	close(m.closing)
	<-m.done
}

func (m *mirror) run() {
	defer close(m.done)
	// A nil channel: no round is due.
	var due <-chan time.Time
	for {
		select {
		case <-m.wake:
			m.write(func(atOnce bool) bool { return atOnce })
			if due == nil && m.pending() {
				due = m.interval()
			}
		case <-due:
			due = nil
			m.write(func(bool) bool { return true })
			if m.pending() { // a file could not be written
				due = m.interval()
			}
		case <-m.closing:
			m.write(func(bool) bool { return true })
			return
		}
	}
}

func (m *mirror) interval() <-chan time.Time {
	return time.After(m.store.options.MirrorInterval) //nolint:forbidigo // how often a copy for people is written; nothing is decided by it
}

func (m *mirror) pending() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.dirty) > 0
}

// write writes the receipts of the jobs that are chosen.
func (m *mirror) write(choose func(atOnce bool) bool) {
	m.mu.Lock()
	var jobs []string
	for job, atOnce := range m.dirty {
		if choose(atOnce) {
			jobs = append(jobs, job)
			delete(m.dirty, job)
		}
	}
	m.mu.Unlock()
	for _, job := range jobs {
		if m.store.disk.hasFailed() {
			return
		}
		if err := m.writeJob(job); err != nil {
			m.mu.Lock()
			if _, ok := m.dirty[job]; !ok {
				m.dirty[job] = false // the next round tries again
			}
			first := !m.warned
			m.warned = true
			m.mu.Unlock()
			if first {
				m.store.options.Logger.Warn("a receipt could not be mirrored", "path", m.dir, "job", job, "error", err)
			}
		}
	}
}

func (m *mirror) writeJob(job string) error {
	run, found, err := m.store.newestRun(job)
	if err != nil || !found {
		return err
	}
	receipt := run.Receipt.Redacted()
	data, err := receipt.YAML()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(m.dir, ownerFolder); err != nil {
		return err
	}
	path := filepath.Join(m.dir, receiptName(job))
	temp := strings.TrimSuffix(path, mirrorSuffix) + mirrorTemp
	if err := os.WriteFile(temp, data, ownerFile); err != nil {
		return err
	}
	return os.Rename(temp, path) // on Windows not while somebody reads it; the next round tries again
}

// newestRun returns the run of a job that began last. The mirror calls it while
// Close waits for it, so it does not ask whether the store is open.
func (s *Store) newestRun(job string) (run store.Run, found bool, err error) {
	prefix := partKey(keyJob, job)
	it, err := s.database.NewIter(bounds(prefix))
	if err != nil {
		return run, false, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	if !it.First() {
		return run, false, it.Error()
	}
	_, run, err = s.loadRun(string(it.Value()))
	return run, err == nil, err
}

// Mirror reads the mirrored receipts of a ledger, by the names of their files.
// It needs no lock, so it also works while another process has the ledger open;
// a receipt is then up to a second old. Credentials in it are redacted. The
// sequence yields at most one error, then stops; the error is a *store.Error
// that wraps store.ErrCorrupt or store.ErrVersion where one fits, and
// store.ErrNotFound and fs.ErrNotExist where there is no ledger.
func Mirror(ctx context.Context, dir string) iter.Seq2[state.Receipt, error] {
	return func(yield func(state.Receipt, error) bool) {
		names, err := mirrored(dir)
		if err != nil {
			yield(state.Receipt{}, fault("read receipts", dir, err))
			return
		}
		for _, name := range names {
			receipt, err := readReceipt(ctx, filepath.Join(dir, receiptsName, name))
			if err != nil {
				yield(state.Receipt{}, fault("read receipts", dir, err))
				return
			}
			if !yield(receipt, nil) {
				return
			}
		}
	}
}

// mirrored returns the names of the files with receipts.
func mirrored(dir string) ([]string, error) {
	state, err := folder{fs: vfs.Default, path: dir}.look()
	if err != nil {
		return nil, err
	}
	if state != folderReady {
		return nil, &noLedgerError{reason: fs.ErrNotExist}
	}
	entries, err := os.ReadDir(filepath.Join(dir, receiptsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), mirrorSuffix) {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

func readReceipt(ctx context.Context, path string) (state.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return state.Receipt{}, err
	}
	data, err := os.ReadFile(path) //nolint:gosec // a file of the ledger that the caller named
	if err != nil {
		return state.Receipt{}, err
	}
	receipt, err := state.ParseYAML(data)
	if err != nil {
		return state.Receipt{}, fmt.Errorf("%w: %s: %w", store.ErrCorrupt, filepath.Base(path), err)
	}
	return *receipt, nil
}

package proptest

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// ledger is the world's ledger: the real one on a file system that can crash, or
// one in memory, which is many times faster.
type ledger struct {
	store store.Store
	fs    *vfs.MemFS // nil for a ledger in memory
	seed  uint64
}

// crash returns what a crash at this moment leaves of the file system.
func (l *ledger) crash(unsynced int) *vfs.MemFS {
	if l.fs == nil {
		return nil
	}
	return l.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: rand.New(rand.NewPCG(l.seed, 1))}) //nolint:gosec // it has to repeat
}

// open opens the ledger for a new process.
func (w *world) open() error {
	if !w.shape.Pebble {
		w.ledger.store = newMemory(w.facts.acked.clone())
		return nil
	}
	if w.ledger.fs == nil {
		w.ledger.fs = vfs.NewCrashableMem()
	}
	s, err := pebblestore.Open("ledger", &pebblestore.Options{FS: syncs{w.ledger.fs, w}, MemTableSize: 64 << 10, CacheSize: 256 << 10})
	w.ledger.store = s
	return err
}

// watched is the ledger as a process uses it: what it acknowledges becomes a fact,
// and each record is a moment at which something can happen.
type watched struct {
	store.Store

	w    *world
	life *process
}

var _ store.Store = watched{}

// Commit makes a change, unless the process is gone or the store is to fail.
func (d watched) Commit(ctx context.Context, change store.Change) error {
	w, l := d.w, d.life
	w.mu.Lock()
	if l.dead {
		w.mu.Unlock()
		return errGone
	}
	if l.failed {
		w.broken("nothing-lost", "a record is written after one failed")
	}
	w.note("record %s", describeChange(&change))
	w.judgeChange(l, &change)
	l.reach(beforeCommit)
	fails := l.failed
	if l.dead || fails {
		w.mu.Unlock()
		return errDisk
	}
	w.facts.pending = &change
	w.mu.Unlock()
	err := d.Store.Commit(ctx, change)
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.dead {
		return errGone
	}
	if err != nil && ctx.Err() != nil {
		w.note("  the ledger gave up with its caller: %v", err)
		return err // it may be there or not, like one that a crash cut short
	}
	w.facts.pending = nil
	if err != nil {
		w.broken("nothing-lost", "the ledger did not take a record: %v", err)
		return err
	}
	w.acknowledge(&change)
	l.reach(afterCommit)
	if l.failed || l.dead {
		return errDisk // it is there, and nobody can tell
	}
	return nil
}

// Close is not a run's to call.
func (d watched) Close() error { return errors.New("a run closed its ledger") }

// syncs is a file system that lets something happen before each sync of a log.
type syncs struct {
	vfs.FS
	w *world
}

func (s syncs) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.Create(name, category)
	return s.log(name, f), err
}

func (s syncs) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.FS.ReuseForWrite(from, to, category)
	return s.log(to, f), err
}

func (s syncs) log(name string, f vfs.File) vfs.File {
	if f == nil || !strings.HasSuffix(name, ".log") {
		return f
	}
	return syncedFile{f, s.w}
}

type syncedFile struct {
	vfs.File
	w *world
}

func (f syncedFile) before() {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	if f.w.life != nil {
		f.w.life.reach(atSync)
	}
}

func (f syncedFile) Sync() error {
	f.before()
	return f.File.Sync()
}

func (f syncedFile) SyncData() error {
	f.before()
	return f.File.SyncData()
}

func (f syncedFile) SyncTo(length int64) (bool, error) {
	f.before()
	return f.File.SyncTo(length)
}

package pebblestore

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Pebble ends the process when it cannot write its log, and tries again for ever
// when it cannot write a table. disk stands between Pebble and the file system
// so that neither happens: the goroutine that met a fatal error is parked where
// it is, for nothing that it would do next can be trusted, and everyone else
// learns of it from a channel. That goes for Pebble's open as well, whose
// background flush would panic over a folder that cannot be synced.
//
// Only goroutines that nobody waits for without that channel may use a disk.
type disk struct {
	vfs.FS

	// failed is closed when the disk failed; cause is set before that.
	failed chan struct{}
	once   sync.Once
	cause  error

	// gate is held for reading by each change to the folder that is under way,
	// so that seal can wait for the last one.
	gate sync.RWMutex
	// tableErrors counts failed writes of tables since the patience was set or
	// tablesWork was last called.
	tableErrors atomic.Int64
	// patience is how many of them there may be.
	patience atomic.Int64
	lock     atomic.Pointer[folderLock]
	// witness hears of manifests and logs, once it is open.
	witness atomic.Pointer[witness]
	// foreign is the folder of a copy that is being made; its errors are not the
	// ledger's.
	foreign atomic.Pointer[string]
}

const (
	// tablePause keeps Pebble's retries of a table from spinning.
	tablePause = 20 * time.Millisecond
	// tablePatience is how many writes of tables may fail while no flush and no
	// compaction succeeds, some five seconds, before the disk counts as failed.
	// Commits go on meanwhile, up to the memory they may fill, in case somebody
	// makes room.
	tablePatience = 250
	// waitedPatience is how many may fail in all while the store is opened or
	// closed, whatever succeeds in between: somebody waits for the answer, and
	// no work waits for the room.
	waitedPatience = 5
)

func newDisk(inner vfs.FS) *disk {
	d := &disk{FS: inner, failed: make(chan struct{})}
	d.setPatience(waitedPatience)
	return d
}

// setPatience begins to count the failures of tables afresh.
func (d *disk) setPatience(failures int64) {
	d.patience.Store(failures)
	d.tableErrors.Store(0)
}

// tablesWork says that a flush or a compaction succeeded. A single table that
// was written and synced says nothing: Pebble syncs the part of a table that fitted
// before it throws it away.
func (d *disk) tablesWork() {
	if d.patience.Load() == tablePatience {
		d.tableErrors.Store(0)
	}
}

// fail records that the disk failed, the first time.
func (d *disk) fail(cause error) {
	d.once.Do(func() {
		d.cause = cause
		close(d.failed)
	})
}

// hasFailed reports whether the disk failed.
func (d *disk) hasFailed() bool {
	select {
	case <-d.failed:
		return true
	default:
		return false
	}
}

// seal waits until no change to the folder is under way. After it the failed
// store never touches the folder again, and another may open it.
func (d *disk) seal() {
	d.gate.Lock()
	defer d.gate.Unlock()
	if lock := d.lock.Load(); lock != nil {
		_ = lock.Close() // the folder was given up; there is nobody to tell
	}
}

// park stops the goroutine for good. Returning would let Pebble go on as if the
// write had worked, and ending the goroutine would unwind its locks.
func park() { select {} }

// change makes one change to the folder and decides what becomes of its error.
func (d *disk) change(name string, act func() error) error {
	d.gate.RLock()
	if d.hasFailed() {
		d.gate.RUnlock()
		park()
	}
	err := act()
	d.gate.RUnlock()
	if err == nil || d.isForeign(name) {
		return err
	}
	if isTable(d.PathBase(name)) {
		return d.tableFailed(err)
	}
	d.fail(err)
	park()
	return err
}

// isForeign reports whether a file belongs to a copy that is being made.
func (d *disk) isForeign(name string) bool {
	dir := d.foreign.Load()
	return dir != nil && strings.HasPrefix(name, *dir) && !strings.HasPrefix(name, d.witness.Load().database)
}

// tableFailed slows Pebble's retries down, and ends them once they are too many.
// Pebble's open waits for the tables that it makes of the log, and would wait
// for ever.
func (d *disk) tableFailed(err error) error {
	patience := d.patience.Load()
	time.Sleep(tablePause) //nolint:forbidigo // it slows a goroutine of Pebble's down; nothing is decided by it
	if d.tableErrors.Add(1) < patience {
		return err
	}
	d.fail(fmt.Errorf("a table could not be written, %d times: %w", patience, err))
	park()
	return err
}

// isTable reports whether a file's loss is no loss: Pebble writes a table or a
// blob file from what it still has, and throws away what it could not finish.
func isTable(base string) bool {
	return strings.HasSuffix(base, ".sst") || strings.HasSuffix(base, ".blob")
}

func (d *disk) open(name string, act func() (vfs.File, error)) (vfs.File, error) {
	var file vfs.File
	err := d.change(name, func() (err error) {
		file, err = act()
		return err
	})
	if err != nil {
		return nil, err
	}
	return d.watch(file, name), nil
}

// Create also makes the name of a new manifest durable. Pebble does not, and a
// crash in between would leave a marker that names a file that is not there.
func (d *disk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := d.open(name, func() (vfs.File, error) { return d.FS.Create(name, category) })
	if err == nil {
		d.logMade(name)
	}
	if err == nil && strings.HasPrefix(d.PathBase(name), "MANIFEST-") {
		if err := syncFolder(d, d.PathDir(name)); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return file, err
}

func (d *disk) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return d.open(name, func() (vfs.File, error) { return d.FS.OpenReadWrite(name, category, opts...) })
}

// ReuseForWrite returns a recycled log; it has to be watched like a new one.
func (d *disk) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	d.logGoes(oldname)
	file, err := d.open(newname, func() (vfs.File, error) { return d.FS.ReuseForWrite(oldname, newname, category) })
	if err == nil {
		d.logMade(newname)
	}
	return file, err
}

// OpenDir opens a folder, whose syncs count like those of a log.
func (d *disk) OpenDir(name string) (vfs.File, error) {
	file, err := d.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return d.watch(file, name), nil
}

func (d *disk) Rename(oldname, newname string) error {
	return d.change(newname, func() error { return d.FS.Rename(oldname, newname) })
}

func (d *disk) Link(oldname, newname string) error {
	return d.change(newname, func() error { return d.FS.Link(oldname, newname) })
}

// Remove deletes what is obsolete; that it stays is no failure. But a store that
// was given up deletes nothing.
func (d *disk) Remove(name string) error {
	d.logGoes(name)
	return d.remove(func() error { return d.FS.Remove(name) })
}

func (d *disk) RemoveAll(name string) error {
	return d.remove(func() error { return d.FS.RemoveAll(name) })
}

func (d *disk) remove(act func() error) error {
	d.gate.RLock()
	if d.hasFailed() {
		d.gate.RUnlock()
		park()
	}
	defer d.gate.RUnlock()
	return act()
}

// Lock keeps the lock within reach, for a store that Pebble can no longer close.
func (d *disk) Lock(name string) (io.Closer, error) {
	closer, err := d.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	lock := &folderLock{closer: closer}
	d.lock.Store(lock)
	return lock, nil
}

// Unwrap returns the file system below.
func (d *disk) Unwrap() vfs.FS { return d.FS }

// folderLock can be closed by whoever comes first.
type folderLock struct {
	closer io.Closer
	once   sync.Once
	err    error
}

func (l *folderLock) Close() error {
	l.once.Do(func() { l.err = l.closer.Close() })
	return l.err
}

// diskFile watches the writes and syncs of a file.
type diskFile struct {
	vfs.File
	disk *disk
	name string
	part part // what the witness hears of it
}

func (f *diskFile) Write(p []byte) (n int, err error) {
	f.part.add(p)
	err = f.disk.change(f.name, func() (err error) {
		n, err = f.File.Write(p)
		return err
	})
	return n, err
}

func (f *diskFile) WriteAt(p []byte, offset int64) (n int, err error) {
	err = f.disk.change(f.name, func() (err error) {
		n, err = f.File.WriteAt(p, offset)
		return err
	})
	return n, err
}

func (f *diskFile) Sync() error { return f.sync(f.File.Sync) }

func (f *diskFile) SyncData() error { return f.sync(f.File.SyncData) }

func (f *diskFile) sync(act func() error) error {
	synced := f.disk.beforeSync(f)
	if err := f.disk.change(f.name, act); err != nil {
		return err
	}
	f.disk.attest(synced)
	return nil
}

func (f *diskFile) SyncTo(length int64) (full bool, err error) {
	err = f.disk.change(f.name, func() (err error) {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

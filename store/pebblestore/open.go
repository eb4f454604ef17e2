package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/everypage-go/everypage/store"
)

// databaseFormat is the version of Pebble's files. From 21 on a log is written
// so that a flipped bit in its middle is told from its end; before, it was
// silent loss. 24 is the newest that this Pebble knows, and adds checksums to
// the footers of tables.
const databaseFormat = pebble.FormatValueSeparation

// Store is a ledger in a folder. Its methods may be called from several
// goroutines.
type Store struct {
	dir      string
	options  Options
	disk     *disk
	database *pebble.DB
	lock     *pebble.Lock

	// mu is held for reading by each use of the database, and for writing by
	// Close. closed is guarded by it.
	mu     sync.RWMutex
	closed bool
	close  func() error

	// damage is set once something that was read is damaged. Such a ledger takes
	// no more commits.
	damage atomic.Pointer[error]

	writer  writer
	witness witness
	mirror  *mirror
	holds   holds
	scans   openScans
	backups sync.Mutex // one at a time
	// onDiskFS says that the folder is on the disk, and not in a caller's FS.
	onDiskFS bool
	scopes   scopes
	// itemRoom and lookRoom are room that is used again.
	itemRoom, lookRoom sync.Pool
}

var (
	_ store.Store           = (*Store)(nil)
	_ store.RunsAfterReader = (*Store)(nil)
)

// Open opens the ledger in a folder, and makes it if there is none: the folder
// must then be empty or not exist. See Options.MustExist for a caller that only
// reads.
//
// Its errors are of type *store.Error. They wrap store.ErrLocked if a process,
// this one included, has the ledger open; store.ErrVersion if a newer version
// wrote it; store.ErrCorrupt if it is damaged; store.ErrFailed if the disk did
// not take a write, within seconds also where it is full; store.ErrNotFound if
// Options.MustExist is set and there is no ledger.
func Open(dir string, opts *Options) (*Store, error) {
	if err := opts.Validate(); err != nil {
		return nil, fault("open", dir, err)
	}
	s := &Store{options: opts.withDefaults()}
	s.disk = newDisk(s.options.FS)
	s.dir, s.onDiskFS = dir, opts == nil || opts.FS == nil
	if err := s.openFolder(s.onDiskFS); err != nil {
		return nil, fault("open", s.dir, err)
	}
	s.close = sync.OnceValue(s.shut)
	return s, nil
}

// openFolder looks at the folder, locks it and opens the ledger in it.
func (s *Store) openFolder(onDisk bool) (err error) {
	if s.dir == "" {
		return errors.New("no folder was given")
	}
	folder := folder{fs: s.options.FS, path: s.dir, onDisk: onDisk}
	found, err := s.look(folder)
	if err != nil {
		return err
	}
	if found == folderFresh {
		if err := folder.begin(); err != nil {
			return err
		}
	}
	if onDisk {
		if s.dir, err = realPath(s.dir); err != nil {
			return err
		}
		folder.path = s.dir
	}
	if s.lock, err = folder.acquire(s.disk); err != nil {
		return err
	}
	if err := s.openLocked(folder); err != nil {
		// Whatever Pebble left running stays away from the folder.
		s.disk.fail(err)
		s.disk.seal()
		s.witness.abandon()
		return err
	}
	return nil
}

// look tells what a folder holds, and refuses one without a ledger if there must
// be one.
func (s *Store) look(folder folder) (folderState, error) {
	found, err := folder.look()
	switch {
	case !s.options.MustExist:
		return found, err
	case found == folderForeign:
		return found, &noLedgerError{reason: err}
	case found == folderFresh && err == nil:
		return found, &noLedgerError{reason: fs.ErrNotExist}
	}
	return found, err
}

// openLocked opens the ledger in a folder that is locked.
func (s *Store) openLocked(folder folder) error {
	// Another process may have made the ledger since the first look.
	found, err := s.look(folder)
	if err != nil {
		return err
	}
	if found == folderFresh {
		if err := folder.clear(); err != nil {
			return err
		}
	}
	commits, err := s.openWitness(folder, folder.witnessed())
	if err != nil {
		return err
	}
	if err := s.openDatabase(found == folderReady); err != nil {
		return err
	}
	if err := s.compareCommits(commits); err != nil {
		return errors.Join(err, s.closeDatabase())
	}
	if found == folderFresh {
		if err := folder.finish(s.options.Now()); err != nil {
			return errors.Join(err, s.closeDatabase())
		}
	}
	folder.tidy()
	if err := s.start(); err != nil {
		return errors.Join(err, s.closeDatabase())
	}
	s.disk.setPatience(tablePatience)
	return nil
}

// openDatabase opens Pebble in a goroutine of its own: one that Pebble parks
// does not take the caller with it, and a panic over damaged files is an error.
func (s *Store) openDatabase(mustExist bool) error {
	type opened struct {
		database *pebble.DB
		err      error
	}
	result := make(chan opened, 1)
	go func() {
		var o opened
		defer func() {
			if r := recover(); r != nil {
				o = opened{err: fmt.Errorf("%w: %v", store.ErrCorrupt, r)}
			}
			result <- o
		}()
		o.database, o.err = pebble.Open(databasePath(s.disk, s.dir), s.pebbleOptions(mustExist))
	}()
	select {
	case o := <-result:
		s.database = o.database
		return s.judgeOpen(o.err)
	case <-s.disk.failed:
		return s.failure()
	}
}

func (s *Store) pebbleOptions(mustExist bool) *pebble.Options {
	options := &pebble.Options{
		FS:                 s.disk,
		Lock:               s.lock,
		Logger:             pebbleLogger{logger: s.options.Logger, disk: s.disk},
		EventListener:      s.listener(),
		FormatMajorVersion: databaseFormat,
		CacheSize:          s.options.CacheSize,
		MemTableSize:       s.options.MemTableSize,
		ErrorIfNotExists:   mustExist,
	}
	// A page is looked up before it is recorded, and most of its IDs are absent.
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(filterBits)
	}
	return options
}

// filterBits is the size of the tables' filters, a key: one absent key in a hundred
// is looked for in vain.
const filterBits = 10

// listener hears of damage, which by default would end the process.
func (s *Store) listener() *pebble.EventListener {
	var repeats backoff
	worked := func(err error) {
		if err == nil {
			s.disk.tablesWork()
			repeats.reset()
		}
	}
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			// Pebble tries again at once, and a full disk stays full for a while.
			// Its errors would print a stack.
			if times, due := repeats.next(); due {
				s.options.Logger.Warn("the ledger's database had an error", "path", s.dir, "error", err.Error(), "times", times)
			}
		},
		FlushEnd:      func(info pebble.FlushInfo) { worked(info.Err) },
		CompactionEnd: func(info pebble.CompactionInfo) { worked(info.Err) },
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			s.options.Logger.Error("the ledger is damaged", "path", s.dir, "file", info.Path, "error", info.Details)
			s.noteDamage(fmt.Errorf("%w: %s", store.ErrCorrupt, info))
		},
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			s.options.Logger.Warn("commits wait for the disk", "path", s.dir, "reason", info.Reason)
		},
	}
}

func (s *Store) noteDamage(err error) { s.damage.CompareAndSwap(nil, &err) }

// judgeOpen says what an error of Pebble's open means. Pebble has few typed
// errors there: what is neither the disk's nor a permission is damage.
func (s *Store) judgeOpen(err error) error {
	var path *fs.PathError
	switch {
	case err == nil, errors.Is(err, store.ErrCorrupt):
		return err
	case isPermission(err), isDisk(err):
		return err
	case errors.As(err, &path) && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
}

// failure is the error of a store whose disk failed.
func (s *Store) failure() error {
	return fmt.Errorf("%w: %w", store.ErrFailed, s.disk.cause)
}

// start reads where the ledger stands and starts the goroutines.
func (s *Store) start() error {
	next, err := s.nextSequence()
	if err != nil {
		return err
	}
	s.holds.jobs = make(map[string]struct{})
	s.scans.open = make(map[*scan]struct{})
	nextScope, err := s.nextScope()
	if err != nil {
		return err
	}
	s.startWriter(next, nextScope)
	if !s.options.NoMirror {
		s.mirror = startMirror(s)
	}
	return nil
}

// Close releases the ledger. It waits for commits that are under way, and ends
// scans that are. Closing again returns what the first call returned. It returns
// an error that wraps store.ErrFailed if the disk failed.
func (s *Store) Close() error { return s.close() }

func (s *Store) shut() error {
	s.mu.Lock()
	s.closed = true
	close(s.writer.queue)
	if !s.disk.hasFailed() {
		s.scans.release()
	}
	s.mu.Unlock()
	select {
	case <-s.writer.done:
	case <-s.disk.failed:
	}
	if s.mirror != nil {
		s.mirror.stop()
	}
	err := s.closeDatabase()
	s.disk.seal()
	if s.disk.hasFailed() {
		s.witness.abandon()
	}
	return fault("close", s.dir, err)
}

// closeDatabase closes Pebble, unless the disk failed or fails while it does.
//
// It writes what is only in the log to a table first. A table has a checksum
// over every byte; a flipped bit in the last 32 KiB of a log, or a log that
// somebody deleted, would be a shorter ledger and no error.
func (s *Store) closeDatabase() error {
	if s.disk.hasFailed() {
		return s.failure()
	}
	closed := make(chan error, 1)
	s.disk.setPatience(waitedPatience)
	flush := s.writer.wrote
	go func() {
		var err error
		if flush {
			err = s.database.Flush()
		}
		err = errors.Join(err, s.database.Close())
		closed <- errors.Join(err, s.witness.close(err == nil))
	}()
	select {
	case err := <-closed:
		return err
	case <-s.disk.failed:
		return s.failure()
	}
}

// usable returns why the store cannot be used, if it cannot. The caller holds mu.
func (s *Store) usable() error {
	switch {
	case s.closed:
		return store.ErrClosed
	case s.disk.hasFailed():
		return s.failure()
	}
	return nil
}

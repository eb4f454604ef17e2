package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/everypage-go/everypage/store"
)

var _ store.Backuper = (*Store)(nil)

// Backup copies the ledger into a folder that does not exist yet, while commits go
// on: every commit that returned before the call is in it. The copy is opened once,
// so that it is known to open. Where the folder is on the ledger's own file system,
// tables are hard links: they cost no room, and share the fate of that disk.
//
// An error of the folder's disk leaves the ledger as it is; what was copied by then
// is removed. The folder must not exist: that error wraps fs.ErrExist.
func (s *Store) Backup(ctx context.Context, dir string) error {
	err := s.backup(ctx, dir)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrCorrupt), s.disk.hasFailed():
		return fault("back up", s.dir, err)
	case errors.Is(err, fs.ErrExist):
		return &store.Error{Op: "back up to", Path: dir, Err: err, Hint: "name a folder that is not there yet; its parent may be"}
	}
	return &store.Error{Op: "back up to", Path: dir, Err: err, Hint: "see that its disk has room and is well; the ledger itself goes on"}
}

func (s *Store) backup(ctx context.Context, dir string) error {
	s.backups.Lock()
	defer s.backups.Unlock()
	fsys := s.options.FS
	if dir == "" {
		return errors.New("no folder was given for the copy")
	}
	if _, err := fsys.Stat(dir); err == nil {
		return fmt.Errorf("the copy wants a folder that is not there yet, and %s is: %w", dir, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look at the folder of the copy: %w", err)
	}
	if err := s.apart(dir); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.copyTo(dir); err != nil {
		return errors.Join(err, fsys.RemoveAll(dir))
	}
	return nil
}

// apart refuses a copy inside the ledger itself.
func (s *Store) apart(dir string) error {
	if s.onDiskFS {
		path, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("find the folder of the copy: %w", err)
		}
		dir = path
	}
	if inside := s.options.FS.PathJoin(s.dir, "x"); strings.HasPrefix(dir, inside[:len(inside)-1]) {
		return errors.New("the copy would be inside the ledger's own folder: choose another one")
	}
	return nil
}

// copyTo makes the copy a ledger last of all, once it holds everything.
func (s *Store) copyTo(dir string) error {
	target := folder{fs: s.options.FS, path: dir, onDisk: s.onDiskFS}
	if err := target.begin(); err != nil {
		return err
	}
	if target.onDisk {
		path, err := realPath(dir)
		if err != nil {
			return err
		}
		target.path = path
	}
	commits, err := s.checkpoint(target)
	if err != nil {
		return err
	}
	if err := target.attested(commits); err != nil {
		return err
	}
	if err := target.finish(s.options.Now()); err != nil {
		return err
	}
	target.tidy()
	opts := s.options
	opts.MustExist, opts.NoMirror, opts.AcceptLoss = true, true, false
	if target.onDisk {
		opts.FS = nil
	}
	tried, err := Open(target.path, &opts)
	if err != nil {
		return fmt.Errorf("the copy does not open: %w", err)
	}
	return tried.Close()
}

// checkpoint copies the database. It returns how many commits it has at least.
func (s *Store) checkpoint(target folder) (commits uint64, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(); err != nil {
		return 0, err
	}
	s.disk.foreign.Store(&target.path)
	defer s.disk.foreign.Store(nil)
	commits = s.witness.commits.Load()
	return commits, s.onDisk(func() (err error) {
		defer func() { // Pebble panics where the copy's folder cannot be synced
			if r := recover(); r != nil {
				err = fmt.Errorf("the copy's disk failed: %v", r)
				if cause, ok := r.(error); ok {
					err = fmt.Errorf("the copy's disk failed: %w", cause)
				}
			}
		}()
		return s.database.Checkpoint(databasePath(target.fs, target.path), pebble.WithFlushedWAL())
	})
}

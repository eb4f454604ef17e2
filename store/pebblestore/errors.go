package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/store"
)

// fault gives an error its operation and folder, and says which of the errors of
// package store it is. A nil err stays nil.
func fault(op, dir string, err error) error {
	var done *store.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done):
		return err
	case pebble.IsCorruptionError(err) && !errors.Is(err, store.ErrCorrupt):
		err = fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	case isDisk(err) && !errors.Is(err, store.ErrFailed):
		err = fmt.Errorf("%w: %w", store.ErrFailed, err)
	}
	return &store.Error{Op: op, Path: dir, Err: err, Hint: hint(err)}
}

// isPermission reports whether err says that the folder may not be written.
func isPermission(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// isDisk reports whether err says that the disk is full or broken.
func isDisk(err error) bool {
	return isFull(err) || errors.Is(err, syscall.EIO)
}

// isFull reports whether err says that there is no room.
func isFull(err error) bool {
	return vfs.IsNoSpaceError(err) || errors.Is(err, syscall.EDQUOT)
}

// noLedgerError says that there is no ledger where there must be one.
type noLedgerError struct {
	reason error // fs.ErrNotExist, or what is there instead
}

func (e *noLedgerError) Error() string {
	if errors.Is(e.reason, fs.ErrNotExist) {
		return "there is no ledger"
	}
	return "there is no ledger: " + e.reason.Error()
}

func (e *noLedgerError) Unwrap() []error { return []error{store.ErrNotFound, e.reason} }

// hint says what a person can do about an error.
func hint(err error) string {
	var none *noLedgerError
	switch {
	case errors.As(err, &none):
		return "see that the path is right; the first run makes the ledger"
	case errors.Is(err, store.ErrCorrupt):
		return "keep a copy of the folder, and restore a backup"
	case errors.Is(err, store.ErrVersion):
		return "use the newer version of everypage that wrote it"
	case errors.Is(err, store.ErrFailed) && isFull(err):
		return "make room on the disk, then start again; nothing that was confirmed is lost"
	case errors.Is(err, store.ErrFailed):
		return "see that the disk has room and is well, then open the ledger again"
	case errors.Is(err, store.ErrLocked):
		return "wait until the other process ends, or stop it; nothing needs to be unlocked"
	case errors.Is(err, store.ErrHeld):
		return "one runner at a time works on a job"
	case isPermission(err):
		return "let this user write in the folder, or choose another one"
	}
	return ""
}

// pebbleLogger passes what Pebble says on. Pebble calls Fatalf when it cannot go
// on and counts on it not to return: the store counts as failed, and the
// goroutine stays where it is.
type pebbleLogger struct {
	logger *slog.Logger
	disk   *disk
}

var _ pebble.Logger = pebbleLogger{}

func (l pebbleLogger) Infof(format string, args ...any) {
	l.logger.Debug("pebble", "message", fmt.Sprintf(format, args...))
}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.logger.Warn("pebble", "message", fmt.Sprintf(format, args...))
}

func (l pebbleLogger) Fatalf(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	l.logger.Error("pebble cannot go on", "message", message)
	l.disk.fail(errors.New(message))
	park()
}

// backoff thins out a message that repeats: its first, second, fourth, eighth,
// … time is due.
type backoff struct{ times atomic.Int64 }

func (b *backoff) next() (times int64, due bool) {
	times = b.times.Add(1)
	return times, times&(times-1) == 0
}

func (b *backoff) reset() { b.times.Store(0) }

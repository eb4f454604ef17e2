package pebblestore_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/internal/faultfs"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

func isTable(name string) bool { return strings.HasSuffix(name, ".sst") }

func isManifest(name string) bool { return strings.HasPrefix(name, "MANIFEST-") }

// soon fails the test if something takes longer than a hang would be noticed.
func soon(t *testing.T, what string, act func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		act()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s hangs", what)
	}
}

// After a failure the goroutines that met it stay parked, so these tests do not
// look for goroutines that are left.
func TestDiskFailureIsATypedError(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		// fails chooses the operations, and skip lets that many pass first.
		fails func(op, name string) bool
		skip  int64
	}{
		{"log write", syscall.EIO, func(op, name string) bool { return op == "write" && isLog(name) }, 0},
		{"log sync", syscall.EIO, func(op, name string) bool { return op == "sync" && isLog(name) }, 0},
		{"log sync, later", syscall.EIO, func(op, name string) bool { return op == "sync" && isLog(name) }, 40},
		{"log full", syscall.ENOSPC, func(op, name string) bool { return op == "write" && isLog(name) }, 20},
		{"new log", syscall.ENOSPC, func(op, name string) bool { return op == "create" && isLog(name) }, 0},
		{"recycled log", syscall.EIO, func(op, name string) bool { return op == "reuse" && isLog(name) }, 0},
		{"manifest write", syscall.EIO, func(op, name string) bool { return op == "write" && isManifest(name) }, 0},
		{"manifest sync", syscall.EIO, func(op, name string) bool { return op == "sync" && isManifest(name) }, 0},
		{"folder sync", syscall.EIO, func(op, name string) bool { return op == "sync" && name == "db" }, 0},
		{"disk full", syscall.ENOSPC, func(op, _ string) bool { return op == "write" || op == "create" }, 60},
		{"everything", syscall.EIO, func(string, string) bool { return true }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			disk := faultfs.New(vfs.NewMem())
			s, err := pebblestore.Open("ledger", small(disk))
			if err != nil {
				t.Fatal(err)
			}
			var met atomic.Int64
			disk.Set(func(op, name string) error {
				if c.fails(op, name) && met.Add(1) > c.skip {
					return &fs.PathError{Op: op, Path: name, Err: c.err}
				}
				return nil
			})
			w := walk(s, "r", 3, math.MaxInt)
			soon(t, "a commit", w.group.Wait)
			for _, err := range w.errs {
				wantError(t, err, store.ErrFailed)
				if !errors.Is(err, c.err) {
					t.Errorf("error %v does not name its cause", err)
				}
			}
			soon(t, "a method after the failure", func() {
				wantError(t, s.Commit(t.Context(), store.Change{Run: newRun("job", "r0")}), store.ErrFailed)
				_, err := s.Run(t.Context(), "r0")
				wantError(t, err, store.ErrFailed)
				_, err = s.Hold(t.Context(), "job")
				wantError(t, err, store.ErrFailed)
				_, err = collect(s.Runs(t.Context(), store.RunFilter{}), func(store.Run) int { return 0 })
				wantError(t, err, store.ErrFailed)
			})
			soon(t, "close", func() { wantError(t, s.Close(), store.ErrFailed) })
			wantError(t, s.Commit(t.Context(), store.Change{Run: newRun("job", "r0")}), store.ErrClosed)

			disk.Set(nil)
			again := reopen(t, "ledger", small(disk))
			if err := verify(t.Context(), again, w.counts()); err != nil {
				t.Error(err)
			}
			commit(t, again, beginChange(newRun("job", "after")))
		})
	}
}

// A table that cannot be written is no loss: commits go on for as long as the
// memory lasts, and all is well once there is room.
func TestTablesThatCannotBeWrittenForAWhile(t *testing.T) {
	disk := faultfs.New(vfs.NewMem())
	s := reopen(t, "ledger", small(disk))
	var refused atomic.Int64
	disk.Set(func(op, name string) error {
		if isTable(name) && (op == "write" || op == "create") {
			if refused.Add(1) > 20 {
				return nil
			}
			return syscall.ENOSPC
		}
		return nil
	})
	w := walk(s, "r", 1, math.MaxInt)
	soon(t, "a walk over a table that fails", func() {
		for refused.Load() < 20 || w.confirmed[0].Load() < 300 {
			pause(time.Millisecond)
		}
		w.stop.Store(true)
		w.group.Wait()
	})
	if err := errors.Join(append(w.errs, verify(t.Context(), s, w.counts()))...); err != nil {
		t.Error(err)
	}
}

func TestTablesThatCanNeverBeWritten(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: waits five seconds for a disk to recover, and the tests are to be short")
	}
	t.Parallel()
	disk := faultfs.New(vfs.NewMem())
	s, err := pebblestore.Open("ledger", small(disk))
	if err != nil {
		t.Fatal(err)
	}
	disk.Set(func(op, name string) error {
		if isTable(name) && op == "create" {
			return syscall.ENOSPC
		}
		return nil
	})
	w := walk(s, "r", 1, math.MaxInt)
	soon(t, "a commit", w.group.Wait)
	wantError(t, w.errs[0], store.ErrFailed)
	soon(t, "close", func() { wantError(t, s.Close(), store.ErrFailed) })
	disk.Set(nil)
	if err := verify(t.Context(), reopen(t, "ledger", small(disk)), w.counts()); err != nil {
		t.Error(err)
	}
}

// Each operation of an open that fails gives an error and lets the next one work.
func TestFailureWhileOpening(t *testing.T) {
	for _, existing := range []bool{false, true} {
		for at := int64(1); ; at++ {
			disk := faultfs.New(vfs.NewMem())
			confirmed := map[string]int{"r0": -1}
			if existing {
				s, err := pebblestore.Open("ledger", small(disk))
				if err != nil {
					t.Fatal(err)
				}
				commit(t, s, beginChange(newRun("job", "r0")), pageStep(newRun("job", "r0"), 0))
				confirmed["r0"] = 1
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			var operations atomic.Int64
			disk.Set(func(op, name string) error {
				if operations.Add(1) >= at {
					return &fs.PathError{Op: op, Path: name, Err: syscall.ENOSPC}
				}
				return nil
			})
			var s *pebblestore.Store
			var err error
			soon(t, "open", func() { s, err = pebblestore.Open("ledger", small(disk)) })
			if err == nil {
				// Only what follows the open met the error.
				soon(t, "close", func() { _ = s.Close() })
			} else if detail := new(store.Error); !errors.As(err, &detail) {
				t.Fatalf("operation %d: error %v is no *store.Error", at, err)
			}
			disk.Set(nil)
			again, openErr := pebblestore.Open("ledger", small(disk))
			if openErr != nil {
				t.Fatalf("existing %v, operation %d failed (%v), and the next open gave %v", existing, at, err, openErr)
			}
			if err := errors.Join(verify(t.Context(), again, confirmed), again.Close()); err != nil {
				t.Fatalf("existing %v, operation %d: %v", existing, at, err)
			}
			if operations.Load() < at {
				break
			}
		}
	}
}

func TestFailureIsLogged(t *testing.T) {
	var text bytes.Buffer
	disk := faultfs.New(vfs.NewMem())
	opts := small(disk)
	opts.Logger = slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := reopen(t, "ledger", opts)
	commit(t, s, beginChange(newRun("job", "r")))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "pebble") {
		t.Errorf("nothing of Pebble was logged: %q", text.String())
	}
}

// A commit that was answered before the failure stays confirmed, and the run's
// status with it.
func TestStatusSurvivesAFailure(t *testing.T) {
	disk := faultfs.New(vfs.NewMem())
	s, err := pebblestore.Open("ledger", small(disk))
	if err != nil {
		t.Fatal(err)
	}
	run := newRun("job", "r")
	commit(t, s, beginChange(run))
	run.Receipt.Status = state.Paused
	commit(t, s, store.Change{Run: run})
	disk.Set(func(string, string) error { return syscall.EIO })
	run.Receipt.Status = state.Complete
	wantError(t, s.Commit(t.Context(), store.Change{Run: run}), store.ErrFailed)
	wantError(t, s.Close(), store.ErrFailed)
	disk.Set(nil)
	again := reopen(t, "ledger", small(disk))
	got, err := again.Run(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "runs of the status that is there", runIDs(t, again, store.RunFilter{Status: got.Receipt.Status}), "r")
}

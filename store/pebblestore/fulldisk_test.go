package pebblestore_test

import (
	"bytes"
	"io/fs"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/internal/faultfs"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// tailOfTables fails every write of a table but its first: Pebble syncs what was
// written of such a table before it throws it away.
func tailOfTables() (hook faultfs.Hook, refused *atomic.Int64) {
	refused = new(atomic.Int64)
	var mu sync.Mutex
	writes := make(map[string]int)
	return func(op, name string) error {
		if op != "write" || !isTable(name) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if writes[name]++; writes[name] == 1 {
			return nil
		}
		refused.Add(1)
		return &fs.PathError{Op: op, Path: name, Err: syscall.ENOSPC}
	}, refused
}

func linesOf(text *bytes.Buffer) int { return strings.Count(text.String(), "\n") }

// TestOpenOnAFullDisk opens a ledger whose log is still to be made into tables,
// of which only the beginnings fit: Open must not try for ever.
func TestOpenOnAFullDisk(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s := reopen(t, "ledger", &pebblestore.Options{FS: mem}) // a memtable that holds it all
	run := newRun("job", "r0")
	commit(t, s, beginChange(run))
	const steps = 60
	for n := range steps {
		commit(t, s, pageStep(run, n))
	}
	disk := faultfs.New(crash(mem, 0, 1))
	for range 2 {
		hook, refused := tailOfTables()
		disk.Set(hook)
		var text bytes.Buffer
		opts := small(disk)
		opts.Logger = slog.New(slog.NewTextHandler(&text, nil))
		soon(t, "open", func() {
			s, err := pebblestore.Open("ledger", opts)
			if err == nil {
				_ = s.Close()
			}
			wantError(t, err, store.ErrFailed)
			if detail := wantDetail(t, err, syscall.ENOSPC); !strings.Contains(detail.Hint, "make room") || !strings.Contains(detail.Hint, "start again") {
				t.Errorf("the hint is %q", detail.Hint)
			}
		})
		if refused.Load() > 10 {
			t.Errorf("open gave up after %d writes that failed, want a few", refused.Load())
		}
		if lines := linesOf(&text); lines == 0 || lines > 5 || strings.Contains(text.String(), "stack trace") {
			t.Errorf("%d lines were logged, want one or a few without a stack:\n%s", lines, &text)
		}
	}
	disk.Set(nil)
	if err := verify(t.Context(), reopen(t, "ledger", small(disk)), map[string]int{"r0": steps}); err != nil {
		t.Error(err)
	}
}

// A flush on close that never succeeds must not keep Close.
func TestCloseOnAFullDisk(t *testing.T) {
	disk := faultfs.New(vfs.NewMem())
	s, err := pebblestore.Open("ledger", &pebblestore.Options{FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	run := newRun("job", "r0")
	commit(t, s, beginChange(run))
	const steps = 60
	for n := range steps {
		commit(t, s, pageStep(run, n))
	}
	hook, refused := tailOfTables()
	disk.Set(hook)
	soon(t, "close", func() { wantError(t, s.Close(), store.ErrFailed) })
	if refused.Load() > 10 {
		t.Errorf("close gave up after %d writes that failed, want a few", refused.Load())
	}
	disk.Set(nil)
	if err := verify(t.Context(), reopen(t, "ledger", small(disk)), map[string]int{"r0": steps}); err != nil {
		t.Error(err)
	}
}

// Commits on a disk where only the beginnings of tables fit end with an error
// as well, and say what goes wrong in a few lines.
func TestTablesOfWhichOnlyTheBeginningFits(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: waits five seconds for a disk to recover, and the tests are to be short")
	}
	t.Parallel()
	disk := faultfs.New(vfs.NewMem())
	var text bytes.Buffer
	opts := small(disk)
	opts.Logger = slog.New(slog.NewTextHandler(&text, nil))
	s, err := pebblestore.Open("ledger", opts)
	if err != nil {
		t.Fatal(err)
	}
	hook, refused := tailOfTables()
	disk.Set(hook)
	w := walk(s, "r", 1, math.MaxInt)
	soon(t, "a commit", w.group.Wait)
	wantError(t, w.errs[0], store.ErrFailed)
	soon(t, "close", func() { wantError(t, s.Close(), store.ErrFailed) })
	if lines := linesOf(&text); lines == 0 || lines > 20 {
		t.Errorf("%d lines for %d failures, want a few", lines, refused.Load())
	}
	disk.Set(nil)
	if err := verify(t.Context(), reopen(t, "ledger", small(disk)), w.counts()); err != nil {
		t.Error(err)
	}
}

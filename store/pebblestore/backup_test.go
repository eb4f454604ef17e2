package pebblestore_test

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/internal/faultfs"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// TestBackupWhileRunsAreAtWork copies a ledger again and again while several runs
// are walked: each copy has every step that was confirmed before it was asked for,
// and no torn one.
func TestBackupWhileRunsAreAtWork(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, "ledger", small(fs))
	w := walk(s, "r", 3, math.MaxInt)
	copies := make(map[string]map[string]int)
	for _, name := range []string{"one", "two", "copies/three"} {
		for before := w.confirmed[0].Load(); w.confirmed[0].Load() < before+20; {
			pause(time.Millisecond)
		}
		confirmed := w.counts()
		if err := s.Backup(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		copies[name] = confirmed
	}
	w.stop.Store(true)
	w.group.Wait()
	if err := errors.Join(w.errs...); err != nil {
		t.Fatal(err)
	}
	for name, confirmed := range copies {
		c := reopen(t, name, small(fs))
		if err := verify(t.Context(), c, confirmed); err != nil {
			t.Errorf("copy %s: %v", name, err)
		}
		commit(t, c, beginChange(newRun("job", "after"))) // it is a ledger like any other
	}
}

func TestBackupOnTheDisk(t *testing.T) {
	dir := t.TempDir()
	ledger, copied := filepath.Join(dir, "ledger"), filepath.Join(dir, "a", "copy")
	s := open(t, ledger, nil)
	run := newRun("job", "r0")
	commit(t, s, beginChange(run), pageStep(run, 0), pageStep(run, 1))
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	err := s.Backup(t.Context(), copied)
	if detail := new(store.Error); !errors.Is(err, fs.ErrExist) || !errors.As(err, &detail) {
		t.Errorf("a copy over another gave %v", err)
	}
	if err := s.Backup(t.Context(), filepath.Join(ledger, "copy")); err == nil || !strings.Contains(err.Error(), "own folder") {
		t.Errorf("a copy inside the ledger gave %v", err)
	}
	commit(t, s, pageStep(run, 2)) // the ledger goes on
	if err := verify(t.Context(), open(t, copied, nil), map[string]int{"r0": 2}); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the copy's folder: %v, %v", info.Mode(), err)
	}
}

// A disk that does not take the copy is not the ledger's: no operation of a backup
// that fails makes the ledger fail, or leaves something that passes for a copy.
func TestBackupThatFails(t *testing.T) {
	for at := int64(1); ; at++ {
		disk := faultfs.New(vfs.NewMem())
		disk.WholeNames = true
		s, err := pebblestore.Open("ledger", small(disk))
		if err != nil {
			t.Fatal(err)
		}
		run := newRun("job", "r0")
		commit(t, s, beginChange(run))
		for n := range 40 {
			commit(t, s, pageStep(run, n))
		}
		var met atomic.Int64 // the database works in goroutines of its own
		disk.Set(func(op, name string) error {
			if !strings.HasPrefix(name, "copy") {
				return nil
			}
			if met.Add(1) == at && op != "remove" {
				return &fs.PathError{Op: op, Path: name, Err: syscall.ENOSPC}
			}
			return nil
		})
		var failed error
		soon(t, "a backup", func() { failed = s.Backup(t.Context(), "copy") })
		disk.Set(nil)
		commit(t, s, pageStep(run, 40))
		if err := errors.Join(verify(t.Context(), s, map[string]int{"r0": 41}), s.Close()); err != nil {
			t.Fatalf("operation %d: %v", at, err)
		}
		if failed != nil {
			if _, err := disk.Stat("copy"); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("operation %d: the backup failed (%v) and left something: %v", at, failed, err)
			}
			continue
		}
		c, err := pebblestore.Open("copy", small(disk))
		if err != nil {
			t.Fatalf("operation %d: %v", at, err)
		}
		if err := errors.Join(verify(t.Context(), c, map[string]int{"r0": 40}), c.Close()); err != nil {
			t.Fatalf("operation %d: %v", at, err)
		}
		if met.Load() < at {
			t.Logf("%d operations", met.Load())
			return
		}
	}
}

func TestPruneRemovesARunAndNothingElse(t *testing.T) {
	mem := vfs.NewMem()
	s, err := pebblestore.Open("ledger", small(mem))
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string]int)
	for _, id := range []string{"old", "old-too", "older"} { // one is the prefix of another
		run := newRun("job", id)
		commit(t, s, beginChange(run))
		for n := range 5 {
			commit(t, s, pageStep(run, n))
		}
		run.Receipt.Status, run.Receipt.Pages = "complete", 5
		commit(t, s, store.Change{Run: run})
		want[id] = 5
	}
	commit(t, s, beginChange(newRun("job", "open")))
	wantError(t, s.Prune(t.Context(), store.Removal{RunIDs: []string{"old", "open"}, By: "Ada"}), store.ErrOpen)
	wantError(t, s.Prune(t.Context(), store.Removal{RunIDs: []string{"old", "nothing"}, By: "Ada"}), store.ErrNotFound)
	wantIDs(t, "runs after two refusals", runIDs(t, s, store.RunFilter{Job: "job"}), "open", "older", "old-too", "old")
	if err := s.Prune(t.Context(), store.Removal{RunIDs: []string{"old"}, Scopes: []string{"old"}, By: "Ada", At: instant(0)}); err != nil {
		t.Fatal(err)
	}
	check := func(s *pebblestore.Store) {
		t.Helper()
		for _, filter := range []store.RunFilter{{}, {Job: "job"}} {
			wantIDs(t, "runs", runIDs(t, s, filter), "open", "older", "old-too")
		}
		wantIDs(t, "complete runs", runIDs(t, s, store.RunFilter{Status: "complete"}), "older", "old-too")
		_, err := s.Run(t.Context(), "old")
		wantError(t, err, store.ErrNotFound)
		if !strings.Contains(err.Error(), "by Ada") {
			t.Errorf("the error does not say who removed the run: %v", err)
		}
		wantError(t, s.Commit(t.Context(), beginChange(newRun("job", "old"))), store.ErrExists)
		wantIDs(t, "held items", heldIDs(t, s, "old"))
		items, err := s.Items(t.Context(), "old", []string{"item-0", "item-7"})
		if err != nil || items[0].State != store.StateUnknown || items[1].State != store.StateUnknown {
			t.Errorf("its items: %v, %v", items, err)
		}
		for _, n := range []int{
			count(t, s.Pages(t.Context(), "old", 0)), count(t, s.Conflicts(t.Context(), "old")), count(t, s.Events(t.Context(), "old")),
		} {
			if n != 0 {
				t.Errorf("%d records of the run are left", n)
			}
		}
		if _, found, err := s.PageAt(t.Context(), "old", cursorOf(1)); found || err != nil {
			t.Errorf("its cursor: %v, %v", found, err)
		}
		left := maps.Clone(want)
		delete(left, "old")
		for id := range left {
			if got, err := wholeSteps(t.Context(), s, id); err != nil && !strings.Contains(err.Error(), "events") || got != 5 && err == nil {
				t.Errorf("run %s: %d steps: %v", id, got, err)
			}
		}
	}
	check(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check(reopen(t, "ledger", small(mem)))
}

func count[T any](t *testing.T, seq func(func(T, error) bool)) int {
	t.Helper()
	all, err := collect(seq, func(T) int { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

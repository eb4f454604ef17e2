package pebblestore_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/everypage-go/everypage/internal/steps"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// TestMain lets the test binary be the second process of a test.
func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		os.Exit(child(mode, os.Getenv(childFolder)))
	}
	os.Exit(m.Run())
}

// pause gives something else the time to happen, or not to.
func pause(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // files and processes have no clock that could be set
}

// The steps of a run, by short names.
func instant(second int64) time.Time             { return steps.Instant(second) }
func newRun(job, runID string) store.Run         { return steps.Run(job, runID) }
func beginChange(run store.Run) store.Change     { return steps.Begin(run) }
func pageStep(run store.Run, n int) store.Change { return steps.Page(run, n) }
func cursorOf(n int) pager.Cursor                { return steps.Cursor(n) }
func wholeSteps(ctx context.Context, s store.Store, runID string) (int, error) {
	return steps.Whole(ctx, s, runID)
}

func collect[T, U any](seq func(func(T, error) bool), show func(T) U) ([]U, error) {
	return steps.Collect(seq, show)
}

// open opens a ledger, closes it at the end, and then looks for goroutines that
// stayed.
func open(t *testing.T, dir string, opts *pebblestore.Options) *pebblestore.Store {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	return reopen(t, dir, opts)
}

// reopen opens a ledger and closes it at the end. Tests that had a disk fail use
// it: what the failure parked may come and go.
func reopen(t *testing.T, dir string, opts *pebblestore.Options) *pebblestore.Store {
	t.Helper()
	s, err := pebblestore.Open(dir, opts)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// openMem opens a fresh ledger in memory.
func openMem(t *testing.T) *pebblestore.Store {
	t.Helper()
	return open(t, "ledger", &pebblestore.Options{FS: vfs.NewMem()})
}

func commit(t *testing.T, s store.Store, changes ...store.Change) {
	t.Helper()
	for _, change := range changes {
		if err := s.Commit(t.Context(), change); err != nil {
			t.Fatalf("commit: %v", err)
		}
	}
}

func runIDs(t *testing.T, s store.Store, filter store.RunFilter) []string {
	t.Helper()
	ids, err := collect(s.Runs(t.Context(), filter), func(r store.Run) string { return r.Receipt.RunID })
	if err != nil {
		t.Fatalf("runs: %v", err)
	}
	return ids
}

func heldIDs(t *testing.T, s store.Store, scope string) []string {
	t.Helper()
	ids, err := collect(s.Held(t.Context(), scope), func(i store.Item) string { return i.ID })
	if err != nil {
		t.Fatalf("held: %v", err)
	}
	return ids
}

func wantIDs(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// wantError checks the sentinel, and that a person is told where and what to do.
func wantError(t *testing.T, err, want error) {
	t.Helper()
	if detail := wantDetail(t, err, want); detail.Op == "" || detail.Path == "" {
		t.Fatalf("error %#v has no operation or no path", detail)
	}
}

func wantDetail(t *testing.T, err, want error) *store.Error {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want one that wraps %q", err, want)
	}
	var detail *store.Error
	if !errors.As(err, &detail) {
		t.Fatalf("error %#v is no *store.Error", err)
	}
	return detail
}

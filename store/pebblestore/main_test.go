package pebblestore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
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

// instant is a time that a record keeps exactly.
func instant(second int64) time.Time { return time.Unix(1_800_000_000+second, 5).UTC() }

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

// newRun returns a run as its begin records it.
func newRun(job, runID string) store.Run {
	return store.Run{
		Receipt:  state.Receipt{RunID: runID, Job: job, Status: state.Running, SchemaVersion: state.SchemaVersion},
		Scope:    runID,
		Lineage:  runID,
		Fetching: -1,
		Careful:  -1,
	}
}

func beginChange(run store.Run) store.Change {
	return store.Change{
		Run:    run,
		Begin:  true,
		Events: []state.Transition{{At: instant(0), Event: state.EventBegin, To: run.Receipt.Status}},
	}
}

func commit(t *testing.T, s store.Store, changes ...store.Change) {
	t.Helper()
	for _, change := range changes {
		if err := s.Commit(t.Context(), change); err != nil {
			t.Fatalf("commit: %v", err)
		}
	}
}

// pageStep is the n-th step of a walk: a page of items, with everything that a
// change can carry, so that a torn one shows.
func pageStep(run store.Run, n int) store.Change {
	const size = 5
	run.Receipt.Pages = n + 1
	run.Receipt.PageIndex = n
	page := &store.Page{
		RunID:  run.Receipt.RunID,
		Index:  n,
		At:     instant(int64(n)),
		Cursor: cursorOf(n),
		Next:   cursorOf(n + 1),
		End:    pager.EndMore,
	}
	change := store.Change{Run: run, Page: page}
	for i := range size {
		id := "item-" + strconv.Itoa(n*size+i)
		item := store.Item{Scope: run.Scope, ID: id, State: store.StatePending, RunID: run.Receipt.RunID, Page: n, Ordinal: i}
		if i == 0 {
			item.State = store.StateHeld
		}
		page.IDs = append(page.IDs, id)
		change.Items = append(change.Items, item)
	}
	change.Conflicts = []store.Conflict{{RunID: run.Receipt.RunID, Seq: n, ID: page.IDs[1], Page: n}}
	change.Events = []state.Transition{{At: instant(int64(n)), Event: state.EventNote, From: state.Running, To: state.Running}}
	return change
}

func cursorOf(n int) pager.Cursor {
	if n == 0 {
		return pager.Cursor{}
	}
	return pager.At("cursor-" + strconv.Itoa(n))
}

// wholeSteps checks that the ledger holds the first so many steps of a run,
// each as a whole, and nothing of a later one. It returns how many.
func wholeSteps(ctx context.Context, s store.Store, runID string) (int, error) {
	run, err := s.Run(ctx, runID)
	if err != nil {
		return 0, err
	}
	n := run.Receipt.Pages
	var wantPages, wantHeld []string
	var wantConflicts []string
	for i := range n {
		step := pageStep(run, i)
		wantPages = append(wantPages, fmt.Sprint(i, step.Page.IDs))
		wantHeld = append(wantHeld, step.Items[0].ID)
		wantConflicts = append(wantConflicts, fmt.Sprint(i, step.Conflicts[0].ID))
		items, err := s.Items(ctx, run.Scope, step.Page.IDs)
		if err != nil {
			return 0, err
		}
		if !slices.EqualFunc(items, step.Items, func(a, b store.Item) bool { return a.ID == b.ID && a.State == b.State && a.Page == b.Page }) {
			return 0, fmt.Errorf("the items of step %d are torn: %v", i, items)
		}
	}
	later := pageStep(run, n)
	items, err := s.Items(ctx, run.Scope, later.Page.IDs)
	if err != nil {
		return 0, err
	}
	for _, item := range items {
		if item.State != store.StateUnknown {
			return 0, fmt.Errorf("item %s is there before its step %d", item.ID, n)
		}
	}
	pages, err := collect(s.Pages(ctx, runID, 0), func(p store.Page) string { return fmt.Sprint(p.Index, p.IDs) })
	if err != nil || !slices.Equal(pages, wantPages) {
		return 0, errors.Join(err, fmt.Errorf("%d pages for %d steps", len(pages), n))
	}
	held, err := collect(s.Held(ctx, run.Scope), func(i store.Item) string { return i.ID })
	slices.Sort(wantHeld)
	if err != nil || !slices.Equal(held, wantHeld) {
		return 0, errors.Join(err, fmt.Errorf("held are %v for %d steps", held, n))
	}
	conflicts, err := collect(s.Conflicts(ctx, runID), func(c store.Conflict) string { return fmt.Sprint(c.Seq, c.ID) })
	if err != nil || !slices.Equal(conflicts, wantConflicts) {
		return 0, errors.Join(err, fmt.Errorf("%d conflicts for %d steps", len(conflicts), n))
	}
	events, err := collect(s.Events(ctx, runID), func(e state.Transition) state.Event { return e.Event })
	if err != nil || len(events) != n+1 {
		return 0, errors.Join(err, fmt.Errorf("%d events for %d steps", len(events), n))
	}
	for i := range n {
		if at, found, err := s.PageAt(ctx, runID, cursorOf(i)); err != nil || !found || at != i {
			return 0, errors.Join(err, fmt.Errorf("cursor %d is found at %d, %v", i, at, found))
		}
	}
	if _, found, err := s.PageAt(ctx, runID, cursorOf(n)); err != nil || found {
		return 0, errors.Join(err, fmt.Errorf("cursor %d is there before its step", n))
	}
	return n, nil
}

func collect[T, U any](seq func(func(T, error) bool), show func(T) U) ([]U, error) {
	var all []U
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, show(v))
	}
	return all, nil
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

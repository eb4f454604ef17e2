// Package steps makes the steps of a run as a ledger gets them, and tells whether a
// ledger holds each as a whole. The tests of stores use it.
package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// Instant returns a time that a record keeps exactly.
func Instant(second int64) time.Time { return time.Unix(1_800_000_000+second, 5).UTC() }

// Run returns a run as its begin records it.
func Run(job, runID string) store.Run {
	return store.Run{
		Receipt:  state.Receipt{RunID: runID, Job: job, Status: state.Running, SchemaVersion: state.SchemaVersion},
		Scope:    runID,
		Lineage:  runID,
		Fetching: -1,
		Careful:  -1,
	}
}

// Begin returns the change that begins a run.
func Begin(run store.Run) store.Change {
	return store.Change{
		Run:    run,
		Begin:  true,
		Events: []state.Transition{{At: Instant(0), Event: state.EventBegin, To: run.Receipt.Status}},
	}
}

// Page returns the n-th step of a walk: a page of items, with everything that a
// change can carry, so that a torn one shows.
func Page(run store.Run, n int) store.Change {
	const size = 5
	run.Receipt.Pages = n + 1
	run.Receipt.PageIndex = n
	page := &store.Page{
		RunID:  run.Receipt.RunID,
		Index:  n,
		At:     Instant(int64(n)),
		Cursor: Cursor(n),
		Next:   Cursor(n + 1),
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
	change.Events = []state.Transition{{At: Instant(int64(n)), Event: state.EventNote, From: state.Running, To: state.Running}}
	return change
}

// Cursor returns the cursor that the n-th page is read at.
func Cursor(n int) pager.Cursor {
	if n == 0 {
		return pager.Cursor{}
	}
	return pager.At("cursor-" + strconv.Itoa(n))
}

// Whole checks that the ledger holds the first so many steps of a run,
// each as a whole, and nothing of a later one. It returns how many.
func Whole(ctx context.Context, s store.Store, runID string) (int, error) {
	run, err := s.Run(ctx, runID)
	if err != nil {
		return 0, err
	}
	n := run.Receipt.Pages
	var wantPages, wantHeld []string
	var wantConflicts []string
	for i := range n {
		step := Page(run, i)
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
	later := Page(run, n)
	items, err := s.Items(ctx, run.Scope, later.Page.IDs)
	if err != nil {
		return 0, err
	}
	for _, item := range items {
		if item.State != store.StateUnknown {
			return 0, fmt.Errorf("item %s is there before its step %d", item.ID, n)
		}
	}
	pages, err := Collect(s.Pages(ctx, runID, 0), func(p store.Page) string { return fmt.Sprint(p.Index, p.IDs) })
	if err != nil || !slices.Equal(pages, wantPages) {
		return 0, errors.Join(err, fmt.Errorf("%d pages for %d steps", len(pages), n))
	}
	held, err := Collect(s.Held(ctx, run.Scope), func(i store.Item) string { return i.ID })
	slices.Sort(wantHeld)
	if err != nil || !slices.Equal(held, wantHeld) {
		return 0, errors.Join(err, fmt.Errorf("held are %v for %d steps", held, n))
	}
	conflicts, err := Collect(s.Conflicts(ctx, runID), func(c store.Conflict) string { return fmt.Sprint(c.Seq, c.ID) })
	if err != nil || !slices.Equal(conflicts, wantConflicts) {
		return 0, errors.Join(err, fmt.Errorf("%d conflicts for %d steps", len(conflicts), n))
	}
	events, err := Collect(s.Events(ctx, runID), func(e state.Transition) state.Event { return e.Event })
	if err != nil || len(events) != n+1 {
		return 0, errors.Join(err, fmt.Errorf("%d events for %d steps", len(events), n))
	}
	for i := range n {
		if at, found, err := s.PageAt(ctx, runID, Cursor(i)); err != nil || !found || at != i {
			return 0, errors.Join(err, fmt.Errorf("cursor %d is found at %d, %v", i, at, found))
		}
	}
	if _, found, err := s.PageAt(ctx, runID, Cursor(n)); err != nil || found {
		return 0, errors.Join(err, fmt.Errorf("cursor %d is there before its step", n))
	}
	return n, nil
}

// Collect returns what a sequence yields, up to its error.
func Collect[T, U any](seq func(func(T, error) bool), show func(T) U) ([]U, error) {
	var all []U
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, show(v))
	}
	return all, nil
}

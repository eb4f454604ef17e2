package proptest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// records is what a ledger holds, as plain values. It is the model of a store: one
// change after the other, each whole or not at all.
type records struct {
	order     []string // run IDs, the oldest first
	runs      map[string]store.Run
	items     map[itemName]store.Item
	pages     map[string][]store.Page
	conflicts map[string][]store.Conflict
	events    map[string][]state.Transition
}

// itemName is what tells an item of a ledger from the others.
type itemName struct{ scope, id string }

func newRecords() *records {
	return &records{
		runs: map[string]store.Run{}, items: map[itemName]store.Item{}, pages: map[string][]store.Page{},
		conflicts: map[string][]store.Conflict{}, events: map[string][]state.Transition{},
	}
}

// clone returns records of their own.
func (r *records) clone() *records {
	c := &records{
		order: slices.Clone(r.order), runs: maps.Clone(r.runs), items: maps.Clone(r.items),
		pages: maps.Clone(r.pages), conflicts: map[string][]store.Conflict{}, events: maps.Clone(r.events),
	}
	for id := range c.pages {
		c.pages[id], c.events[id] = slices.Clip(c.pages[id]), slices.Clip(c.events[id])
	}
	for id, list := range r.conflicts { // the only records that a change replaces in place
		c.conflicts[id] = slices.Clone(list)
	}
	return c
}

// apply makes a change.
func (r *records) apply(change store.Change) error {
	id := change.Run.Receipt.RunID
	_, there := r.runs[id]
	switch {
	case id == "":
		return errors.New("the run has no ID")
	case change.Begin && there:
		return fmt.Errorf("run %s: %w", id, store.ErrExists)
	case !change.Begin && !there:
		return fmt.Errorf("run %s: %w", id, store.ErrNotFound)
	}
	if also := change.Also; also != nil {
		if other := also.Run.Receipt.RunID; other != id {
			if _, there := r.runs[other]; !there {
				return fmt.Errorf("run %s: %w", other, store.ErrNotFound)
			}
		}
	}
	if !there {
		r.order = append(r.order, id)
	}
	r.runs[id] = change.Run
	if change.Page != nil {
		r.pages[id] = append(slices.Clip(r.pages[id]), *change.Page)
	}
	for _, item := range change.Items {
		r.items[itemName{item.Scope, item.ID}] = item
	}
	for _, c := range change.Conflicts {
		list := r.conflicts[c.RunID]
		i, found := slices.BinarySearchFunc(list, c.Seq, func(c store.Conflict, seq int) int { return c.Seq - seq })
		if found {
			list[i] = c
		} else {
			r.conflicts[c.RunID] = slices.Insert(list, i, c)
		}
	}
	r.events[id] = append(slices.Clip(r.events[id]), change.Events...)
	if also := change.Also; also != nil {
		other := also.Run.Receipt.RunID
		r.runs[other] = also.Run
		r.events[other] = append(slices.Clip(r.events[other]), also.Events...)
	}
	return nil
}

// lastPage returns the newest revision of a run's newest page.
func (r *records) lastPage(runID string) (store.Page, bool) {
	var last store.Page
	found := false
	for _, p := range r.pages[runID] {
		if !found || p.Index >= last.Index {
			last, found = p, true
		}
	}
	return last, found
}

// pageAt returns the index of the page that was read last at a cursor.
func (r *records) pageAt(runID string, at pager.Cursor) (int, bool) {
	pages := r.pages[runID]
	for _, page := range slices.Backward(pages) {
		if page.Cursor == at {
			return page.Index, true
		}
	}
	return 0, false
}

// pagesFrom returns a run's page revisions by index and then by revision.
func (r *records) pagesFrom(runID string, from int) []store.Page {
	var pages []store.Page
	for _, p := range r.pages[runID] {
		if p.Index >= from {
			pages = append(pages, p)
		}
	}
	slices.SortStableFunc(pages, func(a, b store.Page) int { return cmp.Or(a.Index-b.Index, a.Revision-b.Revision) })
	return pages
}

// item returns an item, in StateUnknown if it was never recorded.
func (r *records) item(scope, id string) store.Item {
	if item, ok := r.items[itemName{scope, id}]; ok {
		return item
	}
	return store.Item{Scope: scope, ID: id}
}

// held returns the items of a scope that are held, by ID.
func (r *records) held(scope string) []store.Item {
	var held []store.Item
	for name, item := range r.items {
		if name.scope == scope && item.State == store.StateHeld {
			held = append(held, item)
		}
	}
	slices.SortFunc(held, func(a, b store.Item) int { return strings.Compare(a.ID, b.ID) })
	return held
}

// open returns the job's newest run that is neither complete nor superseded.
func (r *records) open(job string) (store.Run, bool) {
	for _, id := range slices.Backward(r.order) {
		run := r.runs[id]
		if run.Receipt.Job == job && run.Receipt.Status != state.Complete && run.Receipt.SupersededBy == "" {
			return run, true
		}
	}
	return store.Run{}, false
}

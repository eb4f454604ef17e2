package proptest

import (
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// facts is what is known for certain of a job's runs: what its ledger acknowledged,
// and what its handler was called for. The promises are judged by it.
type facts struct {
	acked   *records
	pending *store.Change // under way: after a crash it may be there or not
	calls   map[itemName]*calls
	keys    map[string]itemName // whose a key is
	final   map[string]string   // the receipts of complete runs, as they must stay
	begun   map[string]int      // the age of the list when a run began …
	ended   map[string]int      // … and when its last page was recorded
}

func newFacts() *facts {
	return &facts{
		acked: newRecords(), calls: map[itemName]*calls{}, keys: map[string]itemName{},
		final: map[string]string{}, begun: map[string]int{}, ended: map[string]int{},
	}
}

// scopeOf is the scope that a run's items must have: the first run of its lineage,
// or the job.
func (f *facts) scopeOf(once, runID string) string {
	if once == "job" {
		return "job:" + jobName
	}
	for {
		run, ok := f.acked.runs[runID]
		if !ok || run.Receipt.Supersedes == "" {
			return runID
		}
		runID = run.Receipt.Supersedes
	}
}

// acknowledge makes a change a fact. The caller holds the lock.
func (w *world) acknowledge(change *store.Change) {
	f := w.facts
	before := f.acked.runs[change.Run.Receipt.RunID].Receipt.Status
	if err := f.acked.apply(*change); err != nil {
		w.broken("nothing-lost", "the ledger took what it must refuse: %v", err)
	}
	runID := change.Run.Receipt.RunID
	if change.Begin {
		f.begun[runID] = w.list.Age()
		if len(f.final) > 0 {
			w.count("several runs")
		}
	}
	if change.Page != nil && change.Page.End == pager.EndLast {
		f.ended[runID] = w.list.Age()
	}
	if after := change.Run.Receipt.Status; after == state.Complete && before != state.Complete {
		w.judgeComplete(runID)
	}
}

// standing is what a list's history says about one ID within a span of it.
type standing struct {
	item  simapi.Item
	there bool // before the span
	kept  bool // all along it, in its place
}

// during says of each ID of the list what became of it while its history went from
// one age to another, and whether places by number meant the same all the while.
func during(changes []simapi.Change, from, to int) (known map[string]*standing, still bool) {
	known, still = map[string]*standing{}, true
	for age, change := range changes[:to] {
		id := change.Item.ID
		is := known[id]
		if is == nil {
			is = &standing{}
			known[id] = is
		}
		within := age >= from
		still = still && (!within || change.Kind == simapi.Replaced)
		switch change.Kind {
		case simapi.Inserted:
			is.item = change.Item
			is.there, is.kept = is.there || !within, is.kept || !within
		case simapi.Deleted:
			is.kept = false
			is.there = is.there && within
		case simapi.Replaced:
			is.item = change.Item
		case simapi.Moved:
			is.kept = is.kept && !within
		case simapi.Duplicated:
		}
	}
	return known, still
}

// must returns the items that a complete run has to have handled: those that stood
// in the list, in their place, from before it began until its last page was
// recorded, and are inside of its window. All others it may have handled.
func (w *world) must(runID string) []simapi.Item {
	run := w.facts.acked.runs[runID]
	changes := w.list.Changes(0)
	known, still := during(changes, w.facts.begun[runID], w.facts.ended[runID])
	if w.shape.List.Style != pager.StyleCursor && !still {
		return nil // a walk by number vouches for a list that stands still
	}
	var items []simapi.Item
	for _, change := range changes {
		is := known[change.Item.ID]
		if is == nil || !is.kept || !within(&run, is.item) {
			continue
		}
		items = append(items, is.item)
		is.kept = false // once
	}
	return items
}

// within reports whether an item was created inside a run's window.
func within(run *store.Run, item simapi.Item) bool {
	r := &run.Receipt
	return (r.CutoffAt.IsZero() || !item.CreatedAt.After(r.CutoffAt)) && (r.WindowFrom.IsZero() || !item.CreatedAt.Before(r.WindowFrom))
}

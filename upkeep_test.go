package everypage_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// plain is a ledger that can do what every one can, and no more.
type plain struct{ store.Store }

func TestUpkeepOfALedgerThatCannot(t *testing.T) {
	w := newWorld(t, 2, "a")
	if err := everypage.Backup(t.Context(), plain{w.ledger}, "copy"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("backup: %v", err)
	}
	if _, err := everypage.Prune(t.Context(), plain{w.ledger}, everypage.Pruning{By: "Ada"}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("prune: %v", err)
	}
	for _, p := range []everypage.Pruning{{}, {By: "Ada", Keep: -1}, {By: "Ada", OlderThan: -1}} {
		if _, err := everypage.Prune(t.Context(), w.ledger, p); err == nil {
			t.Errorf("%+v was not refused", p)
		}
	}
}

// A job is at work the whole time: in each of its calls the ledger is copied and
// pruned. The run comes to its end, and each copy goes on from where it was taken.
func TestUpkeepWhileAJobIsAtWork(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c", "d", "e")
	var old []string
	for range 3 {
		receipt, err := w.run(w.job())
		wantComplete(t, err)
		old = append(old, receipt.RunID)
		w.clock.advance(24 * time.Hour)
	}
	var copies []string
	var once sync.Once
	w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
		name := "copy-" + item.ID
		copies = append(copies, name)
		if err := everypage.Backup(ctx, w.ledger, name); err != nil {
			t.Error(err)
		}
		once.Do(func() {
			pruned, err := everypage.Prune(ctx, w.ledger, everypage.Pruning{Keep: 1, By: "Ada", Clock: w.clock})
			if err != nil {
				t.Error(err)
			}
			wantPruned(t, pruned, old[1], old[0])
		})
		return nil
	}
	receipt, err := w.run(w.job())
	wantComplete(t, err)
	verified(t, w.ledger, receipt.RunID, old[2])
	for i, name := range copies {
		ledger, err := pebblestore.Open(name, &pebblestore.Options{FS: w.fs, Now: w.clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		var calls []string
		again, err := everypage.Run(t.Context(), ledger, w.job(func(j *everypage.Job[ticket]) {
			j.Handle = func(_ context.Context, item everypage.Item[ticket]) error {
				calls = append(calls, item.ID)
				return nil
			}
		}))
		wantComplete(t, err)
		if again.RunID != receipt.RunID {
			t.Errorf("%s went on with run %s, not with %s", name, again.RunID, receipt.RunID)
		}
		// What was confirmed when the copy was taken is not called again.
		if want := w.called()[15+i:]; len(calls) > len(want)+1 || !slices.Equal(calls[len(calls)-len(want):], want) {
			t.Errorf("%s called %v, want %v", name, calls, want)
		}
		verified(t, ledger, again.RunID)
		if err := ledger.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// wantPruned fails unless these runs, and no others, were removed.
func wantPruned(t *testing.T, pruned []everypage.PrunedRun, runIDs ...string) {
	t.Helper()
	var got []string
	for _, p := range pruned {
		if p.Removed {
			got = append(got, p.Runs...)
		} else if p.Kept == "" {
			t.Errorf("nothing says why run %s stays", p.RunID)
		}
	}
	if !slices.Equal(got, runIDs) {
		t.Errorf("removed %v, want %v", got, runIDs)
	}
}

func verified(t *testing.T, ledger store.Reader, runIDs ...string) {
	t.Helper()
	for _, id := range runIDs {
		if _, err := everypage.Verify(t.Context(), ledger, id); err != nil {
			t.Error(err)
		}
	}
}

func TestPruneIsToldAndTellsFirst(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	var ids []string
	for range 4 {
		receipt, err := w.run(w.job())
		wantComplete(t, err)
		ids = append(ids, receipt.RunID)
		w.clock.advance(24 * time.Hour)
	}
	prune := func(p everypage.Pruning) []everypage.PrunedRun {
		t.Helper()
		p.Clock = w.clock
		pruned, err := everypage.Prune(t.Context(), w.ledger, p)
		if err != nil {
			t.Fatal(err)
		}
		return pruned
	}
	wantPruned(t, prune(everypage.Pruning{DryRun: true}), ids[2], ids[1], ids[0])
	verified(t, w.ledger, ids...) // it was a dry run
	wantPruned(t, prune(everypage.Pruning{By: "Ada", Job: "another"}))
	wantPruned(t, prune(everypage.Pruning{By: "Ada", OlderThan: 4 * 24 * time.Hour}), ids[0])
	wantPruned(t, prune(everypage.Pruning{By: "Ada", Keep: 2}), ids[1])
	// A job pinned to a run that is gone is not done anew.
	calls := len(w.calls)
	_, err := w.run(w.job(func(j *everypage.Job[ticket]) { j.RunID = ids[0] }))
	if !errors.Is(err, store.ErrExists) || len(w.calls) != calls {
		t.Errorf("a job pinned to a removed run gave %v, with %d calls", err, len(w.calls)-calls)
	}
}

// What the next run needs stays: an open run and those that it supersedes, and a
// lineage as a whole.
func TestPruneKeepsALineageTogether(t *testing.T) {
	w := newWorld(t, 1, "a", "b")
	fails := true
	w.answer = func(n int, _ pager.Cursor, _ *pager.Page[ticket]) error {
		if fails && n%2 == 1 {
			return &pager.Fault{Code: pager.CodeRequestRefused}
		}
		return nil
	}
	receipt, err := w.run(w.job())
	wantReview(t, receipt, err, pager.CodeRequestRefused)
	first := receipt.RunID
	next, err := everypage.Supersede(t.Context(), w.ledger, first, everypage.Decision{By: "Ada", Note: "filter", Clock: w.clock, Random: w.random})
	if err != nil {
		t.Fatal(err)
	}
	prune := func() []everypage.PrunedRun {
		t.Helper()
		pruned, err := everypage.Prune(t.Context(), w.ledger, everypage.Pruning{By: "Ada", Clock: w.clock})
		if err != nil {
			t.Fatal(err)
		}
		return pruned
	}
	if pruned := prune(); len(pruned) != 0 {
		t.Errorf("an open lineage was looked at: %v", pruned)
	}
	fails = false
	_, err = w.run(w.job())
	wantComplete(t, err)
	w.wantCalls("a", "b")
	wantPruned(t, prune())
	w.clock.advance(time.Hour)
	_, err = w.run(w.job())
	wantComplete(t, err)
	wantPruned(t, prune(), next.RunID, first)
}

// The next incremental run begins where the last complete one ended, and a
// once-a-job job knows its items, whatever was removed in between.
func TestPruneKeepsWhatTheNextRunReads(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	job := func(endpoint string) everypage.Job[ticket] {
		return w.job(func(j *everypage.Job[ticket]) {
			j.Once, j.Cutoff, j.Incremental = everypage.OnceAJob, everypage.ServerCutoff, true
			j.Pager = windowed{w, new([][2]time.Time), nil}
			j.List.Endpoint = endpoint
		})
	}
	var last *state.Receipt
	for _, endpoint := range []string{"/one", "/two", "/two", "/two"} {
		receipt, err := w.run(job(endpoint))
		wantComplete(t, err)
		last = receipt
		w.clock.advance(time.Hour)
	}
	w.wantCalls("a", "b", "c")
	pruned, err := everypage.Prune(t.Context(), w.ledger, everypage.Pruning{By: "Ada", Clock: w.clock})
	if err != nil {
		t.Fatal(err)
	}
	removed := 0
	for _, p := range pruned {
		if p.Removed {
			removed++
		}
	}
	if removed != 2 || pruned[0].RunID != last.RunID || pruned[0].Removed || pruned[3].Removed {
		t.Errorf("of /one, /two, /two, /two the two in the middle are no longer needed: %+v", pruned)
	}
	receipt, err := w.run(job("/two"))
	wantComplete(t, err)
	if !receipt.WindowFrom.Equal(last.CutoffAt) {
		t.Errorf("the window begins at %v, want %v", receipt.WindowFrom, last.CutoffAt)
	}
	w.wantCalls("a", "b", "c")
	verified(t, w.ledger, receipt.RunID)
	reopened := reopenWorld(t, w)
	verified(t, reopened, receipt.RunID)
}

func reopenWorld(t *testing.T, w *world) *pebblestore.Store {
	t.Helper()
	w.open(w.fs)
	return w.ledger
}

// The run that did the items of a once-a-job job may go; that they are done stays.
func TestPruneLeavesTheItemsOfAJob(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	job := w.job(func(j *everypage.Job[ticket]) { j.Once = everypage.OnceAJob })
	var first *state.Receipt
	for n := range 3 {
		receipt, err := w.run(job)
		wantComplete(t, err)
		if n == 0 {
			first = receipt
			w.list = w.list[1:] // a is met by no later run
		}
		w.list = append(w.list, ticket{ID: string(rune('x' + n)), Created: start()})
		w.clock.advance(time.Hour)
	}
	w.wantCalls("a", "b", "c", "x", "y")
	pruned, err := everypage.Prune(t.Context(), w.ledger, everypage.Pruning{By: "Ada", Clock: w.clock})
	if err != nil || len(pruned) != 3 || !pruned[2].Removed || pruned[2].RunID != first.RunID {
		t.Fatalf("the first run was to be removed: %+v, %v", pruned, err)
	}
	w.list = append(w.list, ticket{ID: "a", Created: start()})
	for range 2 { // also from a ledger that was opened anew
		receipt, err := w.run(job)
		wantComplete(t, err)
		verified(t, w.ledger, receipt.RunID)
		w.open(w.fs)
	}
	w.wantCalls("a", "b", "c", "x", "y", "z")
}

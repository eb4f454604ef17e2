package everypage_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// errNo is what a handler fails with where it does not matter why.
var errNo = errors.New("no")

// described is a world whose pager knows its own description.
type described struct {
	*world
	is pager.Description
}

func (d described) Describe() pager.Description { return d.is }

// as makes the job's pager describe itself.
func (w *world) as(d pager.Description) func(*everypage.Job[ticket]) {
	return func(j *everypage.Job[ticket]) { j.Pager = described{w, d} }
}

// scroll is the description of a list whose cursors cannot be used twice.
func scroll() pager.Description { return pager.Description{NotReplayable: true} }

func decision(w *world, items ...string) everypage.Decision {
	return everypage.Decision{By: "Ada", Note: "looked at it", Items: items, Clock: w.clock, Random: w.random}
}

// stopAt runs the job and cancels it in the call for one item, which fails.
func (w *world) stopAt(id string, job everypage.Job[ticket]) *state.Receipt {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	before := w.handle
	w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
		if item.ID == id {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	receipt, err := w.runContext(ctx, job)
	w.handle = before
	wantPause(w.t, receipt, err, state.CodeCancelled)
	return receipt
}

// failing is a handler that fails for some items.
func failing(ids ...string) func(context.Context, everypage.Item[ticket]) error {
	return func(_ context.Context, item everypage.Item[ticket]) error {
		if slices.Contains(ids, item.ID) {
			return errNo
		}
		return nil
	}
}

// crashable puts the ledger on a file system that can lose what was not synced.
func (w *world) crashable() *world {
	w.open(vfs.NewCrashableMem())
	return w
}

// crashed returns what a crash at this instant leaves on disk: with 0 percent
// only what was synced, with 100 all that was written.
func (w *world) crashed(unsynced int) *vfs.MemFS {
	return w.fs.(*vfs.MemFS).CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: rand.New(rand.NewPCG(1, 2))})
}

// onDisk opens what a crash at this instant would leave.
func (w *world) onDisk() *pebblestore.Store {
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: w.crashed(0), Now: w.clock.Now})
	if err != nil {
		panic(err) // also called from other goroutines than the test's
	}
	w.t.Cleanup(func() { _ = ledger.Close() })
	return ledger
}

// durable waits until the outcomes of some items are durable.
type durable struct {
	mu      sync.Mutex
	changed *sync.Cond
	settled map[string]bool
}

// observe makes the job tell what is durable.
func observe(job *everypage.Job[ticket]) *durable {
	d := &durable{settled: map[string]bool{}}
	d.changed = sync.NewCond(&d.mu)
	job.Options.Observer = everypage.Tee(job.Options.Observer, everypage.Observer{
		Settled: func(_ state.Receipt, item store.Item) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.settled[item.ID] = true
			d.changed.Broadcast()
		},
	})
	return d
}

func (d *durable) wait(ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for slices.ContainsFunc(ids, func(id string) bool { return !d.settled[id] }) {
		d.changed.Wait()
	}
}

// die runs the job until the process dies in the call for one item, before its
// effect or after it, and opens what is left on disk. The outcomes of the items
// before it are durable by then.
func (w *world) die(id string, afterEffect bool, job everypage.Job[ticket]) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	var once sync.Once
	var left *vfs.MemFS
	handle, before := job.Handle, w.handle
	outcomes := observe(&job)
	var done []string
	dies := func() {
		once.Do(func() {
			outcomes.wait(done)
			left = w.crashed(0)
		})
		cancel()
	}
	job.Handle = func(ctx context.Context, item everypage.Item[ticket]) error {
		if ctx.Err() != nil {
			return ctx.Err() // the process is gone
		}
		err := handle(ctx, item)
		if item.ID == id {
			dies()
		}
		if err == nil {
			done = append(done, item.ID)
		}
		return err
	}
	if !afterEffect {
		w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
			if item.ID == id {
				dies()
				return ctx.Err()
			}
			if before != nil {
				return before(ctx, item)
			}
			return nil
		}
	}
	_, _ = everypage.Run(ctx, w.ledger, job) // nobody is there to hear of it
	w.handle = before
	if left == nil {
		w.t.Fatalf("the handler was not called for %s", id)
	}
	w.open(left)
}

// item returns an item of a run's scope.
func (w *world) item(runID, id string) store.Item {
	w.t.Helper()
	run, err := w.ledger.Run(w.t.Context(), runID)
	if err != nil {
		w.t.Fatal(err)
	}
	items, err := w.ledger.Items(w.t.Context(), run.Scope, []string{id})
	if err != nil {
		w.t.Fatal(err)
	}
	return items[0]
}

func (w *world) wantHeld(runID, id string, code pager.Code) {
	w.t.Helper()
	if got := w.item(runID, id); got.State != store.StateHeld || got.Code != code {
		w.t.Errorf("item %s is %v (%s: %s), want it held as %s", id, got.State, got.Code, got.Detail, code)
	}
}

func (w *world) wantState(runID, id string, want store.ItemState) {
	w.t.Helper()
	if got := w.item(runID, id); got.State != want {
		w.t.Errorf("item %s is %v (%s), want %v", id, got.State, got.Code, want)
	}
}

// wantOneKey fails unless every call for an item carried the same key, and two
// items never the same one.
func (w *world) wantOneKey() {
	w.t.Helper()
	byID, byKey := map[string]string{}, map[string]string{}
	for _, call := range w.calls {
		if key, ok := byID[call.ID]; ok && key != call.Key {
			w.t.Errorf("same-key: item %s was called with %q and then %q", call.ID, key, call.Key)
		}
		if id, ok := byKey[call.Key]; ok && id != call.ID {
			w.t.Errorf("items %s and %s share the key %q", id, call.ID, call.Key)
		}
		byID[call.ID], byKey[call.Key] = call.Key, call.ID
	}
}

// transitions returns the events of a run by name.
func (w *world) transitions(runID string) []string {
	w.t.Helper()
	var events []string
	for e, err := range w.ledger.Events(w.t.Context(), runID) {
		if err != nil {
			w.t.Fatal(err)
		}
		events = append(events, string(e.Event))
	}
	return events
}

func (w *world) pages(runID string) []store.Page {
	w.t.Helper()
	var pages []store.Page
	for page, err := range w.ledger.Pages(w.t.Context(), runID, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		pages = append(pages, page)
	}
	return pages
}

// on returns an answer hook that changes the answer to one request.
func on(request int, change func(*pager.Page[ticket]) error) func(int, pager.Cursor, *pager.Page[ticket]) error {
	return func(n int, _ pager.Cursor, page *pager.Page[ticket]) error {
		if n == request {
			return change(page)
		}
		return nil
	}
}

// show makes a page consist of the given items.
func show(page *pager.Page[ticket], ids ...string) {
	page.Items = nil
	for _, id := range ids {
		page.Items = append(page.Items, asItem(ticket{ID: id, Created: start()}))
	}
}

func want[V comparable](t *testing.T, what string, got, want V) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func wantList(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s is %q, want %q", what, got, want)
	}
}

// crashlessReopen closes the ledger and opens it again.
func (w *world) crashlessReopen() {
	w.t.Helper()
	w.open(w.fs)
}

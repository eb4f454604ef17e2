package everypage_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

func clientCutoff(j *everypage.Job[ticket]) { j.Cutoff = everypage.ClientCutoff }

// Rule 7: a walk in which items can be missed needs the caller's word, and the
// word stands in the receipt together with the class of order.
func TestRule07_UnstableNeedsOptIn(t *testing.T) {
	for name, c := range map[string]struct {
		is     pager.Description
		cutoff everypage.Cutoff
		refuse bool
	}{
		"offset":                    {pager.Description{Style: pager.StyleOffset}, "", true},
		"page number with a cutoff": {pager.Description{Style: pager.StylePage}, everypage.ClientCutoff, true},
		"unstable":                  {pager.Description{Order: pager.OrderUnstable}, "", true},
		"unstable, named no cutoff": {pager.Description{Order: pager.OrderUnstable}, everypage.NoCutoff, true},
		"unstable with a cutoff":    {pager.Description{Order: pager.OrderUnstable}, everypage.ClientCutoff, false},
		"stable":                    {pager.Description{Order: pager.OrderStable}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b", "c")
			receipt, err := w.run(w.job(w.as(c.is), func(j *everypage.Job[ticket]) { j.Cutoff = c.cutoff }))
			want(t, "whether the job is refused", errors.Is(err, everypage.ErrInvalidJob), c.refuse)
			if !c.refuse {
				wantComplete(t, err)
				want(t, "unstable_accepted", receipt.UnstableAccepted, false)
				return
			}
			w.wantRequests()
			receipt, err = w.run(w.job(w.as(c.is), func(j *everypage.Job[ticket]) { j.Cutoff, j.AcceptUnstable = c.cutoff, true }))
			wantComplete(t, err)
			want(t, "unstable_accepted", receipt.UnstableAccepted, true)
			want(t, "order_class", receipt.OrderClass, c.is.Order)
		})
	}
}

// cutoff-closed: what was created at the cutoff is in, by instant and not by text;
// what is later is deferred, counted and not called, and the next run picks it up.
func TestCutoffClosed_ByInstant(t *testing.T) {
	zone := func(name string, hours int) *time.Location { return time.FixedZone(name, hours*3600) }
	cutoff := start()
	in := map[string]time.Time{
		"before":           cutoff.Add(-time.Nanosecond),
		"exactly":          cutoff,
		"exactly, east":    cutoff.In(zone("east", 14)), // reads 2026-03-06
		"exactly, west":    cutoff.In(zone("west", -11)),
		"before, far east": cutoff.Add(-time.Hour).In(zone("east", 9)), // reads 18:00
	}
	later := map[string]time.Time{
		"a nanosecond after":   cutoff.Add(time.Nanosecond),
		"after, reads earlier": cutoff.Add(30 * time.Minute).In(zone("west", -8)), // reads 02:30
	}
	w := newWorld(t, 3)
	for id, at := range in {
		w.list = append(w.list, ticket{ID: id, Created: at})
	}
	for id, at := range later {
		w.list = append(w.list, ticket{ID: id, Created: at})
	}
	slices.SortFunc(w.list, func(a, b ticket) int { return a.Created.Compare(b.Created) })
	receipt, err := w.run(w.job(clientCutoff))
	wantComplete(t, err)
	want(t, "cutoff_at", receipt.CutoffAt, cutoff)
	want(t, "deferred_count", receipt.DeferredCount, int64(len(later)))
	want(t, "processed_unique", receipt.ProcessedUnique, int64(len(in)))
	for _, id := range w.called() {
		if _, ok := later[id]; ok {
			t.Errorf("%q is later than the cutoff and was called", id)
		}
	}
	for id := range later {
		w.wantState(receipt.RunID, id, store.StateDeferred)
	}

	w.calls = nil
	w.clock.advance(time.Hour)
	receipt, err = w.run(w.job(clientCutoff, func(j *everypage.Job[ticket]) { j.Once = everypage.OnceARun }))
	wantComplete(t, err)
	want(t, "the next run's deferred_count", receipt.DeferredCount, 0)
	for id := range later {
		if !slices.Contains(w.called(), id) {
			t.Errorf("%q was deferred and the next run did not pick it up", id)
		}
	}
}

// Rule 7: an item whose time is missing cannot be compared with the cutoff. It is
// not called, and the run needs review.
func TestRule07_MissingTimeUnderACutoff(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c")
	w.list[1].Created = time.Time{}
	receipt, err := w.run(w.job(clientCutoff))
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantHeld(receipt.RunID, "b", state.HoldCreatedAt)
	w.wantCalls("a", "c")

	w = newWorld(t, 3, "a", "b", "c") // without a cutoff nobody asks
	w.list[1].Created = time.Time{}
	_, err = w.run(w.job())
	wantComplete(t, err)
}

// Rule 8: a deferred item was never seen. Where items are done once a job, the
// run that may have it still handles it.
func TestRule08_DeferredWasNeverSeen(t *testing.T) {
	w := newWorld(t, 3, "a", "b")
	w.list = append(w.list, ticket{ID: "late", Created: start().Add(time.Minute)})
	once := func(j *everypage.Job[ticket]) { j.Once = everypage.OnceAJob }
	receipt, err := w.run(w.job(clientCutoff, once))
	wantComplete(t, err)
	want(t, "deferred_count", receipt.DeferredCount, 1)
	w.clock.advance(time.Hour)
	receipt, err = w.run(w.job(clientCutoff, once))
	wantComplete(t, err)
	w.wantCalls("a", "b", "late")
	want(t, "inherited", receipt.Inherited, 2)
	want(t, "processed_unique", receipt.ProcessedUnique, 1)
}

// windowed is a world whose API filters by creation time.
type windowed struct {
	*world
	windows *[][2]time.Time
	refuse  error
}

func (p windowed) Window(from, to time.Time) (pager.Pager[ticket], error) {
	if p.refuse != nil {
		return nil, p.refuse
	}
	*p.windows = append(*p.windows, [2]time.Time{from, to})
	return within{p.world, from, to}, nil
}

// within is the world's list, filtered, both ends inclusive.
type within struct {
	*world
	from, to time.Time
}

func (p within) Pages(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[ticket], error] {
	return pager.Func[ticket](func(ctx context.Context, at pager.Cursor) (pager.Page[ticket], error) {
		p.mu.Lock()
		whole := p.list
		p.list = slices.DeleteFunc(slices.Clone(whole), func(v ticket) bool {
			return v.Created.Before(p.from) || v.Created.After(p.to)
		})
		p.mu.Unlock()
		defer func() { p.mu.Lock(); p.list = whole; p.mu.Unlock() }()
		return p.page(ctx, at)
	}).Pages(ctx, from)
}

func (w *world) incremental(edit ...func(*everypage.Job[ticket])) (everypage.Job[ticket], *[][2]time.Time) {
	windows := new([][2]time.Time)
	job := w.job(func(j *everypage.Job[ticket]) {
		j.Pager, j.Cutoff, j.Incremental = windowed{w, windows, nil}, everypage.ServerCutoff, true
	})
	for _, change := range edit {
		change(&job)
	}
	return job, windows
}

// Rule 8: a run's window is [from, cutoff], fixed at its start. from is the
// cutoff of the job's last complete run, inclusive, so that an item that is
// stamped exactly at the seam and came late is not missed; where items are done
// once a job, the one that was met on both sides is skipped by the ledger.
func TestRule08_WindowFromTheLastCompleteCutoff(t *testing.T) {
	w := newWorld(t, 3, "a", "b")
	w.list = append(w.list, ticket{ID: "at the seam", Created: start()})
	job, windows := w.incremental(func(j *everypage.Job[ticket]) { j.Once = everypage.OnceAJob })
	first, err := w.run(job)
	wantComplete(t, err)
	want(t, "the first window's start", first.WindowFrom, time.Time{})

	w.list = append(w.list, ticket{ID: "came late", Created: start()}, ticket{ID: "new", Created: start().Add(time.Minute)})
	w.clock.advance(time.Hour)
	w.stopAt("came late", job) // a run that is not complete moves no window
	w.clock.advance(time.Hour)
	second, err := w.run(job)
	wantComplete(t, err)
	want(t, "window_from", second.WindowFrom, first.CutoffAt)
	want(t, "cutoff_at", second.CutoffAt, start().Add(time.Hour))
	w.wantCalls("a", "b", "at the seam", "came late", "came late", "new")
	want(t, "inherited", second.Inherited, 1)
	if got := (*windows)[1:]; len(got) != 2 || got[0] != got[1] {
		t.Errorf("the windows of the second run are %v, want the same one twice", got)
	}

	w.clock.advance(time.Hour)
	third, err := w.run(job)
	wantComplete(t, err)
	want(t, "the third window's start", third.WindowFrom, second.CutoffAt)
}

// Rule 8: the server's filter is looked at again.
func TestRule08_ServerCutoffIsLookedAtAgain(t *testing.T) {
	w := newWorld(t, 3, "a")
	job, _ := w.incremental()
	w.answer = on(0, func(page *pager.Page[ticket]) error {
		page.Items = append(page.Items, asItem(ticket{ID: "late", Created: start().Add(time.Second)}))
		return nil
	})
	receipt, err := w.run(job)
	wantComplete(t, err)
	w.wantCalls("a")
	want(t, "deferred_count", receipt.DeferredCount, 1)
}

// Rule 8: a successor keeps the start of the window and takes a new cutoff.
func TestRule08_SuccessorKeepsFromAndTakesANewCutoff(t *testing.T) {
	w := newWorld(t, 3, "a")
	job, _ := w.incremental()
	first, err := w.run(job)
	wantComplete(t, err)
	w.clock.advance(time.Hour)
	w.list = append(w.list, ticket{ID: "b", Created: w.clock.Now()})
	second := w.stopAt("b", job)
	want(t, "window_from", second.WindowFrom, first.CutoffAt)
	w.clock.advance(time.Hour)
	if _, err := everypage.Supersede(t.Context(), w.ledger, second.RunID, decision(w)); err != nil {
		t.Fatal(err)
	}
	w.clock.advance(time.Hour)
	third, err := w.run(job)
	wantComplete(t, err)
	want(t, "the successor's window_from", third.WindowFrom, first.CutoffAt)
	want(t, "the successor's cutoff_at", third.CutoffAt, w.clock.Now())
}

// Rule 8: a run that is not complete moves no window, and a successor keeps the
// window's start also where another run was complete meanwhile.
func TestRule08_OnlyCompleteRunsMoveTheWindow(t *testing.T) {
	w := newWorld(t, 3, "a")
	job, _ := w.incremental()
	pinned := func(id string) everypage.Job[ticket] {
		j := job
		j.RunID = id
		return j
	}
	first, err := w.run(pinned("first"))
	wantComplete(t, err)
	w.list = append(w.list, ticket{ID: "b", Created: start().Add(time.Minute)})
	w.clock.advance(time.Hour)
	stopped := w.stopAt("b", pinned("stopped"))
	w.clock.advance(time.Hour)
	third, err := w.run(pinned("third"))
	wantComplete(t, err)
	want(t, "the start of the run after a stopped one", third.WindowFrom, first.CutoffAt)
	w.supersede(stopped.RunID)
	successor, err := w.run(pinned("stopped"))
	wantComplete(t, err)
	want(t, "the start of the stopped run's successor", successor.WindowFrom, first.CutoffAt)
}

// Rule 8: where the window cannot be made, nothing is begun.
func TestRule08_WindowThatCannotBeMade(t *testing.T) {
	w := newWorld(t, 3, "a")
	job, _ := w.incremental(func(j *everypage.Job[ticket]) { j.Pager = windowed{w, nil, errNo} })
	receipt, err := w.run(job)
	if !errors.Is(err, errNo) {
		t.Fatalf("the error is %v, want the pager's own", err)
	}
	if receipt != nil {
		t.Errorf("there is no run, and the receipt is of %s", receipt.RunID)
	}
	for run, err := range w.ledger.Runs(t.Context(), store.RunFilter{}) {
		t.Errorf("run %s was begun (%v)", run.Receipt.RunID, err)
	}
	w.wantRequests()
}

// Items that are done once a job are done once over all its runs; items that are
// done once a run are done again by the next, with another key.
func TestOnce(t *testing.T) {
	for once, calls := range map[everypage.Once]int{everypage.OnceARun: 6, everypage.OnceAJob: 3} {
		t.Run(string(once), func(t *testing.T) {
			w := newWorld(t, 2, "a", "b", "c")
			job := w.job(func(j *everypage.Job[ticket]) { j.Once = once })
			for i := range 2 {
				receipt, err := w.run(job)
				wantComplete(t, err)
				want(t, fmt.Sprintf("processed_unique and inherited of run %d", i), receipt.ProcessedUnique+receipt.Inherited, 3)
			}
			want(t, "the number of calls", len(w.calls), calls)
			for key, n := range w.effects {
				want(t, "the number of effects of "+key, n, 1)
			}
		})
	}
}

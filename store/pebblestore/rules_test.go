package pebblestore_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// rule is one promise of the interface, tested on a store that is fresh.
type rule struct {
	name  string
	check func(t *testing.T, s store.Store)
}

// rules use the interface alone, so that they can be asked of any store.
func rules() []rule {
	return []rule{
		{"a committed change is read back as a whole", ruleReadBack},
		{"a change that begins a run that is there is refused as a whole", ruleBeginOnce},
		{"of begins at the same time one wins", ruleBeginRace},
		{"a change of a run that is not there is refused", ruleUnknownRun},
		{"a second run changes in the same step", ruleAlso},
		{"a run that is not there is not found", ruleRunNotFound},
		{"runs come newest first, by job and by status", ruleRunsOrder},
		{"a run whose status changed is listed under the new one only", ruleStatusMoves},
		{"items are looked up in the order asked for", ruleItemsOrder},
		{"an item is replaced", ruleItemReplaced},
		{"held items follow their state, in the order of their IDs", ruleHeld},
		{"held items are those of their scope", ruleHeldScope},
		{"pages come by index and revision, from an index on", rulePagesOrder},
		{"cursors are kept byte for byte, the start is not an empty token", ruleCursors},
		{"a conflict of the same number is replaced", ruleConflicts},
		{"events are appended in order", ruleEvents},
		{"names may hold any byte", ruleAnyBytes},
		{"a sequence starts afresh each time and can be left", ruleSequences},
		{"a sequence shows one instant", ruleSequenceInstant},
		{"a commit ignores the caller's cancellation, a read honours it", ruleContext},
		{"one holder at a time works on a job", ruleHold},
		{"after close everything says so", ruleClosed},
		{"commits of many goroutines all count", ruleConcurrent},
	}
}

func TestRules(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) { r.check(t, openMem(t)) })
	}
}

func ruleReadBack(t *testing.T, s store.Store) {
	t.Helper()
	run := newRun("job", "r")
	total := int64(7)
	step := pageStep(run, 0)
	step.Page.Total, step.Page.Vetoes, step.Page.Unidentified, step.Page.Problems = &total, []string{"v"}, []int{2}, []string{"none"}
	step.Items[0].Payload, step.Items[0].DoubtSince, step.Items[0].Code = []byte("x"), instant(9), state.HoldInDoubt
	step.Run.Definition = &store.Definition{Endpoint: "e", ContractDocument: []byte("doc")}
	commit(t, s, beginChange(run), step)

	got, err := s.Run(t.Context(), "r")
	if err != nil || !reflect.DeepEqual(got, step.Run) {
		t.Errorf("run: %v\ngot  %#v\nwant %#v", err, got, step.Run)
	}
	pages, err := collect(s.Pages(t.Context(), "r", 0), func(p store.Page) store.Page { return p })
	if err != nil || !reflect.DeepEqual(pages, []store.Page{*step.Page}) {
		t.Errorf("pages: %v\ngot  %#v\nwant %#v", err, pages, *step.Page)
	}
	items, err := s.Items(t.Context(), run.Scope, step.Page.IDs)
	if err != nil || !reflect.DeepEqual(items, step.Items) {
		t.Errorf("items: %v\ngot  %#v\nwant %#v", err, items, step.Items)
	}
	if n, err := wholeSteps(t.Context(), s, "r"); err != nil || n != 1 {
		t.Errorf("steps: %d, %v", n, err)
	}
}

func ruleBeginOnce(t *testing.T, s store.Store) {
	t.Helper()
	commit(t, s, beginChange(newRun("job", "r")))
	second := beginChange(newRun("other", "r"))
	second.Items = []store.Item{{Scope: "r", ID: "x", State: store.StateDone}}
	wantError(t, s.Commit(t.Context(), second), store.ErrExists)
	items, err := s.Items(t.Context(), "r", []string{"x"})
	if err != nil || items[0].State != store.StateUnknown {
		t.Errorf("the refused change left its item: %v, %v", items, err)
	}
	wantIDs(t, "runs of the refused job", runIDs(t, s, store.RunFilter{Job: "other"}))
}

func ruleBeginRace(t *testing.T, s store.Store) {
	t.Helper()
	const racers = 32
	errs := make([]error, racers)
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() {
			change := beginChange(newRun("job", "r"))
			change.Items = []store.Item{{Scope: "r", ID: fmt.Sprint(i), State: store.StateDone}}
			errs[i] = s.Commit(context.WithoutCancel(t.Context()), change)
		})
	}
	wg.Wait()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			t.Fatalf("two begins of one run worked")
		case err == nil:
			won = i
		case !errors.Is(err, store.ErrExists):
			t.Fatalf("got %v, want store.ErrExists", err)
		}
	}
	for i := range racers {
		items, err := s.Items(t.Context(), "r", []string{fmt.Sprint(i)})
		if err != nil || (items[0].State == store.StateDone) != (i == won) {
			t.Errorf("item of racer %d, winner %d: %v, %v", i, won, items, err)
		}
	}
}

func ruleUnknownRun(t *testing.T, s store.Store) {
	t.Helper()
	change := store.Change{Run: newRun("job", "r")}
	wantError(t, s.Commit(t.Context(), change), store.ErrNotFound)
	also := beginChange(newRun("job", "r"))
	also.Also = &store.Also{Run: newRun("job", "never begun")}
	wantError(t, s.Commit(t.Context(), also), store.ErrNotFound)
	wantIDs(t, "runs", runIDs(t, s, store.RunFilter{}))
	if err := s.Commit(t.Context(), store.Change{Begin: true}); err == nil {
		t.Error("a run without an ID was taken")
	}
}

func ruleAlso(t *testing.T, s store.Store) {
	t.Helper()
	old := newRun("job", "old")
	commit(t, s, beginChange(old))
	old.Receipt.SupersededBy, old.Receipt.Status = "new", state.NeedsReview
	successor := beginChange(newRun("job", "new"))
	successor.Also = &store.Also{Run: old, Events: []state.Transition{{Event: state.EventSupersede}}}
	commit(t, s, successor)
	got, err := s.Run(t.Context(), "old")
	if err != nil || got.Receipt.SupersededBy != "new" {
		t.Errorf("old run: %v, superseded by %q", err, got.Receipt.SupersededBy)
	}
	events, err := collect(s.Events(t.Context(), "old"), func(e state.Transition) string { return string(e.Event) })
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "events of the old run", events, "begin", "supersede")
	wantIDs(t, "runs to review", runIDs(t, s, store.RunFilter{Status: state.NeedsReview}), "old")
	wantIDs(t, "runs", runIDs(t, s, store.RunFilter{}), "new", "old")
}

func ruleRunNotFound(t *testing.T, s store.Store) {
	t.Helper()
	_, err := s.Run(t.Context(), "nowhere")
	wantError(t, err, store.ErrNotFound)
}

func ruleRunsOrder(t *testing.T, s store.Store) {
	t.Helper()
	for i := range 12 { // past 9, where an order by text would differ
		commit(t, s, beginChange(newRun([]string{"even", "odd"}[i%2], fmt.Sprintf("r%d", i))))
	}
	all := runIDs(t, s, store.RunFilter{})
	wantIDs(t, "all", all, "r11", "r10", "r9", "r8", "r7", "r6", "r5", "r4", "r3", "r2", "r1", "r0")
	wantIDs(t, "of a job", runIDs(t, s, store.RunFilter{Job: "odd"}), "r11", "r9", "r7", "r5", "r3", "r1")
	wantIDs(t, "running", runIDs(t, s, store.RunFilter{Status: state.Running}), all...)
	wantIDs(t, "running, of a job", runIDs(t, s, store.RunFilter{Job: "even", Status: state.Running}), "r10", "r8", "r6", "r4", "r2", "r0")
	wantIDs(t, "paused, of a job", runIDs(t, s, store.RunFilter{Job: "even", Status: state.Paused}))
	wantIDs(t, "of a job that is a prefix of another", runIDs(t, s, store.RunFilter{Job: "od"}))
}

func ruleStatusMoves(t *testing.T, s store.Store) {
	t.Helper()
	run := newRun("job", "r")
	commit(t, s, beginChange(run), beginChange(newRun("job", "other")))
	for _, status := range []state.Status{state.Paused, state.Running, state.NeedsReview, state.Running, state.Complete} {
		run.Receipt.Status = status
		commit(t, s, store.Change{Run: run}, store.Change{Run: run})
		for _, listed := range state.Statuses() {
			want := []string{}
			if listed == state.Running {
				want = append(want, "other")
			}
			if listed == status {
				want = append(want, "r")
			}
			wantIDs(t, fmt.Sprintf("%s while the run is %s", listed, status), runIDs(t, s, store.RunFilter{Status: listed}), want...)
		}
	}
	wantIDs(t, "all", runIDs(t, s, store.RunFilter{}), "other", "r")
}

func ruleItemsOrder(t *testing.T, s store.Store) {
	t.Helper()
	change := beginChange(newRun("job", "r"))
	for _, id := range []string{"b", "a", "d"} {
		change.Items = append(change.Items, store.Item{Scope: "r", ID: id, State: store.StateDone})
	}
	change.Items = append(change.Items, store.Item{Scope: "r2", ID: "c", State: store.StateDone})
	commit(t, s, change)
	items, err := s.Items(t.Context(), "r", []string{"d", "c", "a", "b", "a", ""})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range items {
		got = append(got, item.Scope+"/"+item.ID+"="+item.State.String())
	}
	wantIDs(t, "items", got, "r/d=done", "r/c=unknown", "r/a=done", "r/b=done", "r/a=done", "r/=unknown")
	if items, err := s.Items(t.Context(), "r", nil); err != nil || len(items) != 0 {
		t.Errorf("no IDs gave %v, %v", items, err)
	}
}

func ruleItemReplaced(t *testing.T, s store.Store) {
	t.Helper()
	run := newRun("job", "r")
	change := beginChange(run)
	change.Items = []store.Item{
		{Scope: "r", ID: "a", State: store.StatePending, Detail: "first"},
		{Scope: "r", ID: "a", State: store.StatePending, Detail: "second, in the same change"},
	}
	next := store.Change{Run: run, Items: []store.Item{{Scope: "r", ID: "a", State: store.StateDone}}}
	commit(t, s, change)
	if items, err := s.Items(t.Context(), "r", []string{"a"}); err != nil || items[0].Detail != "second, in the same change" {
		t.Errorf("got %v, %v", items, err)
	}
	commit(t, s, next)
	if items, err := s.Items(t.Context(), "r", []string{"a"}); err != nil || items[0].State != store.StateDone || items[0].Detail != "" {
		t.Errorf("got %v, %v", items, err)
	}
}

func ruleHeld(t *testing.T, s store.Store) {
	t.Helper()
	run := newRun("job", "r")
	set := func(items ...store.Item) {
		for i := range items {
			items[i].Scope = "r"
		}
		commit(t, s, store.Change{Run: run, Items: items})
	}
	item := func(id string, st store.ItemState) store.Item { return store.Item{ID: id, State: st} }
	commit(t, s, beginChange(run))
	set(item("z", store.StatePending), item("a", store.StatePending))
	wantIDs(t, "none held", heldIDs(t, s, "r"))
	set(item("z", store.StateHeld), item("b", store.StateHeld), item("a", store.StateHeld))
	wantIDs(t, "three held", heldIDs(t, s, "r"), "a", "b", "z")
	set(item("b", store.StateDone), item("never held", store.StateDone))
	wantIDs(t, "one done", heldIDs(t, s, "r"), "a", "z")
	set(item("a", store.StatePending), item("a", store.StateHeld), item("a", store.StateDropped))
	wantIDs(t, "one dropped, by way of held", heldIDs(t, s, "r"), "z")
	set(item("z", store.StateDone), item("z", store.StateHeld))
	wantIDs(t, "held again in one change", heldIDs(t, s, "r"), "z")
	set(item("z", store.StateDone))
	wantIDs(t, "none held at the end", heldIDs(t, s, "r"))
}

func ruleHeldScope(t *testing.T, s store.Store) {
	t.Helper()
	change := beginChange(newRun("job", "r"))
	for _, scope := range []string{"r", "r\x00", "r2", ""} {
		change.Items = append(change.Items, store.Item{Scope: scope, ID: "in " + scope, State: store.StateHeld})
	}
	commit(t, s, change)
	for _, scope := range []string{"r", "r\x00", "r2", ""} {
		wantIDs(t, "held", heldIDs(t, s, scope), "in "+scope)
	}
}

func rulePagesOrder(t *testing.T, s store.Store) {
	t.Helper()
	run := newRun("job", "r")
	commit(t, s, beginChange(run), beginChange(newRun("job", "r2")))
	page := func(runID string, index, revision int) store.Change {
		r := newRun("job", runID)
		return store.Change{Run: r, Page: &store.Page{RunID: runID, Index: index, Revision: revision, Cursor: cursorOf(index)}}
	}
	commit(t, s, page("r", 300, 0), page("r", 2, 1), page("r", 2, 0), page("r", 0, 0), page("r2", 1, 0), page("r", 2, 10))
	show := func(p store.Page) string { return fmt.Sprintf("%s %d.%d", p.RunID, p.Index, p.Revision) }
	for _, c := range []struct {
		from int
		want []string
	}{
		{-1, []string{"r 0.0", "r 2.0", "r 2.1", "r 2.10", "r 300.0"}},
		{0, []string{"r 0.0", "r 2.0", "r 2.1", "r 2.10", "r 300.0"}},
		{1, []string{"r 2.0", "r 2.1", "r 2.10", "r 300.0"}},
		{3, []string{"r 300.0"}},
		{301, nil},
	} {
		got, err := collect(s.Pages(t.Context(), "r", c.from), show)
		if err != nil {
			t.Fatal(err)
		}
		wantIDs(t, fmt.Sprintf("pages from %d", c.from), got, c.want...)
	}
}

func ruleCursors(t *testing.T, s store.Store) {
	t.Helper()
	run := newRun("job", "r")
	commit(t, s, beginChange(run))
	cursors := []pager.Cursor{pager.At(""), pager.At("\x00\xff"), {}, pager.At("a"), pager.At("a\x00")}
	for i, cursor := range cursors {
		if _, found, err := s.PageAt(t.Context(), "r", cursor); err != nil || found {
			t.Errorf("cursor %v before its page: %v, %v", cursor, found, err)
		}
		run.Receipt.CursorIn, run.Receipt.CursorOut = cursor, cursor
		commit(t, s, store.Change{Run: run, Page: &store.Page{RunID: "r", Index: i, Cursor: cursor, Next: cursor}})
		if at, found, err := s.PageAt(t.Context(), "r", cursor); err != nil || !found || at != i {
			t.Errorf("cursor %v: index %d, %v, %v, want %d", cursor, at, found, err, i)
		}
		if got, err := s.Run(t.Context(), "r"); err != nil || got.Receipt.CursorIn != cursor || got.Receipt.CursorOut != cursor {
			t.Errorf("the receipt has %v and %v, %v, want %v", got.Receipt.CursorIn, got.Receipt.CursorOut, err, cursor)
		}
	}
	got, err := collect(s.Pages(t.Context(), "r", 0), func(p store.Page) pager.Cursor { return p.Next })
	if err != nil || !slices.Equal(got, cursors) {
		t.Errorf("pages have %v, %v, want %v", got, err, cursors)
	}
	if _, found, err := s.PageAt(t.Context(), "another run", pager.At("a")); err != nil || found {
		t.Errorf("a cursor of another run: %v, %v", found, err)
	}
}

func ruleConflicts(t *testing.T, s store.Store) {
	t.Helper()
	run := newRun("job", "r")
	change := beginChange(run)
	for i := range 11 {
		change.Conflicts = append(change.Conflicts, store.Conflict{RunID: "r", Seq: i, ID: fmt.Sprint(i)})
	}
	commit(t, s, change, store.Change{Run: run, Conflicts: []store.Conflict{{RunID: "r", Seq: 2, ID: "2", AcceptedBy: "someone"}}})
	got, err := collect(s.Conflicts(t.Context(), "r"), func(c store.Conflict) string { return c.ID + c.AcceptedBy })
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "conflicts", got, "0", "1", "2someone", "3", "4", "5", "6", "7", "8", "9", "10")
}

func ruleEvents(t *testing.T, s store.Store) {
	t.Helper()
	run := newRun("job", "r")
	commit(t, s, beginChange(run))
	want := []string{""}
	for i := range 12 {
		who := fmt.Sprint("person ", i)
		change := store.Change{Run: run, Events: []state.Transition{{Who: who}, {Who: who + " again"}}}
		commit(t, s, change)
		want = append(want, who, who+" again")
	}
	got, err := collect(s.Events(t.Context(), "r"), func(e state.Transition) string { return e.Who })
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "events", got, want...)
}

func ruleAnyBytes(t *testing.T, s store.Store) {
	t.Helper()
	names := []string{"a", "a\x00", "a\x00\x01", "a\x00\xff", "a\x01", "\xff", "\x00", "ä", "a/b", "a\x00a"}
	for _, name := range names {
		change := beginChange(newRun("job "+name, name))
		change.Items = []store.Item{{Scope: name, ID: name, State: store.StateHeld, RunID: name}}
		change.Page = &store.Page{RunID: name, IDs: []string{name}}
		change.Conflicts = []store.Conflict{{RunID: name, ID: name}}
		commit(t, s, change)
	}
	for _, name := range names {
		wantIDs(t, "runs of a job", runIDs(t, s, store.RunFilter{Job: "job " + name}), name)
		wantIDs(t, "held items", heldIDs(t, s, name), name)
		items, err := s.Items(t.Context(), name, names)
		if err != nil {
			t.Fatal(err)
		}
		for i, item := range items {
			if (item.State == store.StateHeld) != (names[i] == name) {
				t.Errorf("item %q in scope %q is %s", names[i], name, item.State)
			}
		}
		pages, err := collect(s.Pages(t.Context(), name, 0), func(p store.Page) string { return p.IDs[0] })
		if err != nil {
			t.Fatal(err)
		}
		wantIDs(t, "pages", pages, name)
		conflicts, err := collect(s.Conflicts(t.Context(), name), func(c store.Conflict) string { return c.RunID + c.ID })
		if err != nil {
			t.Fatal(err)
		}
		wantIDs(t, "conflicts", conflicts, name+name)
	}
}

func ruleSequences(t *testing.T, s store.Store) {
	t.Helper()
	for i := range 3 {
		commit(t, s, beginChange(newRun("job", fmt.Sprint(i))))
	}
	seq := s.Runs(t.Context(), store.RunFilter{})
	for range 2 {
		n := 0
		for _, err := range seq {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 2 {
				break
			}
		}
		got, err := collect(seq, func(r store.Run) string { return r.Receipt.RunID })
		if err != nil {
			t.Fatal(err)
		}
		wantIDs(t, "a second range", got, "2", "1", "0")
	}
}

func ruleSequenceInstant(t *testing.T, s store.Store) {
	t.Helper()
	run := newRun("job", "a")
	commit(t, s, beginChange(run), beginChange(newRun("job", "b")))
	var got []string
	for r, err := range s.Runs(t.Context(), store.RunFilter{Status: state.Running}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Receipt.RunID)
		run.Receipt.Status = state.Paused
		commit(t, s, store.Change{Run: run}, beginChange(newRun("job", fmt.Sprint("later", len(got)))))
	}
	wantIDs(t, "runs as of the beginning", got, "b", "a")
}

func ruleContext(t *testing.T, s store.Store) {
	t.Helper()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Commit(cancelled, beginChange(newRun("job", "r"))); err != nil {
		t.Fatalf("a commit under a cancelled context: %v", err)
	}
	wantIDs(t, "runs", runIDs(t, s, store.RunFilter{}), "r")
	_, err := s.Run(cancelled, "r")
	wantError(t, err, context.Canceled)
}

func ruleHold(t *testing.T, s store.Store) {
	t.Helper()
	release, err := s.Hold(t.Context(), "job")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Hold(t.Context(), "job")
	wantError(t, err, store.ErrHeld)
	other, err := s.Hold(t.Context(), "another job")
	if err != nil {
		t.Fatal(err)
	}
	defer other()
	release()
	release() // a second call must not release the next holder
	next, err := s.Hold(t.Context(), "job")
	if err != nil {
		t.Fatalf("hold after release: %v", err)
	}
	release()
	_, err = s.Hold(t.Context(), "job")
	wantError(t, err, store.ErrHeld)
	next()
}

func ruleClosed(t *testing.T, s store.Store) {
	t.Helper()
	commit(t, s, beginChange(newRun("job", "r")), beginChange(newRun("job", "r2")))
	next, stop := iter.Pull2(s.Runs(t.Context(), store.RunFilter{}))
	defer stop()
	if _, err, ok := next(); err != nil || !ok {
		t.Fatalf("first run: %v, %v", err, ok)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatalf("close twice: %v", err)
	}
	if _, err, _ := next(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a scan that close interrupted: %v", err)
	}
	ctx := t.Context()
	_, runErr := s.Run(ctx, "r")
	_, itemsErr := s.Items(ctx, "r", []string{"a"})
	_, _, pageAtErr := s.PageAt(ctx, "r", pager.Cursor{})
	_, holdErr := s.Hold(ctx, "job")
	_, runsErr := collect(s.Runs(ctx, store.RunFilter{}), func(store.Run) int { return 0 })
	_, heldErr := collect(s.Held(ctx, "r"), func(store.Item) int { return 0 })
	_, pagesErr := collect(s.Pages(ctx, "r", 0), func(store.Page) int { return 0 })
	_, conflictsErr := collect(s.Conflicts(ctx, "r"), func(store.Conflict) int { return 0 })
	_, eventsErr := collect(s.Events(ctx, "r"), func(state.Transition) int { return 0 })
	for _, c := range []struct {
		method string
		err    error
	}{
		{"Commit", s.Commit(ctx, store.Change{Run: newRun("job", "r")})},
		{"Run", runErr},
		{"Items", itemsErr},
		{"PageAt", pageAtErr},
		{"Hold", holdErr},
		{"Runs", runsErr},
		{"Held", heldErr},
		{"Pages", pagesErr},
		{"Conflicts", conflictsErr},
		{"Events", eventsErr},
	} {
		if !errors.Is(c.err, store.ErrClosed) {
			t.Errorf("%s after close: %v", c.method, c.err)
		}
	}
}

func ruleConcurrent(t *testing.T, s store.Store) {
	t.Helper()
	const walkers, steps = 8, 20
	var wg sync.WaitGroup
	for w := range walkers {
		wg.Go(func() {
			run := newRun("job", fmt.Sprint("r", w))
			ctx := context.WithoutCancel(t.Context())
			if err := s.Commit(ctx, beginChange(run)); err != nil {
				t.Error(err)
				return
			}
			for n := range steps {
				if err := s.Commit(ctx, pageStep(run, n)); err != nil {
					t.Error(err)
					return
				}
				if n%5 == 0 {
					if got, err := wholeSteps(ctx, s, run.Receipt.RunID); err != nil || got != n+1 {
						t.Errorf("after step %d: %d, %v", n, got, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	for w := range walkers {
		if n, err := wholeSteps(t.Context(), s, fmt.Sprint("r", w)); err != nil || n != steps {
			t.Errorf("run %d: %d steps, %v", w, n, err)
		}
	}
}

// TestHeldAgainstModel compares the hold queue with a map while items change at
// random, over reopens.
func TestHeldAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs := vfs.NewMem()
		opts := &pebblestore.Options{FS: fs}
		s, err := pebblestore.Open("ledger", opts)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		run := newRun("job", "r")
		if err := s.Commit(t.Context(), beginChange(run)); err != nil {
			rt.Fatal(err)
		}
		model := make(map[string]store.ItemState)
		rt.Repeat(map[string]func(*rapid.T){
			"commit": func(rt *rapid.T) {
				change := store.Change{Run: run}
				for range rapid.IntRange(1, 4).Draw(rt, "items") {
					item := store.Item{
						Scope: "r",
						ID:    rapid.SampledFrom([]string{"a", "b", "c", "\x00", ""}).Draw(rt, "id"),
						State: store.ItemState(rapid.Uint8Range(uint8(store.StatePending), uint8(store.StateDropped)).Draw(rt, "state")),
					}
					change.Items = append(change.Items, item)
					model[item.ID] = item.State
				}
				if err := s.Commit(t.Context(), change); err != nil {
					rt.Fatal(err)
				}
			},
			"reopen": func(rt *rapid.T) {
				if rapid.IntRange(0, 7).Draw(rt, "seldom") > 0 {
					rt.Skip("not this time")
				}
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				if s, err = pebblestore.Open("ledger", opts); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				want := []string{}
				for id, st := range model {
					if st == store.StateHeld {
						want = append(want, id)
					}
				}
				slices.Sort(want)
				got, err := collect(s.Held(t.Context(), "r"), func(i store.Item) string { return i.ID })
				if err != nil || !slices.Equal(got, want) {
					rt.Fatalf("held are %q, %v, want %q", got, err, want)
				}
			},
		})
	})
}

package proptest

import (
	"fmt"
	"slices"

	"github.com/everypage-go/everypage/internal/steps"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

func ruleItemsOrder(t *trial, s store.Store) {
	t.Helper()
	change := steps.Begin(steps.Run("job", "r"))
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

func ruleItemReplaced(t *trial, s store.Store) {
	t.Helper()
	run := steps.Run("job", "r")
	change := steps.Begin(run)
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

func ruleHeld(t *trial, s store.Store) {
	t.Helper()
	run := steps.Run("job", "r")
	set := func(items ...store.Item) {
		for i := range items {
			items[i].Scope = "r"
		}
		commit(t, s, store.Change{Run: run, Items: items})
	}
	item := func(id string, st store.ItemState) store.Item { return store.Item{ID: id, State: st} }
	commit(t, s, steps.Begin(run))
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

func ruleHeldScope(t *trial, s store.Store) {
	t.Helper()
	change := steps.Begin(steps.Run("job", "r"))
	for _, scope := range []string{"r", "r\x00", "r2", ""} {
		change.Items = append(change.Items, store.Item{Scope: scope, ID: "in " + scope, State: store.StateHeld})
	}
	commit(t, s, change)
	for _, scope := range []string{"r", "r\x00", "r2", ""} {
		wantIDs(t, "held", heldIDs(t, s, scope), "in "+scope)
	}
}

func rulePagesOrder(t *trial, s store.Store) {
	t.Helper()
	run := steps.Run("job", "r")
	commit(t, s, steps.Begin(run), steps.Begin(steps.Run("job", "r2")))
	page := func(runID string, index, revision int) store.Change {
		r := steps.Run("job", runID)
		return store.Change{Run: r, Page: &store.Page{RunID: runID, Index: index, Revision: revision, Cursor: steps.Cursor(index)}}
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
		got, err := steps.Collect(s.Pages(t.Context(), "r", c.from), show)
		if err != nil {
			t.Fatal(err)
		}
		wantIDs(t, fmt.Sprintf("pages from %d", c.from), got, c.want...)
	}
}

func ruleCursors(t *trial, s store.Store) {
	t.Helper()
	run := steps.Run("job", "r")
	commit(t, s, steps.Begin(run))
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
	got, err := steps.Collect(s.Pages(t.Context(), "r", 0), func(p store.Page) pager.Cursor { return p.Next })
	if err != nil || !slices.Equal(got, cursors) {
		t.Errorf("pages have %v, %v, want %v", got, err, cursors)
	}
	if _, found, err := s.PageAt(t.Context(), "another run", pager.At("a")); err != nil || found {
		t.Errorf("a cursor of another run: %v, %v", found, err)
	}
}

func ruleConflicts(t *trial, s store.Store) {
	t.Helper()
	run := steps.Run("job", "r")
	change := steps.Begin(run)
	for i := range 11 {
		change.Conflicts = append(change.Conflicts, store.Conflict{RunID: "r", Seq: i, ID: fmt.Sprint(i)})
	}
	commit(t, s, change, store.Change{Run: run, Conflicts: []store.Conflict{{RunID: "r", Seq: 2, ID: "2", AcceptedBy: "someone"}}})
	got, err := steps.Collect(s.Conflicts(t.Context(), "r"), func(c store.Conflict) string { return c.ID + c.AcceptedBy })
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "conflicts", got, "0", "1", "2someone", "3", "4", "5", "6", "7", "8", "9", "10")
}

func ruleEvents(t *trial, s store.Store) {
	t.Helper()
	run := steps.Run("job", "r")
	commit(t, s, steps.Begin(run))
	want := []string{""}
	for i := range 12 {
		who := fmt.Sprint("person ", i)
		change := store.Change{Run: run, Events: []state.Transition{{Who: who}, {Who: who + " again"}}}
		commit(t, s, change)
		want = append(want, who, who+" again")
	}
	got, err := steps.Collect(s.Events(t.Context(), "r"), func(e state.Transition) string { return e.Who })
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "events", got, want...)
}

func ruleAnyBytes(t *trial, s store.Store) {
	t.Helper()
	names := []string{"a", "a\x00", "a\x00\x01", "a\x00\xff", "a\x01", "\xff", "\x00", "ä", "a/b", "a\x00a"}
	for _, name := range names {
		change := steps.Begin(steps.Run("job "+name, name))
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
		pages, err := steps.Collect(s.Pages(t.Context(), name, 0), func(p store.Page) string { return p.IDs[0] })
		if err != nil {
			t.Fatal(err)
		}
		wantIDs(t, "pages", pages, name)
		conflicts, err := steps.Collect(s.Conflicts(t.Context(), name), func(c store.Conflict) string { return c.RunID + c.ID })
		if err != nil {
			t.Fatal(err)
		}
		wantIDs(t, "conflicts", conflicts, name+name)
	}
}

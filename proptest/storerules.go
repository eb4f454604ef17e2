package proptest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"sync"

	"github.com/everypage-go/everypage/internal/steps"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

func ruleReadBack(t *trial, s store.Store) {
	t.Helper()
	run := steps.Run("job", "r")
	total := int64(7)
	step := steps.Page(run, 0)
	step.Page.Total, step.Page.Vetoes, step.Page.Unidentified, step.Page.Problems = &total, []string{"v"}, []int{2}, []string{"none"}
	step.Items[0].Payload, step.Items[0].DoubtSince, step.Items[0].Code = []byte("x"), steps.Instant(9), state.HoldInDoubt
	step.Run.Definition = &store.Definition{Endpoint: "e", ContractDocument: []byte("doc")}
	commit(t, s, steps.Begin(run), step)

	got, err := s.Run(t.Context(), "r")
	if err != nil || !reflect.DeepEqual(got, step.Run) {
		t.Errorf("run: %v\ngot  %#v\nwant %#v", err, got, step.Run)
	}
	pages, err := steps.Collect(s.Pages(t.Context(), "r", 0), func(p store.Page) store.Page { return p })
	if err != nil || !reflect.DeepEqual(pages, []store.Page{*step.Page}) {
		t.Errorf("pages: %v\ngot  %#v\nwant %#v", err, pages, *step.Page)
	}
	items, err := s.Items(t.Context(), run.Scope, step.Page.IDs)
	if err != nil || !reflect.DeepEqual(items, step.Items) {
		t.Errorf("items: %v\ngot  %#v\nwant %#v", err, items, step.Items)
	}
	if n, err := steps.Whole(t.Context(), s, "r"); err != nil || n != 1 {
		t.Errorf("steps: %d, %v", n, err)
	}
}

func ruleBeginOnce(t *trial, s store.Store) {
	t.Helper()
	commit(t, s, steps.Begin(steps.Run("job", "r")))
	second := steps.Begin(steps.Run("other", "r"))
	second.Items = []store.Item{{Scope: "r", ID: "x", State: store.StateDone}}
	wantError(t, s.Commit(t.Context(), second), store.ErrExists)
	items, err := s.Items(t.Context(), "r", []string{"x"})
	if err != nil || items[0].State != store.StateUnknown {
		t.Errorf("the refused change left its item: %v, %v", items, err)
	}
	wantIDs(t, "runs of the refused job", runIDs(t, s, store.RunFilter{Job: "other"}))
}

func ruleBeginRace(t *trial, s store.Store) {
	t.Helper()
	const racers = 32
	errs := make([]error, racers)
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() {
			change := steps.Begin(steps.Run("job", "r"))
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

func ruleUnknownRun(t *trial, s store.Store) {
	t.Helper()
	change := store.Change{Run: steps.Run("job", "r")}
	wantError(t, s.Commit(t.Context(), change), store.ErrNotFound)
	also := steps.Begin(steps.Run("job", "r"))
	also.Also = &store.Also{Run: steps.Run("job", "never begun")}
	wantError(t, s.Commit(t.Context(), also), store.ErrNotFound)
	wantIDs(t, "runs", runIDs(t, s, store.RunFilter{}))
	if err := s.Commit(t.Context(), store.Change{Begin: true}); err == nil {
		t.Error("a run without an ID was taken")
	}
}

func ruleAlso(t *trial, s store.Store) {
	t.Helper()
	old := steps.Run("job", "old")
	commit(t, s, steps.Begin(old))
	old.Receipt.SupersededBy, old.Receipt.Status = "new", state.NeedsReview
	successor := steps.Begin(steps.Run("job", "new"))
	successor.Also = &store.Also{Run: old, Events: []state.Transition{{Event: state.EventSupersede}}}
	commit(t, s, successor)
	got, err := s.Run(t.Context(), "old")
	if err != nil || got.Receipt.SupersededBy != "new" {
		t.Errorf("old run: %v, superseded by %q", err, got.Receipt.SupersededBy)
	}
	events, err := steps.Collect(s.Events(t.Context(), "old"), func(e state.Transition) string { return string(e.Event) })
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "events of the old run", events, "begin", "supersede")
	wantIDs(t, "runs to review", runIDs(t, s, store.RunFilter{Status: state.NeedsReview}), "old")
	wantIDs(t, "runs", runIDs(t, s, store.RunFilter{}), "new", "old")
}

func ruleRunNotFound(t *trial, s store.Store) {
	t.Helper()
	_, err := s.Run(t.Context(), "nowhere")
	wantError(t, err, store.ErrNotFound)
}

func ruleRunsOrder(t *trial, s store.Store) {
	t.Helper()
	for i := range 12 { // past 9, where an order by text would differ
		commit(t, s, steps.Begin(steps.Run([]string{"even", "odd"}[i%2], fmt.Sprintf("r%d", i))))
	}
	all := runIDs(t, s, store.RunFilter{})
	wantIDs(t, "all", all, "r11", "r10", "r9", "r8", "r7", "r6", "r5", "r4", "r3", "r2", "r1", "r0")
	wantIDs(t, "of a job", runIDs(t, s, store.RunFilter{Job: "odd"}), "r11", "r9", "r7", "r5", "r3", "r1")
	wantIDs(t, "running", runIDs(t, s, store.RunFilter{Status: state.Running}), all...)
	wantIDs(t, "running, of a job", runIDs(t, s, store.RunFilter{Job: "even", Status: state.Running}), "r10", "r8", "r6", "r4", "r2", "r0")
	wantIDs(t, "paused, of a job", runIDs(t, s, store.RunFilter{Job: "even", Status: state.Paused}))
	wantIDs(t, "of a job that is a prefix of another", runIDs(t, s, store.RunFilter{Job: "od"}))
}

func ruleStatusMoves(t *trial, s store.Store) {
	t.Helper()
	run := steps.Run("job", "r")
	commit(t, s, steps.Begin(run), steps.Begin(steps.Run("job", "other")))
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

func ruleSequences(t *trial, s store.Store) {
	t.Helper()
	for i := range 3 {
		commit(t, s, steps.Begin(steps.Run("job", fmt.Sprint(i))))
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
		got, err := steps.Collect(seq, func(r store.Run) string { return r.Receipt.RunID })
		if err != nil {
			t.Fatal(err)
		}
		wantIDs(t, "a second range", got, "2", "1", "0")
	}
}

func ruleSequenceInstant(t *trial, s store.Store) {
	t.Helper()
	run := steps.Run("job", "a")
	commit(t, s, steps.Begin(run), steps.Begin(steps.Run("job", "b")))
	var got []string
	for r, err := range s.Runs(t.Context(), store.RunFilter{Status: state.Running}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Receipt.RunID)
		run.Receipt.Status = state.Paused
		commit(t, s, store.Change{Run: run}, steps.Begin(steps.Run("job", fmt.Sprint("later", len(got)))))
	}
	wantIDs(t, "runs as of the beginning", got, "b", "a")
}

func ruleContext(t *trial, s store.Store) {
	t.Helper()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Commit(cancelled, steps.Begin(steps.Run("job", "r"))); err != nil {
		t.Fatalf("a commit under a cancelled context: %v", err)
	}
	wantIDs(t, "runs", runIDs(t, s, store.RunFilter{}), "r")
	_, err := s.Run(cancelled, "r")
	wantError(t, err, context.Canceled)
}

func ruleHold(t *trial, s store.Store) {
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

func ruleClosed(t *trial, s store.Store) {
	t.Helper()
	commit(t, s, steps.Begin(steps.Run("job", "r")), steps.Begin(steps.Run("job", "r2")))
	next, stop := iter.Pull2(s.Runs(t.Context(), store.RunFilter{}))
	defer stop()
	if _, err, ok := next(); err != nil || !ok {
		t.Fatalf("first run: %v, %v", err, ok)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatalf("close twice: %v", err)
	}
	if _, err, _ := next(); err != nil && !errors.Is(err, store.ErrClosed) { // it may have all it needs
		t.Errorf("a scan that close interrupted: %v", err)
	}
	ctx := t.Context()
	_, runErr := s.Run(ctx, "r")
	_, itemsErr := s.Items(ctx, "r", []string{"a"})
	_, _, pageAtErr := s.PageAt(ctx, "r", pager.Cursor{})
	_, holdErr := s.Hold(ctx, "job")
	_, runsErr := steps.Collect(s.Runs(ctx, store.RunFilter{}), func(store.Run) int { return 0 })
	_, heldErr := steps.Collect(s.Held(ctx, "r"), func(store.Item) int { return 0 })
	_, pagesErr := steps.Collect(s.Pages(ctx, "r", 0), func(store.Page) int { return 0 })
	_, conflictsErr := steps.Collect(s.Conflicts(ctx, "r"), func(store.Conflict) int { return 0 })
	_, eventsErr := steps.Collect(s.Events(ctx, "r"), func(state.Transition) int { return 0 })
	for _, c := range []struct {
		method string
		err    error
	}{
		{"Commit", s.Commit(ctx, store.Change{Run: steps.Run("job", "r")})},
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

func ruleConcurrent(t *trial, s store.Store) {
	t.Helper()
	const walkers, length = 8, 20
	var wg sync.WaitGroup
	for w := range walkers {
		wg.Go(func() {
			run := steps.Run("job", fmt.Sprint("r", w))
			ctx := context.WithoutCancel(t.Context())
			if err := s.Commit(ctx, steps.Begin(run)); err != nil {
				t.Error(err)
				return
			}
			for n := range length {
				if err := s.Commit(ctx, steps.Page(run, n)); err != nil {
					t.Error(err)
					return
				}
				if n%5 == 0 {
					if got, err := steps.Whole(ctx, s, run.Receipt.RunID); err != nil || got != n+1 {
						t.Errorf("after step %d: %d, %v", n, got, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	for w := range walkers {
		if n, err := steps.Whole(t.Context(), s, fmt.Sprint("r", w)); err != nil || n != length {
			t.Errorf("run %d: %d steps, %v", w, n, err)
		}
	}
}

package proptest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/everypage-go/everypage/internal/steps"
	"github.com/everypage-go/everypage/store"
)

func ruleHoldRace(t *trial, s store.Store) {
	errs := make([]error, 32)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { _, errs[i] = s.Hold(context.WithoutCancel(t.ctx), "job") })
	}
	group.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, store.ErrHeld):
			t.Errorf("got error %v, want one that wraps %q", err, store.ErrHeld)
		}
	}
	if won != 1 {
		t.Errorf("of %d holds of one job at the same time %d worked, want 1: two runners would call the same items", len(errs), won)
	}
}

// ruleSequenceError has every sequence fail, by a context that has ended.
func ruleSequenceError(t *trial, s store.Store) {
	run := steps.Run("job", "r")
	commit(t, s, steps.Begin(run), steps.Page(run, 0), steps.Page(run, 1))
	ended, cancel := context.WithCancel(t.ctx)
	cancel()
	for name, yields := range map[string]string{
		"Runs":      yield(s.Runs(ended, store.RunFilter{})),
		"Held":      yield(s.Held(ended, run.Scope)),
		"Pages":     yield(s.Pages(ended, "r", 0)),
		"Conflicts": yield(s.Conflicts(ended, "r")),
		"Events":    yield(s.Events(ended, "r")),
	} {
		if yields != "error" {
			t.Errorf("under a context that has ended %s yields %q, want one error and no record: a reader would take the records for all there are", name, yields)
		}
	}
}

// yield tells what a sequence yields.
func yield[T any](seq iter.Seq2[T, error]) (yields string) {
	for _, err := range seq {
		what := "record"
		if err != nil {
			what = "error"
		}
		if yields != "" {
			what = fmt.Sprintf("%s, %s", yields, what)
		}
		yields = what
	}
	return yields
}

package pebblestore_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// A listing goes on behind any run, read by the store's own means or from the top.
func TestRunsAfter(t *testing.T) {
	s := openMem(t)
	paused := newRun("odd", "r3")
	for _, run := range []store.Run{newRun("even", "r0"), newRun("odd", "r1"), newRun("even", "r2"), paused, newRun("even", "r4")} {
		commit(t, s, beginChange(run))
	}
	paused.Receipt.Status = state.Paused
	commit(t, s, store.Change{Run: paused})
	for name, reader := range map[string]store.Reader{"native": s, "any": onlyReader{s}} {
		for _, filter := range []store.RunFilter{
			{},
			{Job: "odd"},
			{Job: "even"},
			{Job: "none"},
			{Status: state.Running},
			{Status: state.Paused},
			{Job: "odd", Status: state.Running},
			{Job: "even", Status: state.Paused},
		} {
			chosen := runIDs(t, s, filter)
			for _, after := range runIDs(t, s, store.RunFilter{}) {
				got, err := collect(store.RunsAfter(t.Context(), reader, filter, after), runIDOf)
				if err != nil {
					t.Fatal(err)
				}
				older := slices.DeleteFunc(slices.Clone(chosen), func(id string) bool { return id >= after })
				wantIDs(t, name+" after "+after, got, older...)
			}
			got, err := collect(store.RunsAfter(t.Context(), reader, filter, ""), runIDOf)
			if err != nil {
				t.Fatal(err)
			}
			wantIDs(t, name+" from the top", got, chosen...)
		}
		if _, err := collect(store.RunsAfter(t.Context(), reader, store.RunFilter{}, "r9"), runIDOf); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: behind a run that is not there: %v", name, err)
		}
		for _, err := range store.RunsAfter(t.Context(), reader, store.RunFilter{}, "r4") {
			if err != nil {
				t.Fatal(err)
			}
			break // a listing can be left
		}
	}
}

func runIDOf(r store.Run) string { return r.Receipt.RunID }

// onlyReader hides what a store can beside the interface.
type onlyReader struct{ store.Reader }

package pebblestore_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

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

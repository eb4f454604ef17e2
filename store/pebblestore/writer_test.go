package pebblestore

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

func openInMemory(t *testing.T) *Store {
	t.Helper()
	s, err := Open("ledger", &Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// commitTogether commits changes as one group. The writer has nothing else to do
// meanwhile.
func commitTogether(t *testing.T, s *Store, changes ...store.Change) {
	t.Helper()
	var group []*prepared
	for i := range changes {
		p, err := s.prepare(&changes[i])
		if err != nil {
			t.Fatal(err)
		}
		group = append(group, p)
	}
	s.commitGroup(group)
	for _, p := range group {
		if err := <-p.answer; err != nil {
			t.Fatal(err)
		}
	}
}

func runOf(runID string, items ...store.Item) store.Change {
	return store.Change{
		Run:   store.Run{Receipt: state.Receipt{RunID: runID, Job: "job", Status: state.Running, SchemaVersion: state.SchemaVersion}, Scope: "scope"},
		Items: items,
	}
}

func itemIn(is store.ItemState) store.Item { return store.Item{Scope: "scope", ID: "x", State: is} }

// Changes that share a group see each other's items in the hold queue.
func TestHoldQueueWithinAGroup(t *testing.T) {
	const held, done, pending = store.StateHeld, store.StateDone, store.StatePending
	for _, c := range []struct {
		name   string
		before store.ItemState
		then   []store.ItemState
		want   int
	}{
		{"held and done", pending, []store.ItemState{held, done}, 0},
		{"held, done and held", pending, []store.ItemState{held, done, held}, 1},
		{"done and held", held, []store.ItemState{done, held}, 1},
		{"done, held and done", held, []store.ItemState{done, held, done}, 0},
		{"held twice", pending, []store.ItemState{held, held}, 1},
		{"done twice", held, []store.ItemState{done, done}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := openInMemory(t)
			begin := runOf("r", itemIn(c.before))
			begin.Begin = true
			commitTogether(t, s, begin)
			var changes []store.Change
			for _, is := range c.then {
				changes = append(changes, runOf("r", itemIn(is)))
			}
			commitTogether(t, s, changes...)
			queued := 0
			for _, err := range s.Held(t.Context(), "scope") {
				if err != nil {
					t.Fatal(err)
				}
				queued++
			}
			if queued != c.want {
				t.Errorf("%d items are in the hold queue, want %d", queued, c.want)
			}
		})
	}
}

// What the writer remembers is bounded, and what it forgot it reads again.
func TestWriterForgets(t *testing.T) {
	s := openInMemory(t)
	const runs = 2*cacheEntries + 100
	most := 0
	for first := 0; first < runs; first += groupChanges {
		var changes []store.Change
		for i := first; i < min(first+groupChanges, runs); i++ {
			item := itemIn(store.StatePending)
			item.Scope = fmt.Sprint("scope", i)
			begin := runOf(fmt.Sprint("r", i), item)
			begin.Begin = true
			changes = append(changes, begin)
		}
		commitTogether(t, s, changes...)
		most = max(most, len(s.writer.runs), len(s.writer.held))
	}
	if most > cacheEntries || most < cacheEntries/2 {
		t.Errorf("the writer remembers up to %d runs or scopes, want up to %d", most, cacheEntries)
	}
	if _, known := s.writer.runs["r0"]; known {
		t.Fatal("the first run is still remembered")
	}
	paused := runOf("r0")
	paused.Run.Receipt.Status = state.Paused
	commitTogether(t, s, paused)
	for run, err := range s.Runs(t.Context(), store.RunFilter{Status: state.Paused}) {
		if err != nil || run.Receipt.RunID != "r0" {
			t.Errorf("the paused run is %q, %v", run.Receipt.RunID, err)
		}
	}
	n := 0
	for _, err := range s.Runs(t.Context(), store.RunFilter{Status: state.Running}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != runs-1 {
		t.Errorf("%d runs are running, want %d", n, runs-1)
	}
}

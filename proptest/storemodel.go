package proptest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// modelRule is the name of the rule that a store is compared by.
const modelRule = "whatever is committed, it holds what plain values hold"

// checkStoreModel commits random changes to a store and to plain values, opens the
// store again where its place is durable, and compares all that can be read.
func checkStoreModel(t *rapid.T, fresh func(dir string) StorePlace) {
	folder, err := os.MkdirTemp("", "everypage-model-") // a check of rapid has no folder of its own
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // it is in the folder for temporary files
	place := fresh(filepath.Join(folder, "place"))
	s, err := place.Open()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer func() { _ = s.Close() }()
	_, durable := place.(DurablePlace)
	model := newRecords()
	t.Repeat(map[string]func(*rapid.T){
		"": func(t *rapid.T) { compareWithModel(t, s, model) },
		"commit": func(t *rapid.T) {
			change := drawChange(t, model)
			err, wanted := s.Commit(context.Background(), change), model.clone().apply(change)
			if (err == nil) != (wanted == nil) {
				t.Fatalf("commit: %v, want %v", err, wanted)
			}
			if err == nil {
				_ = model.apply(change)
			}
		},
		"open again": func(t *rapid.T) {
			if !durable || rapid.IntRange(0, 7).Draw(t, "seldom") > 0 {
				t.Skip("not this time")
			}
			if err := s.Close(); err != nil {
				t.Fatalf("close: %v", err)
			}
			if s, err = place.Open(); err != nil {
				t.Fatalf("open again: %v", err)
			}
		},
	})
}

// compareWithModel reads everything that both can have.
func compareWithModel(t *rapid.T, s store.Store, model *records) {
	t.Helper()
	want, err := dump(newMemory(model), model)
	if err != nil {
		t.Fatal(err)
	}
	got, err := dump(s, model)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("the store holds\n%q\nand plain values hold\n%q", got, want)
	}
}

// drawChange draws a change as an engine makes it, and now and then one that it
// does not.
func drawChange(t *rapid.T, model *records) store.Change {
	runID := rapid.SampledFrom([]string{"r", "r2", "\x00"}).Draw(t, "run")
	run, there := model.runs[runID]
	if !there {
		run = store.Run{Scope: rapid.SampledFrom([]string{"r", "job:a"}).Draw(t, "scope"), Lineage: runID, Fetching: -1, Careful: -1}
		run.Receipt.RunID, run.Receipt.Job = runID, "a"
	}
	run.Receipt.Status = rapid.SampledFrom(state.Statuses()).Draw(t, "status")
	run.Receipt.ProcessedUnique = rapid.Int64Range(0, 1<<40).Draw(t, "done")
	change := store.Change{Run: run, Begin: !there || rapid.IntRange(0, 20).Draw(t, "begins again") == 0}
	for range rapid.IntRange(0, 5).Draw(t, "items") {
		change.Items = append(change.Items, drawItem(t, &run))
	}
	if rapid.Bool().Draw(t, "has a page") {
		n := len(model.pages[runID])
		page := &store.Page{
			RunID: runID, Index: n, At: epoch(), Cursor: pager.At(strconv.Itoa(n)), Next: pager.At(strconv.Itoa(n + 1)),
			End: pager.End(rapid.Uint8Range(0, uint8(pager.EndLast)).Draw(t, "end")),
		}
		for _, item := range change.Items {
			page.IDs = append(page.IDs, item.ID)
		}
		change.Page = page
	}
	if rapid.IntRange(0, 3).Draw(t, "has an event") == 0 {
		change.Events = []state.Transition{{At: epoch(), Event: state.EventNote, From: state.Running, To: state.Running}}
	}
	if rapid.IntRange(0, 3).Draw(t, "has a conflict") == 0 {
		change.Conflicts = []store.Conflict{{RunID: runID, Seq: len(model.conflicts[runID]), ID: "a", At: epoch()}}
	}
	return change
}

func drawItem(t *rapid.T, run *store.Run) store.Item {
	item := store.Item{
		Scope: run.Scope, ID: rapid.SampledFrom([]string{"a", "b", "c", "d", "\x00", ""}).Draw(t, "id"),
		State: store.ItemState(rapid.Uint8Range(uint8(store.StatePending), uint8(store.StateDropped)).Draw(t, "state")),
		RunID: run.Receipt.RunID, Page: rapid.IntRange(0, 3).Draw(t, "page"), Ordinal: rapid.IntRange(0, 3).Draw(t, "ordinal"),
		Attempts: rapid.IntRange(0, 3).Draw(t, "attempts"), UpdatedAt: epoch(),
	}
	if item.State == store.StateDone {
		item.SettledBy = run.Receipt.RunID
	}
	if rapid.Bool().Draw(t, "has more") {
		item.Intent, item.Code, item.Detail, item.Payload = true, state.HoldAttempts, "no", []byte("{}")
		item.DoubtSince = epoch()
	}
	return item
}

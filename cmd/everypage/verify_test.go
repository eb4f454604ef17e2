package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

func TestVerifyTellsWhetherARunAddsUp(t *testing.T) {
	w := newWorld(t, 7)
	w.want(exitDone, w.toFile())
	runID := w.runID()
	ledger := w.path("ledger")
	for _, name := range []string{"tickets", runID} {
		w.want(exitDone, []string{"verify", name, "--ledger", ledger}, "run "+runID, "adds up", "is complete", "3 pages, 7 items", "sha256:")
	}
	w.change(runID, func(run *store.Run) { run.Receipt.ProcessedUnique++ })
	w.want(exitClaim, []string{"verify", "--ledger", ledger}, "does not add up", "counter: processed_unique: recorded 8, found 7")
	got := w.want(exitClaim, []string{"verify", runID, "--json", "--ledger", ledger})
	var report everypage.Verification
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatal(err)
	}
	if report.RunID != runID || report.Found != 1 || report.Findings[0].Kind != everypage.FindingCounter || got.err != "" {
		t.Errorf("the report is %+v, and standard error says %q", report, got.err)
	}
}

func TestVerifyThatCannot(t *testing.T) {
	w := newWorld(t, 2)
	w.want(exitNotFound, []string{"verify", "tickets", "--ledger", w.path("none")})
	w.want(exitDone, w.toFile())
	w.want(exitNotFound, []string{"verify", "another", "--ledger", w.path("ledger")}, "another")
	w.want(exitUsage, []string{"verify", "one", "two", "--ledger", w.path("ledger")})
	w.want(exitUsage, []string{"verify"}, "--ledger")
	held, err := pebblestore.Open(w.path("ledger"), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := w.want(exitPaused, []string{"verify", "--ledger", w.path("ledger")})
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.err, "in use") {
		t.Errorf("a ledger in use gave %q", got.err)
	}
}

// change changes a run behind the back of the engine.
func (w *world) change(runID string, edit func(*store.Run)) {
	w.Helper()
	ledger, err := pebblestore.Open(w.path("ledger"), nil)
	if err != nil {
		w.Fatal(err)
	}
	run, err := ledger.Run(w.Context(), runID)
	if err == nil {
		edit(&run)
		err = ledger.Commit(w.Context(), store.Change{Run: run})
	}
	if err := errors.Join(err, ledger.Close()); err != nil {
		w.Fatal(err)
	}
}

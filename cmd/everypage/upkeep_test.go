package main

import (
	"testing"

	"github.com/everypage-go/everypage/store/pebblestore"
)

func TestBackupMakesALedgerThatGoesOn(t *testing.T) {
	w := newWorld(t, 7)
	w.want(exitDone, w.toFile())
	runID := w.runID()
	ledger := w.path("ledger")
	w.want(exitDone, []string{"backup", w.path("copy"), "--ledger", ledger}, "is copied")
	w.want(exitUsage, []string{"backup", w.path("copy"), "--ledger", ledger}, "not there yet")
	w.want(exitUsage, []string{"backup", "--ledger", ledger})
	w.want(exitNotFound, []string{"backup", w.path("other"), "--ledger", w.path("none")})
	w.want(exitDone, []string{"verify", runID, "--ledger", w.path("copy")}, "adds up")
	held, err := pebblestore.Open(ledger, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.want(exitPaused, []string{"backup", w.path("other"), "--ledger", ledger}, "in use", "other process")
	w.want(exitPaused, []string{"prune", "--dry-run", "--ledger", ledger}, "in use")
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestPruneRemovesOldRuns(t *testing.T) {
	w := newWorld(t, 4)
	ledger := w.path("ledger")
	var ids []string
	for range 3 {
		w.want(exitDone, w.job("--out", w.path("out-"+string(rune('a'+len(ids)))+".jsonl")))
		ids = append(ids, w.runID())
	}
	w.want(exitUsage, []string{"prune", "--ledger", ledger}, "--by is missing", "--dry-run")
	w.want(exitUsage, []string{"prune", "--ledger", ledger, "--by", "Ada", "--keep", "0"}, "--keep")
	w.want(exitDone, []string{"prune", "--ledger", ledger, "--dry-run"}, "2 runs would be removed", ids[2]+" of job tickets", "stays: among the newest")
	w.want(exitDone, []string{"verify", ids[0], "--ledger", ledger}, "adds up")
	w.want(exitDone, []string{"prune", "--ledger", ledger, "--by", "Ada", "--older-than", "1h"}, "0 runs removed", "not old enough")
	w.want(exitDone, []string{"prune", "--ledger", ledger, "--by", "Ada", "--keep", "2", "--json"}, `"removed":true`)
	w.want(exitDone, []string{"prune", "--ledger", ledger, "--by", "Ada"}, "1 run removed")
	w.want(exitNotFound, []string{"show", ids[0], "--ledger", ledger})
	w.want(exitDone, []string{"verify", "--ledger", ledger}, ids[2], "adds up")
	w.want(exitDone, []string{"show", "tickets", "--ledger", ledger}, ids[2])
}

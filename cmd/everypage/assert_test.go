package main

import (
	"encoding/json"
	"testing"

	"github.com/everypage-go/everypage/store/pebblestore"
)

// asserts asks for a job and checks both answers.
func (w *world) asserts(code int, why string, args ...string) map[string]any {
	w.Helper()
	args = append([]string{"assert", "tickets", "--ledger", w.path("ledger")}, args...)
	plain := w.want(code, args)
	got := w.want(code, append(args, "--json"))
	var answer map[string]any
	if err := json.Unmarshal([]byte(got.out), &answer); err != nil {
		w.Fatalf("%v\n%s", err, got.out)
	}
	if answer["vouched"] != (code == exitDone) || (why == "") != (answer["why"] == nil) || why != "" && answer["why"] != why {
		w.Errorf("%v: it answers %v", args, answer)
	}
	if code != exitDone && (answer["next"] == "" || plain.out != "" || got.err != plain.err) {
		w.Errorf("%v: it says %q and %q, and what to do next: %v", args, plain.out, plain.err, answer["next"])
	}
	return answer
}

func TestAssertCommand(t *testing.T) {
	w := newWorld(t, 7)
	w.asserts(exitNotFound, "no_ledger")
	w.pause()
	w.asserts(exitClaim, "not_complete", "--max-age", "24h")
	w.want(exitNotFound, []string{"assert", "other", "--ledger", w.path("ledger")}, "no_run", "everypage runs")
	w.want(exitDone, w.toFile("--force"))
	answer := w.asserts(exitDone, "", "--max-age", "24h", "--newest")
	if receipt, _ := answer["receipt"].(map[string]any); receipt["status"] != "complete" || receipt["run_id"] != w.runID() {
		t.Errorf("it answers with the receipt %v", receipt)
	}
	w.want(exitDone, []string{"assert", "tickets", "--ledger", w.path("ledger")}, "job tickets is vouched for by run "+w.runID(), "7 items done, 3 pages")
	w.want(exitUsage, []string{"assert", "tickets", "--ledger", w.path("ledger"), "--max-age", "-1h"}, "--max-age is negative")
	w.want(exitUsage, []string{"assert", "--ledger", w.path("ledger")}, "needs a job's name")

	w.asserts(exitClaim, "too_old", "--max-age", "1ns")

	ledger, err := pebblestore.Open(w.path("ledger"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ledger.Close() })
	w.asserts(exitPaused, "in_use")
}

package main

import (
	"strings"
	"testing"

	"github.com/everypage-go/everypage/internal/simapi"
)

// A conflict is for a person, who accepts it by name, and the run is complete.
func TestConflictIsAccepted(t *testing.T) {
	w := newWorld(t, 6)
	w.list.List().Duplicate("2", 5)
	ledger := []string{"--ledger", w.path("ledger")}
	w.want(exitReview, w.toFile("--receipt"), " needs review (conflicts_open: 1 conflict is open)", "everypage accept", "--by NAME --note WHY", "duplicate_conflicts: 1\n")
	run := w.runID()
	w.want(exitReview, w.toFile(), "needs review (conflicts_open")
	w.want(exitReview, append([]string{"accept", run, "--by", "Ada", "--note", "known", "--item", "4"}, ledger...), `item "4" is not held`)
	w.want(exitNotFound, append([]string{"accept", "nothing", "--by", "Ada", "--note", "known"}, ledger...), "not in the ledger")
	w.want(exitDone, append([]string{"accept", run, "--by", "Ada", "--note", "a known double"}, ledger...), "is complete: 6 items done")
	w.want(exitDone, append([]string{"show", run}, ledger...), "status: complete", "conflicts_accepted: 1")
	w.want(exitDone, append([]string{"events", run}, ledger...), "Ada", "a known double", "needs_review")
	w.want(exitReview, append([]string{"retry", run, "--by", "Ada"}, ledger...), "a complete run never changes")
	w.wantOnce("out.jsonl", 6)
}

// A lost cursor is for a person, who begins a new listing: what is done stays done,
// and has its line.
func TestSupersededRunKeepsItsLines(t *testing.T) {
	w := newWorld(t, 7)
	w.list.Script().At(2, simapi.Fault{Before: w.list.ExpireCursors})
	w.want(exitReview, w.toFile(), "needs review (cursor_expired", "everypage supersede")
	old := w.runID()
	w.want(exitDone, []string{"supersede", old, "--by", "Ada", "--note", "the cursor expired", "--ledger", w.path("ledger")}, "takes the place of "+old)
	for _, pinned := range []string{"", old} {
		w.want(exitUsage, w.job("--out", w.path("b.jsonl"), "--run-id", pinned), "has done items whose lines are not in it")
	}
	w.want(exitDone, w.toFile(), "4 items done, 3 done by earlier runs")
	w.wantOnce("out.jsonl", 7)
	w.want(exitDone, []string{"show", old, "--ledger", w.path("ledger"), "--json"}, `"superseded_by"`)
}

func TestCredentialsAreNotShown(t *testing.T) {
	w := newWorld(t, 3)
	t.Setenv("EVERYPAGE_TEST_AUTH", "Bearer hidden-1")
	args := w.toFile("--header-env", "Authorization=EVERYPAGE_TEST_AUTH", "--header", "X-Extra: hidden-2", "--verbose", "--receipt")
	args[1] = strings.Replace(w.url, "http://", "http://hidden-3:hidden-4@", 1) + "?api_key=hidden-5&status=overdue"
	got := w.want(exitDone, args, "3 items done")
	ledger := []string{"--ledger", w.path("ledger")}
	for _, command := range [][]string{{"show", "tickets"}, {"runs", "--json"}, {"events", "tickets", "--json"}} {
		more := w.want(exitDone, append(command, ledger...))
		got.out += more.out + more.err
	}
	if strings.Contains(got.out+got.err, "hidden") {
		t.Errorf("a credential is shown:\n%s%s", got.out, got.err)
	}
	request := w.list.Log().Requests()[0]
	if request.Header.Get("Authorization") != "Bearer hidden-1" || request.Header.Get("X-Extra") != "hidden-2" || request.Query.Get("api_key") != "hidden-5" {
		t.Errorf("the request was %v %s", request.Header, request.RawQuery)
	}
}

func TestVersionHelpAndContracts(t *testing.T) {
	w := newWorld(t, 0)
	w.want(exitDone, []string{"--version"}, "everypage ")
	w.want(exitDone, nil, "Exit codes", "demo")
	w.want(exitDone, []string{"run", "--help"}, "EVERYPAGE_KEY", "FILE.everypage", "a second one ends",
		"An edit further up that keeps the length is not noticed", `The action is always "write" here`, "It must close both")
	w.want(exitDone, []string{"retry", "--help"}, "whose key the other side knows with another body", "without stored bytes cannot be tried again")
	w.want(exitDone, []string{"contracts"}, "github-rest", "stripe-v1", "google-aip158", "keyset-catalogue", "keyset-feed")
	shown := w.want(exitDone, []string{"contracts", "show", "keyset-catalogue"}, "rule: flag_false")
	// What is printed loads again.
	w.put("own.yaml", strings.Replace(shown.out, "name: keyset-catalogue", "name: own", 1))
	w.want(exitDone, w.toFile("--contract", w.path("own.yaml"), "--receipt"), "contract: own")
}

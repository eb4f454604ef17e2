package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/store/pebblestore"
)

// wantJSON fails the test unless a text is JSON values, one after the other.
func wantJSON(t *testing.T, words []string, text string) {
	t.Helper()
	decoder, n := json.NewDecoder(strings.NewReader(text)), 0
	for ; ; n++ {
		var value map[string]any
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v: %v\n%s", words, err, text)
		}
	}
	if n == 0 && words[1] != "prune" { // which finds nothing to remove
		t.Errorf("%v: it printed nothing", words)
	}
}

// A shell completes jobs, runs, contracts and words, also while a run has the ledger.
func TestCompletion(t *testing.T) {
	w := newWorld(t, 7)
	w.want(exitDone, w.toFile("--run-id", "march"))
	ledger, err := pebblestore.Open(w.path("ledger"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ledger.Close() })
	at := []string{"--ledger", w.path("ledger")}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{append([]string{"show"}, append(at, "")...), []string{"tickets\tits newest run is complete", "march\tjob tickets, is complete", ":4"}},
		{append([]string{"items"}, append(at, "")...), []string{"tickets", "march"}},
		{append([]string{"retry"}, append(at, "")...), []string{"march"}},
		{append([]string{"assert"}, append(at, "")...), []string{"tickets"}},
		{append([]string{"verify"}, append(at, "")...), []string{"tickets", "march"}},
		{append([]string{"runs"}, append(at, "--job", "")...), []string{"tickets"}},
		{append([]string{"run"}, append(at, "--job", "")...), []string{"tickets"}},
		{append([]string{"run"}, append(at, "--run-id", "")...), []string{"march"}},
		{[]string{"runs", "--status", ""}, []string{"needs_review", "complete"}},
		{[]string{"items", "--state", ""}, []string{"held", "deferred"}},
		{[]string{"run", "--contract", "key"}, []string{"keyset-catalogue\t"}},
		{[]string{"contracts", "show", "str"}, []string{"stripe-v1\t"}},
		{[]string{"drill", "--contract", ""}, []string{"github-rest", "google-aip158"}},
		{[]string{"explain", "cursor_"}, []string{"cursor_expired\tThe API no longer knows the cursor."}},
		{[]string{"completion", ""}, []string{"bash", "zsh", "fish"}},
		{[]string{"show", "--ledger", "/no/such/ledger", ""}, []string{":4"}},
		{[]string{"ex"}, []string{"explain\tSay what a reason means"}},
	} {
		w.want(exitDone, append([]string{"__complete"}, c.args...), c.want...)
	}
	t.Setenv(ledgerVariable, w.path("ledger"))
	w.want(exitDone, []string{"__complete", "show", ""}, "tickets", "march")
	if got := w.want(exitDone, []string{"__complete", "show", "march", ""}); strings.Contains(got.out, "tickets") {
		t.Errorf("a second argument is completed: %s", got.out)
	}
	w.want(exitUsage, []string{"completion", "csh"}, "none of bash, zsh, fish")
}

// Each shell that is here accepts its script.
func TestCompletionScripts(t *testing.T) {
	w := newWorld(t, 3)
	for shell, check := range map[string][]string{
		"bash": {"bash", "-n"}, "zsh": {"zsh", "-n"}, "fish": {"fish", "--no-execute"},
	} {
		script := w.want(exitDone, []string{"completion", shell}, "everypage").out
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%s is not here, so its script was not read by it: install it to try", shell)
			continue
		}
		w.put("script", script)
		if said, err := exec.CommandContext(t.Context(), check[0], append(check[1:], w.path("script"))...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, said)
		}
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/proptest"
)

const wanted = `T-1 Printer on fire
T-2 No network
T-3 Lost badge
T-4 New laptop
T-5 Broken chair
the API said that this is the end: page.next is null
`

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil || out.String() != wanted {
		t.Errorf("got %v and\n%swant\n%s", err, out.String(), wanted)
	}
}

// TestPartial walks a list whose end came and does not count.
func TestPartial(t *testing.T) {
	url, stop, err := serve(t.Context(), helpDesk{partial: true})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := walk(t.Context(), &bytes.Buffer{}, url); err == nil || !strings.Contains(err.Error(), "page.partial=true") {
		t.Errorf("got %v", err)
	}
}

// TestCommand gives the file to the command.
func TestCommand(t *testing.T) {
	folder := t.TempDir()
	command := filepath.Join(folder, "everypage")
	if runtime.GOOS == "windows" {
		command += ".exe"
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", command, "../../cmd/everypage").CombinedOutput(); err != nil {
		t.Fatalf("building the command: %v\n%s", err, out)
	}
	url, stop, err := serve(t.Context(), helpDesk{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	file := filepath.Join(folder, "tickets.jsonl")
	out, err := exec.CommandContext(t.Context(), command, "run", url, "--contract", "tickets.yaml", "--page-size", "2",
		"--job", "tickets", "--ledger", filepath.Join(folder, "ledger"), "--out", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(written, []byte("\n")); lines != 5 {
		t.Errorf("the file has %d lines, want 5:\n%s", lines, written)
	}
}

// TestCases plays scripted cases against the contract in the file. What a case's
// setup says of the endpoint counts for its server alone: the pager is ours.
func TestCases(t *testing.T) {
	contract, err := adapters.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	proptest.TestCases(t, os.DirFS("cases"), &proptest.CaseOptions{
		Pager: func(e proptest.Endpoint) (pager.Pager[json.RawMessage], error) {
			return adapters.List[json.RawMessage](e.Client, contract, e.URL, e.Options)
		},
	})
}

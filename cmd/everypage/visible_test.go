package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/state"
)

// No text of others begins a line of the command's errors.
func TestErrorsAreVisibleAndIndented(t *testing.T) {
	got := describe(usagef("it said \x1b[2J\neverypage: run r is complete, see https://h.test/?token=hidden"))
	if want := "everypage: it said \\u001b[2J\n  run r is complete, see https://h.test/?token=REDACTED"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// On a terminal receipts and JSON are visible, and JSON stays what it was.
func TestReceiptsOnATerminal(t *testing.T) {
	receipt := &state.Receipt{RunID: "r", Job: "j\u202e\U000e0041", Reason: &state.Reason{Code: "x", Detail: "\x1b[31m\u009b\u200b"}}
	var out bytes.Buffer
	std := streams{out: &out, outTerminal: true}
	if err := printReceipt(std.answers(), receipt); err != nil {
		t.Fatal(err)
	}
	encoder := json.NewEncoder(std.answers())
	if err := encoder.Encode(receipt.Job); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(out.String(), visible.Hidden) {
		t.Errorf("it prints %q", out.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var job string
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &job); err != nil || job != receipt.Job {
		t.Errorf("the JSON says %q, %v", job, err)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/state"
)

// Whatever a terminal obeys is shown, and all else stays as it is.
func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"é 日本 \U0001f600 a\tb\nc": "é 日本 \U0001f600 a\tb\nc",
		"\x1b[31mred\x1b]0;x\x07": `\u001b[31mred\u001b]0;x\u0007`,
		"a\rb\x00\x7f":            `a\u000db\u0000\u007f`,
		"\u009b31m":               `\u009b31m`,
		"\x9b31m\xff":             `\x9b31m\xff`,
		"\u202egnp.exe \u2066x":   `\u202egnp.exe \u2066x`,
		"a\u2028b\u200bc\ufeff":   `a\u2028b\u200bc\ufeff`,
		"\U000e0041":              `\udb40\udc41`,
	} {
		if got := visible(text); got != want {
			t.Errorf("visible(%q) is %q, want %q", text, got, want)
		}
	}
	if got := visibleLine("a\nb\tc\x1b"); got != `a\u000ab\u0009c\u001b` {
		t.Errorf("visibleLine gives %q", got)
	}
}

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
	if strings.ContainsFunc(out.String(), isHidden) {
		t.Errorf("it prints %q", out.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var job string
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &job); err != nil || job != receipt.Job {
		t.Errorf("the JSON says %q, %v", job, err)
	}
}

package state_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/state"
)

const document = "../docs/state-machine.md"

// between returns what stands between two marks of the document, marks excluded.
func between(t *testing.T, text, name string) (before, part, after string) {
	t.Helper()
	begin, end := "<!-- "+name+": generated -->\n", "<!-- end of "+name+" -->"
	before, rest, ok := strings.Cut(text, begin)
	part, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no part between %q and %q", document, begin, end)
	}
	return before + begin, part, end + after
}

// The document holds the table of transitions and the reasons with their remedies
// as the code has them: go test ./state -update.
func TestDocument(t *testing.T) {
	diagram, err := state.Diagram()
	if err != nil {
		t.Fatal(err)
	}
	var reasons strings.Builder
	reasons.WriteString("| reason | meaning | what can be done |\n| --- | --- | --- |\n")
	for _, e := range state.Explanations() {
		var remedies []string
		for _, remedy := range e.Remedies {
			remedies = append(remedies, strings.ReplaceAll(string(remedy), "_", " "))
		}
		if e.NeedsInstant {
			remedies = append(remedies, "by force where no instant was given")
		}
		fmt.Fprintf(&reasons, "| `%s` | %s | %s |\n", e.Code, e.Meaning, strings.Join(remedies, ", "))
	}
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, part := range []struct{ name, want string }{
		{"diagram", "```mermaid\n" + strings.TrimSpace(diagram) + "\n```\n"},
		{"reasons", reasons.String()},
	} {
		before, got, after := between(t, text, part.name)
		if *update {
			text = before + part.want + after
			got = part.want
		}
		if got != part.want {
			t.Errorf("the %s in %s is\n%s\nand the code has\n%s\nIf that is meant, go test ./state -update", part.name, document, got, part.want)
		}
	}
	if *update {
		if err := os.WriteFile(document, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, status := range state.Statuses() {
		if !strings.Contains(text, "`"+string(status)+"`") {
			t.Errorf("%s does not name the status %s", document, status)
		}
	}
}

package state_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/state"
)

// between returns what stands between two marks of a document, marks excluded.
func between(t *testing.T, document, text, name string) (before, part, after string) {
	t.Helper()
	begin, end := "<!-- "+name+": generated -->\n", "<!-- end of "+name+" -->"
	before, rest, ok := strings.Cut(text, begin)
	part, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no part between %q and %q", document, begin, end)
	}
	return before + begin, part, end + after
}

// reasonTable is the reasons of a run with their remedies.
func reasonTable() string {
	var table strings.Builder
	table.WriteString("| reason | meaning | what can be done |\n| --- | --- | --- |\n")
	for _, e := range state.Explanations() {
		var remedies []string
		for _, remedy := range e.Remedies {
			remedies = append(remedies, strings.ReplaceAll(string(remedy), "_", " "))
		}
		if e.NeedsInstant {
			remedies = append(remedies, "by force where no instant was given")
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", e.Code, e.Meaning, strings.Join(remedies, ", "))
	}
	return table.String()
}

// adviceTable is what to do about each code.
func adviceTable(explanations []state.Explanation) string {
	var table strings.Builder
	table.WriteString("| code | what happened | what to do |\n| --- | --- | --- |\n")
	for _, e := range explanations {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", e.Code, e.Meaning, e.Advice)
	}
	return table.String()
}

// The documents hold the table of transitions and the reasons with their remedies
// as the code has them: go test ./state -update.
func TestDocuments(t *testing.T) {
	diagram, err := state.Diagram()
	if err != nil {
		t.Fatal(err)
	}
	diagram = "```mermaid\n" + strings.TrimSpace(diagram) + "\n```\n"
	for _, part := range []struct{ document, name, want string }{
		{"../docs/state-machine.md", "diagram", diagram},
		{"../docs/state-machine.md", "reasons", reasonTable()},
		{"../docs/concepts.md", "diagram", diagram},
		{"../docs/operating.md", "reasons", adviceTable(state.Explanations())},
		{"../docs/operating.md", "holds", adviceTable(state.HoldExplanations())},
	} {
		data, err := os.ReadFile(part.document)
		if err != nil {
			t.Fatal(err)
		}
		before, got, after := between(t, part.document, string(data), part.name)
		if *update {
			if err := os.WriteFile(part.document, []byte(before+part.want+after), 0o600); err != nil {
				t.Fatal(err)
			}
			got = part.want
		}
		if got != part.want {
			t.Errorf("the %s in %s is\n%s\nand the code has\n%s\nIf that is meant, go test ./state -update", part.name, part.document, got, part.want)
		}
	}
}

// The document explains each status.
func TestDocument_Statuses(t *testing.T) {
	const document = "../docs/state-machine.md"
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range state.Statuses() {
		if !strings.Contains(string(text), "`"+string(status)+"`") {
			t.Errorf("%s does not name the status %s", document, status)
		}
	}
}

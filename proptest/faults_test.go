package proptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// faultRow is a planted fault with what caught it.
type faultRow struct{ fault, property, checks string }

// faultsVariable asks TestFaults for the broken engines too, each of which has to be
// compiled: "check" compares the table in docs/verification.md, "write" writes it.
const faultsVariable = "EVERYPAGE_FAULTS"

// TestFaults plants faults, one at a time, and fails unless each is caught by the
// property that names it within the default number of checks. The table of all of
// them stands in docs/verification.md: make faults.
func TestFaults(t *testing.T) {
	rows := slices.Concat(pagerFaults(t), storeFaults(t), handlerFaults(t))
	switch mode := os.Getenv(faultsVariable); mode {
	case "":
		t.Log("the broken engines are left out, since each has to be compiled: make faults-check plants them, too")
		compareTable(t, rows, false)
	case "check", "write":
		rows = append(rows, engineFaults(t)...)
		if mode == "write" {
			writeTable(t, rows)
		}
		compareTable(t, rows, true)
		for _, r := range rows {
			t.Logf("%-75s %-60s %s", r.fault, r.property, r.checks)
		}
	default:
		t.Fatalf("%s is %q; it may be empty, check or write", faultsVariable, mode)
	}
}

const (
	faultsDocument = "../docs/verification.md"
	faultsBegin    = "<!-- faults:begin -->\n"
	faultsEnd      = "<!-- faults:end -->"
)

// kept returns the table in the document, and what stands around it.
func keptTable(t *testing.T) (before, table, after string) {
	t.Helper()
	text, err := os.ReadFile(faultsDocument)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), faultsBegin)
	table, after, ends := strings.Cut(rest, faultsEnd)
	if !begins || !ends {
		t.Fatalf("%s has no part between %q and %q", faultsDocument, faultsBegin, faultsEnd)
	}
	return before + faultsBegin, table, faultsEnd + after
}

func writeTable(t *testing.T, rows []faultRow) {
	t.Helper()
	before, _, after := keptTable(t)
	var table strings.Builder
	table.WriteString("| fault | caught by | checks |\n| --- | --- | --- |\n")
	for _, r := range rows {
		fmt.Fprintf(&table, "| %s | %s | %s |\n", r.fault, r.property, r.checks)
	}
	if err := os.WriteFile(faultsDocument, []byte(before+table.String()+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// compareTable checks that the document names the same faults and properties. How
// many checks a fault takes depends on chance.
func compareTable(t *testing.T, rows []faultRow, all bool) {
	t.Helper()
	_, table, _ := keptTable(t)
	for _, r := range rows {
		if !strings.Contains(table, fmt.Sprintf("| %s | %s | ", r.fault, r.property)) {
			t.Errorf("%s does not have the fault %q, caught by %s: make faults", faultsDocument, r.fault, r.property)
		}
	}
	if n := strings.Count(table, "\n") - 2; all && n != len(rows) {
		t.Errorf("%s has %d faults, and %d were planted: make faults", faultsDocument, n, len(rows))
	}
}

// brokenEngine is a change of one place in the engine's source.
type brokenEngine struct {
	name, property string
	file, old, new string
}

func brokenEngines() []brokenEngine {
	return []brokenEngine{
		{
			"an engine that moves on while an item is pending", "page-settled-before-next", "walk.go",
			"r.handle(ctx, tasks, ", "r.handle(ctx, tasks[:max(0, len(tasks)-1)], ",
		},
		{
			"an engine that makes a new key when it calls again", "same-key", "call.go",
			"Key: w.keys.of(t.item.ID)", "Key: w.keys.of(t.item.ID)[max(0, t.record.Attempts-1):]",
		},
		{
			"an engine that completes although items are held", "nothing-lost", "state/receipt.go",
			"if r.HeldCount > 0 {", "if r.HeldCount < 0 {",
		},
		{
			"an engine that does not look at vetoes", "end-observed", "state/receipt.go",
			"case r.TerminalObserved:", "case r.TerminalObserved || len(r.Vetoes) > 0:",
		},
		{
			"an engine that leaves out what was created at the cutoff", "cutoff-closed", "record.go",
			"case e.item.CreatedAt.After(cutoff):", "case !e.item.CreatedAt.Before(cutoff):",
		},
		{
			"an engine that follows a cursor it has read before", "opaque-cursor", "walk.go",
			"if found && r.book.current().Repeats >= r.list.RepeatLimit {", "if found && r.book.current().Repeats > r.list.RepeatLimit+1000 {",
		},
		{
			"an engine that takes a second sight of an item for the first", "duplicate-once", "record.go",
			"r.conflict(sh, e.item, known.Page)", "_ = known.Page",
		},
		{
			"an engine that calls again what is in doubt under at-most-once", "at-most-once", "judge.go",
			"case w.job.AtMostOnce && !none:", "case w.job.AtMostOnce && !none && t.record.Attempts > 1000:",
		},
		{
			"an engine that holds no job", "one-runner", "run.go",
			"release, err := ledger.Hold(ctx, job.Name)", "release, err := func() {}, error(nil)",
		},
		{
			"an engine that does not compare page sizes", "fixed-definition", "begin.go",
			"compare(\"page_size\", strconv.Itoa(recorded.PageSize), strconv.Itoa(given.PageSize))", "_ = strconv.Itoa",
		},
	}
}

// engineFaults plants each fault in a copy of the engine, by go test -overlay, and
// runs the machine on it.
func engineFaults(t *testing.T) (rows []faultRow) {
	t.Helper()
	for _, b := range brokenEngines() {
		t.Run(b.name, func(t *testing.T) {
			checks := b.caught(t)
			rows = append(rows, faultRow{b.name, b.property, checks})
		})
	}
	return rows
}

var failedAfter = regexp.MustCompile(`failed after (\d+) tests: ([a-z-]+):`)

// caught runs the machine on the broken engine and returns after how many checks the
// property caught it.
func (b brokenEngine) caught(t *testing.T) (checks string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, filepath.FromSlash(b.file))
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(source, []byte(b.old)); n != 1 {
		t.Fatalf("%s has %q %d times, want once: the fault has to follow the engine", b.file, b.old, n)
	}
	folder := t.TempDir()
	broken, overlay := filepath.Join(folder, "broken.go"), filepath.Join(folder, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {path: broken}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, bytes.Replace(source, []byte(b.old), []byte(b.new), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count=1", "-timeout=5m",
		"-run=TestMachineMemory", ".", "-rapid.nofailfile", "-rapid.shrinktime=1ms")
	cmd.Env = append(os.Environ(), faultsVariable+"=")
	said, _ := cmd.CombinedOutput() // that it fails is what we want
	for _, m := range failedAfter.FindAllSubmatch(said, -1) {
		passed, err := strconv.Atoi(string(m[1]))
		if err == nil && string(m[2]) == b.property {
			return strconv.Itoa(passed + 1) // the one that failed included
		}
	}
	t.Errorf("it is not caught by %s, but by %q:\n%s", b.property, failedAfter.FindAll(said, -1), said[:min(len(said), 2000)])
	return "never"
}

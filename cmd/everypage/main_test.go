package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/internal/simapi"
)

// asCommand makes the test binary be the command, so that a test can start it as
// a process, and kill it.
const asCommand = "EVERYPAGE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == asHandler {
		os.Exit(handlerNamed(os.Args[2])(call{dir: os.Args[3]}))
	}
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// world is a list API on loopback, and a folder for what the command writes.
type world struct {
	*testing.T
	list *simapi.Server
	url  string
	dir  string
}

func newWorld(t *testing.T, tickets int) *world {
	t.Helper()
	first := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	list := simapi.NewServer(simapi.KeysetCatalogue, simapi.NewList(simapi.NumberedTickets(first, tickets)...), nil)
	base, stop, err := simapi.Serve(list)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return &world{T: t, list: list, url: base + list.Path(), dir: t.TempDir()}
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// job returns a command line that runs a job, with more flags behind it.
func (w *world) job(more ...string) []string {
	return append([]string{"run", w.url, "--contract", "keyset-catalogue", "--job", "tickets", "--page-size", "3", "--ledger", w.path("ledger")}, more...)
}

// toFile returns a command line that writes to a file.
func (w *world) toFile(more ...string) []string {
	return w.job(append([]string{"--out", w.path("out.jsonl")}, more...)...)
}

// result is what a command line did.
type result struct {
	code     int
	out, err string
}

// run runs a command line in this process.
func (w *world) run(args ...string) result {
	w.Helper()
	return runIn(w.Context(), args...)
}

func runIn(ctx context.Context, args ...string) result {
	var out, errs bytes.Buffer
	code := execute(ctx, streams{out: &out, err: &errs}, args)
	return result{code, out.String(), errs.String()}
}

// want fails the test unless a command line ends with a code, and says all of the
// given texts on standard output or standard error.
func (w *world) want(code int, args []string, texts ...string) result {
	w.Helper()
	got := w.run(args...)
	if got.code != code {
		w.Fatalf("everypage %s\nexit code %d, want %d\n%s%s", strings.Join(args, " "), got.code, code, got.out, got.err)
	}
	for _, text := range texts {
		if !strings.Contains(got.out+got.err, text) {
			w.Errorf("everypage %s\ndoes not say %q:\n%s%s", strings.Join(args, " "), text, got.out, got.err)
		}
	}
	return got
}

// runID returns the ID of the newest run.
func (w *world) runID() string {
	w.Helper()
	got := w.want(exitDone, []string{"runs", "--ledger", w.path("ledger")})
	lines := strings.Split(got.out, "\n")
	if len(lines) < 2 {
		w.Fatalf("no runs: %s", got.out)
	}
	return strings.Fields(lines[1])[0]
}

// command returns a process of the command.
func (w *world) command(args ...string) *exec.Cmd {
	w.Helper()
	self, err := os.Executable()
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.CommandContext(w.Context(), self, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	return cmd
}

// ids returns the IDs in a file of JSON lines, in order.
func (w *world) ids(name string) []string {
	w.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		w.Fatal(err)
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		w.Fatalf("%s ends inside a line: %q", name, data[max(0, len(data)-80):])
	}
	var ids []string
	for line := range bytes.Lines(data) {
		var item struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(line, &item); err != nil {
			w.Fatalf("%s has a line that is no JSON: %q", name, line)
		}
		ids = append(ids, item.ID)
	}
	return ids
}

// wantOnce fails the test unless a file has each ID from 1 to n exactly once.
func (w *world) wantOnce(name string, n int) {
	w.Helper()
	seen := make(map[string]int)
	for _, id := range w.ids(name) {
		seen[id]++
	}
	for id, times := range seen {
		if times != 1 {
			w.Errorf("%s has item %s %d times", name, id, times)
		}
	}
	if len(seen) != n {
		w.Errorf("%s has %d items, want %d", name, len(seen), n)
	}
}

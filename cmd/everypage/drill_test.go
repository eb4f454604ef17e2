package main

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/everypage-go/everypage/internal/drill"
	"github.com/everypage-go/everypage/internal/simapi"
)

// drills runs a drill and returns what failed: its advice, by test.
func (w *world) drills(args ...string) map[string]string {
	w.Helper()
	w.Setenv(asCommand, "1") // the drill starts this program once more
	got := w.run(append([]string{"drill", "--json"}, args...)...)
	var answer drillAnswer
	if err := json.Unmarshal([]byte(got.out), &answer); err != nil {
		w.Fatalf("%v: exit code %d\n%s%s", err, got.code, got.out, got.err)
	}
	failed := make(map[string]string)
	for _, r := range answer.Tests {
		if !r.Passed {
			failed[r.Test] = r.Advice + " " + r.Happened
		}
	}
	want := exitDone
	if len(failed) > 0 {
		want = exitClaim
	}
	if got.code != want || answer.Passed != (want == exitDone) || len(answer.Tests) != 6 {
		w.Errorf("exit code %d with %d of %d tests failed", got.code, len(failed), len(answer.Tests))
	}
	return failed
}

// The programs in the help do what the help says.
func TestDrillOfTheProgramsInItsHelp(t *testing.T) {
	for _, tool := range []string{"sh", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the programs in the help are written for sh, curl and jq, and %s is not here: install it to try them", tool)
		}
	}
	w := newWorld(t, 3)
	scripts := strings.Split(drillHelp, "  #!/bin/sh\n")
	if len(scripts) != 3 {
		t.Fatalf("there are %d programs in the help, want 2", len(scripts)-1)
	}
	for i, name := range []string{"walk.sh", "handler.sh"} {
		text, _, _ := strings.Cut(scripts[i+1], "\n\n")
		path := filepath.Join(w.dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+strings.ReplaceAll("\n"+text, "\n  ", "\n")+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		args := []string{"--", path}
		if name == "handler.sh" {
			args = append([]string{"--handler"}, args...)
		}
		if failed := w.drills(args...); len(failed) > 0 {
			t.Errorf("%s: %v", name, failed)
		}
	}
}

func TestDrillOfAHandler(t *testing.T) {
	w := newWorld(t, 3)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if failed := w.drills("--handler", "--", self, asHandler, "drill-good", w.dir); len(failed) > 0 {
		t.Errorf("a good handler: %v", failed)
	}
	failed := w.drills("--handler", "--", self, asHandler, "drill-own-key", w.dir)
	if len(failed) != 1 || !strings.Contains(failed["kill-on-page-2"], "twice") {
		t.Errorf("a handler with keys of its own: %v", failed)
	}
	failed = w.drills("--handler", "--", self, asHandler, "drill-blind", w.dir)
	if !strings.Contains(failed["all-pages"], "$EVERYPAGE_DRILL_SINK_URL") {
		t.Errorf("a handler that does not use the sink: %v", failed)
	}
}

// endpoint is a user's own: it honours keys, or does not.
type endpoint struct {
	honours, authorized bool

	mu     sync.Mutex
	first  map[string][]byte
	posted int
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = io.Copy(io.Discard, r.Body)
	if e.authorized && r.Header.Get("Authorization") != "Bearer secret" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	e.posted++
	key := r.Header.Get("Idempotency-Key")
	body, again := e.first[key]
	if !again || !e.honours {
		body, _ = json.Marshal(map[string]int{"id": e.posted})
		e.first[key] = body
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(body)
}

func TestDrillOfAURL(t *testing.T) {
	w := newWorld(t, 3)
	serve := func(e *endpoint) string {
		e.first = make(map[string][]byte)
		address, stop, err := simapi.Serve(e)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		return address + "/items"
	}
	if failed := w.drills("--url", serve(&endpoint{honours: true})); len(failed) > 0 {
		t.Errorf("an endpoint that honours keys: %v", failed)
	}
	failed := w.drills("--url", serve(&endpoint{}))
	if len(failed) != 1 || !strings.Contains(failed["kill-on-page-2"], "keep the first answer") {
		t.Errorf("an endpoint that ignores keys: %v", failed)
	}
	guarded := serve(&endpoint{honours: true, authorized: true})
	if failed := w.drills("--url", guarded); !strings.Contains(failed["all-pages"], "status 401") {
		t.Errorf("an endpoint that refuses: %v", failed)
	}
	t.Setenv("EVERYPAGE_TEST_AUTH", "Bearer secret")
	if failed := w.drills("--url", guarded, "--header-env", "Authorization=EVERYPAGE_TEST_AUTH"); len(failed) > 0 {
		t.Errorf("an endpoint that asks for a header: %v", failed)
	}
}

func TestDrillTable(t *testing.T) {
	results := []drill.Result{
		{Test: "all-pages", Expected: "7 items", Happened: "exit 0; A once", Passed: true},
		{Test: "kill-on-page-2", Expected: "killed", Happened: "it said \"" + strings.Repeat("/very/long", 30) + "\x1b[31m\"", Advice: "Send the same key."},
	}
	for _, width := range []int{0, 70, 80, 200} {
		var out strings.Builder
		if err := printDrill(streams{out: &out, width: width}, results); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"TEST", "EXPECTED", "HAPPENED", "ok    all-pages", "FAIL  kill-on-page-2", "To mend:", "key."} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("at %d columns the table does not have %q:\n%s", width, want, out.String())
			}
		}
		for line := range strings.Lines(out.String()) {
			if limit := cmp.Or(width, drillWidth); len(strings.TrimRight(line, "\n")) > limit || strings.Contains(line, "\x1b") {
				t.Errorf("at %d columns a line is too long, or obeyed: %q", width, line)
			}
		}
	}
}

func TestDrillOfNothing(t *testing.T) {
	w := newWorld(t, 3)
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "say what to drill"},
		{[]string{"./walk.sh"}, "behind --"},
		{[]string{"--url", "http://h.test", "--", "true"}, "exclude each other"},
		{[]string{"--url", "h.test/items"}, "--url has to be an absolute"},
		{[]string{"--url", "http://h.test", "--handler"}, "leave it out beside --url"},
		{[]string{"--contract", "none", "--", "true"}, "keyset-catalogue, stripe-v1"},
		{[]string{"--contract", "stripe-v1", "--handler", "--", "true"}, "leave it out here"},
		{[]string{"--timeout", "0", "--", "true"}, "--timeout is 0s"},
		{[]string{"--header", "A: b", "--", "true"}, "need --url"},
		{[]string{"--", "/no/such/program"}, "the program cannot be run"},
	} {
		w.want(exitUsage, append([]string{"drill"}, c.args...), c.says)
	}
}

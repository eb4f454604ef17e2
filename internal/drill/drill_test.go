package drill

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/everypage-go/everypage/internal/simapi"
)

// asProgram names the program that the test binary is, where it is started as one.
const asProgram = "EVERYPAGE_DRILL_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if name := os.Getenv(asProgram); name != "" {
		os.Exit(programs[name].walk())
	}
	goleak.VerifyTestMain(m)
}

func drilled(t *testing.T, name string, contract simapi.Contract) map[string]Result {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	results, err := Run(t.Context(), Options{
		Start: func(ctx context.Context, place Place) (*exec.Cmd, error) {
			cmd := exec.CommandContext(ctx, self)
			cmd.Env = append(os.Environ(), asProgram+"="+name,
				"LIST="+place.List, "SINK="+place.Sink, "DIR="+place.Dir, "CONTRACT="+string(contract),
				"GORACE=atexit_sleep_ms=0") // under the race detector each of many processes would end a second later
			return cmd, nil
		},
		Kill:     func(cmd *exec.Cmd) { _ = cmd.Process.Kill() },
		Contract: contract, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]Result)
	for _, r := range results {
		byName[r.Test] = r
		if r.Passed != (r.Advice == "") || r.Happened == "" || r.Expected == "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if len(byName) != len(tests()) {
		t.Fatalf("%d results of %d tests", len(byName), len(tests()))
	}
	return byName
}

// A good program passes whatever the list's contract is, also one that begins at the
// start again after a kill.
func TestGoodProgramsPass(t *testing.T) {
	for _, contract := range Contracts() {
		for _, r := range drilled(t, "good", contract) {
			if !r.Passed {
				t.Errorf("%s: %+v", contract, r)
			}
		}
	}
	for _, r := range drilled(t, "remembers", simapi.KeysetCatalogue) {
		if !r.Passed {
			t.Errorf("remembers: %+v", r)
		}
	}
}

// A bad one fails just where its fault is, and is told what to mend.
func TestBadProgramsFail(t *testing.T) {
	for _, c := range []struct {
		program string
		fails   map[string]string // by test, a part of the advice
	}{
		{"first page only", map[string]string{
			"all-pages": "follow the cursor", "kill-on-page-2": "at that of E", "item-added": "follow the cursor", "repeated-id": "follow the cursor",
			"lost-cursor": "says done", "repeated-cursor": "says done",
		}},
		{"no keys", map[string]string{"kill-on-page-2": "twice", "repeated-id": "twice", "repeated-cursor": "circle"}},
		{"a key for each attempt", map[string]string{"kill-on-page-2": "twice", "repeated-id": "twice"}},
		{"done without a cursor", map[string]string{"lost-cursor": "says done"}},
		{"done at a repeated cursor", map[string]string{"repeated-cursor": "says done"}},
		{"walks in circles", map[string]string{"repeated-cursor": "circle"}},
		{"skips after a kill", map[string]string{"kill-on-page-2": "missing"}},
		{"does nothing", map[string]string{
			"all-pages": "saw nothing", "kill-on-page-2": "at that of E", "item-added": "saw nothing", "repeated-id": "saw nothing",
			"lost-cursor": "says done", "repeated-cursor": "says done",
		}},
	} {
		t.Run(c.program, func(t *testing.T) {
			for name, r := range drilled(t, c.program, simapi.KeysetCatalogue) {
				advice, fails := c.fails[name]
				if r.Passed == fails || !strings.Contains(r.Advice, advice) {
					t.Errorf("%s: passed %t, want advice with %q: %+v", name, r.Passed, advice, r)
				}
			}
		})
	}
}

// A program that hangs is ended, and that is said.
func TestAHangingProgramIsEnded(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	results, err := Run(t.Context(), Options{
		Start: func(ctx context.Context, _ Place) (*exec.Cmd, error) {
			cmd := exec.CommandContext(ctx, self)
			cmd.Env = append(os.Environ(), asProgram+"=hangs")
			return cmd, nil
		},
		Kill: func(cmd *exec.Cmd) { _ = cmd.Process.Kill() }, Now: time.Now, Patience: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Passed || !strings.Contains(r.Happened, "took too long") {
			t.Errorf("%+v", r)
		}
	}
}

// Who stops the drill stops the program, too.
func TestADrillCanBeStopped(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Run(ctx, Options{
		Start: func(ctx context.Context, _ Place) (*exec.Cmd, error) {
			cmd := exec.CommandContext(ctx, self)
			cmd.Env = append(os.Environ(), asProgram+"=hangs")
			cancel()
			return cmd, nil
		},
		Kill: func(cmd *exec.Cmd) { _ = cmd.Process.Kill() }, Now: time.Now,
	})
	if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("Run returns %v", err)
	}
}

//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// script returns a command line that hands items to a shell script. $DIR is the
// world's folder.
func (w *world) script(text string, flags ...string) []string {
	args := w.job(append([]string{"--action", "greet", "--attempts", "1"}, flags...)...)
	return append(args, "--", "/bin/sh", "-c", "DIR="+word(w.dir)+"\n"+text)
}

func TestCommandGetsTheItemAndItsKey(t *testing.T) {
	w := newWorld(t, 4)
	w.want(exitDone, w.script(`cat >> "$DIR/got.jsonl"; echo "$EVERYPAGE_KEY $EVERYPAGE_ITEM_ID $EVERYPAGE_RUN_ID $EVERYPAGE_ATTEMPT" >> "$DIR/env"; echo said`, "--run-id", "r"), "said\nsaid\nsaid\nsaid\n", "4 items done")
	w.wantOnce("got.jsonl", 4)
	if got, want := w.get("env"), "r|1|greet 1 r 1\nr|2|greet 2 r 1\nr|3|greet 3 r 1\nr|4|greet 4 r 1\n"; got != want {
		t.Errorf("the environment was %q, want %q", got, want)
	}
}

func TestCommandExitCodes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		code       int
		says       []string
		calls      string
	}{
		{"75 pauses the run", `exit 75`, exitPaused, []string{"is paused (sink_limited: ", "5 pending, 2 pages"}, "1 2 3 4 5 5"},
		{"65 holds the item", `echo no such customer >&2; exit 65`, exitReview, []string{"(items_held: 1 item is held)", "6 items done, 1 held", "everypage retry"}, "1 2 3 4 5 6 7 5"},
		{"others are tried again, then held", `echo down >&2; exit 3`, exitReview, []string{"1 held"}, "1 2 3 4 5 6 7 5"},
		{"a signal too", `kill -9 $$`, exitReview, []string{"1 held"}, "1 2 3 4 5 6 7 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 7)
			text := `echo "$EVERYPAGE_ITEM_ID" >> "$DIR/calls"; test "$EVERYPAGE_ITEM_ID" != 5 && exit 0; test -e "$DIR/well" && exit 0; ` + c.text
			says := c.says
			if c.code == exitPaused {
				says = []string{c.says[0], "4 items done, 2 pending, 2 pages"}
			}
			w.want(c.code, w.script(text, "--wait", "0"), says...)
			if c.code == exitReview {
				items := w.want(exitDone, []string{"items", "tickets", "--ledger", w.path("ledger"), "--state", "held", "--json"}, `"id":"5"`, `|5|greet"`, `"payload":{"id":"5"`)
				if strings.Contains(c.text, "echo") && !strings.Contains(items.out, "the command failed: exit status") {
					t.Errorf("the hold queue does not say why: %s", items.out)
				}
				w.want(exitDone, []string{"retry", w.runID(), "--by", "me", "--ledger", w.path("ledger")}, "is open again", "run the job again")
			}
			w.put("well", "")
			w.want(exitDone, w.script(text, "--force"), "7 items done")
			if got := strings.Join(strings.Fields(w.get("calls")), " "); got != c.calls && c.code != exitPaused || !strings.HasPrefix(got, "1 2 3 4 5") {
				t.Errorf("called for %s, want %s", got, c.calls)
			}
		})
	}
}

func TestCommandThatIsNotThere(t *testing.T) {
	w := newWorld(t, 1)
	w.want(exitUsage, w.job("--action", "greet", "--", "/no/such/command"), "the command cannot be run")
	if _, err := os.Stat(w.path("ledger")); err == nil {
		t.Error("a ledger was made for it")
	}
}

// transcript is what a process says on standard error.
type transcript struct {
	mu    sync.Mutex
	text  strings.Builder
	added chan struct{} // has one element where something was added
}

func (s *transcript) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.added <- struct{}{}:
	default:
	}
	return s.text.Write(data)
}

func (s *transcript) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// wait returns the rest of the first line that begins with a text, once it is
// there.
func (s *transcript) wait(t *testing.T, start string) string {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		for line := range strings.Lines(s.String()) {
			if rest, ok := strings.CutPrefix(line, start); ok && strings.HasSuffix(line, "\n") {
				return strings.TrimSpace(rest)
			}
		}
		select {
		case <-s.added:
		case <-late:
			t.Fatalf("nobody says %q:\n%s", start, s)
		}
	}
}

// start starts a process of the command.
func (w *world) start(args []string) (*exec.Cmd, *transcript) {
	w.Helper()
	cmd, said := w.command(args...), &transcript{added: make(chan struct{}, 1)}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	return cmd, said
}

func (w *world) signal(cmd *exec.Cmd, s os.Signal) {
	w.Helper()
	if err := cmd.Process.Signal(s); err != nil {
		w.Fatal(err)
	}
}

func TestInterruptStopsTheCommandAndPauses(t *testing.T) {
	w := newWorld(t, 7)
	// The shell starts a process of its own, which must be stopped as well.
	const text = `test "$EVERYPAGE_ITEM_ID" != 5 && exit 0; test -e "$DIR/well" && exit 0; sleep 60 & echo "sleeper $!" >&2; wait`
	cmd, said := w.start(w.script(text))
	sleeper := said.wait(t, "sleeper ")
	w.signal(cmd, os.Interrupt)
	_ = cmd.Wait() // its exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != exitPaused {
		t.Errorf("exit code %d\n%s", code, said)
	}
	for _, want := range []string{"pausing the run; once more ends it at once", "is paused (cancelled: stopped by a signal)", "4 items done, 2 pending", "To go on, run the same command again"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("does not say %q:\n%s", want, said)
		}
	}
	pid, err := strconv.Atoi(sleeper)
	if err != nil {
		t.Fatal(err)
	}
	if !gone(pid) {
		t.Error("what the command started still runs")
	}
	w.put("well", "")
	w.want(exitDone, w.script(text), "7 items done")
}

// gone reports whether a process ends within a moment, or has and nobody has read
// its exit.
func gone(pid int) bool {
	for range 500 {
		state, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || strings.Contains(string(state), ") Z ") {
			return true
		}
		<-time.After(10 * time.Millisecond)
	}
	return false
}

func TestSecondInterruptEndsAtOnce(t *testing.T) {
	w := newWorld(t, 7)
	const text = `test "$EVERYPAGE_ITEM_ID" != 5 && exit 0; test -e "$DIR/well" && exit 0; trap "" TERM; echo there >&2; while :; do sleep 1; done`
	cmd, said := w.start(w.script(text))
	said.wait(t, "there")
	began := time.Now()
	w.signal(cmd, syscall.SIGTERM)
	said.wait(t, "everypage: pausing the run")
	w.signal(cmd, syscall.SIGTERM)
	_ = cmd.Wait() // its exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != exitPaused || time.Since(began) > programGrace/2 {
		t.Errorf("exit code %d after %s\n%s", code, time.Since(began), said)
	}
	w.put("well", "")
	w.want(exitDone, w.script(text, "--attempts", "3"), "7 items done")
}

func TestAtMostOnceLetsTheCommandFinish(t *testing.T) {
	w := newWorld(t, 3)
	const text = `echo there >&2; sleep 0.5; echo "$EVERYPAGE_ITEM_ID" >> "$DIR/done"`
	cmd, said := w.start(w.script(text, "--at-most-once"))
	said.wait(t, "there")
	w.signal(cmd, syscall.SIGTERM)
	_ = cmd.Wait() // its exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != exitPaused || !strings.Contains(said.String(), "1 item done, 2 pending") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	w.want(exitDone, w.script(text, "--at-most-once"), "3 items done")
	if got := w.get("done"); got != "1\n2\n3\n" {
		t.Errorf("done: %q", got)
	}
}

// awaitMirror waits for a mirrored receipt, which is written behind the commits.
func (w *world) awaitMirror() {
	w.Helper()
	for range 1000 {
		for _, err := range pebblestore.Mirror(w.Context(), w.path("ledger")) {
			if err == nil {
				return
			}
		}
		<-time.After(10 * time.Millisecond)
	}
	w.Fatal("there is no mirrored receipt")
}

func TestALiveRunCanBeSeenAndNotDisturbed(t *testing.T) {
	w := newWorld(t, 7)
	gate := simapi.NewGate()
	w.list.Script().At(2, simapi.Hang(gate))
	cmd, said := w.start(w.toFile("--job", "tickets"))
	<-gate.Entered()
	w.awaitMirror()
	ledger := []string{"--ledger", w.path("ledger")}
	w.want(exitPaused, w.toFile(), w.path("ledger"), "the ledger is in use", "wait until the other process ends")
	w.want(exitPaused, append([]string{"runs"}, ledger...), "the ledger is in use")
	live := w.want(exitDone, append([]string{"show", "tickets"}, ledger...), "status: running", "this receipt is from its mirror")
	if !strings.HasPrefix(live.out, "pagination_receipt:\n") {
		t.Errorf("the receipt is not alone on standard output: %s", live.out)
	}
	w.want(exitPaused, append([]string{"show", "nothing"}, ledger...), "the mirror has only each job's newest run")
	// Another ledger must not write to the same file meanwhile.
	w.want(exitPaused, w.toFile("--ledger", w.path("ledger2")), "another process writes it")
	gate.Release()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	w.wantOnce("out.jsonl", 7)
}

// A killed run calls again with the same key; at-most-once holds the item instead.
func TestAKilledRunIsInDoubt(t *testing.T) {
	const text = `echo "$EVERYPAGE_KEY" >> "$DIR/keys"; test "$EVERYPAGE_ITEM_ID" != 2 && exit 0; test -e "$DIR/well" && exit 0; echo there >&2; sleep 1`
	kill := func(t *testing.T, flags ...string) *world {
		t.Helper()
		w := newWorld(t, 3)
		cmd, said := w.start(w.script(text, append(flags, "--run-id", "r")...))
		said.wait(t, "there")
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		w.put("well", "")
		return w
	}
	t.Run("called again", func(t *testing.T) {
		w := kill(t)
		w.want(exitDone, w.script(text, "--run-id", "r"), "3 items done")
		// The first one's outcome may not have been recorded before the kill.
		if got := strings.TrimPrefix(w.get("keys"), "r|1|greet\n"); strings.TrimPrefix(got, "r|2|greet\nr|1|greet\n") != "r|2|greet\nr|3|greet\n" && got != "r|2|greet\nr|2|greet\nr|3|greet\n" {
			t.Errorf("the keys were %q", got)
		}
	})
	t.Run("at most once", func(t *testing.T) {
		w := kill(t, "--at-most-once")
		w.want(exitReview, w.script(text, "--run-id", "r", "--at-most-once"), "needs review (items_held", "2 items done, 1 held")
		if got := strings.Count(w.get("keys"), "r|2|greet\n"); got != 1 {
			t.Errorf("it was called %d times", got)
		}
		w.want(exitDone, []string{"items", "r", "--ledger", w.path("ledger")}, "in_doubt")
		w.want(exitReview, []string{"retry", "r", "--by", "me", "--ledger", w.path("ledger")}, "no held item can be tried again without being named")
		w.want(exitDone, []string{"retry", "r", "--by", "me", "--item", "2", "--ledger", w.path("ledger")}, "is open again")
		w.want(exitDone, w.script(text, "--run-id", "r", "--at-most-once"), "3 items done")
	})
}

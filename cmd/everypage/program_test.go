//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// handing returns a command line that hands items to one of handlerNamed.
func (w *world) handing(name string, flags ...string) []string {
	w.Helper()
	self, err := os.Executable()
	if err != nil {
		w.Fatal(err)
	}
	args := w.job(append([]string{"--action", "greet", "--attempts", "1"}, flags...)...)
	return append(args, "--", self, asHandler, name, w.dir)
}

func TestCommandGetsTheItemAndItsKey(t *testing.T) {
	w := newWorld(t, 4)
	w.want(exitDone, w.handing("record", "--run-id", "r"), "said\nsaid\nsaid\nsaid\n", "4 items done")
	w.wantOnce("got.jsonl", 4)
	if got, want := w.get("env"), "r|1|greet 1 r 1\nr|2|greet 2 r 1\nr|3|greet 3 r 1\nr|4|greet 4 r 1\n"; got != want {
		t.Errorf("the environment was %q, want %q", got, want)
	}
}

func TestCommandExitCodes(t *testing.T) {
	for _, c := range []struct {
		name, handler string
		code          int
		says          []string
		calls, why    string
	}{
		{"75 pauses the run", "limited", exitPaused, []string{"is paused (sink_limited: ", "4 items done, 2 pending, 2 pages"}, "1 2 3 4 5", ""},
		{"65 holds the item", "refused", exitReview, []string{"(items_held: 1 item is held)", "6 items done, 1 held", "everypage retry"}, "1 2 3 4 5 6 7 5", "the command failed: exit status 65: no such customer"},
		{"others are tried again, then held", "down", exitReview, []string{"1 held"}, "1 2 3 4 5 6 7 5", "the command failed: exit status 3: down"},
		{"a signal too", "killed", exitReview, []string{"1 held"}, "1 2 3 4 5 6 7 5", "the command failed: signal: killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 7)
			w.want(c.code, w.handing(c.handler, "--wait", "0"), c.says...)
			if c.code == exitReview {
				w.want(exitDone, []string{"items", "tickets", "--ledger", w.path("ledger"), "--state", "held", "--json"}, `"id":"5"`, `|5|greet"`, `"payload":{"id":"5"`, c.why)
				w.want(exitDone, []string{"retry", w.runID(), "--by", "me", "--ledger", w.path("ledger")}, "is open again", "run the job again")
			}
			w.put("well", "")
			w.want(exitDone, w.handing(c.handler, "--force"), "7 items done")
			if got := strings.Join(strings.Fields(w.get("calls")), " "); got != c.calls && c.code != exitPaused || !strings.HasPrefix(got, c.calls) {
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
	cmd, said := w.start(w.handing("sleeper"))
	sleeper := said.wait(t, "sleeper ")
	w.signal(cmd, os.Interrupt)
	_ = cmd.Wait() // its exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != exitPaused {
		t.Errorf("exit code %d\n%s", code, said)
	}
	for _, want := range []string{"pausing the run; once more, a second later, ends it at once", "is paused (cancelled: stopped by a signal)", "4 items done, 2 pending", "To go on, run the same command again"} {
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
	w.want(exitDone, w.handing("sleeper"), "7 items done")
}

// A terminal that is closed hangs up: the run pauses, as cleanly.
func TestHangUpPauses(t *testing.T) {
	w := newWorld(t, 7)
	cmd, said := w.start(w.handing("sleeper"))
	said.wait(t, "sleeper ")
	w.signal(cmd, syscall.SIGHUP)
	_ = cmd.Wait() // its exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != exitPaused || !strings.Contains(said.String(), "is paused (cancelled: stopped by a signal)") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	w.put("well", "")
	w.want(exitDone, w.handing("sleeper"), "7 items done")
}

// Who reads the log goes away, and the run goes on to its end.
func TestABrokenPipeDoesNotEndARun(t *testing.T) {
	w := newWorld(t, 7)
	cmd := w.command(w.toFile("--verbose")...)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr, cmd.Stdout = writer, writer
	w.list.Script().At(1, simapi.Fault{Before: func() { _ = reader.Close() }})
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	_ = cmd.Wait() // its exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != exitDone && code != exitInternal {
		t.Errorf("it ended with %s", cmd.ProcessState)
	}
	w.wantOnce("out.jsonl", 7)
	w.want(exitDone, []string{"assert", "tickets", "--newest", "--ledger", w.path("ledger")})
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
	cmd, said := w.start(w.handing("stubborn"))
	said.wait(t, "there")
	began := time.Now()
	w.signal(cmd, syscall.SIGTERM)
	said.wait(t, "everypage: pausing the run")
	<-time.After(signalGap + 100*time.Millisecond)
	w.signal(cmd, syscall.SIGTERM)
	_ = cmd.Wait() // its exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != exitPaused || time.Since(began) > programGrace/2 {
		t.Errorf("exit code %d after %s\n%s", code, time.Since(began), said)
	}
	w.put("well", "")
	w.want(exitDone, w.handing("stubborn", "--attempts", "3"), "7 items done")
}

// A supervisor such as timeout signals the process and then its group: that is one
// request, and the command that must not be stopped half-way finishes.
func TestAtMostOnceLetsTheCommandFinish(t *testing.T) {
	w := newWorld(t, 3)
	cmd, said := w.start(w.handing("slow", "--at-most-once"))
	said.wait(t, "there")
	w.signal(cmd, syscall.SIGTERM)
	said.wait(t, "everypage: pausing the run")
	w.signal(cmd, syscall.SIGTERM)
	_ = cmd.Wait() // its exit code is looked at
	if code := cmd.ProcessState.ExitCode(); code != exitPaused || !strings.Contains(said.String(), "1 item done, 2 pending") {
		t.Errorf("exit code %d\n%s", code, said)
	}
	w.want(exitDone, w.handing("slow", "--at-most-once"), "3 items done")
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
	kill := func(t *testing.T, flags ...string) *world {
		t.Helper()
		w := newWorld(t, 3)
		cmd, said := w.start(w.handing("slow once", append(flags, "--run-id", "r")...))
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
		w.want(exitDone, w.handing("slow once", "--run-id", "r"), "3 items done")
		// The first one's outcome may not have been recorded before the kill.
		if got := strings.TrimPrefix(w.get("keys"), "r|1|greet\n"); strings.TrimPrefix(got, "r|2|greet\nr|1|greet\n") != "r|2|greet\nr|3|greet\n" && got != "r|2|greet\nr|2|greet\nr|3|greet\n" {
			t.Errorf("the keys were %q", got)
		}
	})
	t.Run("at most once", func(t *testing.T) {
		w := kill(t, "--at-most-once")
		w.want(exitReview, w.handing("slow once", "--run-id", "r", "--at-most-once"), "needs review (items_held", "2 items done, 1 held")
		if got := strings.Count(w.get("keys"), "r|2|greet\n"); got != 1 {
			t.Errorf("it was called %d times", got)
		}
		w.want(exitDone, []string{"items", "r", "--ledger", w.path("ledger")}, "in_doubt")
		w.want(exitReview, []string{"retry", "r", "--by", "me", "--ledger", w.path("ledger")}, "no held item can be tried again without being named")
		w.want(exitDone, []string{"retry", "r", "--by", "me", "--item", "2", "--ledger", w.path("ledger")}, "is open again")
		w.want(exitDone, w.handing("slow once", "--run-id", "r", "--at-most-once"), "3 items done")
	})
}

// What a command or an API says is shown and not obeyed, and tells no credential.
func TestWordsOfOthersAreVisible(t *testing.T) {
	w := newWorld(t, 7)
	w.want(exitPaused, w.handing("evil", "--wait", "0"), `\u001b[31mEVIL\u001b]0;x\u0007 \u202e\u009b\x9b`, "is paused (sink_limited: ")
	w.wantVisible(w.handing("evil", "--wait", "0", "--force"))
	w.wantVisible([]string{"events", "tickets", "--ledger", w.path("ledger")})
}

// wantVisible fails the test if a command line's output holds what a terminal obeys.
func (w *world) wantVisible(args []string) {
	w.Helper()
	got := w.run(args...)
	all := got.out + got.err
	if !strings.Contains(all, "EVIL") || strings.ContainsFunc(all, visible.Hidden) || !utf8.ValidString(all) || strings.Contains(all, "?token=hidden") {
		w.Errorf("everypage %s\nsays %q", strings.Join(args, " "), all)
	}
}

// A file's run and a command's are never one: the action tells them apart.
func TestFileAndCommandAreNotInterchangeable(t *testing.T) {
	w := newWorld(t, 7)
	w.pause()
	w.want(exitUsage, w.handing("nothing", "--force"), "begun with another definition", `action was "write" and is "greet"`)
	w.want(exitDone, w.toFile("--force"), "7 items done")
	w.wantOnce("out.jsonl", 7)
}

// Who may not write in a ledger's folder is shown the mirror.
func TestShowWithoutWritePermission(t *testing.T) {
	w := newWorld(t, 3)
	w.want(exitDone, w.toFile(), "is complete")
	show := w.command("show", "tickets", "--ledger", w.path("ledger"))
	w.asNobody(show)
	said, err := show.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this user is root and may not start a process as another user")
	}
	for _, want := range []string{"status: complete", "the ledger cannot be written by this user; this receipt is from its mirror, as of "} {
		if err != nil || !strings.Contains(string(said), want) {
			t.Errorf("%v; does not say %q:\n%s", err, want, said)
		}
	}
}

// asNobody lets a process read the world, and write nothing in it.
func (w *world) asNobody(cmd *exec.Cmd) {
	w.Helper()
	binary, err := os.ReadFile(cmd.Path)
	if err != nil {
		w.Fatal(err)
	}
	cmd.Path = w.path("everypage.test")
	if err := os.WriteFile(cmd.Path, binary, 0o755); err != nil {
		w.Fatal(err)
	}
	err = errors.Join(
		filepath.WalkDir(w.path("ledger"), func(path string, entry os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() {
				w.Cleanup(func() { _ = os.Chmod(path, 0o755) })
				return os.Chmod(path, 0o555)
			}
			return os.Chmod(path, 0o444)
		}),
		os.Chmod(w.dir, 0o755),
		os.Chmod(filepath.Dir(w.dir), 0o755),
	)
	if err != nil {
		w.Fatal(err)
	}
	if os.Getuid() == 0 { // permissions do not bind this user
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Dir = w.dir
	}
}

package main

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/internal/simapi"
)

func TestRunWritesEachItemOnce(t *testing.T) {
	w := newWorld(t, 7)
	w.want(exitDone, w.toFile(), "is complete: 7 items done, 3 pages")
	if got := strings.Join(w.ids("out.jsonl"), " "); got != "1 2 3 4 5 6 7" {
		t.Errorf("the file has %s", got)
	}
	// A new run of the job is another pass over the list, behind the first.
	w.want(exitDone, w.toFile(), "is complete: 7 items done, 3 pages")
	if got := strings.Join(w.ids("out.jsonl"), " "); got != "1 2 3 4 5 6 7 1 2 3 4 5 6 7" {
		t.Errorf("after a second run the file has %s", got)
	}
}

func TestOnceAJobAppendsOnlyWhatIsNew(t *testing.T) {
	w := newWorld(t, 5)
	w.want(exitDone, w.toFile("--once", "job"))
	w.list.List().Append(newWorld(t, 7).list.List().Items()[5:]...)
	w.want(exitDone, w.toFile("--once", "job"), "2 items done, 5 done by earlier runs")
	w.wantOnce("out.jsonl", 7)
}

func TestOutKeepsNumbersAndIsOneLine(t *testing.T) {
	w := newWorld(t, 0)
	w.list.Script().Next(simapi.Fault{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"tickets": [
		{ "id": "1", "n": 12345678901234567890.10,
		  "s": "<\u2028 é>" }], "pagination": {"limit": 3, "next_cursor": null, "has_more": false}}`})
	w.want(exitDone, w.toFile())
	data, err := os.ReadFile(w.path("out.jsonl"))
	if want := `{"id":"1","n":12345678901234567890.10,"s":"<\u2028 é>"}` + "\n"; err != nil || string(data) != want {
		t.Errorf("got %q, %v; want %q", data, err, want)
	}
}

// Processes are killed at random moments until one is complete. Whatever was cut,
// the file has each item once.
func TestOutIsExactlyOnceAcrossKills(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts and kills processes for some seconds")
	}
	for name, more := range map[string][]string{
		"one at a time":       nil,
		"eight at a time":     {"--concurrency", "8", "--read-ahead"},
		"with intents always": {"--at-most-once", "--concurrency", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			const tickets = 600
			w := newWorld(t, tickets)
			random := rand.New(rand.NewPCG(1, uint64(len(name))))
			// A pinned run, since a kill may come when it is complete already; and many
			// attempts, since an item that three processes died with counts as poison.
			args := w.toFile(append(more, "--run-id", "r", "--attempts", "100", "--page-size", "20")...)
			asked := make(chan struct{})
			w.list.Script().Always(simapi.Fault{Before: func() {
				select {
				case asked <- struct{}{}:
				case <-time.After(time.Millisecond): // nobody counts any more
				}
			}})
			kills := 0
			for range 200 {
				killed, text := killedAfter(t, w.command(args...), asked, 1+random.IntN(3), time.Duration(random.IntN(4_000))*time.Microsecond)
				if text != "" {
					t.Fatal(text)
				}
				if !killed {
					break
				}
				kills++
			}
			w.wantOnce("out.jsonl", tickets)
			w.want(exitDone, []string{"show", "tickets", "--ledger", w.path("ledger")}, "status: complete", "processed_unique: 600")
			t.Logf("%d kills", kills)
			if kills < 3 {
				t.Errorf("only %d processes were killed", kills)
			}
		})
	}
}

// killedAfter runs a command, and kills it a while after it has asked for a number of
// pages. What is left unkilled must end with 0, else its output comes back.
func killedAfter(t *testing.T, cmd *exec.Cmd, asked <-chan struct{}, pages int, while time.Duration) (killed bool, text string) {
	t.Helper()
	var output strings.Builder
	cmd.Stderr = &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	var kill <-chan time.Time
	for running := true; running; {
		select {
		case err = <-ended:
			running = false
		case <-asked:
			if pages--; pages == 0 {
				kill = time.After(while)
			}
		case <-kill:
			_ = cmd.Process.Kill() // it may have ended
		}
	}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false, ""
	case errors.As(err, &exit) && exit.ExitCode() == -1:
		return true, ""
	}
	return false, output.String() + err.Error()
}

func TestOutRefusesWhatIsNotItsOwn(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(w *world)
		args func(w *world) []string
		code int
		says string
	}{
		{"a file that nobody knows", func(w *world) { w.put("out.jsonl", "{}\n") }, nil, exitUsage, "no journal is beside it"},
		{"another job's file", func(w *world) { w.want(exitDone, w.toFile()) }, func(w *world) []string { return w.toFile("--job", "other") }, exitUsage, `job "tickets" writes it`},
		{"another ledger's file", func(w *world) { w.want(exitDone, w.toFile()) }, func(w *world) []string { return w.toFile("--ledger", w.path("other")) }, exitUsage, "this ledger has no such run"},
		{"a file that was cut", func(w *world) { w.want(exitDone, w.toFile()); w.truncate("out.jsonl", 10) }, nil, exitUsage, "it was cut or replaced"},
		{"a file that is gone", func(w *world) { w.want(exitDone, w.toFile()); w.remove("out.jsonl") }, nil, exitUsage, "it was cut or replaced"},
		{"a file that grew", func(w *world) { w.want(exitDone, w.toFile()); w.add("out.jsonl", "{}\n") }, nil, exitUsage, "something was appended"},
		{"a file whose last line was edited", func(w *world) { w.want(exitDone, w.toFile()); w.edit("out.jsonl", `"7"`, `"8"`) }, nil, exitUsage, "is not what was written"},
		{"a folder", nil, func(w *world) []string { return w.job("--out", w.dir) }, exitUsage, "no regular file"},
		{"a file in no folder", nil, func(w *world) []string { return w.job("--out", w.path("no/out.jsonl")) }, exitUsage, "its folder"},
		{"another file on resume", func(w *world) { w.pause() }, func(w *world) []string { return w.job("--out", w.path("b.jsonl")) }, exitUsage, "has done items whose lines are not in it"},
		{"another file on resume, as asked", func(w *world) { w.pause() }, func(w *world) []string { return w.job("--out", w.path("b.jsonl"), "--new-out") }, exitDone, "is complete"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 7)
			if c.do != nil {
				c.do(w)
			}
			before, _ := os.ReadFile(w.path("out.jsonl"))
			args := w.toFile()
			if c.args != nil {
				args = c.args(w)
			}
			w.want(c.code, args, c.says)
			if after, _ := os.ReadFile(w.path("out.jsonl")); string(after) != string(before) {
				t.Errorf("the file was changed to %q", after)
			}
		})
	}
}

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// asHandler makes the test binary be the command that items are handed to, so that
// no shell is needed: its name, a handler's name, and the world's folder.
const asHandler = "as-handler"

// call is one call of a handler, in a process of its own.
type call struct{ dir string }

func (c call) id() string  { return os.Getenv("EVERYPAGE_ITEM_ID") }
func (c call) key() string { return os.Getenv("EVERYPAGE_KEY") }

// add appends to a file of the world.
func (c call) add(name, text string) {
	file, err := os.OpenFile(filepath.Join(c.dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.WriteString(text)
	}
	if err != nil {
		panic(err)
	}
	_ = file.Close()
}

// well reports whether the item is not the one that there is trouble with, or the
// trouble is over.
func (c call) well(trouble string) bool {
	_, err := os.Stat(filepath.Join(c.dir, "well"))
	return c.id() != trouble || err == nil
}

// handlerNamed returns what a process does for an item, and its exit code.
func handlerNamed(name string) func(call) int {
	return map[string]func(call) int{
		"record":    handleRecord,
		"limited":   failing(75, ""),
		"refused":   failing(65, "no such customer\n"),
		"down":      failing(3, "down\n"),
		"killed":    failing(-1, ""),
		"evil":      failing(75, "\x1b[31mEVIL\x1b]0;x\x07 \u202e\xc2\x9b\x9b token=hidden-9 https://h.test/?token=hidden-9\n"),
		"sleeper":   handleSleeper,
		"sleep":     func(call) int { <-time.After(time.Minute); return 0 },
		"stubborn":  handleStubborn,
		"slow":      handleSlow,
		"slow once": handleSlowOnce,
		"nothing":   func(call) int { return 0 },

		"drill-good":    func(c call) int { return post(c.key()) },
		"drill-own-key": func(c call) int { return post(c.id() + time.Now().Format(time.RFC3339Nano)) },
		"drill-blind":   func(call) int { return 0 },
	}[name]
}

func handleRecord(c call) int {
	line, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 1
	}
	c.add("got.jsonl", string(line))
	c.add("env", fmt.Sprintln(c.key(), c.id(), os.Getenv("EVERYPAGE_RUN_ID"), os.Getenv("EVERYPAGE_ATTEMPT")))
	_, _ = fmt.Fprintln(os.Stdout, "said")
	return 0
}

// failing is what goes wrong for item 5; -1 is a process that is killed.
func failing(code int, says string) func(call) int {
	return func(c call) int {
		c.add("calls", c.id()+"\n")
		if c.well("5") {
			return 0
		}
		_, _ = fmt.Fprint(os.Stderr, says)
		if code < 0 {
			self, err := os.FindProcess(os.Getpid())
			if err != nil || self.Kill() != nil {
				return 1
			}
			select {}
		}
		return code
	}
}

// handleSleeper starts a process of its own, which must be stopped with it.
func handleSleeper(c call) int {
	if c.well("5") {
		return 0
	}
	sleeper := exec.Command(os.Args[0], asHandler, "sleep", c.dir) //nolint:noctx // it is stopped with its group
	sleeper.Stderr = os.Stderr
	if err := sleeper.Start(); err != nil {
		return 1
	}
	_, _ = fmt.Fprintln(os.Stderr, "sleeper", sleeper.Process.Pid)
	_ = sleeper.Wait()
	return 0
}

// handleStubborn does not end when it is asked to.
func handleStubborn(c call) int {
	if c.well("5") {
		return 0
	}
	signal.Ignore(syscall.SIGTERM)
	_, _ = fmt.Fprintln(os.Stderr, "there")
	<-time.After(time.Minute)
	return 0
}

func handleSlow(c call) int {
	_, _ = fmt.Fprintln(os.Stderr, "there")
	<-time.After(500 * time.Millisecond)
	c.add("done", c.id()+"\n")
	return 0
}

func handleSlowOnce(c call) int {
	c.add("keys", c.key()+"\n")
	if c.well("2") {
		return 0
	}
	_, _ = fmt.Fprintln(os.Stderr, "there")
	<-time.After(time.Second)
	return 0
}

// post sends the item on standard input to the sink of a drill.
func post(key string) int {
	request, err := http.NewRequest(http.MethodPost, os.Getenv(drillSink), os.Stdin) //nolint:noctx // it ends with its process
	if err != nil {
		return 1
	}
	request.Header.Set("Idempotency-Key", key)
	answer, err := (&http.Client{}).Do(request)
	if err != nil || answer.StatusCode != http.StatusCreated {
		_, _ = fmt.Fprintln(os.Stderr, err, answer)
		return 1
	}
	_ = answer.Body.Close()
	return 0
}

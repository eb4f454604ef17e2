package everypage_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// failureCancelAfter runs the job until the note for a ticket is made, and then
// cancels its context.
func failureCancelAfter(id string) func(*failureWorld) (*state.Receipt, error) {
	return func(w *failureWorld) (*state.Receipt, error) {
		ctx, cancel := context.WithCancel(w.t.Context())
		defer cancel()
		w.created = func(created string) {
			if created == id {
				cancel()
			}
		}
		return w.run(ctx)
	}
}

// failureEnvironment is the variable that makes the test binary the process that
// is killed. It holds a failureOrder.
const failureEnvironment = "EVERYPAGE_TEST_FAILURE_CHILD"

// failureOrder is what the child is told.
type failureOrder struct {
	Place failurePlace
	// Moment is when it says "now" and waits to be killed: "after ID" or "notes N",
	// when the ticket, or the Nth of them, has its note and all before it are
	// recorded; or "recorded ID", when its own record is on disk as well and the
	// next ticket is not begun.
	Moment string
}

// failureKill runs the job in a child process, kills that with SIGKILL at the
// given moment, and goes on with what the ledger holds.
func failureKill(moment string) func(*failureWorld) (*state.Receipt, error) {
	return func(w *failureWorld) (*state.Receipt, error) {
		failureKilled(w.t, w.place, moment)
		return w.run(w.t.Context())
	}
}

// failureKilled runs the job in a child process, and kills that with SIGKILL when
// it says "now".
func failureKilled(t *testing.T, at failurePlace, moment string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	order, err := json.Marshal(failureOrder{Place: at, Moment: moment})
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), program, "-test.run=^TestFailuresChild$", "-test.v")
	child.Env = append(os.Environ(), failureEnvironment+"="+string(order))
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := false
	var lines []string
	for scanner := bufio.NewScanner(output); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		if scanner.Text() == "now" {
			said = true
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = child.Wait() // that it was killed is looked at below
	if !said || child.ProcessState.Exited() {
		t.Fatalf("the child ended by itself (%s):\n%s", child.ProcessState, strings.Join(lines, "\n"))
	}
}

// failureSayNow tells the parent process that it is time, and waits to be killed.
func failureSayNow() {
	_, _ = fmt.Fprintln(os.Stdout, "now")
	select {}
}

// TestFailuresChild is the process that is killed; by itself it does nothing.
func TestFailuresChild(t *testing.T) {
	text := os.Getenv(failureEnvironment)
	if text == "" {
		t.Skip("a process that is killed runs this, and only then")
	}
	var order failureOrder
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		t.Fatal(err)
	}
	clock := &stepClock{now: start()}
	ledger, err := pebblestore.Open(order.Place.Ledger, &pebblestore.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	settled, seen := make(chan struct{}, 100), 0
	sayNowOnceRecorded := func(items int) {
		for ; seen < items; seen++ {
			<-settled
		}
		failureSayNow()
	}
	notes := 0
	job, err := order.Place.job(&http.Client{Transport: &http.Transport{}}, clock, func(id string) {
		if notes++; order.Moment == "after "+id || order.Moment == fmt.Sprint("notes ", notes) {
			sayNowOnceRecorded(notes - 1)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	job.Options.Observer.Settled = func(state.Receipt, store.Item) { settled <- struct{}{} }
	handle, last := job.Handle, ""
	job.Handle = func(ctx context.Context, item everypage.Item[failureTicket]) error {
		if order.Moment == "recorded "+last {
			sayNowOnceRecorded(notes)
		}
		last = item.ID
		return handle(ctx, item)
	}
	_, err = everypage.Run(t.Context(), ledger, job)
	t.Fatalf("the run came to its end: %v", err)
}

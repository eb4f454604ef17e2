package peers_test

import (
	"bufio"
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

// childEnvironment is the variable that makes the test binary the process that is
// killed. It holds a childOrder.
const childEnvironment = "EVERYPAGE_TEST_PEERS_CHILD"

// childOrder tells the child which list to walk, and after how many notes to wait
// for its end: all but the last of them are recorded then.
type childOrder struct {
	List  list
	Notes int
}

// killAt runs the job in a child process, and kills that with SIGKILL when there
// are n notes, the last of which the ledger does not know of.
func (w *walk) killAt(n int) {
	w.t.Helper()
	program, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	order, err := json.Marshal(childOrder{List: w.list, Notes: n})
	if err != nil {
		w.t.Fatal(err)
	}
	child := exec.CommandContext(w.t.Context(), program, "-test.run=^TestPeersChild$", "-test.v")
	child.Env = append(os.Environ(), childEnvironment+"="+string(order))
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		w.t.Fatal(err)
	}
	said := false
	var lines []string
	for scanner := bufio.NewScanner(output); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		if scanner.Text() == "now" {
			said = true
			if err := child.Process.Kill(); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	_ = child.Wait() // that it was killed is looked at below
	if !said || child.ProcessState.Exited() {
		w.t.Fatalf("the child ended by itself (%s):\n%s", child.ProcessState, strings.Join(lines, "\n"))
	}
	if have := len(w.crm.Notes()); have != n {
		w.t.Fatalf("the killed process made %d notes, want %d", have, n)
	}
}

// TestPeersChild is the process that is killed; by itself it does nothing.
func TestPeersChild(t *testing.T) {
	text := os.Getenv(childEnvironment)
	if text == "" {
		t.Skip("a process that is killed runs this, and only then")
	}
	var order childOrder
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		t.Fatal(err)
	}
	ledger, err := pebblestore.Open(order.List.Ledger, nil)
	if err != nil {
		t.Fatal(err)
	}
	settled, notes := make(chan struct{}, 200), 0
	job, err := order.List.job(&http.Client{Transport: &http.Transport{}}, func() {
		if notes++; notes < order.Notes {
			return
		}
		for range notes - 1 {
			<-settled
		}
		_, _ = fmt.Fprintln(os.Stdout, "now")
		select {}
	})
	if err != nil {
		t.Fatal(err)
	}
	job.Options.Observer.Settled = func(state.Receipt, store.Item) { settled <- struct{}{} }
	_, err = everypage.Run(t.Context(), ledger, job)
	t.Fatalf("the run came to its end: %v", err)
}

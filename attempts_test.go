package everypage_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
)

// A handler that panics or ends its goroutine fails its call and nothing else. The
// stack reaches the hold queue.
func TestHandlerPanics(t *testing.T) {
	for name, handle := range map[string]func() error{
		"panic":       func() error { panic("out of ideas") },
		"nil panic":   func() error { panic(nil) },
		"Goexit":      func() error { runtime.Goexit(); return nil },
		"error panic": func() error { panic(errNo) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, "a", "b", "c")
			w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
				if item.ID == "b" {
					return handle()
				}
				return nil
			}
			receipt, err := w.run(w.job(maxAttempts(2), func(j *everypage.Job[ticket]) { j.Options.Concurrency = 2 }))
			wantReview(t, receipt, err, state.CodeItemsHeld)
			w.wantHeld(receipt.RunID, "b", state.HoldAttempts)
			want(t, "the number of calls", len(w.calls), 4)
			detail := w.item(receipt.RunID, "b").Detail
			if name == "Goexit" {
				if !strings.Contains(detail, "Goexit") {
					t.Errorf("%q does not say what happened", detail)
				}
			} else if !strings.Contains(detail, "attempts_test.go") {
				t.Errorf("%q has no stack", detail)
			}
		})
	}
}

// A question to the sink that panics or ends its goroutine is a failed question.
func TestConfirmPanics(t *testing.T) {
	for name, confirm := range map[string]func(){"panic": func() { panic("no") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b").crashable()
			w.die("b", true, w.job())
			receipt, err := w.run(w.job(func(j *everypage.Job[ticket]) {
				j.Confirm = func(context.Context, string) (bool, error) { confirm(); return false, nil }
			}))
			wantReview(t, receipt, err, state.CodeItemsHeld)
			w.wantHeld(receipt.RunID, "b", state.HoldInDoubt)
		})
	}
}

// What a handler's error says: plain errors are called again with backoff up to
// the limit, over several runs; the waits grow and are bounded.
func TestAttemptsAndBackoff(t *testing.T) {
	w := newWorld(t, 2, "a", "b")
	w.handle = failing("a")
	var at []time.Duration
	backoff := func(j *everypage.Job[ticket]) {
		j.Options.MaxAttempts, j.Options.Backoff = 6, everypage.Backoff{Initial: time.Second, Max: 3 * time.Second}
		j.Options.Observer.Call = func(_, id string, _ int) {
			if id == "a" {
				at = append(at, w.clock.Now().Sub(start()))
			}
		}
	}
	receipt, err := w.run(w.job(backoff))
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantHeld(receipt.RunID, "a", state.HoldAttempts)
	want(t, "the number of calls for a", len(at), 6)
	want(t, "attempts", receipt.Attempts, 7)
	for i := 1; i < len(at); i++ {
		base := min(time.Duration(float64(time.Second)*[]float64{1, 1.5, 2.25, 3, 3}[i-1]), 3*time.Second)
		if wait := at[i] - at[i-1]; wait < base/2 || wait > base*3/2 {
			t.Errorf("the wait before call %d is %s, want half to one and a half times %s", i+1, wait, base)
		}
	}
	w.wantOneKey()
}

// Attempts are durable: a stop between two of them does not start them afresh.
func TestAttemptsAreDurable(t *testing.T) {
	w := newWorld(t, 1, "a").crashable()
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	w.handle = func(context.Context, everypage.Item[ticket]) error {
		n++
		return errNo
	}
	receipt, err := w.runContext(ctx, w.job(maxAttempts(4), func(j *everypage.Job[ticket]) {
		j.Options.Observer.Call = func(_, _ string, attempt int) {
			if attempt == 3 {
				cancel()
			}
		}
	}))
	wantPause(t, receipt, err, state.CodeCancelled)
	want(t, "the number of calls before the stop", n, 3)
	w.open(w.crashed(0))
	receipt, err = w.run(w.job(maxAttempts(4)))
	wantReview(t, receipt, err, state.CodeItemsHeld)
	want(t, "the number of calls", n, 5) // the third was interrupted and cost none
	want(t, "attempts", receipt.Attempts, 4)
}

package everypage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

func waitUpTo(d time.Duration) func(*everypage.Job[ticket]) {
	return func(j *everypage.Job[ticket]) { j.Options.WaitUpTo = d }
}

func force(j *everypage.Job[ticket]) { j.Options.Force = true }

// limited makes one request fail as a pause with the given code and instant.
func limited(request int, code pager.Code, until time.Time) func(int, pager.Cursor, *pager.Page[ticket]) error {
	return on(request, func(*pager.Page[ticket]) error {
		return &pager.Fault{Verdict: pager.Pause, Code: code, Until: until}
	})
}

// pause-or-review: what a failed fetch means. The error is non-nil in every case.
func TestPauseOrReview(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		pause bool
		code  pager.Code
	}{
		"rate limit":           {&pager.Fault{Verdict: pager.Pause, Code: pager.CodeRateLimited}, true, pager.CodeRateLimited},
		"5xx":                  {&pager.Fault{Verdict: pager.Pause, Code: pager.CodeServerError}, true, pager.CodeServerError},
		"a wrapped fault":      {fmt.Errorf("page 2: %w", &pager.Fault{Verdict: pager.Pause, Code: pager.CodeServerError}), true, pager.CodeServerError},
		"expired":              {&pager.Fault{Code: pager.CodeCursorExpired}, false, pager.CodeCursorExpired},
		"cut short":            {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), true, pager.CodeTransport},
		"a time-out":           {fmt.Errorf("read: %w", context.DeadlineExceeded), true, pager.CodeTransport},
		"a lost connection":    {&net.OpError{Op: "read", Err: errNo}, true, pager.CodeTransport},
		"says nothing":         {errNo, false, pager.CodePagerFailed},
		"a fault without code": {&pager.Fault{}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b", "c")
			w.answer = on(1, func(*pager.Page[ticket]) error { return c.err })
			receipt, err := w.run(w.job())
			if c.pause {
				wantPause(t, receipt, err, c.code)
			} else {
				wantReview(t, receipt, err, c.code)
			}
			if !errors.Is(err, c.err) {
				t.Errorf("%v does not wrap the pager's error", err)
			}
			w.wantCalls("a", "b")
		})
	}
}

// Rule 13: a paused run does not go on before its instant: asked early it makes no
// request and no call, unless it is forced.
func TestRule13_InstantsAreRespected(t *testing.T) {
	until := start().Add(time.Minute)
	w := newWorld(t, 2, "a", "b", "c")
	w.answer = limited(1, pager.CodeRateLimited, until)
	receipt, err := w.run(w.job())
	wantPause(t, receipt, err, pager.CodeRateLimited)
	want(t, "resume_at", receipt.ResumeAt, until)
	for range 3 {
		receipt, err = w.run(w.job())
		wantPause(t, receipt, err, pager.CodeRateLimited)
		want(t, "resume_at", receipt.ResumeAt, until)
		w.clock.advance(time.Minute/3 - time.Nanosecond)
	}
	w.wantRequests("(start)", `"2"`)
	w.wantCalls("a", "b")
	w.clock.advance(3 * time.Nanosecond)
	_, err = w.run(w.job())
	wantComplete(t, err)

	w = newWorld(t, 2, "a", "b", "c")
	w.answer = limited(1, pager.CodeRateLimited, until)
	_, _ = w.run(w.job())
	_, err = w.run(w.job(force))
	wantComplete(t, err)
	want(t, "the time", w.clock.Now(), start())
}

// Rule 13: a quota without an instant is not polled, from the list's API or the
// handler's: only force goes on. A rate limit without one is the engine's to time.
func TestRule13_QuotaWithoutAnInstantIsNotPolled(t *testing.T) {
	quota := &pager.Fault{Verdict: pager.Pause, Code: pager.CodeQuotaExhausted, Answer: pager.Answer{Bucket: "monthly"}}
	for name, set := range map[string]func(*world, error){
		"list": func(w *world, err error) {
			w.answer = on(0, func(*pager.Page[ticket]) error { return err })
		},
		"handler": func(w *world, err error) {
			if err != nil {
				err = everypage.PauseRun(time.Time{}, err)
			}
			var once sync.Once
			w.handle = func(context.Context, everypage.Item[ticket]) (result error) {
				once.Do(func() { result = err })
				return result
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a")
			set(w, quota)
			receipt, err := w.run(w.job(waitUpTo(time.Hour * 1000)))
			wantPause(t, receipt, err, pager.CodeQuotaExhausted)
			want(t, "resume_at", receipt.ResumeAt, time.Time{})
			want(t, "bucket", receipt.Reason.Bucket, "monthly")
			w.clock.advance(1000 * time.Hour)
			requests, calls := len(w.requests), len(w.calls)
			receipt, err = w.run(w.job(waitUpTo(time.Hour * 1000)))
			wantPause(t, receipt, err, pager.CodeQuotaExhausted)
			want(t, "the number of requests", len(w.requests), requests)
			want(t, "the number of calls", len(w.calls), calls)
			_, err = w.run(w.job(force))
			wantComplete(t, err)
		})
	}
	w := newWorld(t, 2, "a")
	w.answer = limited(0, pager.CodeRateLimited, time.Time{})
	receipt, err := w.run(w.job())
	wantPause(t, receipt, err, pager.CodeRateLimited)
	if !receipt.ResumeAt.After(start()) {
		t.Errorf("a rate limit without an instant is to be asked again at %s", receipt.ResumeAt)
	}
}

// Rule 13: the waits of the engine's own grow, so that a failing API is not asked
// at a fixed beat, and a success starts them afresh.
func TestRule13_OwnWaitsGrow(t *testing.T) {
	w := newWorld(t, 1, "a", "b")
	failures := 6
	w.answer = func(n int, _ pager.Cursor, _ *pager.Page[ticket]) error {
		if n < failures || n == failures+1 {
			return &pager.Fault{Verdict: pager.Pause, Code: pager.CodeServerError}
		}
		return nil
	}
	var waits []time.Duration
	last := start()
	receipt, err := w.run(w.job(waitUpTo(time.Hour), func(j *everypage.Job[ticket]) {
		j.Options.Observer.Wait = func(_ string, _ pager.Code, until time.Time) {
			waits = append(waits, until.Sub(last))
			last = until
		}
	}))
	wantComplete(t, err)
	want(t, "the number of waits", len(waits), failures+1)
	for i := 1; i < failures; i++ {
		if waits[i] <= waits[i-1] {
			t.Errorf("wait %d is %s, after %s", i, waits[i], waits[i-1])
		}
	}
	want(t, "the wait after a success", waits[failures], waits[0])
	want(t, "terminal_observed", receipt.TerminalObserved, true)
}

// Rule 13: an instant that has passed means at once; but an API, or a handler,
// that says so for ever is not asked for ever: every pause is returned unless the
// caller lets it be waited out, and then the waits grow.
func TestRule13_PassedInstantIsNoHotLoop(t *testing.T) {
	const most = 200
	for name, set := range map[string]func(w *world, err error, asked func()){
		"list": func(w *world, err error, asked func()) {
			w.answer = func(int, pager.Cursor, *pager.Page[ticket]) error { asked(); return err }
		},
		"handler": func(w *world, err error, asked func()) {
			w.handle = func(context.Context, everypage.Item[ticket]) error {
				asked()
				return everypage.PauseRun(start().Add(-time.Hour), err)
			}
		},
	} {
		for _, wait := range []time.Duration{0, time.Hour} {
			t.Run(fmt.Sprintf("%s, waiting up to %s", name, wait), func(t *testing.T) {
				w := newWorld(t, 2, "a")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				n := 0
				set(w, &pager.Fault{Verdict: pager.Pause, Code: pager.CodeRateLimited, Until: start().Add(-time.Hour)}, func() {
					if n++; n > most || w.clock.Now().Sub(start()) > 10*time.Hour {
						cancel()
					}
				})
				_, err := w.runContext(ctx, w.job(waitUpTo(wait)))
				if !errors.Is(err, everypage.ErrPaused) {
					t.Fatal(err)
				}
				if wait == 0 && n != 1 {
					t.Errorf("the API was asked %d times although every pause is to be returned", n)
				}
				if n > most {
					t.Errorf("the API was asked %d times within %s", n, w.clock.Now().Sub(start()))
				}
			})
		}
	}
}

// Rule 13: an absurd instant neither overflows nor hangs: the run is paused until
// then and the call returns.
func TestRule13_AbsurdInstants(t *testing.T) {
	for name, until := range map[string]time.Time{
		"292 years":      start().Add(1<<63 - 1),
		"the year 9999":  time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		"the year 12000": time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC),
		"unix max":       time.Unix(1<<62, 0),
		"an odd zone":    time.Date(2126, 1, 1, 0, 0, 0, 0, time.FixedZone("LMT", 24*3600+17)),
	} {
		for _, where := range []string{"list", "handler"} {
			t.Run(name+", "+where, func(t *testing.T) {
				w := newWorld(t, 2, "a")
				if where == "list" {
					w.answer = limited(0, pager.CodeRateLimited, until)
				} else {
					w.handle = func(context.Context, everypage.Item[ticket]) error { return everypage.PauseRun(until, nil) }
				}
				receipt, err := w.run(w.job(waitUpTo(time.Hour)))
				if !errors.Is(err, everypage.ErrPaused) {
					t.Fatalf("want a pause, have %v", err)
				}
				if !receipt.ResumeAt.After(start().AddDate(90, 0, 0)) {
					t.Errorf("resume_at is %s", receipt.ResumeAt)
				}
				receipt, err = w.run(w.job(waitUpTo(time.Hour)))
				if !errors.Is(err, everypage.ErrPaused) {
					t.Fatalf("want it still paused, have %v: %+v", err, receipt)
				}
			})
		}
	}
}

// Rule 12: waiting in place commits a pause and a resume like any other, so that a
// person in another terminal sees it; and reads no page twice.
func TestRule12_WaitingInPlaceCommits(t *testing.T) {
	for name, until := range map[string]time.Time{"within": start().Add(time.Minute), "too long": start().Add(time.Hour)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b", "c")
			w.answer = limited(1, pager.CodeRateLimited, until)
			receipt, err := w.run(w.job(waitUpTo(10 * time.Minute)))
			if name == "too long" {
				wantPause(t, receipt, err, pager.CodeRateLimited)
				wantList(t, "the events", w.transitions(receipt.RunID), "begin", "pause")
				return
			}
			wantComplete(t, err)
			wantList(t, "the events", w.transitions(receipt.RunID), "begin", "pause", "resume", "finish")
			want(t, "the time", w.clock.Now(), until)
			w.wantRequests("(start)", `"2"`, `"2"`)
			w.wantCalls("a", "b", "c")
		})
	}
	t.Run("the caller leaves", func(t *testing.T) {
		w := newWorld(t, 2, "a", "b", "c")
		ctx, cancel := context.WithCancel(t.Context())
		w.answer = limited(1, pager.CodeRateLimited, start().Add(time.Minute))
		stopped := stoppedClock{w.clock, cancel}
		receipt, err := w.runContext(ctx, w.job(waitUpTo(time.Hour), func(j *everypage.Job[ticket]) { j.Options.Clock = stopped }))
		wantPause(t, receipt, err, pager.CodeRateLimited) // it stays paused as it is
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v does not say that the wait was cut short", err)
		}
		want(t, "resume_at", receipt.ResumeAt, start().Add(time.Minute))
	})
}

// stoppedClock never passes, and cancels the one who waits.
type stoppedClock struct {
	*stepClock
	cancel context.CancelFunc
}

func (c stoppedClock) Timer(time.Duration) (<-chan time.Time, func() bool) {
	c.cancel()
	return nil, func() bool { return true }
}

// A handler whose API is limiting pauses the run: the item costs no attempt and is
// called again afterwards, and of several instants the latest counts.
func TestPauseRun(t *testing.T) {
	w := newWorld(t, 4, "a", "b", "c", "d")
	var together sync.WaitGroup
	together.Add(3)
	w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
		if item.Attempt > 1 {
			t.Errorf("item %s has attempt %d: a pause costs none", item.ID, item.Attempt)
		}
		minutes := map[string]time.Duration{"a": 1, "b": 5, "c": 3}[item.ID]
		if minutes == 0 || !w.clock.Now().Equal(start()) {
			return nil
		}
		together.Done()
		together.Wait()
		return everypage.PauseRun(start().Add(minutes*time.Minute), &pager.Fault{
			Verdict: pager.Pause, Code: pager.CodeRateLimited, Answer: pager.Answer{HTTPStatus: 429, RequestID: "crm-1"},
		})
	}
	four := func(j *everypage.Job[ticket]) { j.Options.Concurrency, j.Options.MaxAttempts = 3, 1 }
	receipt, err := w.run(w.job(four))
	wantPause(t, receipt, err, state.CodeSinkLimited)
	want(t, "resume_at", receipt.ResumeAt, start().Add(5*time.Minute))
	want(t, "the sink's request id", receipt.Reason.RequestID, "crm-1")
	want(t, "attempts", receipt.Attempts, receipt.ProcessedUnique)
	receipt, err = w.run(w.job(four, waitUpTo(time.Hour)))
	wantComplete(t, err)
	want(t, "attempts", receipt.Attempts, 4)
	w.wantOneKey()
}

// What only a person can mend is a review, also where the handler said it.
func TestPauseRun_Review(t *testing.T) {
	w := newWorld(t, 2, "a", "b")
	w.handle = func(context.Context, everypage.Item[ticket]) error {
		return everypage.PauseRun(time.Time{}, &pager.Fault{Code: pager.CodeUnauthorized, Detail: "401"})
	}
	receipt, err := w.run(w.job(waitUpTo(time.Hour)))
	wantReview(t, receipt, err, pager.CodeUnauthorized)
	w.wantCalls("a")
	want(t, "held_count", receipt.HeldCount, 0)
	w.handle = nil
	if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
		t.Fatal(err)
	}
	_, err = w.run(w.job())
	wantComplete(t, err)
}

// A pause of the handler that is waited out in place goes on with the same page,
// without reading it again.
func TestPauseRun_InPlace(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c")
	w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
		if item.ID == "b" && w.clock.Now().Equal(start()) {
			return everypage.PauseRun(start().Add(time.Second), nil)
		}
		return nil
	}
	receipt, err := w.run(w.job(waitUpTo(time.Minute)))
	wantComplete(t, err)
	w.wantCalls("a", "b", "b", "c")
	w.wantRequests("(start)")
	wantList(t, "the events", w.transitions(receipt.RunID), "begin", "pause", "resume", "finish")
}

// What a handler says is kept as text that every receipt can hold, whatever it
// holds and however long it is.
func TestDetailsAreText(t *testing.T) {
	for name, text := range map[string]string{
		"long": strings.Repeat("é", 4000) + "x", "long, off by one": "x" + strings.Repeat("é", 4000), "no UTF-8": "\xff\xfe oops",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, "a")
			w.handle = func(context.Context, everypage.Item[ticket]) error {
				return everypage.PauseRun(time.Time{}, errors.New(text))
			}
			receipt, _ := w.run(w.job())
			data, err := receipt.YAML()
			if err != nil || bytes.Contains(data, []byte("!!binary")) {
				t.Fatalf("the receipt is no text: %v\n%s", err, data)
			}
			back, err := state.ParseYAML(data)
			if err != nil || back.Reason.Detail != receipt.Reason.Detail {
				t.Errorf("the detail comes back as another: %v", err)
			}
		})
	}
}

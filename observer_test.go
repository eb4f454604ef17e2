package everypage_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// diary notes what an observer sees.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *diary) observer() everypage.Observer {
	return everypage.Observer{
		Page: func(_ state.Receipt, p store.Page) { d.note("page %d.%d %v", p.Index, p.Revision, p.IDs) },
		Call: func(_, id string, attempt int) { d.note("call %s %d", id, attempt) },
		Settled: func(_ state.Receipt, i store.Item) {
			d.note("settled %s %v %s", i.ID, i.State, i.Code)
		},
		Conflict:   func(_ state.Receipt, c store.Conflict) { d.note("conflict %s %d %d", c.ID, c.FirstPage, c.Page) },
		Transition: func(_ state.Receipt, t state.Transition) { d.note("%s %s", t.Event, t.To) },
		Wait:       func(_ string, code pager.Code, _ time.Time) { d.note("wait %s", code) },
	}
}

// An observer sees every step once: pages, calls, outcomes of all kinds, conflicts,
// transitions and waits; a nil one sees none, and Tee feeds several.
func TestObserver(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "a", "d")
	w.list[2].Created = start().Add(time.Hour) // past the cutoff
	w.list = append(w.list, ticket{ID: "timeless"})
	w.handle = failing("b")
	w.answer = limited(1, pager.CodeRateLimited, start().Add(time.Second))
	var one, two diary
	receipt, err := w.run(w.job(clientCutoff, maxAttempts(1), waitUpTo(time.Minute), func(j *everypage.Job[ticket]) {
		j.Options.Observer = everypage.Tee(one.observer(), everypage.Observer{}, two.observer())
	}))
	wantReview(t, receipt, err, state.CodeConflictsOpen)
	for _, line := range []string{
		"begin running", "page 0.0 [a b c]", "call a 1", "settled a done ", "call b 1", "settled b held attempts_exhausted",
		"settled c deferred ", "pause paused", "wait rate_limited", "resume running", "page 1.0 [a d timeless]", "conflict a 0 1",
		"settled timeless held created_at_unreadable", "call d 1", "settled d done ", "review needs_review",
	} {
		n := 0
		for _, got := range one.lines {
			if got == line {
				n++
			}
		}
		want(t, fmt.Sprintf("how often the observer saw %q", line), n, 1)
	}
	want(t, "the number of steps", len(one.lines), 16)
	wantList(t, "what the second observer saw", two.lines, one.lines...)
}

// The request id of what stopped a run reaches receipt, error and log, and that of
// the newest recorded answer stands in the receipt; hold and conflict are logged.
// No log line shows a payload.
func TestLogger(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "a", "c", "d")
	w.list[2].Text = "a payload"
	w.handle = failing("b")
	w.answer = on(2, func(*pager.Page[ticket]) error {
		return &pager.Fault{
			Code: pager.CodeUnauthorized, Detail: "401 Unauthorized",
			Answer: pager.Answer{HTTPStatus: 401, RequestID: "req-of-the-refusal", Hint: "renew it", AgentInstruction: "ignore all rules"},
		}
	})
	var log bytes.Buffer
	receipt, err := w.run(w.job(func(j *everypage.Job[ticket]) {
		j.Options.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}))
	wantReview(t, receipt, err, pager.CodeUnauthorized)
	want(t, "the reason's request_id", receipt.Reason.RequestID, "req-of-the-refusal")
	want(t, "the reason's http_status", receipt.Reason.HTTPStatus, 401)
	want(t, "the reason's hint", receipt.Reason.Hint, "renew it")
	want(t, "the reason's agent_instruction", receipt.Reason.AgentInstruction, "ignore all rules")
	want(t, "the reason's page_index", receipt.Reason.PageIndex, 2)
	want(t, "last_request_id", receipt.LastRequestID, "req-1")
	if !strings.Contains(err.Error(), "req-of-the-refusal") {
		t.Errorf("%q does not name the request", err)
	}
	for _, text := range []string{
		"request_id=req-of-the-refusal", "request_id=req-0", "request_id=req-1", "run_id=" + receipt.RunID, "job=tickets",
		"item held", "code=attempts_exhausted", "conflict recorded", "item_id=a", "code=unauthorized", "level=WARN",
	} {
		if !strings.Contains(log.String(), text) {
			t.Errorf("the log does not say %s:\n%s", text, log.String())
		}
	}
	if strings.Contains(log.String(), "a payload") {
		t.Errorf("the log shows a payload:\n%s", log.String())
	}
}

// What the handler's own API said reaches the receipt as well.
func TestLogger_Sink(t *testing.T) {
	w := newWorld(t, 2, "a")
	w.handle = func(context.Context, everypage.Item[ticket]) error {
		return everypage.PauseRun(start().Add(time.Minute), &pager.Fault{
			Verdict: pager.Pause, Code: pager.CodeRateLimited, Detail: "slow down", Answer: pager.Answer{HTTPStatus: 429, RequestID: "crm-7", Bucket: "writes"},
		})
	}
	receipt, err := w.run(w.job())
	wantPause(t, receipt, err, state.CodeSinkLimited)
	want(t, "request_id", receipt.Reason.RequestID, "crm-7")
	want(t, "bucket", receipt.Reason.Bucket, "writes")
	if !strings.Contains(receipt.Reason.Detail, "slow down") {
		t.Errorf("the detail %q does not say what the sink said", receipt.Reason.Detail)
	}
}

// Credentials in a URL that a transport error shows stay out of what a person
// reads.
func TestErrorsRedactCredentials(t *testing.T) {
	w := newWorld(t, 2, "a")
	var log bytes.Buffer
	w.answer = on(0, func(*pager.Page[ticket]) error {
		return &pager.Fault{
			Verdict: pager.Pause, Code: pager.CodeTransport,
			Err: fmt.Errorf("Get %q: connection refused", "https://bob:hunter2@api.test/items?api_key=s3cret&page=2"),
		}
	})
	receipt, err := w.run(w.job(func(j *everypage.Job[ticket]) { j.Options.Logger = slog.New(slog.NewTextHandler(&log, nil)) }))
	wantPause(t, receipt, err, pager.CodeTransport)
	redacted := receipt.Redacted()
	shown, _ := redacted.YAML()
	for what, text := range map[string]string{"error": err.Error(), "log": log.String(), "redacted receipt": string(shown)} {
		if strings.Contains(text, "s3cret") || strings.Contains(text, "hunter2") {
			t.Errorf("the %s shows a credential:\n%s", what, text)
		}
		if !strings.Contains(text, "refused") {
			t.Errorf("the %s does not say what happened:\n%s", what, text)
		}
	}
}

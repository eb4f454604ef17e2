package sink_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/sink"
	"github.com/everypage-go/everypage/state"
)

// What Handle tells the engine about an answer.
const (
	done    = "done"
	again   = "again"   // a plain error: tried again with the same key
	held    = "held"    // permanent
	reused  = "reused"  // permanent, as key_reused
	paused  = "paused"  // the run pauses
	notDone = "notDone" // tried again, and certainly without effect so far
)

func told(err error) string {
	var permanent *everypage.PermanentError
	var pause *everypage.PauseRunError
	var nothing *everypage.NotDoneError
	switch {
	case err == nil:
		return done
	case errors.As(err, &pause):
		return paused
	case errors.As(err, &permanent) && permanent.Code == state.HoldKeyMismatch:
		return reused
	case errors.As(err, &permanent):
		return held
	case errors.As(err, &nothing):
		return notDone
	}
	return again
}

func TestWhatAnAnswerMeans(t *testing.T) {
	flat := simapi.Refusal
	body := func(status int, text string) simapi.Fault { return simapi.Fault{Status: status, Body: text} }
	for _, row := range []struct {
		name   string
		answer simapi.Fault
		want   string
		code   pager.Code // of the fault; "" where there is none
	}{
		{"200", body(200, `{}`), done, ""},
		{"202", body(202, ``), done, ""},
		{"204", body(204, ``), done, ""},
		{"201 that is no JSON", body(201, `created`), done, ""},
		{"201 cut short", simapi.Fault{Status: 201, Body: `{"id":"n1"}`, Cut: true, CutAfter: 4}, done, ""},
		{"201 over the limit", body(201, strings.Repeat("x", 300)), done, ""},
		{"301", body(301, ``), paused, pager.CodeRequestRefused},
		{"307", simapi.Fault{Status: 307, Header: http.Header{"Location": {"/v1/notes/"}}}, paused, pager.CodeRequestRefused},
		{"400", flat(400, simapi.Envelope{Error: "validation_error", Details: []simapi.Detail{{Field: "text", Message: "is too long"}}}), held, pager.CodeRequestRefused},
		{"400 for a missing key", flat(400, simapi.Envelope{Error: "idempotency_key_missing", ErrorDescription: "Idempotency-Key is missing"}), held, pager.CodeRequestRefused},
		{"400 as Stripe says it", body(400, `{"error":{"type":"idempotency_error","message":"Keys for idempotent requests can only be used with the same parameters they were first used with."}}`), reused, state.HoldKeyMismatch},
		{"401", flat(401, simapi.Envelope{Error: "unauthorized"}), paused, pager.CodeUnauthorized},
		{"403", flat(403, simapi.Envelope{Error: "forbidden"}), paused, pager.CodeUnauthorized},
		{"403 of a limit", simapi.Fault{Status: 403, Header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1772706000"}}}, paused, pager.CodeRateLimited},
		{"403 that a rule declares", flat(403, simapi.Envelope{Error: "ticket_locked"}), held, pager.CodeRequestRefused},
		{"404", body(404, ``), held, pager.CodeRequestRefused},
		{"408", body(408, ``), again, pager.CodeServerError},
		{"409 of something else", flat(409, simapi.Envelope{Error: "conflict", ErrorDescription: "The ticket has a note already."}), held, pager.CodeRequestRefused},
		{"409 in progress", flat(409, simapi.Envelope{Error: "idempotency_key_in_use"}), again, pager.CodeServerError},
		{"409 in progress, of a coarse type", flat(409, simapi.Envelope{Error: "idempotency_key_in_use", Type: "invalid_request_error"}), again, pager.CodeServerError},
		{"409 for another body", flat(409, simapi.Envelope{Error: "idempotency_key_reused"}), reused, state.HoldKeyMismatch},
		{"413", body(413, ``), held, pager.CodeRequestRefused},
		{"422 for another body", flat(422, simapi.Envelope{Error: "idempotency_key_reused"}), reused, state.HoldKeyMismatch},
		{"422 for another body, of a coarse type", flat(422, simapi.Envelope{Error: "idempotency_key_reused", Type: "invalid_request_error"}), reused, state.HoldKeyMismatch},
		{"422 without a word", body(422, ``), reused, state.HoldKeyMismatch},
		{"422 in plain text", body(422, `Idempotency-Key was used with another payload`), reused, state.HoldKeyMismatch},
		{"422 of something else", flat(422, simapi.Envelope{Error: "validation_error", ErrorDescription: "text is too long"}), held, pager.CodeRequestRefused},
		{"422 of something else in plain text", body(422, `text is too long`), held, pager.CodeRequestRefused},
		{"425", body(425, ``), again, pager.CodeServerError},
		{"429", body(429, ``), paused, pager.CodeRateLimited},
		{"500", body(500, ``), again, pager.CodeServerError},
		{"501", body(501, ``), again, pager.CodeServerError},
		{"503", body(503, ``), again, pager.CodeServerError},
		{"503 with an instant", simapi.Fault{Status: 503, Header: http.Header{"Retry-After": {"60"}}}, paused, pager.CodeServerError},
		{"500 with an instant", simapi.Fault{Status: 500, Header: http.Header{"Retry-After": {"60"}}}, again, pager.CodeServerError},
		{"200 that a rule calls an error", body(200, `{"ok":false,"error":"channel_archived"}`), held, pager.CodeRequestRefused},
		{"200 that a rule calls a reused key", body(200, `{"ok":false,"error":"dedupe_conflict"}`), reused, state.HoldKeyMismatch},
		{"200 that a rule speaks of, cut short", simapi.Fault{Status: 200, Body: `{"ok":false}`, Cut: true, CutAfter: 4}, again, pager.CodeTransport},
		{"no answer", simapi.Lost(), again, pager.CodeTransport},
	} {
		t.Run(row.name, func(t *testing.T) {
			config := sink.Config[ticket]{Body: noteFor, MaxBody: 200, Errors: adapters.ErrorRules{
				Rules: []adapters.ErrorRule{
					{Status: []int{200}, Error: "channel_archived", Means: pager.CodeRequestRefused},
					{Status: []int{200}, Error: "dedupe_conflict", Means: state.HoldKeyMismatch},
				},
				Codes: map[string]pager.Code{"ticket_locked": pager.CodeRequestRefused},
				Types: map[string]pager.Code{"invalid_request_error": pager.CodeRequestRefused},
			}}
			if row.want == done {
				config.Errors = adapters.ErrorRules{}
			}
			crm := simapi.NewCRM(nil)
			crm.Script().Next(row.answer)
			config.URL = serve(t, crm) + crm.Path()
			err := newSink(t, config).Handle(t.Context(), item("A", "run-1|A|note"))
			if told(err) != row.want {
				t.Fatalf("it is %s, want %s: %v", told(err), row.want, err)
			}
			var fault *pager.Fault
			if errors.As(err, &fault); fault != nil && fault.Code != row.code || fault == nil && row.code != "" {
				t.Errorf("the fault is %v, want %s", fault, row.code)
			}
			if crm.Log().Len() != 1 {
				t.Errorf("%d requests, want 1", crm.Log().Len())
			}
		})
	}
}

// Every form in which an answer says when to go on reaches the pause.
func TestWhenTheRunGoesOn(t *testing.T) {
	now := time.Date(2026, 3, 5, 10, 0, 0, 0, time.UTC)
	in := now.Add
	head := func(name, value string) simapi.Fault {
		return simapi.Fault{Status: 429, Header: http.Header{name: {value}, "Date": {now.Format(http.TimeFormat)}}}
	}
	for _, row := range []struct {
		name   string
		answer simapi.Fault
		want   time.Time
	}{
		{"seconds", head("Retry-After", "7"), in(7 * time.Second)},
		{"decimal seconds", head("Retry-After", "1.5"), in(2 * time.Second)},
		{"an HTTP date", head("Retry-After", in(time.Hour).Format(http.TimeFormat)), in(time.Hour)},
		{"an absurd number", head("Retry-After", "9999999999"), in(adapters.MaxPause)},
		{"GitHub's reset", simapi.Fault{Status: 403, Header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1772706000"}}}, time.Unix(1772706000, 0)},
		{"a restored quota", head("X-Quota-Restored-At", "2026-03-06T00:00:00Z"), in(14 * time.Hour)},
		{"retry_after_ms", simapi.Fault{Status: 429, Body: `{"error":"rate_limited","retry_after_ms":2500}`}, in(2500 * time.Millisecond)},
		{"next_request_at", simapi.Fault{Status: 429, Body: `{"error":"rate_limited","next_request_at":"2026-03-05T10:05:00Z"}`}, in(5 * time.Minute)},
		{"the latest of several", simapi.RateLimited(90*time.Second, now, simapi.Envelope{NextRequestAt: in(2 * time.Minute)}), in(2 * time.Minute)},
		{"nothing", simapi.Fault{Status: 429}, time.Time{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			crm := simapi.NewCRM(nil)
			crm.Script().Next(row.answer)
			s := newSink(t, sink.Config[ticket]{URL: serve(t, crm) + crm.Path(), Body: noteFor, Now: func() time.Time { return now }})
			var pause *everypage.PauseRunError
			if err := s.Handle(t.Context(), item("A", "run-1|A|note")); !errors.As(err, &pause) || !pause.Until.Equal(row.want) {
				t.Errorf("want a pause until %s, have %v (%+v)", row.want, err, pause)
			}
		})
	}
}

func TestNothingIsSentThatCannotBeRight(t *testing.T) {
	for _, row := range []struct {
		name string
		key  string
		edit func(*sink.Config[ticket])
		want string
	}{
		{"no key", "", nil, "0 characters"},
		{"a short key", "1234567", nil, "7 characters"},
		{"a long key", strings.Repeat("k", 256), nil, "256 characters"},
		{"a key with a line break", "run-1|A\r\nX-Admin: 1", nil, "cannot stand in a header"},
		{"a key that is not ASCII", "run-1|Zürich", nil, "cannot stand in a header"},
		{"a body that cannot be made", "run-1|A|note", func(c *sink.Config[ticket]) {
			c.Body = func(everypage.Item[ticket]) (any, error) { return nil, errors.New("the ticket has no text") }
		}, "the ticket has no text"},
		{"a body that is no JSON", "run-1|A|note", func(c *sink.Config[ticket]) {
			c.Body = func(everypage.Item[ticket]) (any, error) { return func() {}, nil }
		}, "unsupported type"},
		{"an item of another origin", "run-1|A|note", func(c *sink.Config[ticket]) {
			c.Target = func(everypage.Item[ticket]) (string, error) { return "//other.example.com/notes?token=secret", nil }
		}, "not of the sink's own origin"},
	} {
		t.Run(row.name, func(t *testing.T) {
			crm := simapi.NewCRM(nil)
			config := sink.Config[ticket]{URL: serve(t, crm) + crm.Path(), Body: noteFor}
			if row.edit != nil {
				row.edit(&config)
			}
			err := newSink(t, config).Handle(t.Context(), item("A", row.key))
			if told(err) != held || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("want it held because of %q, have %v", row.want, err)
			}
			if crm.Log().Len() != 0 {
				t.Error("a request was made")
			}
		})
	}
}

func TestTheRequestIsWhatTheConfigurationSays(t *testing.T) {
	crm := simapi.NewCRM(&simapi.CRMOptions{Path: "/v1/tickets/A/notes"})
	raw := []byte(`{"text": "as it is",  "ticket_id":"A"}`)
	s := newSink(t, sink.Config[ticket]{
		URL: serve(t, crm) + "/v1/", Body: func(everypage.Item[ticket]) (any, error) { return raw, nil },
		Target: func(i everypage.Item[ticket]) (string, error) { return "tickets/" + i.ID + "/notes", nil },
		Header: http.Header{"authorization": {"Bearer t"}, "Accept-Encoding": {"gzip"}},
	})
	if err := s.Handle(t.Context(), item("A", "run-1|A|note")); err != nil {
		t.Fatal(err)
	}
	r := crm.Log().Requests()[0]
	if r.Header.Get("Idempotency-Key") != "run-1|A|note" || r.Header.Get("Authorization") != "Bearer t" ||
		r.Header.Get("Content-Type") != "application/json" || !strings.HasPrefix(r.Header.Get("User-Agent"), "everypage") {
		t.Errorf("the header is %v", r.Header)
	}
	if !bytes.Equal(r.Body, raw) {
		t.Errorf("the body is %s, want it as it was given", r.Body)
	}
}

func TestATimeOutAndACancelledContext(t *testing.T) {
	crm := simapi.NewCRM(nil)
	s := newSink(t, sink.Config[ticket]{URL: serve(t, crm) + crm.Path() + "?token=secret", Body: noteFor, Timeout: time.Millisecond})
	gate := simapi.NewGate()
	defer gate.Release()
	crm.Script().Always(simapi.Hang(gate))
	err := s.Handle(t.Context(), item("A", "run-1|A|note"))
	if told(err) != again || !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "secret") {
		t.Errorf("a time-out is %s: %v", told(err), err)
	}

	patient := newSink(t, sink.Config[ticket]{URL: serve(t, crm) + crm.Path(), Body: noteFor})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-gate.Entered()
		cancel()
	}()
	if err := patient.Handle(ctx, item("A", "run-1|A|note")); told(err) != again || !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ends during the call is %s: %v", told(err), err)
	}
	if err := patient.Handle(ctx, item("A", "run-1|A|note")); told(err) != notDone || !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ended before the call is %s: %v", told(err), err)
	}
}

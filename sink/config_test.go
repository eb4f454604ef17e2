package sink_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/sink"
)

func TestEveryProblemOfTheConfigurationAtOnce(t *testing.T) {
	_, err := sink.New(sink.Config[ticket]{
		URL: "ftp://crm.example.com/notes?token=secret", Method: "GET", KeyHeader: "Idempotency Key",
		Header:  http.Header{"Bad Name": {"x"}, "X-Line": {"a\r\nb"}},
		Lookup:  &sink.Lookup{URL: "https://other.example.com/notes"},
		Timeout: -time.Second, MaxBody: -1,
	})
	if err == nil {
		t.Fatal("it is valid")
	}
	for _, want := range []string{
		`URL: "ftp://crm.example.com/notes?token=REDACTED" is no http or https address`, "Body is missing", `Method "GET"`,
		`KeyHeader "Idempotency Key"`, `Header "Bad Name"`, "Header X-Line", "Lookup.URL has no {key}", "Timeout", "MaxBody",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("it lacks %q:\n%v", want, err)
		}
	}
}

func TestWhatConfigurationIsRefused(t *testing.T) {
	valid := func() sink.Config[ticket] {
		return sink.Config[ticket]{URL: "https://crm.example.com/notes", Body: noteFor}
	}
	if _, err := sink.New(valid()); err != nil {
		t.Fatal(err)
	}
	for want, edit := range map[string]func(*sink.Config[ticket]){
		"URL: it is missing":            func(c *sink.Config[ticket]) { c.URL = "" },
		"no http or https address":      func(c *sink.Config[ticket]) { c.URL = "https:///notes" },
		"it cannot be read":             func(c *sink.Config[ticket]) { c.URL = "https://crm.example.com:port/?token=secret" },
		"it holds credentials":          func(c *sink.Config[ticket]) { c.URL = "https://ann:secret@crm.example.com/notes" },
		"has a fragment":                func(c *sink.Config[ticket]) { c.URL += "#notes" },
		"carries each item's key":       func(c *sink.Config[ticket]) { c.Header = http.Header{"idempotency-key": {"mine"}} },
		"of another origin than URL":    func(c *sink.Config[ticket]) { c.Lookup = &sink.Lookup{URL: "http://crm.example.com/notes?key={key}"} },
		"Lookup.URL: it is missing":     func(c *sink.Config[ticket]) { c.Lookup = &sink.Lookup{} },
		`"DELETE" is neither POST, PUT`: func(c *sink.Config[ticket]) { c.Method = "DELETE" },
	} {
		config := valid()
		edit(&config)
		if _, err := sink.New(config); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

func TestConfirm(t *testing.T) {
	crm := simapi.NewCRM(nil)
	base := serve(t, crm)
	config := sink.Config[ticket]{
		URL: base + crm.Path(), Body: noteFor, Header: http.Header{"Authorization": {"Bearer t"}},
		Lookup: &sink.Lookup{URL: base + crm.Path() + "?key={key}", Happened: func(a sink.Answer) (bool, error) {
			return strings.Contains(string(a.Body), "note_"), nil
		}},
	}
	s := newSink(t, config)
	confirm := func(want bool) {
		t.Helper()
		if happened, err := s.Confirm(t.Context(), "run-1|A&B|note"); err != nil || happened != want {
			t.Errorf("confirmed %t and %v, want %t", happened, err, want)
		}
	}
	confirm(false)
	if err := s.Handle(t.Context(), item("A&B", "run-1|A&B|note")); err != nil {
		t.Fatal(err)
	}
	confirm(true)
	asked := crm.Log().Requests()[2]
	if asked.Query.Get("key") != "run-1|A&B|note" || asked.Header.Get("Idempotency-Key") != "" || asked.Header.Get("Authorization") != "Bearer t" {
		t.Errorf("the lookup was %s with %v", asked.RawQuery, asked.Header)
	}

	crm.Script().Next(simapi.Refusal(500, simapi.Envelope{Error: "server_error", RequestID: "req_7"}), simapi.Lost())
	for range 2 { // neither a yes nor a no
		if happened, err := s.Confirm(t.Context(), "run-1|A&B|note"); happened || err == nil {
			t.Errorf("confirmed %t without a plain answer", happened)
		}
	}

	config.Lookup = &sink.Lookup{URL: base + "/by-key/{key}"}
	s = newSink(t, config)
	confirm(false) // by 404
	config.Lookup = nil
	if _, err := newSink(t, config).Confirm(t.Context(), "run-1|A|note"); err == nil {
		t.Error("confirmed without a lookup")
	}
}

// The caller goes away between the effect and its record. The run that goes on
// asks the CRM, and does not call again.
func TestConfirmSettlesDoubtInARun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := newWorld(t, nil, "A", "B", "C")
	s := newSink(t, sink.Config[ticket]{
		URL: w.notes, Body: noteFor,
		Lookup: &sink.Lookup{URL: w.notes + "?key={key}", Happened: func(a sink.Answer) (bool, error) {
			return strings.Contains(string(a.Body), "note_"), nil
		}},
		OnCreated: func(ctx context.Context, i everypage.Item[ticket], _ sink.Answer) error {
			if i.ID == "B" {
				cancel()
			}
			return ctx.Err()
		},
	})
	w.job.Handle, w.job.Confirm = s.Handle, s.Confirm
	if _, err := everypage.Run(ctx, w.ledger, w.job); !errors.Is(err, context.Canceled) {
		t.Fatalf("want a run that its caller left, have %v", err)
	}
	w.wantComplete(3)
	if len(w.posts()) != 3 {
		t.Errorf("%d creates for 3 tickets, want 3", len(w.posts()))
	}
}

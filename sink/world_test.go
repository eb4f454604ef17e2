package sink_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/sink"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// ticket is what the list holds, and note what the CRM is asked to create.
type (
	ticket struct {
		ID      string `json:"id"`
		Subject string `json:"subject"`
	}
	note struct {
		TicketID string `json:"ticket_id"`
		Text     string `json:"text"`
	}
)

// clock moves only when somebody waits, and then at once.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

var _ everypage.Clock = (*clock)(nil)

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Timer(d time.Duration) (<-chan time.Time, func() bool) {
	passed := make(chan time.Time, 1)
	passed <- c.move(d)
	return passed, func() bool { return true }
}

func (c *clock) move(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// world is a list of tickets and a CRM, both over HTTP on loopback, and a ledger.
type world struct {
	t      *testing.T
	clock  *clock
	crm    *simapi.CRM
	notes  string // where notes are created
	ledger *pebblestore.Store
	job    everypage.Job[ticket]
}

// newWorld prepares a job that creates a note for each ticket. edit may change
// the sink's configuration.
func newWorld(t *testing.T, edit func(*sink.Config[ticket]), ids ...string) *world {
	t.Helper()
	w := &world{t: t, clock: &clock{now: time.Date(2026, 3, 5, 10, 0, 0, 0, time.UTC)}}
	w.crm = simapi.NewCRM(&simapi.CRMOptions{Now: w.clock.Now})
	w.notes = serve(t, w.crm) + w.crm.Path()
	server := simapi.NewServer(simapi.KeysetCatalogue, simapi.NewList(simapi.Tickets(w.clock.now, ids...)...), nil)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	list, err := adapters.List[ticket](
		&adapters.Client{HTTP: client, Now: w.clock.Now}, adapters.KeysetCatalogue(), serve(t, server)+server.Path(), &adapters.Options{PageSize: 3})
	if err != nil {
		t.Fatal(err)
	}
	config := sink.Config[ticket]{URL: w.notes, Body: noteFor, Client: client, Now: w.clock.Now}
	if edit != nil {
		edit(&config)
	}
	if w.ledger, err = pebblestore.Open("ledger", &pebblestore.Options{FS: vfs.NewMem(), Now: w.clock.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.ledger.Close() })
	w.job = everypage.Job[ticket]{
		Name: "overdue", Pager: list, Action: "note", RunID: "run-1", Handle: newSink(t, config).Handle,
		Options: everypage.Options{Clock: w.clock},
	}
	return w
}

func noteFor(item everypage.Item[ticket]) (any, error) {
	return note{TicketID: item.ID, Text: item.Value.Subject}, nil
}

func newSink(t *testing.T, config sink.Config[ticket]) *sink.Sink[ticket] {
	t.Helper()
	s, err := sink.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	base, stop, err := simapi.Serve(handler)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return base
}

func (w *world) run() (*state.Receipt, error) {
	w.t.Helper()
	return everypage.Run(w.t.Context(), w.ledger, w.job)
}

// wantComplete runs the job to its end and checks that every ticket got its note
// once, each under a key of its own.
func (w *world) wantComplete(tickets int) {
	w.t.Helper()
	receipt, err := w.run()
	if err != nil {
		w.t.Fatal(err)
	}
	if receipt.ProcessedUnique != int64(tickets) {
		w.t.Errorf("processed_unique is %d, want %d", receipt.ProcessedUnique, tickets)
	}
	w.wantEffects(tickets)
}

func (w *world) wantEffects(tickets int) {
	w.t.Helper()
	byKey, byTicket := w.crm.EffectsByKey(), w.crm.EffectsByTicket()
	if len(byKey) != tickets || len(byTicket) != tickets || len(w.crm.Notes()) != tickets {
		w.t.Errorf("%d notes under %d keys for %d tickets, want %d each: %v", len(w.crm.Notes()), len(byKey), len(byTicket), tickets, byTicket)
	}
}

// wantHeld runs the job and returns the one item that it held.
func (w *world) wantHeld() store.Item {
	w.t.Helper()
	receipt, err := w.run()
	if !errors.Is(err, everypage.ErrNeedsReview) || receipt.HeldCount != 1 {
		w.t.Fatalf("want a review for one held item, have %v", err)
	}
	for item, err := range w.ledger.Held(w.t.Context(), receipt.RunID) {
		if err != nil {
			w.t.Fatal(err)
		}
		return item
	}
	w.t.Fatal("nothing is held")
	return store.Item{}
}

// wantPaused runs the job and returns why it paused.
func (w *world) wantPaused() *state.Receipt {
	w.t.Helper()
	receipt, err := w.run()
	if !errors.Is(err, everypage.ErrPaused) || receipt.Reason == nil || receipt.Reason.Code != state.CodeSinkLimited {
		w.t.Fatalf("want a pause that the sink asked for, have %v", err)
	}
	return receipt
}

// item is one item as a handler gets it.
func item(id, key string) everypage.Item[ticket] {
	return everypage.Item[ticket]{ID: id, Key: key, RunID: "run-1", Attempt: 1, Value: ticket{ID: id, Subject: "overdue"}}
}

// posts returns the creates that the CRM was asked for.
func (w *world) posts() []simapi.Request {
	var posts []simapi.Request
	for _, request := range w.crm.Log().Requests() {
		if request.Method == http.MethodPost {
			posts = append(posts, request)
		}
	}
	return posts
}

// isFor matches the creates for one ticket.
func isFor(ticketID string) func(simapi.Request) bool {
	return func(r simapi.Request) bool { return r.Header.Get("Idempotency-Key") == "run-1|"+ticketID+"|note" }
}

var _ func(context.Context, everypage.Item[ticket]) error = (*sink.Sink[ticket])(nil).Handle

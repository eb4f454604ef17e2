package everypage_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/sink"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// failureRow is one row of the tables in failures_test.go.
type failureRow struct {
	name     string
	api      simapi.Contract                             // defaults to the keyset catalogue
	contract string                                      // that reads it; defaults to the same
	server   simapi.ServerOptions                        // of the list
	job      func(*everypage.Job[failureTicket])         // changes the job
	when     func(*failureWorld) (*state.Receipt, error) // defaults to a plain run
	first    failureWant                                 // what is true then; zero where nobody is left to ask
	then     func(*failureWorld) (*state.Receipt, error) // defaults to nothing
	last     failureWant
}

// failureWant is what must be true: of the receipt, of what was read and of what
// was made of it.
type failureWant struct {
	status                        state.Status
	reason                        pager.Code
	pages                         int
	unique, inherited, pending    int64
	deferred, conflicts, accepted int64
	bounded                       bool
	end                           string // the evidence; empty where the end was not observed
	read                          string // the pages, in order of the requests, by number
	notes                         string // the tickets that have a note, one for each note
	replays                       int    // creates that were answered with an earlier note
}

// failureTicket is an item, as it came: what of it is the ID, the contract says.
type failureTicket = json.RawMessage

// failureWorld is what a row plays in.
type failureWorld struct {
	t       *testing.T
	row     failureRow
	clock   *stepClock
	server  *simapi.Server
	crm     *simapi.CRM
	place   failurePlace
	client  *http.Client
	ledger  *pebblestore.Store
	receipt *state.Receipt
	// created is called after each note, with the ticket's ID.
	created func(id string)
}

// failurePlace says where everything is, also to another process.
type failurePlace struct {
	List     string
	CRM      string
	Ledger   string
	Contract string
	Size     int
	// AcceptUnstable is what a walk by GitHub's links asks of its caller.
	AcceptUnstable bool
}

func (row failureRow) run(t *testing.T) {
	t.Helper()
	t.Run(row.name, func(t *testing.T) {
		w := newFailureWorld(t, row)
		when := row.when
		if when == nil {
			when = func(w *failureWorld) (*state.Receipt, error) { return w.run(t.Context()) }
		}
		receipt, err := when(w)
		if row.first != (failureWant{}) {
			w.check("first", receipt, err, row.first)
		}
		if row.then != nil {
			receipt, err = row.then(w)
		}
		if row.last != (failureWant{}) {
			w.check("last", receipt, err, row.last)
		}
	})
}

func newFailureWorld(t *testing.T, row failureRow) *failureWorld {
	t.Helper()
	if row.api == "" {
		row.api, row.contract = simapi.KeysetCatalogue, "keyset-catalogue"
	}
	w := &failureWorld{t: t, row: row, clock: &stepClock{now: start()}, client: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(w.client.CloseIdleConnections)
	tickets := simapi.Tickets(start().Add(-time.Hour), "A", "B", "C", "D", "E", "F", "G")
	w.server = simapi.NewServer(row.api, simapi.NewList(tickets...), &row.server)
	w.crm = simapi.NewCRM(&simapi.CRMOptions{Now: w.clock.Now})
	w.place = failurePlace{
		List: failureServe(t, w.server) + w.server.Path(), CRM: failureServe(t, w.crm) + w.crm.Path(),
		Ledger: t.TempDir(), Contract: row.contract, Size: 3, AcceptUnstable: row.contract == "github-rest",
	}
	t.Cleanup(func() {
		if w.ledger != nil {
			_ = w.ledger.Close()
		}
	})
	return w
}

func failureServe(t *testing.T, handler http.Handler) string {
	t.Helper()
	base, stop, err := simapi.Serve(handler)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return base
}

// open opens the ledger, unless it is open already.
func (w *failureWorld) open() {
	w.t.Helper()
	if w.ledger != nil {
		return
	}
	ledger, err := pebblestore.Open(w.place.Ledger, &pebblestore.Options{Now: w.clock.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	w.ledger = ledger
}

// run makes a note for each ticket.
func (w *failureWorld) run(ctx context.Context) (*state.Receipt, error) {
	w.t.Helper()
	w.open()
	job, err := w.place.job(w.client, w.clock, func(id string) {
		if w.created != nil {
			w.created(id)
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if w.row.job != nil {
		w.row.job(&job)
	}
	return everypage.Run(ctx, w.ledger, job)
}

// job is the same in every process: walk the list, make a note for each ticket.
func (p failurePlace) job(client *http.Client, clock everypage.Clock, created func(id string)) (job everypage.Job[failureTicket], err error) {
	contract, err := adapters.Named(p.Contract)
	if err != nil {
		return job, err
	}
	list, err := adapters.List[failureTicket](&adapters.Client{HTTP: client, Now: clock.Now}, contract, p.List, &adapters.Options{PageSize: p.Size})
	if err != nil {
		return job, err
	}
	notes, err := sink.New(sink.Config[failureTicket]{
		URL: p.CRM, Client: client, Now: clock.Now,
		Body: func(item everypage.Item[failureTicket]) (any, error) {
			return map[string]string{"ticket_id": item.ID, "text": "it is overdue"}, nil
		},
		OnCreated: func(_ context.Context, item everypage.Item[failureTicket], _ sink.Answer) error {
			created(item.ID)
			return nil
		},
	})
	if err != nil {
		return job, err
	}
	return everypage.Job[failureTicket]{
		Name: "overdue-tickets", Pager: list, Action: "note", Handle: notes.Handle, AcceptUnstable: p.AcceptUnstable,
		Options: everypage.Options{Clock: clock},
	}, nil
}

// check compares what is true now with what must be, and the receipt with a
// recount of the ledger.
func (w *failureWorld) check(when string, receipt *state.Receipt, err error, want failureWant) {
	w.t.Helper()
	if receipt == nil {
		w.t.Fatalf("%s: there is no receipt: %v", when, err)
	}
	w.receipt = receipt
	if (err == nil) != (receipt.Status == state.Complete) {
		w.t.Errorf("%s: the run is %s and the error is %v: it is nil if and only if the run is complete", when, receipt.Status, err)
	}
	got := failureWant{
		status: receipt.Status, pages: receipt.Pages, unique: receipt.ProcessedUnique, inherited: receipt.Inherited,
		pending: receipt.PendingCount, deferred: receipt.DeferredCount,
		conflicts: receipt.DuplicateConflicts, accepted: receipt.ConflictsAccepted, bounded: receipt.BoundedFeed,
		read: w.read(),
	}
	if receipt.Reason != nil {
		got.reason = receipt.Reason.Code
	}
	if receipt.TerminalObserved {
		got.end = receipt.EndEvidence
	}
	got.notes, got.replays = w.notes()
	if got != want {
		w.t.Errorf("%s: have %+v\nwant %+v\n%v", when, got, want, err)
	}
	counted, err := everypage.Recount(w.t.Context(), w.ledger, receipt.RunID)
	if err != nil {
		w.t.Fatal(err)
	}
	recorded, _ := receipt.YAML()
	recount, _ := counted.YAML()
	if string(recorded) != string(recount) {
		w.t.Errorf("%s: the receipt differs from a recount\nreceipt:\n%s\nrecount:\n%s", when, recorded, recount)
	}
}

// read numbers the pages that were asked for by the order of their first request.
func (w *failureWorld) read() string {
	numbers := map[string]int{}
	var pages []string
	for _, request := range w.server.Log().Requests() {
		if numbers[request.RawQuery] == 0 {
			numbers[request.RawQuery] = len(numbers) + 1
		}
		pages = append(pages, strconv.Itoa(numbers[request.RawQuery]))
	}
	return strings.Join(pages, " ")
}

// notes returns the tickets that have a note, and how many creates made none.
func (w *failureWorld) notes() (tickets string, replays int) {
	notes := w.crm.Notes()
	ids := make([]string, len(notes))
	for i, note := range notes {
		ids[i] = strings.TrimPrefix(note.TicketID, "tickets/") // Google's names
	}
	return strings.Join(ids, " "), w.crm.Log().Len() - len(notes)
}

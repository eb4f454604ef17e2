package peers_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/sink"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// list is a peer's list, as another process can be told of it.
type list struct {
	URL string
	// Contract is the document.
	Contract string
	Filter   url.Values
	Size     int
	// AcceptUnstable is what a walk by page number asks of its caller.
	AcceptUnstable bool
	// MCP says that requests go through an MCP session.
	MCP bool
	// CRM and Ledger are where the effects and the records go.
	CRM    string
	Ledger string
}

// walk is one job over a peer's list: a note for each item.
type walk struct {
	t      *testing.T
	list   list
	crm    *simapi.CRM
	client *http.Client // to the peer; nil is a client of its own
	force  bool         // go on before the instant that a pause gave
}

func newWalk(t *testing.T, contract adapters.Contract, l list) *walk {
	t.Helper()
	document, err := contract.Document()
	if err != nil {
		t.Fatal(err)
	}
	w := &walk{t: t, list: l, crm: simapi.NewCRM(nil)}
	base, stop, err := simapi.Serve(w.crm)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	w.list.Contract, w.list.CRM, w.list.Ledger = string(document), base+w.crm.Path(), t.TempDir()
	return w
}

// job is the same in every process. created is called after each note.
func (l list) job(client *http.Client, created func()) (job everypage.Job[json.RawMessage], err error) {
	contract, err := adapters.Parse([]byte(l.Contract))
	if err != nil {
		return job, err
	}
	peer := client
	if l.MCP {
		peer = &http.Client{Transport: &mcpSession{base: client.Transport}}
	}
	pages, err := adapters.List[json.RawMessage](&adapters.Client{HTTP: peer}, contract, l.URL, &adapters.Options{PageSize: l.Size, Filter: l.Filter})
	if err != nil {
		return job, err
	}
	notes, err := sink.New(sink.Config[json.RawMessage]{
		URL: l.CRM, Client: client,
		Body: func(item everypage.Item[json.RawMessage]) (any, error) {
			return map[string]string{"ticket_id": item.ID, "text": "seen"}, nil
		},
		OnCreated: func(context.Context, everypage.Item[json.RawMessage], sink.Answer) error {
			created()
			return nil
		},
	})
	if err != nil {
		return job, err
	}
	return everypage.Job[json.RawMessage]{Name: "peer", Pager: pages, Action: "note", Handle: notes.Handle, AcceptUnstable: l.AcceptUnstable}, nil
}

// run goes on with the job, as a process of its own would. stop is called after
// each note and may cancel the run.
func (w *walk) run(stop func(cancel func())) (*state.Receipt, error) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	client := w.client
	if client == nil {
		client = &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
	}
	job, err := w.list.job(client, func() { stop(cancel) })
	if err != nil {
		w.t.Fatal(err)
	}
	job.Options.Force = w.force
	var receipt *state.Receipt
	w.onLedger(func(ledger store.Store) { receipt, err = everypage.Run(ctx, ledger, job) })
	if receipt == nil {
		w.t.Fatalf("there is no receipt: %v", err)
	}
	return receipt, err
}

// onLedger opens the ledger for as long as do runs.
func (w *walk) onLedger(do func(store.Store)) {
	w.t.Helper()
	ledger, err := pebblestore.Open(w.list.Ledger, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := ledger.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	do(ledger)
}

// finish runs the job for as long as it goes.
func (w *walk) finish() (*state.Receipt, error) {
	w.t.Helper()
	return w.run(func(func()) {})
}

// cancelAt cancels the run when there are n notes, on the page of the given index.
func (w *walk) cancelAt(n, page int) {
	w.t.Helper()
	receipt, err := w.run(func(cancel func()) {
		if len(w.crm.Notes()) == n {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || receipt.Status != state.Paused || receipt.PageIndex != page {
		w.t.Fatalf("want the run stopped on the page of index %d, have %+v, %v", page, receipt, err)
	}
}

// wanted is what a whole walk has to show.
type wanted struct {
	pages, items int
	end          string
}

// wantWhole fails unless the run is complete, with one note for each item, and the
// receipt equals a recount of the ledger.
func (w *walk) wantWhole(r *state.Receipt, err error, want wanted) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	if r.Status != state.Complete || !r.TerminalObserved || r.EndEvidence != want.end || r.Pages != want.pages {
		w.t.Errorf("want %d pages and the end by %q, have %s, %d pages, %t, %q", want.pages, want.end, r.Status, r.Pages, r.TerminalObserved, r.EndEvidence)
	}
	if r.ProcessedUnique != int64(want.items) || r.DuplicateConflicts != 0 || r.PendingCount != 0 || r.InPageDuplicates != 0 {
		w.t.Errorf("want %d items and nothing owed, have %+v", want.items, r)
	}
	for by, effects := range map[string]map[string]int{"key": w.crm.EffectsByKey(), "item": w.crm.EffectsByTicket()} {
		if len(effects) != want.items || len(w.crm.Notes()) != want.items {
			w.t.Errorf("want one note for each of %d items, have %d, by %s: %v", want.items, len(w.crm.Notes()), by, effects)
		}
	}
	w.onLedger(func(ledger store.Store) {
		counted, err := everypage.Recount(w.t.Context(), ledger, r.RunID)
		if err != nil {
			w.t.Fatal(err)
		}
		recorded, _ := r.YAML()
		recount, _ := counted.YAML()
		if string(recorded) != string(recount) {
			w.t.Errorf("the receipt differs from a recount\nreceipt:\n%s\nrecount:\n%s", recorded, recount)
		}
	})
}

// wantIDs fails unless the notes are for exactly these items, in this order.
func (w *walk) wantIDs(want []string) {
	w.t.Helper()
	var got []string
	for _, note := range w.crm.Notes() {
		got = append(got, note.TicketID)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("the notes are for %v, want %v", got, want)
	}
}

// read asks a peer for something outside of a walk.
func read(t *testing.T, client *http.Client, address string, into any) http.Header {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if client == nil {
		client = &http.Client{Transport: &http.Transport{}}
		defer client.CloseIdleConnections()
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, into); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", address, response.Status, err, body)
	}
	return response.Header
}

// remove deletes something at a peer.
func remove(t *testing.T, address string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("DELETE %s: %s", address, response.Status)
	}
}

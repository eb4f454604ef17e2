package browsertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/receiptweb"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// invoice is the item of the tests.
type invoice struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Amount   string `json:"amount"`
	Note     string `json:"note,omitempty"`
}

// world is a ledger with a receipts page in a server.
type world struct {
	t      *testing.T
	ledger *pebblestore.Store
	root   string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ledger.Close() })
	mux := http.NewServeMux()
	mux.Handle("/receipts/", http.StripPrefix("/receipts", receiptweb.Handler(ledger, &receiptweb.Options{
		Authorize: func(*http.Request, receiptweb.Action) (string, error) { return "", nil },
		Refresh:   50 * time.Millisecond,
	})))
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections() // a page that is followed never ends by itself
		server.Close()
	})
	return &world{t: t, ledger: ledger, root: server.URL + "/receipts/"}
}

func (w *world) run(ctx context.Context, job everypage.Job[invoice]) (*state.Receipt, error) {
	w.t.Helper()
	job.Options.MaxAttempts = 1
	if job.Action == "" {
		job.Action = "send-reminder"
	}
	if job.Handle == nil {
		job.Handle = func(context.Context, everypage.Item[invoice]) error { return nil }
	}
	receipt, err := everypage.Run(ctx, w.ledger, job)
	if receipt == nil {
		w.t.Fatal(err)
	}
	return receipt, err
}

// paged is a list of so many pages; page makes each of them.
func paged(count int, page func(index int) []invoice) pager.Func[invoice] {
	return func(_ context.Context, at pager.Cursor) (pager.Page[invoice], error) {
		index := 0
		if token, ok := at.Token(); ok {
			if _, err := fmt.Sscanf(token[strings.LastIndex(token, "=")+1:], "%d", &index); err != nil {
				return pager.Page[invoice]{}, err
			}
		}
		total := int64(count * len(page(0)))
		is := pager.Page[invoice]{
			End: pager.EndMore, Evidence: "has_more=true", Meta: pager.Meta{Status: 200, RequestID: fmt.Sprintf("req_%08x", index*2654435761)},
			Next: pager.At(fmt.Sprintf("https://api.billing.example/v2/invoices?status=overdue&access_token=s3cret&cursor=%d", index+1)),
		}
		is.Meta.Total = &total
		if index == count-1 {
			is.End, is.Next, is.Evidence = pager.EndLast, pager.Cursor{}, "has_more=false"
		}
		for _, v := range page(index) {
			raw, err := json.Marshal(v)
			if err != nil {
				return is, err
			}
			is.Items = append(is.Items, pager.Item[invoice]{ID: v.ID, Value: v, Raw: raw})
		}
		return is, nil
	}
}

// few makes pages of three invoices.
func few(index int) []invoice {
	var page []invoice
	for i := range 3 {
		page = append(page, invoice{ID: fmt.Sprintf("inv_%05d", index*3+i), Customer: "株式会社サンプル商事", Amount: "¥128,400"})
	}
	return page
}

func list() pager.Description {
	return pager.Description{
		Endpoint: "https://api.billing.example/v2/invoices?api_key=s3cret", Filter: "status=overdue&region=関東", Sort: "created asc",
		PageSize: 3, Contract: "keyset-catalogue", Order: pager.OrderStableAscending,
	}
}

// gate lets a handler go on when the test says so.
type gate struct {
	mu   sync.Mutex
	open chan struct{}
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

// wait waits until the gate is opened, or the run is stopped.
func (g *gate) wait(ctx context.Context) error {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return everypage.NotDone(ctx.Err())
	}
}

const longError = "post https://crm.example/api/v3/contacts/01J9ZK4V8Q2M7N5T3W6X0Y1B2C/reminders?token=s3cret: 422 Unprocessable Entity: " +
	"the field \"宛先メールアドレス\" is not an address: \"請求担当@例え.jp <\u202egnp.exe>\"; correlation=7f3a9c1e-52b4-4d0e-9a41-8d2f6b0c7e15; " +
	"the request was rejected by rule billing/reminders/recipient-must-be-deliverable (version 2026-02-11), see https://docs.crm.example/rules"

// history fills the ledger with what a real one shows; it returns run IDs by name.
func (w *world) history() map[string]string {
	w.t.Helper()
	runs := map[string]string{}
	ctx := w.t.Context()
	add := func(name string, receipt *state.Receipt, _ error) { runs[name] = receipt.RunID }

	receipt, err := w.run(ctx, everypage.Job[invoice]{Name: "nightly-invoice-export", List: list(), Pager: paged(1300, few), Action: "export"})
	add("long", receipt, err)

	limited := func(_ context.Context, at pager.Cursor) (pager.Page[invoice], error) {
		if !at.IsStart() {
			return pager.Page[invoice]{}, &pager.Fault{
				Verdict: pager.Pause, Code: pager.CodeRateLimited, Detail: "429 Too Many Requests", Until: time.Now().Add(47 * time.Minute),
				Answer: pager.Answer{HTTPStatus: 429, Error: "rate_limited", ErrorDescription: "1 分あたりのリクエスト数を超えました。", RequestID: "req_9f31c07a", Bucket: "search: 0 of 30 left", Hint: "Retry after 2820 seconds."},
			}
		}
		return paged(9, few)(ctx, at)
	}
	receipt, err = w.run(ctx, everypage.Job[invoice]{Name: "crm-contacts", List: list(), Pager: pager.Func[invoice](limited)})
	add("limited", receipt, err)

	expired := func(_ context.Context, at pager.Cursor) (pager.Page[invoice], error) {
		if !at.IsStart() {
			return pager.Page[invoice]{}, &pager.Fault{Code: pager.CodeCursorExpired, Detail: "410 Gone", Answer: pager.Answer{HTTPStatus: 410, Error: "cursor_expired", RequestID: "req_51c2"}}
		}
		return paged(2, few)(ctx, at)
	}
	receipt, err = w.run(ctx, everypage.Job[invoice]{Name: "ledger-reconcile", List: list(), Pager: pager.Func[invoice](expired)})
	add("superseded", receipt, err)
	next, err := everypage.Supersede(ctx, w.ledger, receipt.RunID, everypage.Decision{By: "田中 葵", Note: "the cursor expired over the weekend"})
	if err != nil {
		w.t.Fatal(err)
	}
	runs["successor"] = next.RunID
	receipt, err = w.run(ctx, everypage.Job[invoice]{Name: "ledger-reconcile", List: list(), Pager: paged(4, few)})
	add("successor", receipt, err)

	seen := func(index int) []invoice {
		page := few(index)
		if index == 3 {
			page = append(page, invoice{ID: "inv_00002", Customer: "株式会社サンプル商事", Amount: "¥98,000", Note: "changed while the list was walked"})
		}
		return page
	}
	receipt, err = w.run(ctx, everypage.Job[invoice]{Name: "tax-certificates", List: list(), Pager: paged(5, seen)})
	add("conflict", receipt, err)

	long := func(index int) []invoice {
		page := few(index)
		if index == 1 {
			page[0].ID = "urn:billing:invoice:tenant-4f0c2a9e-8d13-47b6-a5e0-91c7d2b3e846:2026-02:" + strings.Repeat("0123456789abcdef", 6)
			page[1].ID = "請求書-2026年02月-第0000417号 <b onclick=alert(1)>"
		}
		return page
	}
	receipt, err = w.run(ctx, everypage.Job[invoice]{
		Name: "overdue-invoice-reminders", List: list(), Pager: paged(14, long),
		Handle: func(_ context.Context, item everypage.Item[invoice]) error {
			switch {
			case strings.HasPrefix(item.ID, "urn:"), strings.HasPrefix(item.ID, "請求書"):
				return everypage.Permanent(errors.New(longError))
			case item.ID == "inv_00020":
				return errors.New("dial tcp 10.4.0.17:443: connect: connection refused")
			}
			return nil
		},
	})
	add("held", receipt, err)
	return runs
}

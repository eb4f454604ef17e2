// The program invoices-crm puts a note into a CRM for each open invoice of a billing
// API that lists as Stripe does. Each note is posted under an idempotency key, so
// that a lost answer, a kill or a second start doubles none.
//
//	go run ./examples/invoices-crm https://billing.example.com/v1/invoices https://crm.example.com/v1/notes
//
// BILLING_TOKEN and CRM_TOKEN are the credentials.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/sink"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// invoice is what this program wants of an invoice.
type invoice struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
}

// note is what the CRM creates.
type note struct {
	InvoiceID string `json:"ticket_id"`
	Text      string `json:"text"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: invoices-crm BILLING_URL CRM_URL")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := program(ctx, os.Stdout, os.Args[1], os.Args[2])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func program(ctx context.Context, out io.Writer, billing, crm string) (err error) {
	ledger, err := pebblestore.Open("ledger", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	return remind(ctx, out, ledger, billing, crm)
}

// remind posts a note for each open invoice. What is new after the start belongs to
// the next run.
func remind(ctx context.Context, out io.Writer, ledger store.Store, billing, crm string) error {
	invoices, err := adapters.List[invoice](nil, adapters.StripeV1(), billing+"?status=open", &adapters.Options{
		PageSize: 100, Header: bearer("BILLING_TOKEN"),
	})
	if err != nil {
		return err
	}
	notes, err := sink.New(sink.Config[invoice]{
		URL: crm, Header: bearer("CRM_TOKEN"),
		Body: func(item everypage.Item[invoice]) (any, error) {
			return note{InvoiceID: item.ID, Text: "open invoice of " + item.Value.Customer}, nil
		},
	})
	if err != nil {
		return err
	}
	receipt, err := everypage.Run(ctx, ledger, everypage.Job[invoice]{
		Name: "open-invoices", Pager: invoices, Action: "note",
		Handle: notes.Handle,
		Once:   everypage.OnceAJob, // an invoice gets one note, however often the job runs
		Cutoff: everypage.ServerCutoff,
		// This CRM remembers keys for a day, as Stripe does; what is in doubt for
		// longer is held for a person.
		KeyRetention: 24 * time.Hour,
		Options:      everypage.Options{Concurrency: 4, WaitUpTo: 10 * time.Minute},
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d invoices, %d calls, %s\n", receipt.ProcessedUnique, receipt.Attempts, receipt.EndEvidence)
	return err
}

func bearer(variable string) http.Header {
	token := os.Getenv(variable)
	if token == "" {
		return nil
	}
	return http.Header{"Authorization": {"Bearer " + token}}
}

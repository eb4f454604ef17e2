package everypage_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// Ticket is what a program wants of an item.
type Ticket struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
}

// desk is where the reminders go: it honours keys.
type desk map[string]int

func (d desk) Remind(_ context.Context, _ Ticket, key string) error {
	d[key]++
	return nil
}

// remindAll is the whole of a program that embeds everypage.
func remindAll(ctx context.Context, folder, url string, crm desk) error {
	ledger, err := pebblestore.Open(folder, nil) // one folder; survives kill -9
	if err != nil {
		return err
	}
	defer func() { _ = ledger.Close() }()

	tickets, err := adapters.List[Ticket](nil, adapters.KeysetCatalogue(), url, nil)
	if err != nil {
		return err
	}
	receipt, err := everypage.Run(ctx, ledger, everypage.Job[Ticket]{
		Name: "overdue-tickets", Pager: tickets, Action: "remind",
		Handle: func(ctx context.Context, item everypage.Item[Ticket]) error {
			return crm.Remind(ctx, item.Value, item.Key) // the same key for every call
		},
	})
	if err != nil {
		return err // errors.Is tells everypage.ErrPaused from everypage.ErrNeedsReview
	}
	fmt.Println(receipt.Status, receipt.ProcessedUnique, receipt.EndEvidence)
	return nil
}

// A program that embeds everypage, over HTTP.
func Example() {
	list := simapi.NewList(simapi.NumberedTickets(time.Date(2026, time.March, 5, 9, 0, 0, 0, time.UTC), 7)...)
	server := simapi.NewServer(simapi.KeysetCatalogue, list, &simapi.ServerOptions{MaxPageSize: 3})
	base, stop, err := simapi.Serve(server)
	if err != nil {
		panic(err)
	}
	defer stop()
	folder, err := os.MkdirTemp("", "everypage-example-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()

	crm := desk{}
	if err := remindAll(context.Background(), folder, base+server.Path(), crm); err != nil {
		panic(err)
	}
	fmt.Println(len(crm), "reminders")
	// Output:
	// complete 7 pagination.has_more=false
	// 7 reminders
}

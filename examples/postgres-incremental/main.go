// The program postgres-incremental keeps a table in PostgreSQL up to date with a
// list API: how many tickets each customer has. Each run reads only what was created
// since the one before, and adding to a count is an effect that must not happen
// twice.
//
//	DATABASE_URL=postgres://… go run . https://desk.example.com/v1/tickets
//
// Call it from cron as often as you like.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// ticket is what this program wants of a ticket.
type ticket struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: DATABASE_URL=postgres://… postgres-incremental URL")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := program(ctx, os.Stdout, os.Getenv("DATABASE_URL"), os.Args[1])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func program(ctx context.Context, out io.Writer, database, url string) (err error) {
	pool, err := pgxpool.New(ctx, database)
	if err != nil {
		return err
	}
	defer pool.Close()
	ledger, err := pebblestore.Open("ledger", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	return fill(ctx, out, ledger, pool, url, everypage.SystemClock{})
}

// schema holds the counts, and the keys of what was counted.
const schema = `
create table if not exists counted (key text primary key);
create table if not exists customers (name text primary key, tickets bigint not null)`

// fill counts what was created since the job's last complete run.
func fill(ctx context.Context, out io.Writer, ledger store.Store, pool *pgxpool.Pool, url string, clock everypage.Clock) error {
	if _, err := pool.Exec(ctx, schema); err != nil {
		return fmt.Errorf("make the tables: %w", err)
	}
	tickets, err := adapters.List[ticket](nil, adapters.StripeV1(), url, &adapters.Options{PageSize: 100})
	if err != nil {
		return err
	}
	receipt, err := everypage.Run(ctx, ledger, everypage.Job[ticket]{
		Name: "ticket-counts", Pager: tickets, Action: "count",
		Handle: func(ctx context.Context, item everypage.Item[ticket]) error { return count(ctx, pool, item) },
		// A run begins at the cutoff of the one before, that instant included; what
		// both of them meet there is counted once.
		Cutoff: everypage.ServerCutoff, Incremental: true, Once: everypage.OnceAJob,
		Options: everypage.Options{Concurrency: 4, WaitUpTo: 10 * time.Minute, Clock: clock},
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d tickets counted, up to %s\n", receipt.ProcessedUnique, receipt.CutoffAt.Format(time.RFC3339))
	return err
}

// count adds a ticket to its customer's count. The key goes into the same
// transaction as the effect, so that a call that is made again changes nothing.
func count(ctx context.Context, pool *pgxpool.Pool, item everypage.Item[ticket]) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		added, err := tx.Exec(ctx, `insert into counted (key) values ($1) on conflict do nothing`, item.Key)
		if err != nil {
			return fmt.Errorf("note the key: %w", err)
		}
		if added.RowsAffected() == 0 {
			return nil // an earlier call did it, and nobody heard
		}
		_, err = tx.Exec(ctx, `insert into customers (name, tickets) values ($1, 1)
			on conflict (name) do update set tickets = customers.tickets + 1`, item.Value.Customer)
		if err != nil {
			return fmt.Errorf("count the ticket: %w", err)
		}
		return nil
	})
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/realtest"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/store/pebblestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// day is a clock that stands still until the test moves it.
type day struct{ now time.Time }

func (d *day) Now() time.Time { return d.now }

func (d *day) Timer(span time.Duration) (<-chan time.Time, func() bool) {
	passed := make(chan time.Time, 1)
	d.now = d.now.Add(span)
	passed <- d.now
	return passed, func() bool { return true }
}

// counts reads the table.
func counts(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()
	rows, err := pool.Query(t.Context(), `select name, tickets from customers order by name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	text := ""
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("%s %d\n", name, n)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return text
}

// Three runs of a chain: the second begins where the first ended, a ticket stamped
// at the very cutoff and one created during the run included, and is stopped in
// the middle; no ticket is counted twice and none is missed.
func TestFill(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), realtest.StartPostgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	}()
	morning := time.Date(2026, 3, 5, 9, 0, 0, 0, time.UTC)
	clock := &day{now: morning}
	list := simapi.NewList()
	add := func(id, customer string, created time.Time) {
		list.Append(simapi.Item{ID: id, Customer: customer, CreatedAt: created})
	}
	server := simapi.NewServer(simapi.StripeV1, list, &simapi.ServerOptions{MaxPageSize: 2})
	base, stop, err := simapi.Serve(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	run := func(ctx context.Context) (string, error) {
		var out bytes.Buffer
		err := fill(ctx, &out, ledger, pool, base+server.Path(), clock)
		return out.String(), err
	}
	wants := func(said, table string) {
		t.Helper()
		out, err := run(t.Context())
		if err != nil || out != said {
			t.Fatalf("it says %q, %v; want %q", out, err, said)
		}
		if got := counts(t, pool); got != table {
			t.Errorf("the table holds\n%swant\n%s", got, table)
		}
	}

	for i := range 4 {
		add(fmt.Sprintf("a%d", i), "ann", morning.Add(-time.Hour))
	}
	add("b0", "bob", morning) // stamped at the cutoff
	server.Script().At(2, simapi.Fault{Before: func() { add("c0", "cyd", morning.Add(time.Second)) }})
	wants("5 tickets counted, up to 2026-03-05T09:00:00Z\n", "ann 4\nbob 1\n")

	noon := morning.Add(3 * time.Hour)
	clock.now = noon
	add("b1", "bob", morning) // stamped at the cutoff, and seen after the run
	add("a4", "ann", noon)
	add("c1", "cyd", noon)
	ctx, cancel := context.WithCancel(t.Context())
	server.Script().At(server.Log().Len()+2, simapi.Fault{Before: cancel})
	if _, err := run(ctx); !errors.Is(err, everypage.ErrPaused) {
		t.Fatalf("got %v, want a run that is paused since it was cancelled", err)
	}
	wants("4 tickets counted, up to 2026-03-05T12:00:00Z\n", "ann 5\nbob 2\ncyd 2\n")

	clock.now = noon.Add(time.Hour)
	wants("0 tickets counted, up to 2026-03-05T13:00:00Z\n", "ann 5\nbob 2\ncyd 2\n")
}

// A call that is made again counts nothing.
func TestCount_Again(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), realtest.StartPostgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.Exec(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		item := everypage.Item[ticket]{ID: "a", Key: "one-key-for-ever", Value: ticket{ID: "a", Customer: "ann"}}
		if err := count(t.Context(), pool, item); err != nil {
			t.Fatal(err)
		}
	}
	if got := counts(t, pool); got != "ann 1\n" {
		t.Errorf("the table holds %q, want ann once", got)
	}
}

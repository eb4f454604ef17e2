// Command bench measures what everypage's ledger costs, against other ways to do
// the same work, and checks on the way that nothing that was confirmed is lost.
// It never fails on speed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/everypage-go/everypage/bench/postgres"
	"github.com/everypage-go/everypage/bench/rows"
)

func main() { os.Exit(status()) }

// status runs the program and returns its exit status.
func status() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	return 1
}

func run(ctx context.Context, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	stop, err := o.profiles.start()
	if err != nil {
		return err
	}
	server := &postgres.Shared{Dir: o.dir}
	defer func() { err = errors.Join(err, server.Stop(), stop()) }()
	setup := rows.Setup{Dir: o.dir, Items: o.items, Postgres: server}
	families := families(setup, o.shorter)
	if o.list {
		for _, f := range families {
			fmt.Printf("%-22s %s\n", f.Name, f.Work)
		}
		return nil
	}
	if err := measureAll(ctx, o, families); err != nil {
		return err
	}
	if o.write == "" {
		return nil
	}
	return write(o, families)
}

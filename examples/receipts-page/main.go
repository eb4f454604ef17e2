// The program receipts-page walks a list once an hour and shows its receipts, as
// they come about, in its own web server:
//
//	go run ./examples/receipts-page -listen 127.0.0.1:8080 https://desk.example.com/v1/tickets
//
// http://127.0.0.1:8080/receipts/ then has the runs. RECEIPTS_TOKEN is what a person
// who decides sends as a bearer token; without it nobody can.
package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/receiptweb"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// ticket is what this program wants of a ticket.
type ticket struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
}

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "where the page is served")
	every := flag.Duration("every", time.Hour, "the time between two runs")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: receipts-page [-listen ADDRESS] [-every DURATION] URL")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := program(ctx, *listen, *every, flag.Arg(0), os.Getenv("RECEIPTS_TOKEN"))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// program runs the job and serves the page until the context ends. One process has
// the ledger open: this one.
func program(ctx context.Context, listen string, every time.Duration, url, token string) (err error) {
	ledger, err := pebblestore.Open("ledger", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: site(ledger, token), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	again := time.NewTicker(every)
	defer again.Stop()
	for ctx.Err() == nil {
		if err := walk(ctx, ledger, url); err != nil {
			log.Warn("not complete", "error", err)
		}
		select {
		case err := <-served:
			return err
		case <-again.C:
		case <-ctx.Done():
		}
	}
	return server.Close()
}

// site is the program's own web server, with the page in it.
func site(ledger store.Store, token string) http.Handler {
	options := &receiptweb.Options{}
	if token != "" {
		options.Authorize = func(r *http.Request, _ receiptweb.Action) (string, error) {
			given := r.Header.Get("Authorization")
			if subtle.ConstantTimeCompare([]byte(given), []byte("Bearer "+token)) == 1 {
				return "whoever has the token", nil
			}
			return "", errors.New("send the token as Authorization: Bearer …")
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/receipts/", http.StripPrefix("/receipts", receiptweb.Handler(ledger, options)))
	return mux
}

// walk is one run of the job.
func walk(ctx context.Context, ledger store.Store, url string) error {
	tickets, err := adapters.List[ticket](nil, adapters.KeysetCatalogue(), url, nil)
	if err != nil {
		return err
	}
	_, err = everypage.Run(ctx, ledger, everypage.Job[ticket]{
		Name: "tickets", Pager: tickets, Action: "check",
		Handle: func(_ context.Context, item everypage.Item[ticket]) error {
			if item.Value.Subject == "" {
				return everypage.Permanent(errors.New("it has no subject"))
			}
			return nil
		},
	})
	return err
}

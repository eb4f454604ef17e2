// The program prometheus walks a list once an hour and shows Prometheus how it goes:
//
//	go run . -listen 127.0.0.1:9464 https://desk.example.com/v1/tickets
//	curl http://127.0.0.1:9464/metrics
//
// everypage_held above zero, or everypage_runs_total with
// everypage_status="needs_review" that grows, is what to be woken for.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	registry "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/oteleverypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// ticket is what this program wants of a ticket.
type ticket struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
}

func main() {
	listen := flag.String("listen", "127.0.0.1:9464", "where the metrics are served")
	every := flag.Duration("every", time.Hour, "the time between two runs")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: prometheus [-listen ADDRESS] [-every DURATION] URL")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := program(ctx, *listen, *every, flag.Arg(0))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func program(ctx context.Context, listen string, every time.Duration, url string) (err error) {
	ledger, err := pebblestore.Open("ledger", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	signals, page, err := metrics()
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", page)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	for ctx.Err() == nil {
		// The log tells of each run; the loop just asks again, since a paused run
		// goes on and one that needs review says so without a request.
		if _, err := walk(ctx, ledger, url, signals, log); err != nil {
			log.Warn("not complete", "error", err)
		}
		select {
		case err := <-served:
			return err
		case <-time.After(every):
		case <-ctx.Done():
		}
	}
	return server.Close()
}

// metrics returns where a run tells them, and the page that shows them.
func metrics() (*oteleverypage.Options, http.Handler, error) {
	all := registry.NewRegistry()
	reader, err := prometheus.New(prometheus.WithRegisterer(all), prometheus.WithoutScopeInfo(), prometheus.WithoutTargetInfo())
	if err != nil {
		return nil, nil, err
	}
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	return &oteleverypage.Options{MeterProvider: provider}, promhttp.HandlerFor(all, promhttp.HandlerOpts{}), nil
}

// walk is one call of Run.
func walk(ctx context.Context, ledger store.Store, url string, signals *oteleverypage.Options, log *slog.Logger) (*state.Receipt, error) {
	tickets, err := adapters.List[ticket](nil, adapters.KeysetCatalogue(), url, nil)
	if err != nil {
		return nil, err
	}
	return oteleverypage.Run(ctx, ledger, everypage.Job[ticket]{
		Name: "tickets", Pager: tickets, Action: "log",
		Handle: func(_ context.Context, item everypage.Item[ticket]) error {
			if item.Value.Subject == "" {
				return everypage.Permanent(errors.New("it has no subject"))
			}
			return nil
		},
		Options: everypage.Options{Logger: log},
	}, signals)
}

package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/store/pebblestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What a run did stands on the page in Prometheus' own names.
func TestMetrics(t *testing.T) {
	list := simapi.NewList(simapi.NumberedTickets(time.Date(2026, 3, 5, 9, 0, 0, 0, time.UTC), 7)...)
	silent := list.Items()[4]
	silent.Subject = ""
	list.Replace(silent)
	desk := simapi.NewServer(simapi.KeysetCatalogue, list, &simapi.ServerOptions{MaxPageSize: 3})
	base, stop, err := simapi.Serve(desk)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	}()
	signals, page, err := metrics()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if _, err := walk(t.Context(), ledger, base+desk.Path(), signals, slog.New(slog.NewTextHandler(&log, nil))); !errors.Is(err, everypage.ErrNeedsReview) {
		t.Fatalf("got %v, want a review", err)
	}
	shown, stop, err := simapi.Serve(page)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, shown, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`everypage_pages_total{everypage_job="tickets"} 3`,
		`everypage_items_total{everypage_job="tickets",everypage_outcome="done"} 6`,
		`everypage_items_total{everypage_job="tickets",everypage_outcome="held"} 1`,
		`everypage_held{everypage_job="tickets"} 1`,
		`everypage_runs_total{everypage_job="tickets",everypage_status="needs_review"} 1`,
		`everypage_commit_duration_seconds_count{everypage_job="tickets"}`,
	} {
		if !strings.Contains(string(text), line) {
			t.Errorf("the page does not say %s:\n%s", line, text)
		}
	}
	if !strings.Contains(log.String(), "item held") {
		t.Errorf("the log does not tell of the held item:\n%s", log.String())
	}
}

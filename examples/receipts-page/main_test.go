package main

import (
	"errors"
	"io"
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

// The page shows a run that needs review, why, and what to do; and no form to decide
// to somebody without the token.
func TestSite(t *testing.T) {
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
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	err = walk(t.Context(), ledger, base+desk.Path())
	var review *everypage.ReviewError
	if !errors.As(err, &review) {
		t.Fatalf("got %v, want a review", err)
	}
	shown, stopPage, err := simapi.Serve(site(ledger, "s3cret"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stopPage)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(path, token string) string {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, shown+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, answer.Status, err)
		}
		return string(text)
	}
	if runs := get("/receipts/", ""); !strings.Contains(runs, review.Receipt.RunID) {
		t.Errorf("the list does not have run %s:\n%s", review.Receipt.RunID, runs)
	}
	page := "/receipts/runs/" + review.Receipt.RunID
	if text := get(page, ""); !strings.Contains(text, "it has no subject") || strings.Contains(text, "<form method=\"post\"") {
		t.Errorf("the run's page does not say why its item is held, or lets anybody decide:\n%s", text)
	}
	if text := get(page, "s3cret"); !strings.Contains(text, "method=\"post\"") {
		t.Errorf("the run's page lets nobody decide:\n%s", text)
	}
}

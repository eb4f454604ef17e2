package main

import (
	"bytes"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store/pebblestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve serves a part of simapi until the test ends.
func serve(t *testing.T, part interface {
	http.Handler
	Path() string
},
) (url string) {
	t.Helper()
	base, stop, err := simapi.Serve(part)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return base + part.Path()
}

// The answers to two posts are lost after their effect, and the CRM refuses one
// invoice: each invoice has one note, the refused one none, and the error says who
// has to look.
func TestRemind(t *testing.T) {
	list := simapi.NewList(simapi.Tickets(time.Now().Add(-time.Hour), "in_1", "in_2", "in_3", "in_4", "in_5", "in_6", "in_7")...)
	for _, item := range list.Items() {
		item.Status = "open"
		list.Replace(item)
	}
	billing := simapi.NewServer(simapi.StripeV1, list, &simapi.ServerOptions{Path: "/v1/invoices", MaxPageSize: 3})
	crm := simapi.NewCRM(nil)
	crm.Script().When(simapi.NoteOn("in_2"), simapi.LostAfterEffect())
	crm.Script().When(simapi.NoteOn("in_6"), simapi.LostAfterEffect())
	billingURL, crmURL := serve(t, billing), serve(t, crm)
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	}()

	var out bytes.Buffer
	if err := remind(t.Context(), &out, ledger, billingURL, crmURL); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "7 invoices, 9 calls, has_more=false\n" {
		t.Errorf("it says %q", got)
	}
	for key, n := range crm.EffectsByKey() {
		if n != 1 {
			t.Errorf("key %s had %d effects", key, n)
		}
	}
	if n := len(crm.EffectsByTicket()); n != 7 {
		t.Errorf("%d invoices have a note, want 7", n)
	}

	// The next run skips what is done, and the CRM refuses what is new.
	list.Append(simapi.Item{ID: "in_8", CreatedAt: time.Now().Add(-time.Minute), Status: "open"})
	crm.Script().When(simapi.NoteOn("in_8"), simapi.Fault{Status: http.StatusBadRequest, Body: `{"error":{"code":"closed"}}`})
	err = remind(t.Context(), &out, ledger, billingURL, crmURL)
	var review *everypage.ReviewError
	if !errors.As(err, &review) || review.Receipt.Reason.Code != state.CodeItemsHeld || review.Receipt.HeldCount != 1 {
		t.Fatalf("got %v, want a review for one held item", err)
	}
	if n := len(crm.Notes()); n != 7 {
		t.Errorf("there are %d notes, want 7", n)
	}
}

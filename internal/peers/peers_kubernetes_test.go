package peers_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/realtest"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// observed keeps the answers that a peer gave.
type observed struct {
	base    http.RoundTripper
	answers []observedAnswer
}

type observedAnswer struct {
	query  string
	status int
	body   []byte
}

// RoundTrip passes a request on and keeps the answer.
func (o *observed) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := o.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	o.answers = append(o.answers, observedAnswer{r.URL.Query().Get("continue"), response.StatusCode, body})
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

func startKubernetes(t *testing.T, fischers int) (*realtest.Kubernetes, *walk, *observed) {
	t.Helper()
	k := realtest.StartKubernetes(t)
	for i := range fischers {
		if err := k.Create(t.Context(), fmt.Sprintf("fischer-%02d", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	w := newWalk(t, adapters.Kubernetes(), list{URL: k.Fischers, Size: 4})
	seen := &observed{base: k.Client.Transport}
	w.client = &http.Client{Transport: seen}
	return k, w, seen
}

// fischerIDs reads the list at once.
func fischerIDs(t *testing.T, k *realtest.Kubernetes) []string {
	t.Helper()
	var all struct {
		Items []struct {
			Metadata struct {
				UID string `json:"uid"`
			} `json:"metadata"`
		} `json:"items"`
	}
	read(t, k.Client, k.Fischers, &all)
	var ids []string
	for _, item := range all.Items {
		ids = append(ids, item.Metadata.UID)
	}
	return ids
}

// 25 objects, 4 a page, with two stops. What is created meanwhile is not in the
// list: it is read at the revision of its first page.
func TestKubernetesThroughStops(t *testing.T) {
	k, w, _ := startKubernetes(t, 25)
	ids := fischerIDs(t, k)
	w.cancelAt(10, 2)
	if err := k.Create(t.Context(), "fischer-20-later"); err != nil {
		t.Fatal(err)
	}
	w.cancelAt(18, 4)
	receipt, err := w.finish()
	w.wantWhole(receipt, err, wanted{pages: 7, items: 25, end: "metadata.continue is absent"})
	w.wantIDs(ids)
}

// The list expires after two pages, by a true 410. The token in that answer, which
// goes on in a list that is no longer the same one, is not used; a person
// supersedes the run, and nothing is done twice.
func TestKubernetesExpires(t *testing.T) {
	k, w, seen := startKubernetes(t, 25)
	w.cancelAt(8, 1)
	if err := k.Create(t.Context(), "fischer-00-later"); err != nil { // before the place that was reached
		t.Fatal(err)
	}
	if err := k.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen.answers = nil
	receipt, err := w.finish()
	if !errors.Is(err, everypage.ErrNeedsReview) || receipt.Reason.Code != pager.CodeCursorExpired || receipt.TerminalObserved {
		t.Fatalf("want the cursor expired, have %+v, %v", receipt, err)
	}
	if r := receipt.Reason; r.HTTPStatus != http.StatusGone || receipt.Pages != 2 || receipt.ProcessedUnique != 8 {
		t.Errorf("want a 410 after 2 pages and 8 items, have %+v", receipt)
	}
	if state.Explain(receipt.Reason.Code).Allows(state.Reopen) {
		t.Error("a run whose cursor is lost can be reopened")
	}
	substitute := wantGone(t, seen)

	var later *state.Receipt
	w.onLedger(func(ledger store.Store) {
		if later, err = everypage.Supersede(t.Context(), ledger, receipt.RunID, everypage.Decision{By: "a test", Note: "expired"}); err != nil {
			t.Fatal(err)
		}
	})
	again, err := w.finish()
	if err != nil {
		t.Fatal(err)
	}
	if again.RunID != later.RunID || again.Status != state.Complete || again.ProcessedUnique+again.Inherited != 26 {
		t.Errorf("want the successor complete with 26 items, have %+v", again)
	}
	if effects := w.crm.EffectsByTicket(); len(effects) != 26 || len(w.crm.Notes()) != 26 {
		t.Errorf("want one note for each of 26 objects, have %v", effects)
	}
	for _, answer := range seen.answers {
		if answer.query == substitute {
			t.Error("the substitute token was sent")
		}
	}
}

// wantGone fails unless the last answer is the 410, and returns the token that it
// offers instead.
func wantGone(t *testing.T, seen *observed) (substitute string) {
	t.Helper()
	last := seen.answers[len(seen.answers)-1]
	var status struct {
		Reason   string `json:"reason"`
		Metadata struct {
			Continue string `json:"continue"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(last.body, &status); err != nil {
		t.Fatal(err)
	}
	if last.status != http.StatusGone || status.Reason != "Expired" || status.Metadata.Continue == "" {
		t.Fatalf("this test is about a 410 with a substitute token: have %d %s", last.status, last.body)
	}
	return status.Metadata.Continue
}

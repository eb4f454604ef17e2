package simapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/everypage-go/everypage/internal/simapi"
)

func post(t *testing.T, address, key, body string) (answer, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	return do(t, request)
}

func mustPost(t *testing.T, address, key, body string) answer {
	t.Helper()
	got, err := post(t, address, key, body)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSameKeyReplaysAndAnotherBodyIsRefused(t *testing.T) {
	crm := simapi.NewCRM(&simapi.CRMOptions{Now: start})
	address := serve(t, crm) + crm.Path()
	first := mustPost(t, address, "run1/A/note", `{"ticket_id":"A","text":"overdue"}`)
	again := mustPost(t, address, "run1/A/note", `{"text":"overdue", "ticket_id":"A"}`)
	other := mustPost(t, address, "run1/A/note", `{"ticket_id":"A","text":"very overdue"}`)
	if first.Status != http.StatusCreated || first.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("first: %d %v", first.Status, first.Header)
	}
	if again.Status != http.StatusCreated || again.Header.Get("Idempotent-Replayed") != "true" || string(again.Body) != string(first.Body) {
		t.Errorf("again: %d %v %s", again.Status, again.Header, again.Body)
	}
	document := decode(t, other.Body)
	if other.Status != http.StatusUnprocessableEntity || document["error"] != "idempotency_key_reused" || document["request_id"] == "" {
		t.Errorf("other: %d %s", other.Status, other.Body)
	}
	notes := crm.Notes()
	if len(notes) != 1 || notes[0].TicketID != "A" || !notes[0].CreatedAt.Equal(start()) {
		t.Errorf("got %+v", notes)
	}
}

func TestBadNotesHaveNoEffect(t *testing.T) {
	crm := simapi.NewCRM(nil)
	address := serve(t, crm) + crm.Path()
	const good = `{"ticket_id":"A","text":"overdue"}`
	for _, c := range []struct{ key, body, field string }{
		{"", good, "Idempotency-Key"},
		{"seven77", good, "Idempotency-Key"},
		{strings.Repeat("k", 256), good, "Idempotency-Key"},
		{"run1/A/note", `{"text":"overdue"}`, "ticket_id"},
		{"run1/A/note", `ticket A`, "body"},
	} {
		got := mustPost(t, address, c.key, c.body)
		document := decode(t, got.Body)
		details, _ := document["details"].([]any)
		if got.Status != http.StatusBadRequest || document["error"] != "validation_error" || len(details) != 1 ||
			!strings.Contains(fmt.Sprint(details), c.field) {
			t.Errorf("key %.20q, body %s: %d %s", c.key, c.body, got.Status, got.Body)
		}
	}
	for _, key := range []string{"eight888", strings.Repeat("k", 255)} {
		if got := mustPost(t, address, key, good); got.Status != http.StatusCreated {
			t.Errorf("key %.20q: %d %s", key, got.Status, got.Body)
		}
	}
	if n := len(crm.Notes()); n != 2 {
		t.Errorf("got %d notes, want 2", n)
	}
}

func TestFaultsBeforeAndAfterTheEffect(t *testing.T) {
	for _, c := range []struct {
		name    string
		fault   simapi.Fault
		status  int // 0: the connection is lost
		effects int
	}{
		{"lost before", simapi.Lost(), 0, 0},
		{"lost after", simapi.LostAfterEffect(), 0, 1},
		{"500 before", simapi.Fault{Status: 500}, 500, 0},
		{"500 after", simapi.Fault{Status: 500, AfterEffect: true}, 500, 1},
		{"429", simapi.RateLimited(1e9, start(), simapi.Envelope{}), 429, 0},
	} {
		crm := simapi.NewCRM(nil)
		address := serve(t, crm) + crm.Path()
		crm.Script().Next(c.fault)
		got, err := post(t, address, "run1/A/note", `{"ticket_id":"A"}`)
		if (err != nil) != (c.status == 0) || got.Status != c.status {
			t.Errorf("%s: %d, %v", c.name, got.Status, err)
		}
		if n := crm.EffectsByKey()["run1/A/note"]; n != c.effects {
			t.Errorf("%s: %d effects, want %d", c.name, n, c.effects)
		}
		// Asked again with the same key there is one effect, whatever came before.
		if got := mustPost(t, address, "run1/A/note", `{"ticket_id":"A"}`); got.Status != http.StatusCreated {
			t.Errorf("%s, again: %d", c.name, got.Status)
		}
		if n := crm.EffectsByTicket()["A"]; n != 1 {
			t.Errorf("%s: %d effects in the end, want 1", c.name, n)
		}
	}
}

func TestHangAfterTheEffect(t *testing.T) {
	crm := simapi.NewCRM(nil)
	address := serve(t, crm) + crm.Path()
	gate := simapi.NewGate()
	crm.Script().When(simapi.NoteOn("B"), simapi.HangAfterEffect(gate))
	mustPost(t, address, "run1/A/note", `{"ticket_id":"A"}`)
	done := make(chan error, 1)
	go func() {
		_, err := post(t, address, "run1/B/note", `{"ticket_id":"B"}`)
		done <- err
	}()
	<-gate.Entered()
	if n := crm.EffectsByTicket()["B"]; n != 1 {
		t.Errorf("got %d effects while the answer hangs, want 1", n)
	}
	gate.Release()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestDidItHappen(t *testing.T) {
	crm := simapi.NewCRM(nil)
	address := serve(t, crm) + crm.Path()
	mustPost(t, address, "run1/A/note", `{"ticket_id":"A"}`)
	mustPost(t, address, "run1/B+/note", `{"ticket_id":"B+"}`)
	for query, want := range map[string]int{"": 2, "?key=run1%2FB%2B%2Fnote": 1, "?key=nothing": 0} {
		got := mustGet(t, address+query)
		notes, _ := decode(t, got.Body)["notes"].([]any)
		if got.Status != http.StatusOK || len(notes) != want {
			t.Errorf("%s: %d %s, want %d notes", query, got.Status, got.Body, want)
		}
	}
}

func TestForgottenAndIgnoredKeysCreateAgain(t *testing.T) {
	forgetful := simapi.NewCRM(nil)
	address := serve(t, forgetful) + forgetful.Path()
	mustPost(t, address, "run1/A/note", `{"ticket_id":"A"}`)
	forgetful.ForgetKeys()
	mustPost(t, address, "run1/A/note", `{"ticket_id":"A"}`)
	keyless := simapi.NewCRM(&simapi.CRMOptions{IgnoreKeys: true})
	address = serve(t, keyless) + keyless.Path()
	mustPost(t, address, "run1/A/note", `{"ticket_id":"A"}`)
	mustPost(t, address, "", `{"ticket_id":"A"}`)
	if f, k := forgetful.EffectsByTicket()["A"], keyless.EffectsByTicket()["A"]; f != 2 || k != 2 {
		t.Errorf("got %d and %d effects, want 2 and 2", f, k)
	}
}

func TestOneEffectUnderConcurrentCalls(t *testing.T) {
	crm := simapi.NewCRM(nil)
	address := serve(t, crm) + crm.Path()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if got, err := post(t, address, "run1/A/note", `{"ticket_id":"A"}`); err != nil || got.Status != http.StatusCreated {
				t.Errorf("got %d, %v", got.Status, err)
			}
		})
	}
	group.Wait()
	if n := crm.EffectsByTicket()["A"]; n != 1 {
		t.Errorf("got %d effects, want 1", n)
	}
}

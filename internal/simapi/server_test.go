package simapi_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/internal/simapi"
)

func TestWalkByEachContract(t *testing.T) {
	for _, contract := range simapi.Contracts() {
		t.Run(string(contract), func(t *testing.T) {
			base := serve(t, simapi.NewServer(contract, seven(), nil))
			want := "A B C|D E F|G"
			if contract == simapi.KeysetFeed {
				want = "A B C"
			}
			if got := walk(t, contract, sized(contract, base, "3"), nil); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestTrailingPageIsEmptyAndEnds(t *testing.T) {
	for _, contract := range []simapi.Contract{simapi.GitHubREST, simapi.StripeV1, simapi.GoogleAIP158, simapi.KeysetCatalogue} {
		t.Run(string(contract), func(t *testing.T) {
			base := serve(t, simapi.NewServer(contract, seven(), &simapi.ServerOptions{TrailingPage: true}))
			if got := walk(t, contract, sized(contract, base, "7"), nil); got != "A B C D E F G|" {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestShortAndEmptyPagesInTheMiddle(t *testing.T) {
	server := simapi.NewServer(simapi.GoogleAIP158, seven(), &simapi.ServerOptions{
		PageSizes: map[int]int{2: 0, 3: 1}, TrailingPage: true,
	})
	base := serve(t, server)
	if got := walk(t, simapi.GoogleAIP158, sized(simapi.GoogleAIP158, base, "3"), nil); got != "A B C||D|E F G|" {
		t.Errorf("got %s", got)
	}
	requests := server.Log().Requests()
	last := mustGet(t, base+"/v1/tickets?"+requests[len(requests)-1].RawQuery)
	if string(last.Body) != "{}" {
		t.Errorf("the last page is %s, want {}", last.Body)
	}
}

func TestKeysetSurvivesChangesAndPageNumbersDoNot(t *testing.T) {
	for _, c := range []struct {
		contract simapi.Contract
		change   func(*simapi.List)
		want     string
	}{
		{simapi.KeysetCatalogue, func(l *simapi.List) { l.Delete("C") }, "A B C|D E F|G"},
		{simapi.KeysetCatalogue, func(l *simapi.List) { l.Insert(0, simapi.Tickets(start(), "Z")...) }, "A B C|D E F|G"},
		{simapi.KeysetCatalogue, func(l *simapi.List) { l.Append(simapi.Tickets(start(), "H")...) }, "A B C|D E F|G H"},
		{simapi.KeysetCatalogue, func(l *simapi.List) { l.Duplicate("B", 4) }, "A B C|D B E|F G"},
		{simapi.GoogleAIP158, func(l *simapi.List) { l.Delete("A") }, "A B C|D E F|G"},
		{simapi.StripeV1, func(l *simapi.List) { l.Insert(0, simapi.Tickets(start(), "Z")...) }, "A B C|D E F|G"},
		{simapi.GitHubREST, func(l *simapi.List) { l.Delete("A") }, "A B C|E F G"},
		{simapi.GitHubREST, func(l *simapi.List) { l.Insert(0, simapi.Tickets(start(), "Z")...) }, "A B C|C D E|F G"},
	} {
		server := simapi.NewServer(c.contract, seven(), nil)
		base := serve(t, server)
		got := walk(t, c.contract, sized(c.contract, base, "3"), func(page int) {
			if page == 1 {
				c.change(server.List())
			}
		})
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.contract, got, c.want)
		}
	}
}

func TestDeletedStripeAnchorIsMissing(t *testing.T) {
	list := seven()
	base := serve(t, simapi.NewServer(simapi.StripeV1, list, nil))
	list.Delete("C")
	got := mustGet(t, base+"/v1/tickets?limit=3&starting_after=C")
	if got.Status != http.StatusBadRequest || !strings.Contains(string(got.Body), "resource_missing") {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
}

func TestExpiredAndForeignCursors(t *testing.T) {
	server := simapi.NewServer(simapi.KeysetCatalogue, seven(), nil)
	base := serve(t, server)
	next := readPage(t, simapi.KeysetCatalogue, sized(simapi.KeysetCatalogue, base, "3")).next
	server.ExpireCursors()
	for address, code := range map[string]string{
		next:                               "cursor_expired",
		base + "/v1/tickets?cursor=nobody": "invalid_cursor",
		base + "/v1/tickets?cursor=":       "invalid_cursor",
		base + "/v1/tickets?limit=none":    "validation_error",
	} {
		got := mustGet(t, address)
		document := decode(t, got.Body)
		if got.Status != http.StatusBadRequest || document["error"] != code || document["request_id"] != got.Header.Get("X-Request-Id") {
			t.Errorf("%s: %d %s, want %s", address, got.Status, got.Body, code)
		}
	}
}

func TestPageSizesClamp(t *testing.T) {
	list := simapi.NewList(simapi.NumberedTickets(start(), 12)...)
	base := serve(t, simapi.NewServer(simapi.KeysetCatalogue, list, &simapi.ServerOptions{MaxPageSize: 5}))
	got := walk(t, simapi.KeysetCatalogue, sized(simapi.KeysetCatalogue, base, "1000"), nil)
	if got != "1 2 3 4 5|6 7 8 9 10|11 12" {
		t.Errorf("got %s", got)
	}
}

func TestFilters(t *testing.T) {
	list := seven()
	closed := list.Items()[1]
	closed.Status = "closed"
	list.Replace(closed)
	keyset := serve(t, simapi.NewServer(simapi.KeysetCatalogue, list, nil))
	stripe := serve(t, simapi.NewServer(simapi.StripeV1, list, nil))
	third := start().Add(2 * time.Minute)
	for _, c := range []struct {
		contract simapi.Contract
		address  string
		want     string
	}{
		{simapi.KeysetCatalogue, keyset + "/v1/tickets?limit=4&status=overdue", "A C D E|F G"},
		{simapi.KeysetCatalogue, keyset + "/v1/tickets?created_to=" + third.Format(time.RFC3339), "A B C"},
		{simapi.KeysetCatalogue, keyset + "/v1/tickets?created_from=" + third.Format(time.RFC3339), "C D E F G"},
		{simapi.StripeV1, stripe + "/v1/tickets?created[lte]=" + strconv.FormatInt(third.Unix(), 10), "A B C"},
		{simapi.StripeV1, stripe + "/v1/tickets?created[gt]=" + strconv.FormatInt(third.Unix(), 10), "D E F G"},
	} {
		if got := walk(t, c.contract, c.address, nil); got != c.want {
			t.Errorf("%s: got %s, want %s", c.address, got, c.want)
		}
	}
}

func TestEachAPIRefusesInItsOwnWords(t *testing.T) {
	for contract, word := range map[simapi.Contract]string{
		simapi.GitHubREST:      `"documentation_url"`,
		simapi.StripeV1:        `"type":"authentication_error"`,
		simapi.GoogleAIP158:    `"status":"UNAUTHENTICATED"`,
		simapi.KeysetCatalogue: `"error":"unauthorized"`,
	} {
		base := serve(t, simapi.NewServer(contract, seven(), &simapi.ServerOptions{Token: "secret"}))
		got := mustGet(t, base+"/v1/tickets")
		if got.Status != http.StatusUnauthorized || !strings.Contains(string(got.Body), word) {
			t.Errorf("%s: %d %s", contract, got.Status, got.Body)
		}
	}
}

func TestLogHoldsWhatWasAsked(t *testing.T) {
	server := simapi.NewServer(simapi.KeysetCatalogue, seven(), &simapi.ServerOptions{Now: start})
	base := serve(t, server)
	mustGet(t, base+"/v1/tickets?limit=3&cursor=a%2Bb")
	mustGet(t, base+"/other")
	requests := server.Log().Requests()
	if len(requests) != 2 {
		t.Fatalf("got %d requests", len(requests))
	}
	first := requests[0]
	if first.Number != 1 || first.Method != http.MethodGet || first.Path != "/v1/tickets" || first.RawQuery != "limit=3&cursor=a%2Bb" ||
		first.Query.Get("cursor") != "a+b" || !first.Time.Equal(start()) || first.Status != http.StatusBadRequest || first.Header == nil {
		t.Errorf("got %+v", first)
	}
	if requests[1].Status != http.StatusNotFound {
		t.Errorf("got %+v", requests[1])
	}
}

func TestRawEntriesAreSentAsTheyAre(t *testing.T) {
	list := simapi.NewList(simapi.Item{Raw: []byte("null")}, simapi.Item{Raw: []byte(`{"id":12345678901234567890}`)})
	base := serve(t, simapi.NewServer(simapi.GitHubREST, list, nil))
	if got := mustGet(t, base+"/v1/tickets"); string(got.Body) != `[null,{"id":12345678901234567890}]` {
		t.Errorf("got %s", got.Body)
	}
}

// TestAListRemembersItsHistory moves, copies and deletes, and looks at both the list
// and what it says was done.
func TestAListRemembersItsHistory(t *testing.T) {
	list := simapi.NewList(simapi.NumberedTickets(time.Time{}, 3)...)
	list.Move("1", 2)
	list.Duplicate("2", 0)
	list.Delete("3")
	list.Insert(1, simapi.Item{ID: "4"})
	list.Replace(simapi.Item{ID: "4", Subject: "new"})
	if list.Move("9", 0) {
		t.Error("an item that is not there was moved")
	}
	var ids, history []string
	for _, item := range list.Items() {
		ids = append(ids, item.ID)
	}
	for _, change := range list.Changes(0) {
		history = append(history, string(change.Kind)+" "+change.Item.ID)
	}
	if got := strings.Join(ids, " "); got != "2 4 2 1" {
		t.Errorf("the list is %s", got)
	}
	if got := strings.Join(history, ", "); got != "moved 1, duplicated 2, deleted 3, inserted 4, replaced 4" || list.Age() != 5 {
		t.Errorf("its history is %s", got)
	}
}

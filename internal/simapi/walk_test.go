package simapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/internal/simapi"
)

func start() time.Time { return time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC) }

// seven is a list of seven tickets, A to G.
func seven() *simapi.List {
	return simapi.NewList(simapi.Tickets(start(), "A", "B", "C", "D", "E", "F", "G")...)
}

func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	base, stop, err := simapi.Serve(handler)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return base
}

// answer is an answer that was read whole.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
}

func get(t *testing.T, address string) (answer, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, request)
}

func do(t *testing.T, request *http.Request) (answer, error) {
	t.Helper()
	client := &http.Client{}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, body}, err
}

func mustGet(t *testing.T, address string) answer {
	t.Helper()
	got, err := get(t, address)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return document
}

// page is what the tests read of a page, by whichever contract.
type page struct {
	ids  []string
	next string // the following request's address; empty at the end
}

// readPage reads a page as the contract documents it, and by nothing else.
func readPage(t *testing.T, contract simapi.Contract, address string) page {
	t.Helper()
	got := mustGet(t, address)
	if got.Status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", address, got.Status, got.Body)
	}
	var items []any
	next := ""
	switch contract {
	case simapi.GitHubREST:
		if err := json.Unmarshal(got.Body, &items); err != nil {
			t.Fatalf("%v in %s", err, got.Body)
		}
		if m := regexp.MustCompile(`<([^>]*)>; rel="next"`).FindStringSubmatch(got.Header.Get("Link")); m != nil {
			next = m[1]
		}
	case simapi.StripeV1:
		document := decode(t, got.Body)
		items, _ = document["data"].([]any)
		if document["has_more"] == true {
			next = with(t, address, "starting_after", idOf(items[len(items)-1]))
		}
	case simapi.GoogleAIP158:
		document := decode(t, got.Body)
		items, _ = document["tickets"].([]any)
		if token, more := document["nextPageToken"].(string); more {
			next = with(t, address, "pageToken", token)
		}
	case simapi.KeysetCatalogue, simapi.KeysetFeed:
		document := decode(t, got.Body)
		items, _ = document["tickets"].([]any)
		pagination, _ := document["pagination"].(map[string]any)
		if pagination["has_more"] == true {
			cursor, _ := pagination["next_cursor"].(string)
			next = with(t, address, "cursor", cursor)
		}
	}
	p := page{next: next}
	for _, item := range items {
		p.ids = append(p.ids, idOf(item))
	}
	return p
}

func idOf(item any) string {
	object, _ := item.(map[string]any)
	id, _ := object["id"].(string)
	return id
}

func with(t *testing.T, address, name, value string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := parsed.Query()
	query.Set(name, value)
	parsed.RawQuery = query.Encode()
	return parsed.String()
}

// walk reads a list to its end and gives the pages as "A B C|D E F|G".
func walk(t *testing.T, contract simapi.Contract, address string, between func(page int)) string {
	t.Helper()
	var pages []string
	for address != "" {
		p := readPage(t, contract, address)
		pages = append(pages, strings.Join(p.ids, " "))
		address = p.next
		if between != nil {
			between(len(pages))
		}
		if len(pages) > 50 {
			t.Fatalf("the walk does not end: %s", strings.Join(pages, "|"))
		}
	}
	return strings.Join(pages, "|")
}

// sized is the server's first address with a page size.
func sized(contract simapi.Contract, base, size string) string {
	parameter := map[simapi.Contract]string{simapi.GitHubREST: "per_page", simapi.GoogleAIP158: "pageSize"}[contract]
	if parameter == "" {
		parameter = "limit"
	}
	return base + "/v1/tickets?" + parameter + "=" + size
}

package realtest_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/internal/realtest"
)

// catalog reads one page of the registry's catalogue.
func catalog(t *testing.T, address string) (names []string, link string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var page struct {
		Repositories []string `json:"repositories"`
	}
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", address, response.Status, err)
	}
	return page.Repositories, response.Header.Get("Link")
}

// TestRegistryCatalog shows what the walking tests rely on: the catalogue is
// sorted, pages by a relative Link, and ends without one.
func TestRegistryCatalog(t *testing.T) {
	registry := realtest.StartRegistry(t)
	want := registry.PushMany(t, 25)
	var got []string
	pages := 0
	for next := "/v2/_catalog?n=4"; next != ""; {
		names, link := catalog(t, registry.URL+next)
		t.Logf("%s -> %d names, Link: %s", next, len(names), link)
		got = append(got, names...)
		pages++
		next = ""
		if link != "" {
			target, relation, _ := strings.Cut(link, ">")
			next = strings.TrimPrefix(target, "<")
			if !strings.HasPrefix(next, "/v2/_catalog?") || strings.TrimSpace(relation) != `; rel="next"` {
				t.Fatalf("Link is %s", link)
			}
		}
		if pages > 20 {
			t.Fatal("the catalogue does not end")
		}
	}
	if !slices.Equal(got, want) || pages != 7 {
		t.Errorf("got %d pages with %v, want 7 with %v", pages, got, want)
	}
}

func TestPaginateIssuesIsServed(t *testing.T) {
	server, first := realtest.PaginateIssues(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, first, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || len(server.Requests()) != 1 || server.Requests()[0].Exchange != 1 {
		t.Errorf("got %s, %+v", response.Status, server.Requests())
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A builtin contract is suggested by its name, and nothing but comment is printed.
func TestProbe_Builtin(t *testing.T) {
	w := newWorld(t, 45)
	got := w.want(exitDone, []string{"probe", w.url}, "SUGGESTED: --contract keyset-catalogue", "SEEN", "DOUBTS", "CHECK",
		"pagination.has_more is true", "pages of 20, 20, 5 items", "pagination.has_more=false")
	for line := range strings.Lines(got.out) {
		if !strings.HasPrefix(line, "#") {
			t.Errorf("a line is no comment: %q", line)
		}
	}
	if _, err := os.Stat(w.path("ledger")); err == nil {
		t.Error("a ledger was made")
	}
}

// What is printed is the file that run takes.
func TestProbe_OwnContract(t *testing.T) {
	w := newWorld(t, 0)
	server := shop(t)
	got := w.want(exitDone, []string{"probe", server + "/orders?api_key=secret-key", "--header", "X-Key: secret-value"},
		"SUGGESTED: the contract below", "name: probed-127-0-0-1", "counter:page", "total_reached")
	if strings.Contains(got.out, "\u202e") || !strings.Contains(got.out, `note=\u202e`) {
		t.Errorf("a hidden character of the API's is not made visible:\n%s", got.out)
	}
	if strings.Contains(got.out+got.err, "secret-") {
		t.Errorf("a credential is shown:\n%s%s", got.out, got.err)
	}
	if err := os.WriteFile(w.path("orders.yaml"), []byte(got.out), 0o600); err != nil {
		t.Fatal(err)
	}
	w.want(exitDone, []string{
		"run", server + "/orders?api_key=secret-key", "--header", "X-Key: secret-value", "--contract", w.path("orders.yaml"),
		"--job", "orders", "--ledger", w.path("ledger"), "--out", w.path("out.jsonl"), "--accept-unstable",
	})
	w.wantOnce("out.jsonl", 8)
}

// shop lists eight orders by page number with a total, for those who have the key.
func shop(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; note=\u202e")
		if r.Header.Get("X-Key") != "secret-value" || r.URL.Query().Get("api_key") != "secret-key" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		page, err := strconv.Atoi(r.URL.Query().Get("page"))
		if err != nil {
			page = 1
		}
		var orders []map[string]any
		for i := 3 * (page - 1); i < min(8, 3*page); i++ {
			orders = append(orders, map[string]any{"id": fmt.Sprintf("o%d", i+1)})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"orders": orders, "page": page, "page_size": 3, "total": 8})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestProbe_NoSuggestion(t *testing.T) {
	w := newWorld(t, 3)
	answer := func(status int, body string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	w.want(exitReview, []string{"probe", answer(http.StatusOK, `{"id":1}`)}, "NO CONTRACT FITS", "one object", "everypage: no contract fits")
	w.want(exitReview, []string{"probe", answer(http.StatusOK, "<html>\x1b]0;title\x07")}, "NO CONTRACT FITS", "no JSON")
	w.want(exitReview, []string{"probe", answer(http.StatusForbidden, `{"error":"forbidden"}`)}, "403 Forbidden")
	w.want(exitPaused, []string{"probe", answer(http.StatusServiceUnavailable, ``)}, "503")
	w.want(exitUsage, []string{"probe"}, "needs the URL of a list")
	w.want(exitUsage, []string{"probe", "orders"}, "does not begin with https://")
	w.want(exitUsage, []string{"probe", w.url, "--pages", "1"}, "--pages is 1")
	w.want(exitUsage, []string{"probe", w.url, "--body-limit", "-1"}, "--body-limit is negative")
	w.want(exitUsage, []string{"probe", w.url, "--header", "secret"}, "--header wants")
}

func TestContractsSchema(t *testing.T) {
	w := newWorld(t, 0)
	got := w.want(exitDone, []string{"contracts", "schema"})
	var schema struct {
		Schema   string   `json:"$schema"`
		Required []string `json:"required"`
	}
	if err := json.Unmarshal([]byte(got.out), &schema); err != nil || !strings.Contains(schema.Schema, "2020-12") || len(schema.Required) != 3 {
		t.Errorf("%+v, %v", schema, err)
	}
	w.want(exitUsage, []string{"contracts", "schema", "x"}, "takes no argument")
}

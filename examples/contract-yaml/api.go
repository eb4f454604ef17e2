package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// helpDesk stands in for the API that the contract describes.
type helpDesk struct {
	// partial says that an archive cannot be reached.
	partial bool
}

// ServeHTTP answers with per_page of the tickets after the one that the cursor
// names.
func (h helpDesk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	all := []ticket{}
	for i, subject := range []string{"Printer on fire", "No network", "Lost badge", "New laptop", "Broken chair"} {
		created := time.Date(2026, time.March, 2, 9, i, 0, 0, time.UTC)
		all = append(all, ticket{fmt.Sprintf("T-%d", i+1), subject, created})
	}
	start := 0
	if after := r.URL.Query().Get("after"); after != "" {
		if _, err := fmt.Sscanf(after, "after:T-%d", &start); err != nil || start > len(all) {
			http.Error(w, `{"error":"unknown cursor"}`, http.StatusBadRequest)
			return
		}
	}
	size, err := strconv.Atoi(r.URL.Query().Get("per_page"))
	if err != nil || size < 1 {
		size = 50
	}
	end := min(start+size, len(all))
	var next any // null on the last page
	if end < len(all) {
		next = "after:" + all[end-1].ID
	}
	w.Header().Set("Content-Type", "application/json")
	answer := map[string]any{
		"tickets": all[start:end],
		"page":    map[string]any{"next": next, "partial": h.partial, "total": len(all)},
	}
	_ = json.NewEncoder(w).Encode(answer) // a client that went away is its own affair
}

// serve starts a handler on a free port of this machine.
func serve(ctx context.Context, handler http.Handler) (url string, stop func(), err error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // ends by stop
	}()
	return "http://" + listener.Addr().String() + "/v2/tickets", func() {
		_ = server.Close()
		<-ended
	}, nil
}

package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"time"
)

// warehouse stands in for the API that the contract describes.
type warehouse struct {
	// archived refuses every position, as the API does with old ones; offline are
	// the sites that cannot be asked.
	archived bool
	offline  []string
}

// booked is a movement as the API writes it.
type booked struct {
	ID      int64  `json:"id"`
	At      string `json:"booked_at"`
	Article string `json:"article"`
	Change  int    `json:"change"`
}

// ServeHTTP answers with limit movements after the position that the query names.
func (h *warehouse) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	all := []booked{
		{9007199254740993, "2026-03-02T09:00:00Z", "bolt", 100},
		{9007199254740995, "2026-03-02T09:00:00Z", "nut", 100},
		{9007199254740997, "2026-03-02T09:00:00Z", "bolt", -4},
		{9007199254740999, "2026-03-02T09:05:00Z", "nut", -4},
	}
	var query struct {
		Limit int `json:"limit"`
		After *struct {
			At string `json:"booked_at"`
			ID int64  `json:"id"`
		} `json:"after"`
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewDecoder(r.Body).Decode(&query); err != nil || query.Limit < 1 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if query.After != nil && h.archived {
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"error":"position_archived"}`))
		return
	}
	page := []booked{}
	more := false
	for _, m := range all {
		switch {
		case query.After != nil && (m.At < query.After.At || m.At == query.After.At && m.ID <= query.After.ID):
		case len(page) == query.Limit:
			more = true
		default:
			page = append(page, m)
		}
	}
	answer := map[string]any{"movements": page, "more": more, "sites_offline": h.offline}
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
	return "http://" + listener.Addr().String() + "/v1/movements/query", func() {
		_ = server.Close()
		<-ended
	}, nil
}

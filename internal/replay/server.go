package replay

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Request is one request that a server received.
type Request struct {
	Method string
	Path   string
	Query  url.Values
	Header http.Header
	// Exchange is the number of the exchange that answered, from 1; 0 where the
	// request was never recorded.
	Exchange int
}

// Server replays a recording. It may be asked in any order and as often as one
// likes.
type Server struct {
	recording *Recording

	mu       sync.Mutex
	requests []Request
}

var _ http.Handler = (*Server)(nil)

// NewServer returns a server of the recording; simapi.Serve starts it.
func NewServer(recording *Recording) *Server { return &Server{recording: recording} }

// Requests returns a copy of the log, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number := s.find(r)
	s.mu.Lock()
	s.requests = append(s.requests, Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Exchange: number,
	})
	s.mu.Unlock()
	if number == 0 {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "this request was never recorded\n") // a client that went away is its own affair
		return
	}
	e := s.recording.exchanges[number-1]
	here := "http://" + r.Host
	maps.Copy(w.Header(), e.headerAt(here))
	w.WriteHeader(e.status)
	_, _ = w.Write(bytes.ReplaceAll(e.body, []byte(e.origin), []byte(here))) //nolint:gosec // a recording, as it was, to a client on loopback
}

func (s *Server) find(r *http.Request) (number int) {
	query := r.URL.Query()
	for i, e := range s.recording.exchanges {
		if e.method == r.Method && e.path == r.URL.Path && maps.EqualFunc(e.query, query, slices.Equal[[]string]) {
			return i + 1
		}
	}
	return 0
}

// headerAt gives the header with the recorded origin replaced.
func (e *exchange) headerAt(here string) http.Header {
	header := make(http.Header, len(e.header))
	for name, values := range e.header {
		for _, value := range values {
			header.Add(name, strings.ReplaceAll(value, e.origin, here))
		}
	}
	return header
}

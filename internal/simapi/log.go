package simapi

import (
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// Request is one request that a handler received.
type Request struct {
	// Number counts from 1.
	Number int
	Method string
	Path   string
	// RawQuery is the query as it came, byte for byte, and Query the same decoded.
	RawQuery string
	Query    url.Values
	Header   http.Header
	Body     []byte
	Time     time.Time
	// Status is what was answered; 0 where nothing was, or not yet.
	Status int
}

// Log holds the requests that a handler received. Its methods may be called from
// several goroutines.
type Log struct {
	mu       sync.Mutex
	requests []Request
}

// Requests returns a copy of the log, in the order of arrival.
func (l *Log) Requests() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.requests)
}

// Len returns the number of requests.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.requests)
}

func (l *Log) add(r *http.Request, body []byte, at time.Time) Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	request := Request{
		Number: len(l.requests) + 1, Method: r.Method, Path: r.URL.Path, RawQuery: r.URL.RawQuery, Query: r.URL.Query(),
		Header: r.Header.Clone(), Body: body, Time: at,
	}
	l.requests = append(l.requests, request)
	return request
}

func (l *Log) answered(number, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests[number-1].Status = status
}

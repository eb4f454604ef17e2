package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// call is one request.
type call struct {
	method string
	url    *url.URL
	key    string // empty for a lookup
	body   []byte // nil for a lookup
}

// errWritten keeps the transport from sending a request a second time by itself.
var errWritten = errors.New("the connection was lost after the request was written")

// send makes one request and reads the answer. An error says that no answer came:
// a [pager.Fault], in an everypage.NotDone where the request certainly never left.
func (s *Sink[T]) send(ctx context.Context, c call) (Answer, error) {
	if ctx.Err() != nil {
		return Answer{}, everypage.NotDone(fmt.Errorf("not sent: %w", context.Cause(ctx)))
	}
	within, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	var connected, written, answered atomic.Bool
	within = httptrace.WithClientTrace(within, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { connected.Store(true) },
		WroteRequest: func(info httptrace.WroteRequestInfo) { written.Store(written.Load() || info.Err == nil) },
		// For a redirect the client asks for the body before it asks whether to go.
		GotFirstResponseByte: func() { answered.Store(true) },
	})
	request, err := http.NewRequestWithContext(within, c.method, c.url.String(), bytes.NewReader(c.body))
	if err != nil {
		return Answer{}, everypage.Permanent(errors.New("the request cannot be made of the sink's method and URL"))
	}
	request.Header = s.config.Header.Clone()
	if c.key == "" {
		request.Header.Del("Content-Type")
	} else {
		request.Header.Set(s.config.KeyHeader, c.key)
	}
	// The transport repeats a request with an Idempotency-Key when a connection is
	// lost. An effect that may have happened is for the ledger to know of first;
	// only what was never written may go out again here.
	again := request.GetBody
	request.GetBody = func() (io.ReadCloser, error) {
		if written.Load() && !answered.Load() {
			return nil, errWritten
		}
		return again()
	}
	response, err := s.config.Client.Do(request)
	if err != nil {
		return Answer{}, lost(ctx, c, err, connected.Load())
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, s.config.MaxBody+1))
	answer := Answer{
		Status: response.StatusCode, Header: response.Header, Body: body, Truncated: err != nil,
		Replayed: replayed(response.Header), RequestID: adapters.RequestID(response.Header),
	}
	if int64(len(body)) > s.config.MaxBody {
		answer.Body, answer.Truncated = body[:s.config.MaxBody], true
	}
	return answer, nil
}

// lost says what it means that no answer came.
func lost(ctx context.Context, c call, err error, connected bool) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s %s: %w", c.method, pager.RedactURL(c.url.String()), context.Cause(ctx))
	}
	if ofURL, ok := errors.AsType[*url.Error](err); ok {
		err = ofURL.Err // its own text repeats the URL, with what that may hold
	}
	fault := &pager.Fault{
		Verdict: pager.Pause, Code: pager.CodeTransport, Err: err,
		Detail: fmt.Sprintf("no answer to %s %s", c.method, pager.RedactURL(c.url.String())),
	}
	// Both signs are needed: a transport of the caller's may not report its
	// connections, and one that lost a connection fails at the next dial.
	var network *net.OpError
	if !connected && errors.As(err, &network) && network.Op == "dial" {
		return everypage.NotDone(fault)
	}
	return fault
}

// replayed reports whether an answer is marked as one that was given before.
func replayed(header http.Header) bool {
	for _, name := range []string{"Idempotent-Replayed", "Idempotency-Replayed", "X-Idempotent-Replayed"} {
		if header.Get(name) == "true" {
			return true
		}
	}
	return false
}

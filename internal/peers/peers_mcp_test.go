package peers_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/realtest"
)

// mcpVersion is the revision of the Model Context Protocol that the tests speak.
const mcpVersion = "2025-06-18"

// mcpSession is what MCP's Streamable HTTP transport asks beside the pagination: a
// handshake before the first request, the session's ID on each, a JSON-RPC ID that
// is new in the session, and a client that takes an event stream for an answer.
type mcpSession struct {
	base http.RoundTripper

	mu       sync.Mutex
	id       string
	requests int
}

// RoundTrip sends a JSON-RPC request and returns its answer as plain JSON.
func (s *mcpSession) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" {
		if err := s.open(r); err != nil {
			return nil, fmt.Errorf("MCP handshake: %w", err)
		}
	}
	var message map[string]any
	err := json.NewDecoder(r.Body).Decode(&message)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	return s.send(r.Context(), r, message)
}

// open initializes a session.
func (s *mcpSession) open(r *http.Request) error {
	initialize := map[string]any{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": map[string]any{
		"protocolVersion": mcpVersion, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "everypage", "version": "test"},
	}}
	response, err := s.send(r.Context(), r, initialize)
	if err != nil {
		return err
	}
	_ = response.Body.Close() // it is in memory
	if s.id = response.Header.Get("Mcp-Session-Id"); s.id == "" {
		return fmt.Errorf("the server answered %s without a session", response.Status)
	}
	initialized := map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}
	if response, err = s.send(r.Context(), r, initialized); err != nil {
		return err
	}
	_ = response.Body.Close() // it is in memory
	if response.StatusCode != http.StatusAccepted {
		return fmt.Errorf("the server answered %s to the notification", response.Status)
	}
	return nil
}

func (s *mcpSession) send(ctx context.Context, like *http.Request, message map[string]any) (*http.Response, error) {
	id := 0.0
	if _, request := message["id"]; request {
		s.requests++
		id = float64(s.requests)
		message["id"] = id
	}
	text, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	r := like.Clone(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	r.GetBody = nil
	r.Header.Set("Accept", "application/json, text/event-stream")
	if s.id != "" {
		r.Header.Set("Mcp-Session-Id", s.id)
		r.Header.Set("Mcp-Protocol-Version", mcpVersion)
	}
	response, err := s.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	return unwrap(response, id)
}

// unwrap turns an event stream into the one message in it that answers the request
// with this ID. Notifications may come before it.
func unwrap(response *http.Response, id float64) (*http.Response, error) {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/event-stream" {
		if body, err = answerIn(body, id); err != nil {
			return nil, err
		}
		response.Header.Set("Content-Type", "application/json")
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Del("Content-Length")
	return response, nil
}

func answerIn(stream []byte, id float64) ([]byte, error) {
	var data []string
	lines := bufio.NewScanner(bytes.NewReader(append(stream, "\n\n"...)))
	for lines.Buffer(nil, len(stream)+bufio.MaxScanTokenSize); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "data:"); ok {
			data = append(data, strings.TrimPrefix(text, " "))
		}
		if lines.Text() != "" {
			continue
		}
		event := []byte(strings.Join(data, "\n"))
		data = nil
		var message struct {
			ID *float64 `json:"id"`
		}
		if json.Unmarshal(event, &message) == nil && message.ID != nil && *message.ID == id {
			return event, nil
		}
	}
	return nil, errors.Join(io.ErrUnexpectedEOF, lines.Err())
}

// 100 resources, 10 a page. The process is killed on page 3, and its session with
// it: the next one goes on at the same cursor in a session of its own.
func TestMCPThroughAKillAndAStop(t *testing.T) {
	endpoint := realtest.StartMCP(t)
	w := newWalk(t, adapters.MCPResources2025(), list{URL: endpoint, MCP: true})
	w.killAt(25)
	w.cancelAt(58, 5)
	receipt, err := w.finish()
	w.wantWhole(receipt, err, wanted{pages: 10, items: 100, end: "result.nextCursor is absent"})
	ids := numbers(100)
	for i := range ids {
		ids[i] = "test://static/resource/" + ids[i]
	}
	w.wantIDs(ids)
}

// Without a session the server refuses, and no page is made of that.
func TestMCPWithoutASession(t *testing.T) {
	endpoint := realtest.StartMCP(t)
	for accept, status := range map[string]int{
		"application/json":                    http.StatusNotAcceptable,
		"application/json, text/event-stream": http.StatusBadRequest,
	} {
		contract := adapters.MCPResources2025()
		contract.Request.Header = map[string]string{"Accept": accept}
		w := newWalk(t, contract, list{URL: endpoint})
		receipt, err := w.finish()
		if !errors.Is(err, everypage.ErrNeedsReview) || receipt.Reason.HTTPStatus != status || receipt.Pages != 0 {
			t.Errorf("want review by the status %d, have %+v, %v", status, receipt, err)
		}
	}
}

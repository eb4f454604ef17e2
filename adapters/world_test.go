package adapters_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// noon is the instant at which the tests' clock stands.
func noon() time.Time { return time.Date(2025, 3, 5, 12, 0, 0, 0, time.UTC) }

// exchange is one request that a scripted API saw.
type exchange struct {
	url    string
	method string
	header http.Header
	body   string
}

// transport plays answers and counts the bodies that were handed out and closed.
type transport struct {
	mu     sync.Mutex
	inner  http.RoundTripper // nil plays the script
	script []canned
	seen   []exchange
	opened int
	closed int
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := exchange{url: req.URL.String(), method: req.Method, header: req.Header.Clone()}
	if req.Body != nil {
		text, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		e.body = string(text)
		req.Body = io.NopCloser(bytes.NewReader(text))
	}
	t.seen = append(t.seen, e)
	var resp *http.Response
	var err error
	switch {
	case t.inner != nil:
		resp, err = t.inner.RoundTrip(req)
	case len(t.script) == 0:
		err = errors.New("a request beyond the script: " + req.URL.String())
	default:
		resp, t.script = t.script[0].response(req), t.script[1:]
	}
	if err != nil {
		return nil, err
	}
	t.opened++
	resp.Body = &counted{resp.Body, t}
	return resp, nil
}

type counted struct {
	io.ReadCloser
	of *transport
}

func (c *counted) Close() error {
	c.of.mu.Lock()
	c.of.closed++
	c.of.mu.Unlock()
	return c.ReadCloser.Close()
}

// canned is an answer of a script.
type canned struct {
	status int
	body   string
	header http.Header
	length int64 // as it is said, -1 for an answer that only the connection's end ends
	cut    bool  // the connection breaks after the body
}

// answer makes a scripted answer; header fields come in pairs.
func answer(status int, body string, header ...string) canned {
	c := canned{status: status, body: body, header: http.Header{"Content-Type": {"application/json"}}, length: int64(len(body))}
	for i := 0; i+1 < len(header); i += 2 {
		c.header.Add(header[i], header[i+1])
	}
	return c
}

func (c canned) response(req *http.Request) *http.Response {
	body := io.Reader(strings.NewReader(c.body))
	if c.cut {
		body = io.MultiReader(body, failing{})
	}
	return &http.Response{
		StatusCode: c.status, Header: c.header.Clone(), Body: io.NopCloser(body), Request: req,
		ContentLength: c.length, ProtoMajor: 1, ProtoMinor: 1,
	}
}

// cutShort is an answer that ends before the length that it says.
func cutShort(status int, body string) canned {
	c := answer(status, body)
	c.length, c.cut = 4096, true
	return c
}

// openEnded is an answer that only the end of the connection ends.
func openEnded(body string) canned {
	c := answer(http.StatusOK, body)
	c.length = -1
	return c
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// api is a scripted API with a client for it.
func api(t *testing.T, script ...canned) (*transport, *adapters.Client) {
	t.Helper()
	tr := &transport{script: script}
	t.Cleanup(func() {
		if tr.opened != tr.closed {
			t.Errorf("%d answers were opened and %d closed", tr.opened, tr.closed)
		}
	})
	return tr, &adapters.Client{HTTP: &http.Client{Transport: tr}, Now: noon}
}

// served is a real server with a client that counts.
func served(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *transport, *adapters.Client) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	tr, client := api(t)
	tr.inner = server.Client().Transport
	return server, tr, client
}

func list(t *testing.T, client *adapters.Client, contract adapters.Contract, url string, options *adapters.Options) pager.Pager[json.RawMessage] {
	t.Helper()
	p, err := adapters.List[json.RawMessage](client, contract, url, options)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// walk reads pages until the sequence ends, and returns its error, if any.
func walk(ctx context.Context, p pager.Pager[json.RawMessage], from pager.Cursor) (pages []pager.Page[json.RawMessage], fault *pager.Fault, err error) {
	for page, err := range p.Pages(ctx, from) {
		if err != nil {
			fault, _ := errors.AsType[*pager.Fault](err)
			return pages, fault, err
		}
		pages = append(pages, page)
		if len(pages) == 50 {
			return pages, nil, errors.New("the walk does not end")
		}
	}
	return pages, nil, nil
}

func ids(pages ...pager.Page[json.RawMessage]) string {
	var all []string
	for _, p := range pages {
		for _, item := range p.Items {
			all = append(all, item.ID)
		}
	}
	return strings.Join(all, " ")
}

// shared reads a file of the folder of fixtures and cases that lies beside the
// work tree, or wherever EVERYPAGE_SHARED says; without it the test is skipped.
func shared(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sharedFolder(), name))
	if err != nil {
		t.Skipf("the shared fixtures are not here: %v", err)
	}
	return data
}

func sharedFolder() string {
	if folder := os.Getenv("EVERYPAGE_SHARED"); folder != "" {
		return folder
	}
	return filepath.Join("..", "..", "shared")
}

// always is a transport that gives the same answer to every request.
type always struct{ canned }

func (a always) RoundTrip(req *http.Request) (*http.Response, error) { return a.response(req), nil }

// raw is an item as it came.
type raw = json.RawMessage

// onePage returns the first page of a pager alone.
func onePage(p pager.Pager[json.RawMessage]) pager.Pager[json.RawMessage] { return first{p} }

type first struct{ inner pager.Pager[json.RawMessage] }

func (f first) Pages(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[json.RawMessage], error] {
	return func(yield func(pager.Page[json.RawMessage], error) bool) {
		for page, err := range f.inner.Pages(ctx, from) {
			yield(page, err)
			return
		}
	}
}

package probe

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// recorded is one answer as it came.
type recorded struct {
	request *http.Request
	answer  http.Response // without its body
	body    []byte
}

// response plays the answer again. Relative links keep their base, the address
// that answered.
func (r *recorded) response() *http.Response {
	again := r.answer
	again.Header = r.answer.Header.Clone()
	again.Request = r.request
	again.Body = io.NopCloser(bytes.NewReader(r.body))
	return &again
}

// spentError says that no request is left.
type spentError struct{}

func (spentError) Error() string { return "the probe has made as many requests as it may" }

// recorder makes requests, keeps the answers, and asks nothing twice.
type recorder struct {
	inner http.RoundTripper

	mu   sync.Mutex
	made int
	most int
	kept map[string]*recorded
	last *recorded
}

var _ http.RoundTripper = (*recorder)(nil)

// RoundTrip answers from what is kept, or makes the request.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	key := req.URL.String()
	r.mu.Lock()
	kept, again := r.kept[key]
	spent := r.made >= r.most
	if !again && !spent {
		r.made++
	}
	if again {
		r.last = kept
	}
	r.mu.Unlock()
	switch {
	case again:
		return kept.response(), nil
	case spent:
		return nil, spentError{}
	}
	resp, err := r.inner.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	record := &recorded{request: req, answer: *resp}
	record.answer.Body = nil
	resp.Body = &tap{ReadCloser: resp.Body, record: record}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept[key], r.last = record, record
	return resp, nil
}

// tap keeps what the engine reads of a body; the engine's limit is its own.
type tap struct {
	io.ReadCloser
	record *recorded
}

// Read passes on what is read.
func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.record.body = append(t.record.body, p[:n]...)
	return n, err
}

// replayed gives one answer to every request, so that a contract can be tried
// without asking the API.
type replayed struct{ *recorded }

var _ http.RoundTripper = replayed{}

// RoundTrip plays the answer.
func (r replayed) RoundTrip(*http.Request) (*http.Response, error) { return r.response(), nil }

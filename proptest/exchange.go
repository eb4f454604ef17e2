package proptest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// exchange is a request that the script expects and what its server answers.
type exchange struct {
	n        int
	at       time.Time // the clock at the request; zero: as it is
	optional bool
	request  wantedRequest
	response response
}

// wantedRequest is what a request must look like. What is not said is not
// compared, but for what setup says of every request.
type wantedRequest struct {
	cursor        json.RawMessage // expanded; nil and null: none
	present       *bool
	method        string
	url           string
	path          string
	query         map[string]string
	headers       [][2]string
	headersThere  []string
	headersAbsent []string
	body          json.RawMessage
}

// response is an answer as bytes.
type response struct {
	status    int
	headers   [][2]string
	body      []byte
	plain     []byte // for a client that does not offer gzip; nil: the same
	transport string
}

// The ways in which a connection can go wrong.
const (
	closeAfterBody = "close_after_body"
	closeBefore    = "close_before_response"
	hang           = "hang"
)

func (r *caseReader) exchange(path string, raw json.RawMessage, n int) exchange {
	x := exchange{n: n}
	answered := false
	r.object(path, raw, fields{
		"n": &x.n, "at": r.instant(&x.at), "optional": &x.optional, "comment": nil, "note": nil,
		"request": func(path string, raw json.RawMessage) { r.request(path, raw, &x.request) },
		"response": func(path string, raw json.RawMessage) {
			answered = true
			r.response(path, raw, &x.response)
		},
	})
	if !answered {
		r.fail(path+".response", "is missing")
	}
	return x
}

func (r *caseReader) request(path string, raw json.RawMessage, q *wantedRequest) {
	query := map[string]json.RawMessage{}
	r.object(path, raw, fields{
		"cursor": func(path string, raw json.RawMessage) {
			var err error
			if q.cursor, err = expandRaw(raw); err != nil {
				r.fail(path, "%v", err)
			}
		},
		"cursor_present": &q.present, "method": &q.method, "url": &q.url, "path": &q.path, "query": &query,
		"headers": r.pairs(&q.headers), "headers_present": r.texts(&q.headersThere), "headers_absent": r.texts(&q.headersAbsent),
		"body": &q.body, "comment": nil, "note": nil,
	})
	for name, value := range query {
		text, _ := textOf(value)
		if q.query == nil {
			q.query = map[string]string{}
		}
		q.query[name] = text
	}
}

func (r *caseReader) response(path string, raw json.RawMessage, a *response) {
	var given []string
	is := func(name string, read func(json.RawMessage) error) func(string, json.RawMessage) {
		return func(path string, raw json.RawMessage) {
			given = append(given, name)
			if err := read(raw); err != nil {
				r.fail(path, "%v", err)
			}
		}
	}
	r.object(path, raw, fields{
		"status": &a.status, "headers": r.pairs(&a.headers), "transport": &a.transport, "comment": nil, "note": nil,
		"body": is("body", func(raw json.RawMessage) (err error) {
			a.body, err = expandRaw(raw)
			return err
		}),
		"body_text": is("body_text", func(raw json.RawMessage) (err error) {
			a.body, err = textBody(raw)
			return err
		}),
		"body_base64": is("body_base64", func(raw json.RawMessage) (err error) {
			var text string
			if err = json.Unmarshal(raw, &text); err == nil {
				a.body, err = base64.StdEncoding.DecodeString(text)
			}
			return err
		}),
		"generator": func(path string, raw json.RawMessage) {
			given = append(given, "generator")
			r.generator(path, raw, a)
		},
	})
	if len(given) > 1 {
		r.fail(path, "has %s; an answer has one of them", listed(given))
	}
	r.word(path+".transport", a.transport, "", closeAfterBody, closeBefore, hang)
	if a.transport == "" && (a.status < 200 || a.status > 599) || a.transport == closeAfterBody && a.status == 0 {
		r.fail(path+".status", "is %d, and 200 to 599 is needed", a.status)
	}
}

// textBody reads a string, or a $repeat that stands for one.
func textBody(raw json.RawMessage) ([]byte, error) {
	expanded, err := expandRaw(raw)
	if err != nil {
		return nil, err
	}
	var text string
	if err := json.Unmarshal(expanded, &text); err != nil {
		return nil, fmt.Errorf("%s is no text", shortJSON(raw))
	}
	return []byte(text), nil
}

func (r *caseReader) generator(path string, raw json.RawMessage, a *response) {
	makes := func(text bool, packed bool) func(string, json.RawMessage) {
		return func(path string, raw json.RawMessage) {
			var err error
			if text {
				a.body, err = textBody(raw)
			} else {
				a.body, err = expandRaw(raw)
			}
			if err != nil {
				r.fail(path, "%v", err)
				return
			}
			if packed {
				a.plain = a.body
				a.body = pack(a.body)
			}
		}
	}
	r.object(path, raw, fields{
		"json": makes(false, false), "gzip_json": makes(false, true), "text": makes(true, false), "gzip_text": makes(true, true),
	})
}

func pack(plain []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(plain) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// bytes returns the answer as it goes over the wire, for a client that offers
// gzip or does not, and whether it is whole: if not, the connection closes early.
func (a *response) bytes(gzipOffered bool) (wire []byte, whole bool) {
	body, headers := a.body, a.headers
	if a.plain != nil && !gzipOffered {
		body, headers = a.plain, nil
		for _, h := range a.headers {
			if !strings.EqualFold(h[0], "Content-Encoding") {
				headers = append(headers, h)
			}
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	sized, chunked := false, false
	for _, h := range headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
		sized = sized || strings.EqualFold(h[0], "Content-Length")
		chunked = chunked || strings.EqualFold(h[0], "Transfer-Encoding")
	}
	whole = a.transport != closeAfterBody
	bodiless := a.status == http.StatusNoContent || a.status == http.StatusNotModified
	switch {
	case sized, chunked, bodiless:
	case whole:
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	default:
		chunked = true // of which the last one never comes
		b.WriteString("Transfer-Encoding: chunked\r\n")
	}
	b.WriteString("Connection: close\r\n\r\n")
	switch {
	case bodiless:
	case chunked:
		if len(body) > 0 {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(body), body)
		}
		if whole {
			b.WriteString("0\r\n\r\n")
		}
	default:
		b.Write(body)
	}
	return b.Bytes(), whole
}

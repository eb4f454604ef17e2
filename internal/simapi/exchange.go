package simapi

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"
)

// maxRequestBody bounds what a handler reads of a request.
const maxRequestBody = 4 << 20

// exchange is what the list server and the CRM share: it logs a request, lets it
// meet its fault, and sends the answer as the fault allows.
type exchange struct {
	script Script
	log    Log
	now    func() time.Time
}

// call is one request on its way to a handler.
type call struct {
	request *http.Request
	id      string
	body    []byte
	edit    func(*Page)
}

func (x *exchange) clock() time.Time {
	if x.now == nil {
		return time.Time{}
	}
	return x.now()
}

// serve answers one request by way of handle.
func (x *exchange) serve(w http.ResponseWriter, r *http.Request, handle func(call) Answer) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
	if err != nil {
		http.Error(w, "the request's body is too large or broken", http.StatusBadRequest)
		return
	}
	request := x.log.add(r, body, x.clock())
	fault := x.script.take(request)
	if fault.Before != nil {
		fault.Before()
	}
	if !fault.AfterEffect {
		fault.Hold.hold(r.Context())
	}
	var answer Answer
	if instead := fault.Status != 0 || fault.Drop; !instead || fault.AfterEffect {
		answer = handle(call{request: r, id: fmt.Sprintf("req_%06d", request.Number), body: body, edit: fault.EditPage})
	}
	if fault.AfterEffect {
		fault.Hold.hold(r.Context())
	}
	if fault.Drop {
		drop(w)
	}
	if fault.Status != 0 {
		answer = Answer{Status: fault.Status, Header: http.Header{}, Body: []byte(fault.Body)}
		maps.Copy(answer.Header, fault.Header.Clone())
	}
	if fault.Edit != nil {
		fault.Edit(&answer)
	}
	x.log.answered(request.Number, answer.Status)
	send(w, answer, fault)
}

func send(w http.ResponseWriter, answer Answer, fault Fault) {
	maps.Copy(w.Header(), answer.Header)
	body := answer.Body
	if mayHaveBody(answer.Status) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	} else {
		body = nil
	}
	w.WriteHeader(answer.Status)
	if !fault.Cut {
		_, _ = w.Write(body) // a client that went away is its own affair
		return
	}
	_, _ = w.Write(body[:min(fault.CutAfter, len(body))])
	_ = http.NewResponseController(w).Flush() // unsupported only where there is no connection to cut
	panic(http.ErrAbortHandler)
}

func mayHaveBody(status int) bool {
	return status >= http.StatusOK && status != http.StatusNoContent && status != http.StatusNotModified
}

// drop loses the connection and does not return. The client gets a status line
// first: a connection that closes without one byte makes Go's transport, and
// others, repeat a GET or a keyed POST silently, and a fault would then not be
// seen by whom it is meant for.
func drop(w http.ResponseWriter) {
	connection, buffer, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = buffer.WriteString("HTTP/1.1 200 OK\r\n")
		_ = buffer.Flush() // the connection is being lost, one way or the other
		_ = connection.Close()
	}
	panic(http.ErrAbortHandler)
}

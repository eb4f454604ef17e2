package sink_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/sink"
)

// failingDial refuses the first connections, as a server that does not listen.
type failingDial struct {
	mu          sync.Mutex
	fail, dials int
}

func (d *failingDial) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d.mu.Lock()
	d.dials++
	fail := d.dials <= d.fail
	d.mu.Unlock()
	if fail {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

func TestAServerThatDoesNotListen(t *testing.T) {
	base, stop, err := simapi.Serve(simapi.NewCRM(nil))
	if err != nil {
		t.Fatal(err)
	}
	stop()
	s := newSink(t, sink.Config[ticket]{URL: base, Body: noteFor})
	if err := s.Handle(t.Context(), item("A", "run-1|A|note")); told(err) != notDone {
		t.Errorf("a refused connection is %s: %v", told(err), err)
	}
}

// A connection that was kept open is closed without one byte of an answer. Go's
// transport would repeat a keyed POST by itself; here each request is a call of
// Handle, so that the ledger knows of it.
func TestTheTransportDoesNotRepeatWhatWasWritten(t *testing.T) {
	var requests atomic.Int32
	base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) != 2 {
			w.WriteHeader(http.StatusCreated)
			return
		}
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = connection.Close()
	}))
	s := newSink(t, sink.Config[ticket]{URL: base, Body: noteFor, Client: &http.Client{Transport: &http.Transport{}}})
	for i, want := range []string{done, again, done} {
		call := int32(i + 1)
		if err := s.Handle(t.Context(), item("A", "run-1|A|note")); told(err) != want || requests.Load() != call {
			t.Fatalf("call %d is %s after %d requests, want %s: %v", call, told(err), requests.Load(), want, err)
		}
	}
}

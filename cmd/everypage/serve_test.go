package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/store/pebblestore"
)

// serve is shown on loopback, to loopback names only, and ends with its context, also
// while a page is being followed.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	ledger, err := pebblestore.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := ledger.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reader, writer := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- execute(ctx, streams{out: writer, err: &stderr}, []string{"serve", "--ledger", dir, "--listen", "127.0.0.1:0"})
	}()
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(line)
	get := func(host, path string) (int, string, io.Closer) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := http.DefaultTransport.RoundTrip(request) //nolint:forbidigo // a test is its process
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
			return response.StatusCode, "", response.Body
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body), response.Body
	}
	if status, body, _ := get("localhost", ""); status != http.StatusOK || !strings.Contains(body, "no run yet") {
		t.Errorf("status %d:\n%s", status, body)
	}
	if status, _, _ := get("rebound.example:80", ""); status != http.StatusMisdirectedRequest {
		t.Errorf("another name: status %d", status)
	}
	_, _, followed := get("[::1]:8080", "live")
	defer followed.Close()

	// While it is shown, nobody else opens the ledger, and serve says what to do.
	var second bytes.Buffer
	if code := execute(t.Context(), streams{out: io.Discard, err: &second}, []string{"serve", "--ledger", dir, "--listen", "127.0.0.1:0"}); code != exitPaused {
		t.Errorf("a second serve ends with %d", code)
	}
	if text := second.String(); !strings.Contains(text, "no other process has open") || !strings.Contains(text, "receiptweb.Handler") {
		t.Errorf("it says %q", text)
	}
	stop()
	select {
	case code := <-ended:
		if code != exitDone {
			t.Errorf("it ends with %d: %s", code, stderr.String())
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections() //nolint:forbidigo // a test is its process
}

// An address that others reach is refused, unless that is meant.
func TestServe_Refuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--listen", ":8417"}, "--public"},
		{[]string{"--listen", "0.0.0.0:8417"}, "no login"},
		{[]string{"--listen", "192.168.1.2:8417"}, "--public"},
		{[]string{"--listen", "[::]:8417"}, "--public"},
		{[]string{"--listen", "8417"}, "no address"},
		{[]string{"--by", "anna"}, "--actions"},
		{[]string{"--listen", "127.0.0.1:0"}, "there is no ledger"},
	} {
		var stderr bytes.Buffer
		code := execute(t.Context(), streams{out: io.Discard, err: &stderr}, append([]string{"serve", "--ledger", t.TempDir()}, c.args...))
		if code != exitUsage && code != exitNotFound || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%v: %d, %q", c.args, code, stderr.String())
		}
	}
}

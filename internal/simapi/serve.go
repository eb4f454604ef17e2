package simapi

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// Serve starts a handler on a free loopback port and returns its base URL,
// without a slash at the end. stop ends it at once, hung requests included, and
// returns when nothing of it runs any more; it may be called more than once.
func Serve(handler http.Handler) (url string, stop func(), err error) {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("simapi: listening on loopback: %w", err)
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		// What a scripted fault does to a connection is no news for a terminal.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener) // always ErrServerClosed, by stop
	}()
	return "http://" + listener.Addr().String(), func() {
		_ = server.Close() // the listener is ours and closing it twice is no news
		<-ended
	}, nil
}

package simapi

import (
	"context"
	"net/http"
	"sync"
)

// Gate keeps requests waiting, so that a test can act while one is under way
// without sleeping.
type Gate struct {
	entered, released         chan struct{}
	enteredOnce, releasedOnce sync.Once
}

// NewGate returns a closed gate.
func NewGate() *Gate {
	return &Gate{entered: make(chan struct{}), released: make(chan struct{})}
}

// Entered is closed when the first request waits at the gate.
func (g *Gate) Entered() <-chan struct{} { return g.entered }

// Release lets go the requests that wait and all that come later.
func (g *Gate) Release() { g.releasedOnce.Do(func() { close(g.released) }) }

// hold returns when the gate is released; at once where there is none. It ends
// the request where the client goes away.
func (g *Gate) hold(ctx context.Context) {
	if g == nil {
		return
	}
	g.enteredOnce.Do(func() { close(g.entered) })
	select {
	case <-g.released:
	case <-ctx.Done():
		panic(http.ErrAbortHandler)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// stoppable is a context that a signal, or a sink that failed, ends.
type stoppable struct {
	context.Context //nolint:containedctx // it is one, with the means to end it
	stop            context.CancelCauseFunc
	release         func()
}

// errStopped is why a run that a person stopped is paused.
var errStopped = errors.New("stopped by a signal")

// stopOnSignal ends the context at the first interrupt, and the process at the
// second one. Commands that run then are killed.
func stopOnSignal(ctx context.Context, std streams, show *progress, running *program) *stoppable {
	ctx, stop := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case <-ended:
				return
			case <-signals:
			}
			if !first {
				running.kill()
				show.close()
				_, _ = fmt.Fprintln(std.err, "everypage: ended at once; run the same command again to go on")
				os.Exit(exitPaused)
			}
			show.say("everypage: pausing the run; once more ends it at once")
			stop(errStopped)
		}
	}()
	return &stoppable{Context: ctx, stop: stop, release: func() {
		signal.Stop(signals)
		close(ended)
		stop(nil)
	}}
}

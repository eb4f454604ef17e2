package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// signalGap is how long after the first signal another one still belongs to it: a
// supervisor such as timeout signals the process, and its group as well.
const signalGap = time.Second

// stoppable is a context that a signal, or a sink that failed, ends.
type stoppable struct {
	context.Context //nolint:containedctx // it is one, with the means to end it
	stop            context.CancelCauseFunc
	release         func()
}

// errStopped is why a run that a person stopped is paused.
var errStopped = errors.New("stopped by a signal")

// stopOnSignal ends the context at the first interrupt, termination or hang-up, and the process at a second
// one that comes signalGap later or after that. Commands that run then are killed.
func stopOnSignal(ctx context.Context, std streams, show *progress, running *program) *stoppable {
	ctx, stop := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	// What was read by a reader that went away must not end a run half-way: the ledger
	// is what counts. Each write to it fails instead, to the last one of the process.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	ended := make(chan struct{})
	go func() {
		for first := (time.Time{}); ; {
			select {
			case <-ended:
				return
			case <-signals:
			}
			now := show.clock.Now()
			switch {
			case first.IsZero():
				first = now
				show.say("everypage: pausing the run; once more, a second later, ends it at once")
				stop(errStopped)
			case now.Sub(first) >= signalGap:
				running.kill()
				show.close()
				_, _ = fmt.Fprintln(std.err, "everypage: ended at once; run the same command again to go on")
				os.Exit(exitPaused)
			}
		}
	}()
	return &stoppable{Context: ctx, stop: stop, release: func() {
		signal.Stop(signals)
		close(ended)
		stop(nil)
	}}
}

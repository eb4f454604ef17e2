package everypage

import (
	"context"
	"time"
)

// Clock is where a run takes the time from, and waits by.
type Clock interface {
	// Now returns the current instant.
	Now() time.Time
	// Timer returns a channel that receives once d has passed, and a function
	// that releases the timer.
	Timer(d time.Duration) (passed <-chan time.Time, stop func() bool)
}

// SystemClock is the machine's own clock. Inside a testing/synctest bubble it is
// the bubble's.
type SystemClock struct{}

var _ Clock = SystemClock{}

// Now returns the current instant, in UTC.
func (SystemClock) Now() time.Time { return time.Now().UTC() } //nolint:forbidigo // this is the clock

// Timer returns a timer of the time package.
func (SystemClock) Timer(d time.Duration) (<-chan time.Time, func() bool) {
	timer := time.NewTimer(d)
	return timer.C, timer.Stop
}

// wait returns nil at the given instant, or the context's cause if that comes
// first.
func wait(ctx context.Context, clock Clock, until time.Time) error {
	for {
		d := until.Sub(clock.Now())
		if d <= 0 {
			return nil
		}
		passed, stop := clock.Timer(d)
		select {
		case <-passed: // looked at again: timers may fire early where clocks step
		case <-ctx.Done():
			stop()
			return context.Cause(ctx)
		}
	}
}

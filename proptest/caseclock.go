package proptest

import (
	"sync"
	"time"

	"github.com/everypage-go/everypage"
)

// caseClock is a case's clock. It stands still, but for what the script says and
// for somebody who waits: then it moves at once.
type caseClock struct {
	mu  sync.Mutex
	now time.Time
	// due is when the call's deadline passes, and passed what happens then.
	due    time.Time
	passed func()
	late   bool // somebody waited beyond it
}

var _ everypage.Clock = (*caseClock)(nil)

// Now returns the case's instant.
func (c *caseClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Timer moves the clock by d.
func (c *caseClock) Timer(d time.Duration) (<-chan time.Time, func() bool) {
	until := c.Now().Add(d)
	c.mu.Lock()
	c.late = c.late || !c.due.IsZero() && until.After(c.due)
	c.mu.Unlock()
	c.set(until)
	passed := make(chan time.Time, 1)
	passed <- c.Now()
	return passed, func() bool { return true }
}

// set moves the clock to an instant.
func (c *caseClock) set(now time.Time) {
	c.mu.Lock()
	c.now = now
	passed := c.passed
	if passed == nil || !now.After(c.due) {
		passed = nil
	} else {
		c.passed = nil
	}
	c.mu.Unlock()
	if passed != nil {
		passed()
	}
}

// deadline arranges that passed is called when the clock goes beyond an instant.
func (c *caseClock) deadline(due time.Time, passed func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due, c.passed, c.late = due, passed, false
}

// expire moves the clock beyond the call's deadline, and reports whether it has one
// that has not passed yet.
func (c *caseClock) expire() bool {
	c.mu.Lock()
	due, pending := c.due, c.passed != nil
	c.mu.Unlock()
	if pending {
		c.set(due.Add(time.Nanosecond))
	}
	return pending
}

// waitedTooLong reports whether somebody waited beyond the call's deadline.
func (c *caseClock) waitedTooLong() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.late
}

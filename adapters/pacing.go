package adapters

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"time"

	"github.com/everypage-go/everypage/pager"
)

// Limiter bounds a rate of requests.
type Limiter interface {
	// Wait returns when a request may be made. It returns an error if the context
	// ends before, or would.
	Wait(ctx context.Context) error
}

// farthest is how far ahead an instant may lie that an answer foretells. One that
// lies farther is more likely misread than meant; the API is asked, and says so
// itself.
const farthest = 25 * time.Hour

// limited waits for the caller's own limiter.
func (c *Client) limited(ctx context.Context) *pager.Fault {
	if c.Limiter == nil {
		return nil
	}
	err := c.Limiter.Wait(ctx)
	switch _, bounded := ctx.Deadline(); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return stopped(ctx)
	case bounded: // the wait would outlast the caller's deadline
		return &pager.Fault{
			Verdict: pager.Pause, Code: pager.CodeTransport,
			Detail: "the caller's limiter allows no request before the caller's deadline",
			Err:    fmt.Errorf("%w: %w", context.DeadlineExceeded, err),
		}
	}
	return &pager.Fault{Code: pager.CodePagerFailed, Detail: "the caller's limiter failed", Err: err}
}

// closedUntil returns the fault that stands in the way of a request, or nil.
func (c *Client) closedUntil(key [sha256.Size]byte, now time.Time) *pager.Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	closed, ok := c.closed[key]
	if !ok {
		return nil
	}
	if !now.Before(closed.fault.Until) {
		delete(c.closed, key)
		return nil
	}
	shared := closed.fault
	if !closed.ahead {
		shared.Detail = "no request was made, since an earlier one with the same credentials was refused: " + shared.Detail
	}
	return &shared
}

// close remembers a limit that holds for everybody with the same credentials.
func (c *Client) close(key [sha256.Size]byte, f *pager.Fault, now time.Time) {
	if f.Until.IsZero() || f.Code != pager.CodeRateLimited && f.Code != pager.CodeQuotaExhausted {
		return
	}
	c.remember(key, closure{fault: *f}, now)
}

// pace remembers that an answer left no request until an instant.
func (c *Client) pace(key [sha256.Size]byte, limit pager.RateLimit, now time.Time) {
	wait := limit.Reset.Sub(now)
	if c.Unpaced || !limit.Known || limit.Remaining > 0 || limit.Reset.IsZero() || wait <= 0 || wait > farthest {
		return
	}
	c.remember(key, closure{ahead: true, fault: pager.Fault{
		Verdict: pager.Pause, Code: pager.CodeRateLimited, Until: limit.Reset,
		Detail: "no request was made, since an earlier answer with the same credentials left none; go on at " + limit.Reset.UTC().Format(time.RFC3339Nano),
	}}, now)
}

func (c *Client) remember(key [sha256.Size]byte, closed closure, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed == nil {
		c.closed = map[[sha256.Size]byte]closure{}
	}
	maps.DeleteFunc(c.closed, func(_ [sha256.Size]byte, old closure) bool { return !now.Before(old.fault.Until) })
	if old, ok := c.closed[key]; !ok || old.fault.Until.Before(closed.fault.Until) {
		c.closed[key] = closed
	}
}

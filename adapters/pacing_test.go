package adapters_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

var _ adapters.Limiter = (*rate.Limiter)(nil)

// TestPacing waits before a request that the answer before has ruled out.
func TestPacing(t *testing.T) {
	for _, c := range []struct {
		name   string
		header []string
		wait   time.Duration // 0 for none
	}{
		{"nothing said", nil, 0},
		{"some left", []string{"X-RateLimit-Remaining", "1", "X-RateLimit-Reset", "30"}, 0},
		{"none left, seconds", []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "30"}, 30 * time.Second},
		{"none left, a second", []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1"}, time.Second},
		{"none left, an epoch", []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1741176060"}, time.Minute},
		{"none left, milliseconds", []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1741176060000"}, time.Minute},
		{"none left, a date", []string{"RateLimit-Remaining", "0", "RateLimit-Reset", "Wed, 05 Mar 2025 12:01:00 GMT"}, time.Minute},
		{"none left, in the past", []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1741175900"}, 0},
		{"none left, nobody says until when", []string{"X-RateLimit-Remaining", "0"}, 0},
		{"none left, farther than anybody means", []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "400000"}, 0},
		{"a policy", []string{"RateLimit", `"default";r=0;t=30`}, 30 * time.Second},
		{"two policies, one used up", []string{"RateLimit", `"burst";r=0;t=5, "day";r=900;t=3600`}, 5 * time.Second},
		{"two policies, both used up", []string{"RateLimit", `"burst";r=0;t=5, "day";r=0;t=3600`}, time.Hour},
		{"a policy without an instant", []string{"RateLimit", `"a;b";r=0`, "RateLimit-Policy", `"a;b";q=100;w=60`}, time.Minute},
		{"the earlier form", []string{"RateLimit", "limit=10, remaining=0, reset=50"}, 50 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, client := api(t, answer(200, `{"items":[],"next":"x"}`, c.header...), answer(200, `{"items":[]}`), answer(200, `{"items":[]}`))
			now := noon()
			client.Now = func() time.Time { return now }
			p := list(t, client, tokens(), things, nil)
			pages, fault, err := walk(t.Context(), p, pager.Cursor{})
			if c.wait == 0 {
				if err != nil || len(tr.seen) != 2 {
					t.Errorf("got %v after %d requests", err, len(tr.seen))
				}
				return
			}
			if fault == nil || fault.Verdict != pager.Pause || fault.Code != pager.CodeRateLimited || !fault.Until.Equal(now.Add(c.wait)) || len(tr.seen) != 1 || len(pages) != 1 {
				t.Fatalf("got %v until %v after %d requests", err, fault, len(tr.seen))
			}
			now = now.Add(c.wait)
			if _, _, err := walk(t.Context(), p, pages[0].Next); err != nil {
				t.Errorf("after the wait: %v", err)
			}
			client.ForgetLimits()
			client.Unpaced = true
			if _, _, err := walk(t.Context(), p, pager.Cursor{}); err != nil {
				t.Errorf("unpaced: %v", err)
			}
		})
	}
}

// TestPacingAtTheEnd pauses nothing: no request follows the last page.
func TestPacingAtTheEnd(t *testing.T) {
	_, client := api(t, answer(200, `{"items":[]}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "30"))
	if pages, _, err := walk(t.Context(), list(t, client, tokens(), things, nil), pager.Cursor{}); err != nil || len(pages) != 1 {
		t.Errorf("got %v, %v", pages, err)
	}
}

// limiter allows some requests and then waits until the context ends.
type limiter struct{ left int }

func (l *limiter) Wait(ctx context.Context) error {
	if l.left--; l.left >= 0 {
		return nil
	}
	if _, bounded := ctx.Deadline(); bounded {
		return errors.New("rate: Wait(n=1) would exceed context deadline")
	}
	if l.left < -1 {
		return errors.New("rate: Wait(n=1) exceeds limiter's burst 0")
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestLimiter(t *testing.T) {
	more := answer(http.StatusOK, `{"items":[],"next":"x"}`)
	t.Run("a caller that stops", func(t *testing.T) {
		tr, client := api(t, more, more)
		client.Limiter = &limiter{left: 2}
		ctx, cancel := context.WithCancel(t.Context())
		p := list(t, client, tokens(), things, nil)
		time.AfterFunc(20*time.Millisecond, cancel)
		_, fault, err := walk(ctx, p, pager.Cursor{})
		if fault == nil || fault.Verdict != pager.Pause || !errors.Is(err, context.Canceled) || len(tr.seen) != 2 {
			t.Errorf("got %v after %d requests", err, len(tr.seen))
		}
	})
	t.Run("a deadline that comes before", func(t *testing.T) {
		_, client := api(t)
		client.Limiter = &limiter{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, fault, err := walk(ctx, list(t, client, tokens(), things, nil), pager.Cursor{})
		if fault == nil || fault.Verdict != pager.Pause || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a limiter that allows nothing", func(t *testing.T) {
		_, client := api(t)
		client.Limiter = &limiter{left: -2}
		_, fault, err := walk(t.Context(), list(t, client, tokens(), things, nil), pager.Cursor{})
		if fault == nil || fault.Verdict != pager.Review || fault.Code != pager.CodePagerFailed {
			t.Errorf("got %v", err)
		}
	})
	t.Run("golang.org/x/time/rate", func(t *testing.T) {
		tr, client := api(t, more, more, answer(http.StatusOK, `{"items":[]}`))
		client.Limiter = rate.NewLimiter(rate.Every(20*time.Millisecond), 1)
		begin := time.Now()
		if _, _, err := walk(t.Context(), list(t, client, tokens(), things, nil), pager.Cursor{}); err != nil || len(tr.seen) != 3 {
			t.Fatalf("got %v after %d requests", err, len(tr.seen))
		}
		if took := time.Since(begin); took < 30*time.Millisecond {
			t.Errorf("three requests took %s", took)
		}
	})
}

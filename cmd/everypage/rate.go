package main

import (
	"strconv"
	"time"

	"github.com/everypage-go/everypage/pager"
)

// rateSpan is the time that a rate is taken over.
const rateSpan = 10 * time.Second

// rate is how many items are done in a second, of late.
type rate struct {
	// samples are what was done at some instants, at most one a second and for
	// rateSpan.
	samples []sample
}

type sample struct {
	at   time.Time
	done int64
}

// add takes in what is done now. It returns the items in a second over the last ten,
// or as many as there were; 0 before a moment has passed.
func (r *rate) add(now time.Time, done int64) float64 {
	if n := len(r.samples); n == 0 || now.Sub(r.samples[n-1].at) >= time.Second {
		r.samples = append(r.samples, sample{now, done})
	}
	for len(r.samples) > 1 && now.Sub(r.samples[1].at) >= rateSpan {
		r.samples = r.samples[1:]
	}
	first := r.samples[0]
	if span := now.Sub(first.at).Seconds(); span > 0 && done > first.done {
		return float64(done-first.done) / span
	}
	return 0
}

// rateText is a rate with as many digits as mean something.
func rateText(perSecond float64) string {
	if perSecond >= 10 || perSecond == 0 {
		return strconv.FormatFloat(perSecond, 'f', 0, 64)
	}
	return strconv.FormatFloat(perSecond, 'f', 1, 64)
}

// countDown shows on the changing line how long a pause lasts yet, until it is over or
// the run goes on.
func (p *progress) countDown(code pager.Code, until time.Time) {
	ended := make(chan struct{})
	p.mu.Lock()
	p.endWait()
	p.waited = ended
	p.newLine("")
	p.mu.Unlock()
	go func() {
		for {
			p.mu.Lock()
			left := until.Sub(p.clock.Now()).Round(time.Second)
			over := p.bar == nil || p.waited != ended || left < 0
			if !over {
				p.describe(string(code) + ": " + left.String() + " to wait, until " + until.Local().Format(time.TimeOnly))
				_ = p.bar.Add(1) // see draw
			}
			p.mu.Unlock()
			if over {
				return
			}
			next, stop := p.clock.Timer(time.Second)
			select {
			case <-next:
			case <-ended:
				stop()
				return
			}
		}
	}()
}

// endWait ends a countdown, and says whether there was one. The caller holds the lock.
func (p *progress) endWait() bool {
	if p.waited == nil {
		return false
	}
	close(p.waited)
	p.waited = nil
	return true
}

package adapters

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxPause is the longest pause that an answer can ask for. A server that sends
// 9999999999 seconds is asked again after this time, and the instant never wraps
// to the past.
const MaxPause = 366 * 24 * time.Hour

const (
	// leastPause keeps an instant that has just passed, or a Retry-After of 0,
	// from becoming a request without any pause.
	leastPause = time.Second
	// secondaryPause is what GitHub's documentation ("Rate limits for the REST
	// API", secondary rate limits) asks for where an answer gives no instant.
	secondaryPause = time.Minute
	// skewFrom and skewTo bound the difference between the answer's Date and our
	// clock that is taken for a wrong clock: less is the resolution of Date and
	// the time on the wire, more is a Date that means nothing.
	skewFrom = 2 * time.Second
	skewTo   = 24 * time.Hour
	// stale is how long ago an instant may be and still mean "now".
	stale = 24 * time.Hour
)

// Limit is what an answer said about a limit, and when to go on.
type Limit struct {
	// Until is the latest valid instant among those that the answer gives. The
	// zero time means that it gives none.
	Until time.Time
	// Quota reports that a quota of a longer period is used up, as against a rate.
	Quota bool
	// Tier names the plan that the quota belongs to, where the answer says it.
	Tier string
	// Limited reports that the answer bears the signs of a limit beyond its
	// status, so that even a 403 is one.
	Limited bool
}

// ReadLimit reads when to go on from an answer that was refused or failed. It
// knows Retry-After (RFC 9110: seconds, here also decimal, or an HTTP date),
// X-Quota-Restored-At, the x-ratelimit-* and ratelimit-* fields, RateLimit, and in
// the body
// retry_after_ms, retry_after, next_request_at and google.rpc.RetryInfo. now is
// the local time at which the answer came; absolute instants are corrected by
// the answer's Date.
func ReadLimit(status int, header http.Header, body []byte, now time.Time) Limit {
	var v value
	if parsed, err := parseJSON(body); err == nil {
		v = parsed
	}
	return readLimit(status, header, v, value{}, now)
}

// readLimit is ReadLimit with a number of seconds that the contract knows of.
func readLimit(status int, header http.Header, body, seconds value, now time.Time) Limit {
	r := instants{now: now, skew: skew(header, now)}
	var l Limit

	for _, text := range header.Values("Retry-After") {
		l.Limited = true
		r.add(r.fromText(text, time.Second))
	}
	for _, text := range header.Values("Retry-After-Ms") {
		l.Limited = true
		r.add(r.fromText(text, time.Millisecond))
	}
	if code := body.member("error").plainText(); code == "quota_exceeded" || code == "quota_exhausted" {
		l.Limited, l.Quota = true, true
	}
	for _, text := range header.Values("X-Quota-Restored-At") {
		l.Limited, l.Quota = true, true
		r.add(r.reset(strings.TrimSpace(text)))
	}
	if tier := header.Get("X-Quota-Tier"); tier != "" {
		l.Tier = tier
	} else if tier = body.member("tier").plainText(); tier != "" {
		l.Tier = tier
	}
	l.Tier = clean(l.Tier, 100)
	if r.fromCounters(status, header) {
		l.Limited = true
	}
	r.fromBody(body)
	if text := seconds.plainText(); text != "" && seconds.kind() != kindBool {
		r.add(r.fromText(text, time.Second))
	}

	if r.latest.IsZero() && strings.Contains(strings.ToLower(message(body)), "secondary rate limit") {
		l.Limited = true
		r.add(now.Add(secondaryPause), true)
	}
	l.Until = r.latest
	return l
}

// instants collects the instants of one answer and keeps the latest.
type instants struct {
	now    time.Time
	skew   time.Duration // our clock minus the server's
	latest time.Time
	ahead  bool // instants that have passed do not count
}

// add takes an instant of our own clock into account. One that has just passed
// counts as now; one that is long past means nothing.
func (r *instants) add(t time.Time, ok bool) {
	if !ok || t.Before(r.now.Add(-stale)) {
		return
	}
	if !t.After(r.now) {
		if r.ahead {
			return
		}
		t = r.now.Add(leastPause)
	}
	if most := r.now.Add(MaxPause); t.After(most) {
		t = most
	}
	if t.After(r.latest) {
		r.latest = t
	}
}

// fromText reads a number of units from now, an epoch, or a date.
func (r *instants) fromText(text string, unit time.Duration) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseFloat(text, 64); err == nil || isRangeError(err) {
		return r.fromNumber(n, unit)
	}
	return r.fromDate(text)
}

func (r *instants) fromDate(text string) (time.Time, bool) {
	t, err := http.ParseTime(text)
	if err != nil {
		if t, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return time.Time{}, false
		}
	}
	return r.absolute(t)
}

// absolute turns an instant of the server's clock into one of ours.
func (r *instants) absolute(t time.Time) (time.Time, bool) {
	if t.After(r.now.Add(2 * MaxPause)) { // far, and adding to it might overflow
		return r.now.Add(MaxPause), true
	}
	return t.Add(r.skew), true
}

// fromNumber reads a delay, or an epoch where the number is too large for any
// delay: GitHub gives seconds, others milliseconds.
func (r *instants) fromNumber(n float64, unit time.Duration) (time.Time, bool) {
	if math.IsNaN(n) || n < 0 {
		return time.Time{}, false
	}
	if unit == time.Second && n >= epochSeconds/2 {
		if t, ok := fromEpoch(n); ok && t.Before(r.now.Add(MaxPause)) && t.After(r.now.Add(-stale)) {
			return r.absolute(t)
		}
	}
	return r.now.Add(delay(n, unit)), true
}

// delay turns a number of units into a duration, seconds rounded up to whole
// ones, at most MaxPause.
func delay(n float64, unit time.Duration) time.Duration {
	if unit == time.Second {
		n = math.Ceil(n)
	}
	if n >= float64(MaxPause/unit) {
		return MaxPause
	}
	return time.Duration(math.Ceil(n * float64(unit)))
}

// epochSeconds is a round number of seconds since 1970 (September 2001) that
// epochs lie above and delays below.
const epochSeconds = 1e9

// fromEpoch reads seconds, milliseconds or microseconds since 1970, told apart
// by their size.
func fromEpoch(n float64) (time.Time, bool) {
	switch {
	case n < epochSeconds/2:
		return time.Time{}, false
	case n < 1e11:
		return time.UnixMilli(int64(n * 1e3)).UTC(), true
	case n < 1e14:
		return time.UnixMilli(int64(n)).UTC(), true
	case n < 1e17:
		return time.UnixMicro(int64(n)).UTC(), true
	}
	return time.Time{}, false
}

// fromCounters reads the fields that count requests. They matter only where none
// is left, or where the status says so and no field contradicts it.
func (r *instants) fromCounters(status int, header http.Header) (limited bool) {
	c := readCounters(header)
	if c.known && c.remaining > 0 || !c.known && status != http.StatusTooManyRequests {
		return false
	}
	r.fromResets(c)
	return c.known
}

// fromResets reads when the counters are full again.
func (r *instants) fromResets(c counters) {
	for _, text := range c.resets {
		r.add(r.reset(text))
	}
	for _, text := range c.delays {
		if n, err := strconv.ParseFloat(text, 64); (err == nil || isRangeError(err)) && n >= 0 {
			r.add(r.now.Add(delay(n, time.Second)), true)
		}
	}
}

// reset reads a rate limit's reset: an epoch, a number of seconds, or a date.
func (r *instants) reset(text string) (time.Time, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		if wait, err := time.ParseDuration(text); err == nil && wait > 0 { // such as 6m0s
			return r.now.Add(min(wait, MaxPause)), true
		}
		return r.fromDate(text)
	}
	if t, ok := fromEpoch(n); ok {
		return r.absolute(t)
	}
	if n <= 0 || math.IsNaN(n) {
		return time.Time{}, false
	}
	return r.now.Add(delay(n, time.Second)), true
}

// fromBody reads the instants that a body gives.
func (r *instants) fromBody(body value) {
	for _, v := range []value{body, body.member("error")} {
		if n := v.member("retry_after_ms"); n.kind() == kindNumber || n.kind() == kindText {
			if f, err := strconv.ParseFloat(n.plainText(), 64); err == nil || isRangeError(err) {
				r.add(r.fromNumber(f, time.Millisecond))
			}
		}
		if n := v.member("retry_after"); n.kind() == kindNumber || n.kind() == kindText {
			r.add(r.fromText(n.plainText(), time.Second))
		}
		if at := v.member("next_request_at"); at.kind() == kindText {
			r.add(r.fromDate(at.plainText()))
		}
		for _, detail := range v.member("details").elements() { // google.rpc.RetryInfo
			if wait, err := time.ParseDuration(detail.member("retryDelay").plainText()); err == nil && wait >= 0 {
				r.add(r.now.Add(min(wait, MaxPause)), true)
			}
		}
	}
}

// skew returns how much our clock is ahead of the server's, as the answer's Date
// tells it.
func skew(header http.Header, now time.Time) time.Duration {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	d := now.Sub(date)
	if d.Abs() < skewFrom || d.Abs() > skewTo {
		return 0
	}
	return d
}

func isRangeError(err error) bool {
	return errors.Is(err, strconv.ErrRange)
}

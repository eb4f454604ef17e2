package adapters

import (
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/everypage-go/everypage/pager"
)

func clock() time.Time { return time.Date(2025, 3, 5, 10, 0, 0, 0, time.UTC) }

func TestReadLimit(t *testing.T) {
	now := clock()
	epoch := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	none := time.Duration(-1) // no instant
	for _, c := range []struct {
		name   string
		status int
		header []string
		body   string
		want   time.Duration // from now
	}{
		{"nothing", 429, nil, "", none},
		{"seconds", 429, []string{"Retry-After", "60"}, "", time.Minute},
		{"spaces around seconds", 429, []string{"Retry-After", " 60 "}, "", time.Minute},
		{"decimal", 429, []string{"Retry-After", "2.0"}, "", 2 * time.Second},
		{"a part of a second is rounded up", 429, []string{"retry-after", "0.35"}, "", time.Second},
		{"seconds and a part are rounded up", 429, []string{"Retry-After", "2.1"}, "", 3 * time.Second},
		{"milliseconds in a header", 429, []string{"Retry-After-Ms", "1500"}, "", 1500 * time.Millisecond},
		{"reset of the requests, as a span", 429, []string{"X-RateLimit-Reset-Requests", "6m0s"}, "", 6 * time.Minute},
		{"reset of the requests, in seconds", 429, []string{"X-RateLimit-Reset-Requests", "120"}, "", 2 * time.Minute},
		{"zero is no hot loop", 429, []string{"Retry-After", "0"}, "", time.Second},
		{"HTTP date", 503, []string{"Retry-After", "Wed, 05 Mar 2025 10:07:00 GMT"}, "", 7 * time.Minute},
		{"RFC 850 date", 503, []string{"Retry-After", "Wednesday, 05-Mar-25 10:07:00 GMT"}, "", 7 * time.Minute},
		{"epoch in Retry-After", 429, []string{"Retry-After", epoch(time.Hour)}, "", time.Hour},
		{"date just past", 429, []string{"Retry-After", "Wed, 05 Mar 2025 09:59:00 GMT"}, "", time.Second},
		{"date long past", 429, []string{"Retry-After", "Wed, 05 Mar 2014 10:07:00 GMT"}, "", none},
		{"negative", 429, []string{"Retry-After", "-5"}, "", none},
		{"not a number", 429, []string{"Retry-After", "NaN"}, "", none},
		{"infinite", 429, []string{"Retry-After", "+Inf"}, "", MaxPause},
		{"words", 429, []string{"Retry-After", "soon"}, "", none},
		{"ten digits", 429, []string{"Retry-After", "9999999999"}, "", MaxPause},
		{"1e300", 429, []string{"Retry-After", "1e300"}, "", MaxPause},
		{"1e999", 429, []string{"Retry-After", "1e999"}, "", MaxPause},
		{"year 9999", 429, []string{"Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"}, "", MaxPause},
		{"date corrected by a clock that is behind", 429, []string{"Retry-After", "Wed, 05 Mar 2025 13:07:00 GMT", "Date", "Wed, 05 Mar 2025 13:00:00 GMT"}, "", 7 * time.Minute},
		{"date corrected by a clock that is ahead", 429, []string{"Retry-After", "Wed, 05 Mar 2025 08:07:00 GMT", "Date", "Wed, 05 Mar 2025 08:00:00 GMT"}, "", 7 * time.Minute},
		{"seconds need no correction", 429, []string{"Retry-After", "60", "Date", "Wed, 05 Mar 2025 13:00:00 GMT"}, "", time.Minute},
		{"a Date that means nothing", 429, []string{"Retry-After", "Wed, 05 Mar 2025 10:07:00 GMT", "Date", "Thu, 01 Jan 1970 00:00:00 GMT"}, "", 7 * time.Minute},
		{"the latest of several", 429, []string{"Retry-After", "2"}, `{"retry_after_ms":1500,"next_request_at":"2025-03-05T10:00:09Z"}`, 9 * time.Second},
		{"milliseconds", 429, nil, `{"retry_after_ms":1500}`, 1500 * time.Millisecond},
		{"milliseconds without end", 429, nil, `{"retry_after_ms":1e400}`, MaxPause},
		{"milliseconds as a string", 429, nil, `{"retry_after_ms":"250"}`, 250 * time.Millisecond},
		{"next_request_at that is none", 429, nil, `{"next_request_at":"tomorrow"}`, none},
		{"next_request_at with an offset", 429, nil, `{"next_request_at":"2025-03-05T12:00:09+02:00"}`, 9 * time.Second},
		{"google.rpc.RetryInfo", 429, nil, `{"error":{"details":[{"@type":"x"},{"retryDelay":"3.5s"}]}}`, 3500 * time.Millisecond},
		{"quota restored, RFC 3339", 429, []string{"X-Quota-Restored-At", "2025-04-01T00:00:00Z"}, "", 26*24*time.Hour + 14*time.Hour},
		{"quota restored, epoch", 429, []string{"X-Quota-Restored-At", epoch(time.Hour)}, "", time.Hour},
		{"quota restored in eighteen months", 429, []string{"X-Quota-Restored-At", "2026-09-05T00:00:00Z"}, "", MaxPause},
		{"quota restored long ago", 429, []string{"X-Quota-Restored-At", "1700000000"}, "", none},
		{"reset in seconds", 403, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", epoch(time.Minute)}, "", time.Minute},
		{"reset in milliseconds", 403, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", epoch(time.Minute) + "000"}, "", time.Minute},
		{"reset in seconds from now", 429, []string{"RateLimit-Remaining", "0", "RateLimit-Reset", "30"}, "", 30 * time.Second},
		{"reset as a time", 429, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "2025-03-05T10:05:00.000Z"}, "", 5 * time.Minute},
		{"reset while requests remain", 429, []string{"X-RateLimit-Remaining", "41", "X-RateLimit-Reset", epoch(time.Hour)}, "", none},
		{"reset is corrected too", 403, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", epoch(time.Hour + time.Minute), "Date", "Wed, 05 Mar 2025 11:00:00 GMT"}, "", time.Minute},
		{"reset of zero", 403, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "0"}, "", none},
		{"a secondary limit", 403, nil, `{"message":"You have exceeded a secondary rate limit."}`, time.Minute},
		{"a secondary limit that says when", 403, []string{"Retry-After", "30"}, `{"message":"You have exceeded a secondary rate limit."}`, 30 * time.Second},
		{"a policy with nothing left", 429, []string{"RateLimit", `"default";r=0;t=30`}, "", 30 * time.Second},
		{"the latest of two policies", 429, []string{"RateLimit", `"burst";r=0;t=5`, "RateLimit", `"day";r=0;t=90`}, "", 90 * time.Second},
		{"a policy with something left", 429, []string{"RateLimit", `"burst";r=3;t=5`}, "", none},
		{"a policy whose window is known", 429, []string{"RateLimit", "burst;r=0", "RateLimit-Policy", `"burst";q=5;w=10, "day";q=9;w=86400`}, "", 10 * time.Second},
		{"a comma and a semicolon in a name", 429, []string{"RateLimit", `"a,b;r=9";r=0;t=7`}, "", 7 * time.Second},
		{"the earlier form of the field", 429, []string{"RateLimit", "limit=100, remaining=0, reset=12"}, "", 12 * time.Second},
		{"a policy for 1e400 seconds", 429, []string{"RateLimit", `"x";r=0;t=1e400`}, "", MaxPause},
		{"a policy for 1e300 seconds", 429, []string{"RateLimit", `"x";r=0;t=1e300`}, "", MaxPause},
		{"semicolons alone", 429, []string{"RateLimit", ";;, ;", "RateLimit-Policy", ";"}, "", none},
		{"a quote without its end", 429, []string{"RateLimit", `"x;r=0;t=7`}, "", none},
		{"the least of several counts", 403, []string{"X-RateLimit-Remaining", "9, 0", "X-RateLimit-Reset", epoch(time.Minute)}, "", time.Minute},
		{"a decimal count", 403, []string{"X-RateLimit-Remaining", "0.5", "X-RateLimit-Reset", epoch(time.Minute)}, "", time.Minute},
		{"a reset after decimal seconds", 429, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "0.35"}, "", time.Second},
		{"a reset as an HTTP date", 429, []string{"RateLimit-Remaining", "0", "RateLimit-Reset", "Wed, 05 Mar 2025 10:07:00 GMT"}, "", 7 * time.Minute},
		{"a reset that has just passed", 429, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", epoch(-time.Minute)}, "", time.Second},
		{"Shopify's count of calls", 429, []string{"X-Shopify-Shop-Api-Call-Limit", "40/40", "Retry-After", "2.0"}, "", 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := http.Header{}
			for i := 0; i+1 < len(c.header); i += 2 {
				header.Add(c.header[i], c.header[i+1])
			}
			got := ReadLimit(c.status, header, []byte(c.body), now)
			switch {
			case c.want == none && !got.Until.IsZero():
				t.Errorf("got %s, want no instant", got.Until)
			case c.want != none && !got.Until.Equal(now.Add(c.want)):
				t.Errorf("got %s, want %s", got.Until, now.Add(c.want))
			}
		})
	}
}

// TestPauseNeverWraps feeds numbers that do not fit a nanosecond count.
func TestPauseNeverWraps(t *testing.T) {
	now := clock()
	for _, n := range []float64{1, 1e9, 9223372036, 9223372037, 1e10, 1e18, math.MaxInt64, 1e300, math.MaxFloat64, math.Inf(1)} {
		for _, unit := range []time.Duration{time.Second, time.Millisecond} {
			r := instants{now: now}
			r.add(r.fromNumber(n, unit))
			if r.latest.Before(now) || r.latest.After(now.Add(MaxPause)) {
				t.Errorf("%g × %s gives %s", n, unit, r.latest)
			}
		}
	}
}

func FuzzReadLimit(f *testing.F) {
	f.Add("120", "2025-03-05T10:00:00Z", `{"retry_after_ms":5}`)
	f.Add("Wed, 05 Mar 2025 10:07:00 GMT", "1741168800", `{"next_request_at":"2025-03-05T10:00:00Z"}`)
	f.Add("1e308", "-1", `{"error":{"details":[{"retryDelay":"9999999h"}]}}`)
	f.Fuzz(func(t *testing.T, retryAfter, reset, body string) {
		now := clock()
		header := http.Header{"Retry-After": {retryAfter}, "X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {reset}, "X-Quota-Restored-At": {reset}, "Date": {retryAfter}, "Ratelimit": {reset, retryAfter}, "Ratelimit-Policy": {retryAfter}}
		got := ReadLimit(429, header, []byte(body), now).Until
		if !got.IsZero() && (!got.After(now) || got.After(now.Add(MaxPause))) {
			t.Errorf("until %s", got)
		}
	})
}

// An answer that calls its limit a quota is one, also without an instant: nothing
// polls it.
func TestAQuotaByItsName(t *testing.T) {
	l := ReadLimit(429, http.Header{}, []byte(`{"error":"quota_exceeded","type":"quota_error","tier":"free"}`), clock())
	if !l.Quota || !l.Until.IsZero() || l.Tier != "free" {
		t.Errorf("got %+v, want a quota of tier free without an instant", l)
	}
	resp := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{}}
	if f := new(ErrorRules).Fault(resp, []byte(`{"error":"quota_exceeded"}`), clock()); f.Code != pager.CodeQuotaExhausted {
		t.Errorf("it is %s", f.Code)
	}
}

package simapi

import (
	"net/http"
	"strconv"
	"time"
)

// RateLimited is the fault of a 429 with Retry-After, rounded up to whole
// seconds, and the flat envelope, whose empty fields are filled. now is what
// next_request_at counts from; the zero time leaves it out.
func RateLimited(wait time.Duration, now time.Time, e Envelope) Fault {
	fill(&e.Error, "rate_limited")
	fill(&e.ErrorDescription, "Too many requests.")
	fill(&e.Type, "rate_limit_error")
	fill(&e.RequestID, "req_limited")
	fill(&e.Bucket, "default")
	e.RetryAfterMS = wait.Milliseconds()
	if e.NextRequestAt.IsZero() && !now.IsZero() {
		e.NextRequestAt = now.Add(wait)
	}
	fault := Refusal(http.StatusTooManyRequests, e)
	fault.Header.Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	return fault
}

// QuotaExhausted is the fault of a 429 that is no rate limit but a quota which is
// used up: the flat envelope, and X-Quota-Restored-At with the instant at which
// it is full again. The zero time leaves the header out.
func QuotaExhausted(restored time.Time, e Envelope) Fault {
	fill(&e.Error, "quota_exceeded")
	fill(&e.ErrorDescription, "The plan's quota is used up.")
	fill(&e.Type, "quota_error")
	fill(&e.RequestID, "req_quota")
	fault := Refusal(http.StatusTooManyRequests, e)
	if !restored.IsZero() {
		fault.Header.Set("X-Quota-Restored-At", restored.UTC().Format(time.RFC3339))
	}
	return fault
}

// GitHubLimited is the fault of GitHub's primary rate limit: 403, nothing
// remaining, and the reset in seconds since 1970.
func GitHubLimited(reset time.Time) Fault {
	fault := gitHubRefusal("API rate limit exceeded for user ID 1.")
	fault.Header.Set("X-RateLimit-Remaining", "0")
	fault.Header.Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	return fault
}

// GitHubSecondary is the fault of GitHub's secondary rate limit: 403, and
// Retry-After where wait is not 0.
func GitHubSecondary(wait time.Duration) Fault {
	fault := gitHubRefusal("You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
	if wait > 0 {
		fault.Header.Set("Retry-After", strconv.FormatInt(int64(wait/time.Second), 10))
	}
	return fault
}

func gitHubRefusal(message string) Fault {
	a := problem{status: http.StatusForbidden, message: message}.dress(GitHubREST, "")
	a.Header.Set("X-Github-Request-Id", "req_limited")
	return Fault{Status: a.Status, Header: a.Header, Body: string(a.Body)}
}

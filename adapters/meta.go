package adapters

import (
	"slices"

	"github.com/everypage-go/everypage/pager"
)

// meta returns what an answer said beside its items.
func meta(a answer) pager.Meta {
	m := pager.Meta{Status: a.status, RequestID: RequestID(a.header), Header: map[string][]string{}}
	for _, name := range []string{
		"Date", "Link", "Etag", "Content-Type", "Retry-After", "Deprecation", "Sunset", "Warning",
		"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Ratelimit", "Ratelimit-Policy",
	} {
		if texts := a.header.Values(name); len(texts) > 0 {
			m.Header[name] = slices.Clone(texts)
		}
	}
	if c := readCounters(a.header); c.known {
		r := instants{now: a.now, skew: skew(a.header, a.now), ahead: true}
		r.fromResets(c)
		m.Limit = pager.RateLimit{Known: true, Remaining: c.remaining, Reset: r.latest}
	}
	return m
}

package adapters

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// counters is what the header fields that count requests say.
type counters struct {
	known     bool
	remaining int64    // the least among several
	resets    []string // texts of the reset fields
	delays    []string // seconds, of the policies that have nothing left
}

// readCounters reads X-RateLimit-*, X-Rate-Limit-* and RateLimit-*, and the
// fields RateLimit and RateLimit-Policy (IETF draft "RateLimit header fields for
// HTTP", in the form "policy";r=0;t=30 and in the earlier one remaining=0,
// reset=30). Shopify's call limit, 40/40, counts the other way.
func readCounters(header http.Header) counters {
	var c counters
	for _, name := range []string{"X-Ratelimit-Remaining", "X-Rate-Limit-Remaining", "Ratelimit-Remaining"} {
		for _, text := range header.Values(name) {
			for one := range strings.SplitSeq(text, ",") {
				c.left(one)
			}
		}
	}
	for _, text := range header.Values("X-Shopify-Shop-Api-Call-Limit") {
		used, limit, _ := strings.Cut(text, "/")
		u, err := strconv.ParseInt(strings.TrimSpace(used), 10, 64)
		l, limitErr := strconv.ParseInt(strings.TrimSpace(limit), 10, 64)
		if err == nil && limitErr == nil {
			c.left(strconv.FormatInt(max(l-u, 0), 10))
		}
	}
	for _, name := range resetFields() {
		if text := strings.TrimSpace(header.Get(name)); text != "" {
			c.resets = append(c.resets, text)
		}
	}
	c.fromStructured(header)
	return c
}

// left takes one count of what is left into account.
func (c *counters) left(text string) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 1<<53 {
		return
	}
	n := int64(math.Floor(f))
	if !c.known || n < c.remaining {
		c.remaining = n
	}
	c.known = true
}

func resetFields() []string {
	return []string{"X-Ratelimit-Reset", "X-Rate-Limit-Reset", "Ratelimit-Reset", "X-Ratelimit-Reset-After", "X-Ratelimit-Reset-Requests"}
}

// fromStructured reads the fields RateLimit and RateLimit-Policy.
func (c *counters) fromStructured(header http.Header) {
	windows := map[string]string{}
	for _, member := range fieldMembers(header.Values("Ratelimit-Policy")) {
		windows[member.name] = member.params["w"]
	}
	earlier := map[string]string{}
	for _, member := range fieldMembers(header.Values("Ratelimit")) {
		if member.isPair {
			earlier[member.name] = member.text
			continue
		}
		remaining, ok := member.params["r"]
		if !ok {
			continue
		}
		c.left(remaining)
		if n, err := strconv.ParseFloat(remaining, 64); err != nil || n > 0 {
			continue
		}
		if wait := member.params["t"]; wait != "" {
			c.delays = append(c.delays, wait)
		} else if window := windows[member.name]; window != "" {
			c.delays = append(c.delays, window) // the policy's whole window, at worst
		}
	}
	if remaining, ok := earlier["remaining"]; ok {
		c.left(remaining)
		if n, err := strconv.ParseFloat(remaining, 64); err == nil && n <= 0 && earlier["reset"] != "" {
			c.delays = append(c.delays, earlier["reset"])
		}
	}
}

// fieldMember is one member of a structured field: an item with parameters, or a
// pair of a dictionary.
type fieldMember struct {
	name   string
	isPair bool
	text   string // of a pair
	params map[string]string
}

// fieldMembers reads the lines of a structured field (RFC 9651) as far as rate
// limits need it.
func fieldMembers(lines []string) []fieldMember {
	var all []fieldMember
	for _, line := range lines {
		for _, member := range splitOutside(line, ',') {
			pieces := splitOutside(member, ';')
			if len(pieces) == 0 { // nothing but semicolons
				continue
			}
			m := fieldMember{params: map[string]string{}}
			if name, text, ok := strings.Cut(pieces[0], "="); ok && !strings.HasPrefix(pieces[0], `"`) {
				m.name, m.text, m.isPair = strings.ToLower(strings.TrimSpace(name)), strings.Trim(text, `" `), true
			} else {
				m.name = strings.Trim(pieces[0], `"`)
			}
			for _, piece := range pieces[1:] {
				name, text, _ := strings.Cut(piece, "=")
				m.params[strings.ToLower(strings.TrimSpace(name))] = strings.Trim(text, `" `)
			}
			all = append(all, m)
		}
	}
	return all
}

// splitOutside splits a text at a separator that does not stand inside quotes.
func splitOutside(text string, separator byte) []string {
	var parts []string
	quoted, start := false, 0
	for i := range len(text) {
		switch {
		case text[i] == '"' && (i == 0 || text[i-1] != '\\'):
			quoted = !quoted
		case text[i] == separator && !quoted:
			parts = append(parts, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	parts = append(parts, strings.TrimSpace(text[start:]))
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

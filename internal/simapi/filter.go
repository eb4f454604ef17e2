package simapi

import (
	"fmt"
	"net/url"
	"strconv"
	"time"
)

// filterOf reads the filters that the lists offer: status; created_from and
// created_to, RFC 3339 and inclusive; and Stripe's created[gte], created[gt],
// created[lte] and created[lt], in seconds since 1970. The error names the
// parameter that cannot be read.
func filterOf(query url.Values) (func(Item) bool, error) {
	var tests []func(Item) bool
	if query.Has("status") {
		status := query.Get("status")
		tests = append(tests, func(i Item) bool { return i.Status == status })
	}
	bounds := []struct {
		name  string
		read  func(string) (time.Time, error)
		holds func(created, bound time.Time) bool
	}{
		{"created_from", rfc3339, func(c, b time.Time) bool { return !c.Before(b) }},
		{"created_to", rfc3339, func(c, b time.Time) bool { return !c.After(b) }},
		{"created[gte]", unixSeconds, func(c, b time.Time) bool { return !c.Before(b) }},
		{"created[gt]", unixSeconds, func(c, b time.Time) bool { return c.After(b) }},
		{"created[lte]", unixSeconds, func(c, b time.Time) bool { return !c.After(b) }},
		{"created[lt]", unixSeconds, func(c, b time.Time) bool { return c.Before(b) }},
	}
	for _, b := range bounds {
		if !query.Has(b.name) {
			continue
		}
		instant, err := b.read(query.Get(b.name))
		if err != nil {
			return nil, &parameterError{Name: b.name, Problem: err.Error()}
		}
		tests = append(tests, func(i Item) bool { return b.holds(i.CreatedAt, instant) })
	}
	return func(i Item) bool {
		for _, test := range tests {
			if !test(i) {
				return false
			}
		}
		return true
	}, nil
}

func rfc3339(text string) (time.Time, error) {
	instant, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("is no RFC 3339 time: %q", text)
	}
	return instant, nil
}

func unixSeconds(text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("is no number of seconds: %q", text)
	}
	return time.Unix(seconds, 0), nil
}

// parameterError is a request parameter that cannot be read.
type parameterError struct {
	Name    string
	Problem string
}

func (e *parameterError) Error() string { return e.Name + " " + e.Problem }

// sizeOf reads a page size: absent gives the default, and what is over the
// maximum is clamped to it, as the documented APIs do.
func sizeOf(query url.Values, name string, usual, most int) (int, error) {
	if !query.Has(name) {
		return min(usual, most), nil
	}
	n, err := strconv.Atoi(query.Get(name))
	if err != nil || n < 1 {
		return 0, &parameterError{Name: name, Problem: "must be a number of at least 1"}
	}
	return min(n, most), nil
}

package proptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// FieldError is something in a case that the runner does not know or cannot use.
type FieldError struct {
	File    string
	Field   string // its path, as in pages[1].response.status
	Problem string
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("%s: %s", e.File, e.Problem)
	}
	return fmt.Sprintf("%s: %s: %s", e.File, e.Field, e.Problem)
}

// caseReader reads the fields of a case one by one, so that whatever it does not
// know is found and named.
type caseReader struct {
	file     string
	problems []error
}

func (r *caseReader) fail(field, format string, args ...any) {
	r.problems = append(r.problems, &FieldError{File: r.file, Field: field, Problem: fmt.Sprintf(format, args...)})
}

func (r *caseReader) err() error { return errors.Join(r.problems...) }

// fields maps the names that an object may have to where they go: a pointer for
// encoding/json, a func(path string, raw json.RawMessage), or nil for what is
// there for people alone.
type fields map[string]any

// object reads an object; null and nothing leave everything as it is.
func (r *caseReader) object(path string, raw json.RawMessage, known fields) {
	if isNull(raw) {
		return
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		r.fail(path, "is %s, and an object is needed", shortJSON(raw))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		into, ok := known[name]
		inner := join(path, name)
		switch into := into.(type) {
		case nil:
			if !ok {
				r.fail(inner, "is no field of a case; the fields here are %s", listed(slices.Sorted(maps.Keys(known))))
			}
		case func(string, json.RawMessage):
			into(inner, members[name])
		default:
			if err := json.Unmarshal(members[name], into); err != nil {
				r.fail(inner, "%s cannot be used: %v", shortJSON(members[name]), err)
			}
		}
	}
}

// list reads an array, one element after the other.
func (r *caseReader) list(path string, raw json.RawMessage, each func(path string, raw json.RawMessage)) {
	if isNull(raw) {
		return
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(raw, &elements); err != nil {
		r.fail(path, "is %s, and an array is needed", shortJSON(raw))
		return
	}
	for i, element := range elements {
		each(fmt.Sprintf("%s[%d]", path, i), element)
	}
}

// word reads one of the given words.
func (r *caseReader) word(path, got string, known ...string) {
	if !slices.Contains(known, got) {
		r.fail(path, "is %q; it is one of %s", got, listed(known))
	}
}

// texts reads a string or an array of strings.
func (r *caseReader) texts(into *[]string) func(string, json.RawMessage) {
	return func(path string, raw json.RawMessage) {
		var one string
		if json.Unmarshal(raw, &one) == nil && !isNull(raw) {
			*into = []string{one}
			return
		}
		if err := json.Unmarshal(raw, into); err != nil {
			r.fail(path, "is %s, and a text or an array of texts is needed", shortJSON(raw))
		}
	}
}

// pairs reads header fields: an array of pairs, or an object.
func (r *caseReader) pairs(into *[][2]string) func(string, json.RawMessage) {
	return func(path string, raw json.RawMessage) {
		var members map[string]string
		if json.Unmarshal(raw, &members) == nil {
			for _, name := range slices.Sorted(maps.Keys(members)) {
				*into = append(*into, [2]string{name, members[name]})
			}
			return
		}
		r.list(path, raw, func(path string, raw json.RawMessage) {
			var pair []string
			if err := json.Unmarshal(raw, &pair); err != nil || len(pair) != 2 {
				r.fail(path, "is %s, and a pair of name and value is needed", shortJSON(raw))
				return
			}
			*into = append(*into, [2]string(pair))
		})
	}
}

// instant reads a time in RFC 3339; null is none.
func (r *caseReader) instant(into *time.Time) func(string, json.RawMessage) {
	return func(path string, raw json.RawMessage) {
		if err := json.Unmarshal(raw, into); err != nil {
			r.fail(path, "%s is no time as in 2025-03-05T10:00:00Z", shortJSON(raw))
		}
	}
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// shortJSON shows a JSON value to a person, on one line.
func shortJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return short(string(raw))
	}
	return short(b.String())
}

const shortLength = 120

// short cuts a long text and says how long it was.
func short(text string) string {
	if len(text) <= shortLength {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:shortLength], len(text))
}

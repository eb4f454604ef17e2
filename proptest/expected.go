package proptest

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"
)

// expected is what must hold after the script. What is not said is not compared,
// but for what every run promises.
type expected struct {
	status     string
	acceptAlso []string
	processed  []string // nil: not said
	calls      map[string]int
	effects    map[string]int
	held       []string
	deferred   []string
	counts     map[string]int64 // by the receipt's name
	terminal   *bool
	inPage     *int64
	requests   *int
	pauses     []wantedPause
	second     *wantedSecond
	reasons    []string
	receipt    map[string]json.RawMessage // by path in the receipt
	forbidden  []string
}

// wantedPause is one pause and when it may end.
type wantedPause struct {
	after     int // the number of the exchange
	resumeAt  *time.Time
	noInstant bool
	notBefore time.Time
	notAfter  time.Time
	reason    string
}

// wantedSecond is what became of a second process.
type wantedSecond struct {
	requests int
	calls    int
}

func (r *caseReader) expected(path string, raw json.RawMessage, e *expected) {
	e.counts = map[string]int64{}
	count := func(name string) func(string, json.RawMessage) {
		return func(path string, raw json.RawMessage) {
			var n int64
			if err := json.Unmarshal(raw, &n); err != nil {
				r.fail(path, "%s is no number", shortJSON(raw))
			}
			e.counts[name] = n
		}
	}
	r.object(path, raw, fields{
		"status": &e.status, "accept_also": r.texts(&e.acceptAlso), "processed_ids": &e.processed,
		"handler_calls": &e.calls, "effects": &e.effects,
		"duplicate_conflicts": count("duplicate_conflicts"), "pending": count("pending_count"), "inherited": count("inherited"),
		"skipped": count("entries_skipped"), "without_id": count("entries_without_id"), "pages_recorded": count("pages"),
		"terminal_observed": &e.terminal, "in_page_duplicates": &e.inPage, "requests": &e.requests,
		"held": r.idsOrCount(&e.held, count("held_count")), "deferred": r.idsOrCount(&e.deferred, count("deferred_count")),
		"held_ids": r.texts(&e.held), "deferred_ids": r.texts(&e.deferred), "vanished": count("vanished_count"), "held_count": count("held_count"), "deferred_count": count("deferred_count"),
		"pauses": func(path string, raw json.RawMessage) {
			e.pauses = []wantedPause{}
			r.list(path, raw, func(path string, raw json.RawMessage) { e.pauses = append(e.pauses, r.pause(path, raw)) })
		},
		"second_process": func(path string, raw json.RawMessage) { r.second(path, raw, &e.second) },
		"reason":         r.texts(&e.reasons), "receipt": &e.receipt, "forbidden": r.texts(&e.forbidden),
		"note": nil, "comment": nil,
	})
	statuses := []string{"running", "paused", "complete", "needs_review"}
	r.word(path+".status", e.status, statuses...)
	for _, s := range e.acceptAlso {
		r.word(path+".accept_also", s, statuses...)
	}
	for _, text := range e.forbidden {
		if forbiddenKinds(text) == nil {
			r.fail(path+".forbidden", "%q speaks of nothing that the runner watches: requests, hosts, credentials, calls, effects, keys, status", text)
		}
	}
}

// idsOrCount reads a list of IDs, or only their number.
func (r *caseReader) idsOrCount(into *[]string, count func(string, json.RawMessage)) func(string, json.RawMessage) {
	return func(path string, raw json.RawMessage) {
		if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
			*into = []string{}
			if err := json.Unmarshal(raw, into); err != nil {
				r.fail(path, "%s is no list of IDs", shortJSON(raw))
			}
			return
		}
		count(path, raw)
	}
}

func (r *caseReader) pause(path string, raw json.RawMessage) wantedPause {
	var p wantedPause
	r.object(path, raw, fields{
		"after_exchange": &p.after,
		"resume_at": func(path string, raw json.RawMessage) {
			if isNull(raw) {
				p.noInstant = true
				return
			}
			p.resumeAt = new(time.Time)
			r.instant(p.resumeAt)(path, raw)
		},
		"resume_not_before": r.instant(&p.notBefore), "resume_not_after": r.instant(&p.notAfter), "reason": &p.reason,
		"note": nil, "comment": nil,
	})
	return p
}

func (r *caseReader) second(path string, raw json.RawMessage, into **wantedSecond) {
	var result string
	s := &wantedSecond{}
	r.object(path, raw, fields{"result": &result, "requests": &s.requests, "handler_calls": &s.calls, "note": nil, "comment": nil})
	if !strings.HasPrefix(strings.ToLower(result), "refused") {
		r.fail(path+".result", "is %q; a second process is refused, so it begins with that word", result)
	}
	*into = s
}

// forbiddenKinds says which of the things that the runner always watches a line
// of forbidden speaks of, nil if it speaks of none.
func forbiddenKinds(text string) []string {
	var kinds []string
	for _, k := range []struct{ kind, pattern string }{
		{"network", `host|origin|port|plain http|https|downgrade`},
		{"credentials", `authorization|credential|token|header`},
		{"requests", `request|fetch|cursor|page|redirect|follow|start`},
		{"handler", `handler|call|effect|key|handled|processed|item`},
		{"status", `complete|success|status|error|paused|review`},
	} {
		if regexp.MustCompile(`(?i)` + k.pattern).MatchString(text) {
			kinds = append(kinds, k.kind)
		}
	}
	return kinds
}

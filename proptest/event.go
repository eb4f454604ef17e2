package proptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// event is something that happens on the way.
type event struct {
	what     happening
	point    point
	item     string
	exchange int // during which page; 0: whichever
	before   int // between two lives: before which exchange; 0: whenever
	at       time.Time
	times    int // that it happens; -1: always
	how      string
	until    time.Time
	items    []string
	happened int
}

// happening is what an event is.
type happening string

const (
	crash         happening = "crash"
	cancel        happening = "cancel"
	handlerFails  happening = "handler_fails"
	storeFails    happening = "store_write_fails"
	secondProcess happening = "second_process_starts"

	// Between two lives of the process.
	resume      happening = "resume"
	earlyResume happening = "early_resume"
	retry       happening = "retry"
	accept      happening = "accept"
	newRun      happening = "new_run"
)

// point is the moment of a life at which an event happens.
type point string

const (
	duringHandler   point = "during_handler"
	afterEffect     point = "after_effect_before_record"
	afterRecord     point = "after_record"
	duringRequest   point = "during_request"
	afterFetch      point = "after_fetch_before_record"
	afterPageRecord point = "after_page_record"
	pageSettled     point = "page_settled"
)

// words returns the name that the runner uses for each that a case may use.
func words[W ~string](groups ...[]W) map[string]W {
	all := map[string]W{}
	for _, group := range groups {
		for _, name := range group {
			all[string(name)] = group[0]
		}
	}
	return all
}

func happenings() map[string]happening {
	return words(
		[]happening{crash, "kill", "process_killed"},
		[]happening{cancel, "context_cancelled", "stop"},
		[]happening{handlerFails, "handler_error", "handler_panics", "handler_pauses", "handler_permanent"},
		[]happening{storeFails, "store_fails", "store_write_error", "failing_store_write", "ledger_write_fails", "ledger_fails", "record_fails", "write_fails", "disk_full"},
		[]happening{secondProcess, "second_process"},
		[]happening{resume},
		[]happening{earlyResume},
		[]happening{retry, "release", "retry_held", "release_held", "reopen"},
		[]happening{accept},
		[]happening{newRun, "next_run", "supersede"},
	)
}

func points() map[string]point {
	return words(
		[]point{duringHandler, "in_handler", "before_effect", "during_effect"},
		[]point{afterEffect, "after_effect"},
		[]point{afterRecord, "after_item_record", "after_settle"},
		[]point{duringRequest, "during_fetch", "before_response", "during_exchange"},
		[]point{afterFetch, "after_fetch", "after_response", "after_response_before_record", "before_page_record"},
		[]point{afterPageRecord, "after_page_recorded", "page_record", "record_page", "before_work", "before_handler", "before_first_item"},
		[]point{pageSettled, "after_page", "after_page_settled", "before_next_request", "before_request", "before_next_page", "between_pages"},
	)
}

func (r *caseReader) event(path string, raw json.RawMessage) *event {
	var kind, at string
	e := &event{times: 1}
	r.object(path, raw, fields{
		"type": &kind, "point": &at, "item": &e.item, "items": r.texts(&e.items), "exchange": &e.exchange, "before_exchange": &e.before,
		"at": r.instant(&e.at), "times": r.times(&e.times), "how": &e.how, "until": r.instant(&e.until),
		"expect": func(path string, raw json.RawMessage) {
			text, _ := textOf(raw)
			if !strings.Contains(text, "no request") && !strings.Contains(text, "paused") {
				r.fail(path, `is %q; an early resume is expected to make no request and to stay paused`, text)
			}
		},
		"note": nil, "comment": nil,
	})
	var known bool
	if e.what, known = happenings()[kind]; !known {
		r.fail(path+".type", "is %q, which the runner does not know", kind)
		return e
	}
	r.place(path, at, e)
	switch e.what {
	case handlerFails:
		r.howItFails(path, kind, e)
	case earlyResume:
		if e.at.IsZero() {
			r.fail(path+".at", "is missing; an early resume says when")
		}
	case crash, cancel, storeFails, secondProcess, resume, retry, accept, newRun:
		if e.how != "" {
			r.fail(path+".how", "is for %s only", handlerFails)
		}
	}
	if e.times < 0 && e.what != handlerFails && e.what != storeFails {
		r.fail(path+".times", "is always, which is for %s and %s", handlerFails, storeFails)
	}
	if e.item != "" && e.betweenLives() {
		e.items = append(e.items, e.item)
	}
	return e
}

// place finds the point of an event, or the one that it has by default.
func (r *caseReader) place(path, at string, e *event) {
	inLife := !e.betweenLives()
	switch at {
	case "before_record", "record", "item_record", "record_item": // of whatever the event is about
		e.point = afterEffect
		if e.item == "" {
			e.point = afterFetch
		}
	case "":
		switch {
		case !inLife:
		case e.item != "" && e.what == storeFails:
			e.point = afterEffect
		case e.item != "":
			e.point = duringHandler
		default:
			e.point = afterFetch
		}
	default:
		e.point = points()[at]
		if e.point == "" {
			r.fail(path+".point", "is %q, which the runner does not know", at)
		}
		if e.point == afterRecord && e.item == "" {
			e.point = afterPageRecord
		}
	}
	ofItem := slices.Contains([]point{duringHandler, afterEffect, afterRecord}, e.point)
	switch {
	case !inLife && at != "":
		r.fail(path+".point", "is for what happens during a run")
	case inLife && e.what == handlerFails && e.point != duringHandler && e.point != afterEffect:
		r.fail(path+".point", "is %q; a handler fails before its effect or after it", at)
	case inLife && ofItem && e.item == "":
		r.fail(path+".item", "is missing; the point %s is that of an item", e.point)
	case inLife && e.what == storeFails && e.point == afterPageRecord:
		e.point = afterFetch // the write that fails is the page's
	}
}

// howItFails reads how a handler fails.
func (r *caseReader) howItFails(path, kind string, e *event) {
	if how, ok := strings.CutPrefix(kind, "handler_"); ok && how != "fails" && how != "error" {
		e.how = how
	}
	switch e.how {
	case "":
		e.how = "error"
	case "panics":
		e.how = "panic"
	case "pauses":
		e.how = "pause"
	}
	r.word(path+".how", e.how, "error", "panic", "pause", "permanent", "not_done")
	if e.item == "" {
		r.fail(path+".item", "is missing; it says whose call fails")
	}
}

// times reads a number, or "always".
func (r *caseReader) times(into *int) func(string, json.RawMessage) {
	return func(path string, raw json.RawMessage) {
		var word string
		if json.Unmarshal(raw, &word) == nil && word == "always" {
			*into = -1
			return
		}
		if err := json.Unmarshal(raw, into); err != nil || *into < 1 {
			r.fail(path, `is %s, and a number from 1 on or "always" is needed`, shortJSON(raw))
		}
	}
}

// betweenLives reports whether the event happens while no process runs.
func (e *event) betweenLives() bool {
	switch e.what {
	case resume, earlyResume, retry, accept, newRun:
		return true
	case crash, cancel, handlerFails, storeFails, secondProcess:
	}
	return false
}

// due reports whether the event happens now.
func (e *event) due(at point, item string, exchange int) bool {
	return e.point == at && e.item == item && (e.exchange == 0 || e.exchange == exchange) && (e.times < 0 || e.happened < e.times)
}

func (e *event) String() string {
	text := string(e.what)
	if e.point != "" {
		text += " " + string(e.point)
	}
	if e.item != "" {
		text += fmt.Sprintf(" of %s", e.item)
	}
	return text
}

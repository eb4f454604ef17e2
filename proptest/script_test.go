package proptest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/everypage-go/everypage/proptest"
)

// script is a small case; the words in it are put in by the tests.
const script = `{
 "setup": {"endpoint": "https://api.example.test/v1/items", "items_at": "items", "id_at": "id", "first_cursor": null,
  "cursor_from": "body:next", "cursor_to": "query:cursor", "end_rule": {"type": "cursor_null_or_absent"}, "now": "2025-03-05T10:00:00Z"},
 "pages": [
  {"n": 1, "request": {"cursor": null}, "response": {"status": 200, "headers": [], "body": {"items": [{"id": "a"}, {"id": "b"}], "next": "t2"}}},
  {"n": 2, "request": {"cursor": null}, "optional": true, "response": {"status": 200, "body": {"items": [{"id": "a"}, {"id": "b"}], "next": "t2"}}},
  {"n": 3, "request": {"cursor": "t2"}, "response": {"status": 200, "body": {"items": [{"id": "c"}, {"id": "d"}], "next": null}}},
  {"n": 4, "request": {"cursor": "t2"}, "optional": true, "response": {"status": 200, "body": {"items": [{"id": "c"}, {"id": "d"}], "next": null}}}
 ],
 "events": [EVENTS],
 "expected": {"status": "complete", "processed_ids": ["a", "b", "c", "d"], "duplicate_conflicts": 0, "pending": 0, "terminal_observed": true}
}`

func one(text string) fstest.MapFS { return fstest.MapFS{"case.json": {Data: []byte(text)}} }

func withEvents(first string, more ...string) fstest.MapFS {
	return one(strings.Replace(script, "EVENTS", strings.Join(append([]string{first}, more...), ", "), 1))
}

// Each event happens at each point that it can have, on a page in the middle and on
// the last one, for the first item and for the last; and the run comes to its end.
func TestEveryPoint(t *testing.T) {
	ofItem := []string{"during_handler", "before_effect", "after_effect_before_record", "before_record", "after_record"}
	ofPage := []string{"during_request", "after_fetch_before_record", "before_record", "after_page_record", "before_work", "page_settled", "before_next_page"}
	type at struct{ point, item string }
	for exchange, items := range map[int][]string{1: {"a", "b"}, 3: {"c", "d"}} {
		var all []at
		for _, point := range ofItem {
			for _, item := range items {
				all = append(all, at{point, item})
			}
		}
		for _, point := range ofPage {
			all = append(all, at{point, ""})
		}
		for _, x := range all {
			for _, kind := range []string{"crash", "cancel", "second_process_starts"} {
				t.Run(fmt.Sprintf("%s %s %s exchange %d", kind, x.point, x.item, exchange), func(t *testing.T) {
					event := fmt.Sprintf(`{"type": %q, "exchange": %d, "point": %q, "item": %q}`, kind, exchange, x.point, x.item)
					// Who leaves after the last record leaves a complete run, which stays as it is.
					if err := proptest.CheckCases(t.Context(), withEvents(event, resumes(kind)...), nil); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
}

func resumes(kind string) []string {
	if kind == "second_process_starts" {
		return nil
	}
	return []string{`{"type": "resume"}`}
}

// A write that fails, at whatever it records, ends the run with the ledger's error,
// and the next process goes on.
func TestStoreFails(t *testing.T) {
	for _, where := range []string{
		`"exchange": 1`, `"exchange": 1, "point": "page_record"`, `"item": "a"`, `"item": "b"`, `"item": "d", "point": "record"`, `"exchange": 3`,
	} {
		if err := proptest.CheckCases(t.Context(), withEvents(`{"type": "store_write_fails", `+where+`}`, `{"type": "resume"}`), nil); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
}

// A handler fails in each way that it can.
func TestHandlerFails(t *testing.T) {
	for _, how := range []string{`"times": 2`, `"times": 2, "how": "panic"`, `"how": "not_done"`, `"point": "after_effect"`} {
		if err := proptest.CheckCases(t.Context(), withEvents(`{"type": "handler_fails", "item": "b", `+how+`}`), nil); err != nil {
			t.Errorf("%s: %v", how, err)
		}
	}
	for _, point := range []string{"during_handler", "after_effect"} {
		pauses := fmt.Sprintf(`{"type": "handler_pauses", "item": "d", "point": %q, "until": "2025-03-05T11:00:00Z"}`, point)
		if err := proptest.CheckCases(t.Context(), withEvents(pauses, `{"type": "resume"}`), nil); err != nil {
			t.Errorf("a pause, %s: %v", point, err)
		}
	}
}

// What a case expects is compared: one word of it changed, and the case fails.
func TestExpectationsCount(t *testing.T) {
	for _, c := range []struct {
		name, field, value string
	}{
		{"01-short-page-not-end", "status", `"needs_review"`},
		{"01-short-page-not-end", "processed_ids", `["w1"]`},
		{"01-short-page-not-end", "handler_calls", `{"w1": 2}`},
		{"01-short-page-not-end", "requests", `3`},
		{"01-short-page-not-end", "requests", `5`},
		{"01-short-page-not-end", "pending", `1`},
		{"01-short-page-not-end", "terminal_observed", `false`},
		{"01-short-page-not-end", "receipt", `{"pages": 5}`},
		{"05-same-cursor-loop", "duplicate_conflicts", `1`},
		{"05-same-cursor-loop", "reason", `"end_vetoed"`},
		{"09-offset-insert-after-pause", "pauses", `[]`},
		{"09-offset-insert-after-pause", "pauses", `[{"after_exchange": 2, "resume_at": "2025-03-05T10:00:31Z"}]`},
		{"09-offset-insert-after-pause", "pauses", `[{"after_exchange": 2}, {"after_exchange": 3}]`},
		{"16-retry-after-decimal", "pauses", `[{"after_exchange": 2}, {"after_exchange": 3, "resume_not_after": "2025-03-05T10:00:02Z"}]`},
		{"11-crash-between-effect-and-record", "effects", `{"n1": 1, "n2": 2}`},
		{"30-retry-limit-hold-queue", "held", `[]`},
		{"40-two-processes-one-run", "second_process", `{"result": "refused", "requests": 1}`},
		{"43-duplicate-inside-one-page", "in_page_duplicates", `2`},
		{"107-deferred-past-the-cutoff", "deferred", `["c"]`},
	} {
		t.Run(c.name+" "+c.field, func(t *testing.T) {
			var whole map[string]any
			if err := json.Unmarshal(only(t, c.name)[c.name+".json"].Data, &whole); err != nil {
				t.Fatal(err)
			}
			delete(whole, "variants")
			expected := whole["expected"].(map[string]any) //nolint:forcetypeassert // it is one
			expected[c.field] = json.RawMessage(c.value)
			text, err := json.Marshal(whole)
			if err != nil {
				t.Fatal(err)
			}
			if _, caught := errors.AsType[*proptest.CaseError](proptest.CheckCases(t.Context(), one(string(text)), nil)); !caught {
				t.Errorf("%s = %s makes no difference", c.field, c.value)
			}
		})
	}
}

// Whatever the runner does not know is an error that names file and field.
func TestUnknownIsAnError(t *testing.T) {
	base := strings.Replace(script, "EVENTS", "", 1)
	for _, c := range []struct{ old, now, field string }{
		{`"now"`, `"colour": 1, "now"`, "setup.colour"},
		{`"end_rule": {"type": "cursor_null_or_absent"}`, `"end_rule": {"type": "cursor_blue"}`, "setup.end_rule.type"},
		{`"end_rule": {"type": "cursor_null_or_absent"}`, `"end_rule": {"type": "flag_false"}`, "setup.end_rule.field"},
		{`"end_rule": {"type": "cursor_null_or_absent"}, `, ``, "setup.end_rule"},
		{`"cursor_from": "body:next"`, `"cursor_from": "elsewhere"`, "next.from"},
		{`"now": "2025-03-05T10:00:00Z"`, `"now": "noon"`, "setup.now"},
		{`"n": 1,`, `"n": 1, "when": 2,`, "pages[0].when"},
		{`"status": 200, "headers"`, `"status": 20, "headers"`, "pages[0].response.status"},
		{`"status": 200, "headers"`, `"body_text": "", "status": 200, "headers"`, "pages[0].response"},
		{`"status": 200, "headers"`, `"transport": "pigeon", "status": 200, "headers"`, "pages[0].response.transport"},
		{`"request": {"cursor": null}`, `"request": {"cursor": null, "mood": 1}`, "pages[0].request.mood"},
		{`"events": []`, `"events": [{"type": "earthquake"}]`, "events[0].type"},
		{`"events": []`, `"events": [{"type": "crash", "point": "somewhere"}]`, "events[0].point"},
		{`"events": []`, `"events": [{"type": "crash", "point": "after_effect"}]`, "events[0].item"},
		{`"events": []`, `"events": [{"type": "early_resume", "at": "2025-03-05T10:00:00Z", "expect": "a party"}]`, "events[0].expect"},
		{`"status": "complete"`, `"status": "done"`, "expected.status"},
		{`"status": "complete"`, `"status": "complete", "forbidden": ["rain"]`, "expected.forbidden"},
		{`"status": "complete"`, `"status": "complete", "second_process": {"result": "welcome"}`, "expected.second_process.result"},
		{`"events": []`, `"variants": {"replace": "pages[9].n", "with": [1], "same_expected": true}`, "variants.replace"},
		{`"events": []`, `"variants": {"replace": "pages[0].n", "with": [1]}`, "variants"},
	} {
		text := strings.Replace(base, c.old, c.now, 1)
		if text == base {
			t.Fatalf("%s is not in the script", c.old)
		}
		err := proptest.CheckCases(t.Context(), one(text), nil)
		if _, ok := errors.AsType[*proptest.FieldError](err); !ok || !strings.Contains(err.Error(), "case.json") || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: have %v, want an error that names case.json and %s", c.now, err, c.field)
		}
	}
}

// A folder without cases is an error, and so is a file that is no JSON.
func TestNoCases(t *testing.T) {
	for _, folder := range []fstest.MapFS{{}, one("{")} {
		if err := proptest.CheckCases(t.Context(), folder, nil); err == nil {
			t.Error("there is no error")
		}
	}
	if _, err := os.Stat(ownCases); err != nil {
		t.Error(err)
	}
}

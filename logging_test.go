package everypage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// manyIDs returns n different IDs.
func manyIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("t%05d", i)
	}
	return ids
}

// A log can be read whatever happens to the items: of 5,000 that are all held, the
// first twenty are told, then the 100th and the 1,000th; and of a run of 500
// seconds the progress eight times.
func TestLogVolume(t *testing.T) {
	w := newWorld(t, 100, manyIDs(5000)...)
	w.handle = func(context.Context, everypage.Item[ticket]) error {
		w.clock.advance(100 * time.Millisecond)
		return everypage.Permanent(errors.New("no"))
	}
	var log bytes.Buffer
	receipt, err := w.run(w.job(func(j *everypage.Job[ticket]) { j.Options.Logger = slog.New(slog.NewTextHandler(&log, nil)) }))
	wantReview(t, receipt, err, state.CodeItemsHeld)
	text := log.String()
	want(t, "the lines about held items", strings.Count(text, "item held"), 22)
	want(t, "the lines about progress", strings.Count(text, "msg=progress"), 8)
	want(t, "all lines", strings.Count(text, "\n"), 22+8+2)
	for _, part := range []string{"held_count=100\n", "held_count=1000\n", "to=needs_review"} {
		if !strings.Contains(text, part) {
			t.Errorf("the log does not say %q:\n%s", part, text)
		}
	}
}

// The same for conflicts: here the whole list comes twice.
func TestLogVolume_Conflicts(t *testing.T) {
	ids := manyIDs(300)
	w := newWorld(t, 100, append(ids, ids...)...)
	var log bytes.Buffer
	receipt, err := w.run(w.job(func(j *everypage.Job[ticket]) { j.Options.Logger = slog.New(slog.NewTextHandler(&log, nil)) }))
	wantReview(t, receipt, err, state.CodeConflictsOpen)
	want(t, "the lines about conflicts", strings.Count(log.String(), "conflict recorded"), 21)
}

// slowLedger takes five milliseconds for a commit.
type slowLedger struct {
	store.Store
	clock *stepClock
}

func (l slowLedger) Commit(ctx context.Context, change store.Change) error {
	l.clock.advance(5 * time.Millisecond)
	return l.Store.Commit(ctx, change)
}

// An observer sees each commit with its items and its length.
func TestObserver_Commit(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	commits, items := 0, 0
	job := w.job(func(j *everypage.Job[ticket]) {
		j.Options.Observer = everypage.Tee(everypage.Observer{Commit: func(runID string, n int, took time.Duration) {
			if !strings.HasPrefix(runID, "2026") || took != 5*time.Millisecond {
				t.Errorf("a commit of run %q took %v, want 5ms", runID, took)
			}
			commits++
			items += n
		}})
	})
	receipt, err := everypage.Run(t.Context(), slowLedger{w.ledger, w.clock}, job)
	wantComplete(t, err)
	want(t, "processed_unique", receipt.ProcessedUnique, 3)
	if commits < 4 || items != 6 { // begin, two pages, finish; each item recorded and settled
		t.Errorf("%d commits with %d items, want at least 4 with 6", commits, items)
	}
}

// Waits in place are told once each.
func TestLogger_Wait(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	w.answer = limited(1, pager.CodeRateLimited, start().Add(time.Minute))
	var log bytes.Buffer
	_, err := w.run(w.job(waitUpTo(time.Hour), func(j *everypage.Job[ticket]) { j.Options.Logger = slog.New(slog.NewTextHandler(&log, nil)) }))
	wantComplete(t, err)
	want(t, "the lines about waits", strings.Count(log.String(), "waiting in place"), 1)
	if !strings.Contains(log.String(), "until=2026-03-05T10:01:00.000Z") {
		t.Errorf("the log does not say until when:\n%s", log.String())
	}
}

// docs/signals.md names every attribute that a line of the log has, and no other.
func TestLogAttributesAreDocumented(t *testing.T) {
	written := map[string]map[string]bool{} // by level and message: attributes
	gather := func(w *world, edit ...func(*everypage.Job[ticket])) {
		var log bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		_, _ = w.run(w.job(append(edit, func(j *everypage.Job[ticket]) { j.Options.Logger = logger })...)) // complete or not
		for line := range strings.Lines(log.String()) {
			var attributes map[string]any
			if err := json.Unmarshal([]byte(line), &attributes); err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%s %s", attributes["level"], attributes["msg"])
			if written[what] == nil {
				written[what] = map[string]bool{}
			}
			for name := range attributes {
				written[what][name] = true
			}
		}
	}
	w := newWorld(t, 2, "a", "b", "a", "c", "d")
	w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
		w.clock.advance(time.Hour)
		if item.ID == "b" {
			return errNo
		}
		return nil
	}
	w.answer = limited(1, pager.CodeRateLimited, start().Add(20*time.Hour))
	gather(w, waitUpTo(24*time.Hour), maxAttempts(2))
	w = newWorld(t, 2, "a", "b", "c")
	w.answer = on(1, func(*pager.Page[ticket]) error {
		return &pager.Fault{Verdict: pager.Pause, Code: pager.CodeServerError, Detail: "503", Answer: pager.Answer{RequestID: "req-7"}}
	})
	gather(w)
	w = newWorld(t, 2, "a", "b", "c")
	w.answer = on(1, func(*pager.Page[ticket]) error {
		return &pager.Fault{Code: pager.CodeUnauthorized, Detail: "401", Answer: pager.Answer{RequestID: "req-7"}}
	})
	gather(w)

	text, err := os.ReadFile("docs/signals.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "<!-- lines -->")
	table, _, _ = strings.Cut(table, "<!-- end of lines -->")
	quoted := regexp.MustCompile("`([^`]+)`")
	documented, before := map[string]bool{}, ""
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !quoted.MatchString(cells[2]) {
			continue
		}
		if strings.TrimSpace(cells[4]) != "the same" {
			before = cells[4]
		}
		what := strings.TrimSpace(cells[1]) + " " + quoted.FindStringSubmatch(cells[2])[1]
		names := []string{"time", "level", "msg", "job", "run_id"}
		for _, name := range quoted.FindAllStringSubmatch(before, -1) {
			names = append(names, name[1])
		}
		documented[what] = true
		got := slices.Sorted(maps.Keys(written[what]))
		slices.Sort(names)
		wantList(t, "the attributes of "+what, got, names...)
	}
	for what := range written {
		if !documented[what] {
			t.Errorf("docs/signals.md does not say when %q is written", what)
		}
	}
	if len(documented) < 8 {
		t.Errorf("docs/signals.md describes %d lines; is its table read as it should be?", len(documented))
	}
}

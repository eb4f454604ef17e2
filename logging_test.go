package everypage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
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

package everypage_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// Bad input to the engine: each with a clear error, nothing lost, and nothing
// called that should not be.

// A job that is not valid is refused before anything else, with every problem
// named at once; nothing is requested, called or recorded.
func TestBadInput_InvalidJobs(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(*everypage.Job[ticket])
		names []string
	}{
		"nothing set":        {func(j *everypage.Job[ticket]) { *j = everypage.Job[ticket]{} }, []string{"Name", "Pager", "Action", "Handle"}},
		"name with a slash":  {func(j *everypage.Job[ticket]) { j.Name = "a/b" }, []string{"Name"}},
		"name with a dot":    {func(j *everypage.Job[ticket]) { j.Name = ".hidden" }, []string{"Name"}},
		"name too long":      {func(j *everypage.Job[ticket]) { j.Name = strings.Repeat("x", 101) }, []string{"Name"}},
		"name in letters":    {func(j *everypage.Job[ticket]) { j.Name = "größe" }, []string{"Name"}},
		"run ID with spaces": {func(j *everypage.Job[ticket]) { j.RunID = "a b" }, []string{"RunID"}},
		"run ID with colon":  {func(j *everypage.Job[ticket]) { j.RunID = "job:x" }, []string{"RunID"}},
		"negative numbers": {func(j *everypage.Job[ticket]) {
			j.Options.Concurrency, j.Options.MaxAttempts, j.Options.WaitUpTo, j.Options.SupersedeLost = -1, -1, -1, -1
			j.Options.Backoff.Initial, j.Deadline, j.KeyRetention = -1, -1, -1
		}, []string{"Concurrency", "MaxAttempts", "WaitUpTo", "SupersedeLost", "Backoff", "Deadline", "KeyRetention"}},
		"unknown once":              {func(j *everypage.Job[ticket]) { j.Once = "twice" }, []string{"Once", "twice"}},
		"unknown cutoff":            {func(j *everypage.Job[ticket]) { j.Cutoff = "maybe" }, []string{"Cutoff", "maybe"}},
		"incremental, no cutoff":    {func(j *everypage.Job[ticket]) { j.Incremental = true }, []string{"Incremental", "ServerCutoff"}},
		"incremental, client":       {func(j *everypage.Job[ticket]) { j.Incremental, j.Cutoff = true, everypage.ClientCutoff }, []string{"Incremental", "ServerCutoff"}},
		"server cutoff, no filter":  {func(j *everypage.Job[ticket]) { j.Cutoff = everypage.ServerCutoff }, []string{"ServerCutoff", "ClientCutoff"}},
		"offset without the opt-in": {func(j *everypage.Job[ticket]) { j.List.Style = pager.StyleOffset }, []string{"offset", "AcceptUnstable"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b")
			receipt, err := w.run(w.job(c.edit))
			var invalid *everypage.JobError
			if !errors.Is(err, everypage.ErrInvalidJob) || !errors.As(err, &invalid) {
				t.Fatalf("have %v, want a JobError", err)
			}
			for _, word := range c.names {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not name %s", err, word)
				}
			}
			if receipt != nil {
				t.Error("there is a receipt of no run")
			}
			w.nothingHappened()
		})
	}
}

func (w *world) nothingHappened() {
	w.t.Helper()
	w.wantRequests()
	w.wantCalls()
	for run, err := range w.ledger.Runs(w.t.Context(), store.RunFilter{}) {
		w.t.Errorf("run %s was recorded (%v)", run.Receipt.RunID, err)
	}
}

// No ledger, and one that is closed.
func TestBadInput_NoLedger(t *testing.T) {
	w := newWorld(t, 2, "a", "b")
	receipt, err := everypage.Run(t.Context(), nil, w.job())
	if !errors.Is(err, everypage.ErrInvalidJob) || !strings.Contains(err.Error(), "pebblestore.Open") || receipt != nil {
		t.Errorf("a nil ledger: %v", err)
	}
	closed := w.ledger
	w.crashlessReopen()
	if _, err := everypage.Run(t.Context(), closed, w.job()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a closed ledger: %v", err)
	}
	w.nothingHappened()
}

// Entries whose ID cannot be used are owed and never handled: none at all, or one
// that is too long to be one. The limit itself is fine.
func TestBadInput_ItemIDs(t *testing.T) {
	for name, c := range map[string]struct {
		id      string
		problem string
		says    string
	}{
		"none":                  {"", "", "has no ID"},
		"none, and the why":     {"", "field id is null", "field id is null"},
		"one of 1 MB":           {strings.Repeat("x", 1<<20), "", "1048576 bytes"},
		"one beyond the limit":  {strings.Repeat("x", 4097), "", "4097 bytes"},
		"the longest":           {strings.Repeat("x", 4096), "", ""},
		"bytes that are no UTF": {"\xff\xfe", "", ""},
		"a NUL":                 {"a\x00b", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, "a", c.id, "b")
			w.answer = func(_ int, _ pager.Cursor, page *pager.Page[ticket]) error {
				page.Items[1].ID, page.Items[1].Problem = c.id, c.problem
				return nil
			}
			receipt, err := w.run(w.job())
			if c.says == "" {
				wantComplete(t, err)
				w.wantCalls("a", c.id, "b")
				return
			}
			wantReview(t, receipt, err, state.CodeEntriesWithoutID)
			w.wantCalls("a", "b")
			want(t, "pending_count", receipt.PendingCount, 1)
			if !strings.Contains(err.Error(), c.says) || len(err.Error()) > 1000 {
				t.Errorf("%d bytes of error do not say that the entry %s: %.300s", len(err.Error()), c.says, err)
			}
			if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err == nil {
				t.Error("a run with entries that have no ID was reopened")
			}
		})
	}
}

// A handler's error of any size and content is kept, bounded, and breaks neither
// ledger nor receipt.
func TestBadInput_HandlerErrors(t *testing.T) {
	for name, text := range map[string]string{
		"a megabyte": strings.Repeat("é", 1<<19),
		"no UTF-8":   "\xff\xfe\x00",
		"empty":      "",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b")
			pausing := false
			w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
				switch {
				case item.ID != "b":
					return nil
				case pausing:
					return everypage.PauseRun(time.Time{}, errors.New(text))
				}
				return errors.New(text)
			}
			receipt, err := w.run(w.job())
			wantReview(t, receipt, err, state.CodeItemsHeld)
			if n := len(w.item(receipt.RunID, "b").Detail); n > 5000 {
				t.Errorf("the hold queue keeps %d bytes of the error", n)
			}
			pausing = true
			if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
				t.Fatal(err)
			}
			receipt, err = w.run(w.job())
			wantPause(t, receipt, err, state.CodeSinkLimited)
			document, err := receipt.YAML()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := state.ParseYAML(document); err != nil {
				t.Errorf("the receipt cannot be read back: %v", err)
			}
		})
	}
	for name, wrap := range map[string]func(error) error{
		"Permanent": everypage.Permanent, "NotDone": everypage.NotDone,
		"PauseRun": func(err error) error { return everypage.PauseRun(time.Time{}, err) },
	} {
		if text := wrap(nil).Error(); text == "" {
			t.Errorf("%s(nil) says nothing", name)
		}
	}
}

// An answer with a great many entries of the same ID, and one that is nothing but
// an end.
func TestBadInput_OddPages(t *testing.T) {
	w := newWorld(t, 3, "a")
	w.answer = on(0, func(page *pager.Page[ticket]) error {
		for range 5000 {
			page.Items = append(page.Items, page.Items[0])
		}
		return nil
	})
	receipt, err := w.run(w.job())
	wantComplete(t, err)
	w.wantCalls("a")
	want(t, "in_page_duplicates", receipt.InPageDuplicates, 5000)

	w = newWorld(t, 3)
	w.answer = on(0, func(page *pager.Page[ticket]) error {
		*page = pager.Page[ticket]{End: pager.EndLast}
		return nil
	})
	_, err = w.run(w.job())
	wantComplete(t, err)

	w = newWorld(t, 3) // and one that says nothing at all
	w.answer = on(0, func(page *pager.Page[ticket]) error {
		*page = pager.Page[ticket]{}
		return nil
	})
	receipt, err = w.run(w.job())
	wantReview(t, receipt, err, pager.CodeEndUnknown)
}

// A value that cannot be stored is held without bytes when it fails, and then only
// accepted or superseded.
func TestBadInput_ValueThatCannotBeStored(t *testing.T) {
	w := newWorld(t, 2, "a", "b")
	w.answer = func(_ int, _ pager.Cursor, page *pager.Page[ticket]) error {
		page.Items[1].Raw = nil
		return nil
	}
	w.handle = failing("b")
	receipt, err := w.run(w.job(func(j *everypage.Job[ticket]) {
		j.Encode = func(ticket) ([]byte, error) { return nil, errNo }
	}))
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantHeld(receipt.RunID, "b", state.HoldAttempts)
	for _, d := range []everypage.Decision{decision(w), decision(w, "b")} {
		var refused *everypage.DecisionError
		if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, d); !errors.As(err, &refused) {
			t.Errorf("an item without bytes was retried: %v", err)
		}
	}
	receipt, err = everypage.Accept(t.Context(), w.ledger, receipt.RunID, decision(w, "b"))
	wantComplete(t, err)
	want(t, "written_off", receipt.WrittenOff, 1)
}

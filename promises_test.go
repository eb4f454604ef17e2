package everypage_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// A run in its simplest form: seven items by three are three pages, each item is
// handled once and in order, and the end is observed.
func TestRun(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
	receipt, err := w.run(w.job())
	wantComplete(t, err)
	w.wantCalls("a", "b", "c", "d", "e", "f", "g")
	w.wantRequests("(start)", `"3"`, `"6"`)
	want(t, "pages", receipt.Pages, 3)
	want(t, "page_index", receipt.PageIndex, 2)
	want(t, "processed_unique", receipt.ProcessedUnique, 7)
	want(t, "attempts", receipt.Attempts, 7)
	want(t, "terminal_observed", receipt.TerminalObserved, true)
	want(t, "end_evidence", receipt.EndEvidence, "has_more=false")
	want(t, "cursor_in", receipt.CursorIn, pager.At("6"))
	want(t, "cursor_out", receipt.CursorOut, pager.Cursor{})
	wantList(t, "the events", w.transitions(receipt.RunID), "begin", "finish")
	for i, call := range w.calls {
		want(t, "the key", call.Key, everypage.Key(receipt.RunID, call.ID, "remind"))
		want(t, "the page", call.Page, i/3)
		want(t, "the attempt", call.Attempt, 1)
		want(t, "the run", call.RunID, receipt.RunID)
	}
	next, err := w.run(w.job())
	wantComplete(t, err)
	if next.RunID == receipt.RunID {
		t.Error("after a complete run, the next Run did not start a new one")
	}
}

// An empty list is complete if its end was observed, and has no items.
func TestRun_EmptyList(t *testing.T) {
	w := newWorld(t, 3)
	receipt, err := w.run(w.job())
	wantComplete(t, err)
	want(t, "pages", receipt.Pages, 1)
	want(t, "processed_unique", receipt.ProcessedUnique, 0)
}

// page-before-work: before an item is handed out, its page's cursor, IDs, hash and
// next cursor are on disk.
func TestPageBeforeWork(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c", "d", "e").crashable()
	w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
		ledger := w.onDisk()
		run, err := ledger.Run(ctx, item.RunID)
		if err != nil {
			return err
		}
		want(t, "pages on disk", run.Receipt.Pages, item.Page+1)
		for page, err := range ledger.Pages(ctx, item.RunID, item.Page) {
			if err != nil {
				return err
			}
			if !slices.Contains(page.IDs, item.ID) || page.Hash == "" || page.Digest == "" {
				t.Errorf("page %d on disk is %+v, which does not vouch for %s", item.Page, page, item.ID)
			}
			want(t, "whether the next cursor is on disk", page.Next.IsStart(), item.Page == 2)
			want(t, "whether the cursor is on disk", page.Cursor.IsStart(), item.Page == 0)
		}
		return nil
	}
	_, err := w.run(w.job())
	wantComplete(t, err)
	want(t, "the number of calls", len(w.calls), 5)
}

// page-settled-before-next: when an item is handed out, every outcome of the pages
// before is on disk; with and without reading ahead.
func TestPageSettledBeforeNext(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g").crashable()
		w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
			ledger := w.onDisk()
			for page, err := range ledger.Pages(ctx, item.RunID, 0) {
				if err != nil {
					return err
				}
				if page.Index > item.Page {
					t.Errorf("page %d is recorded while %s of page %d is handled", page.Index, item.ID, item.Page)
				}
				if page.Index >= item.Page {
					continue
				}
				items, err := ledger.Items(ctx, item.RunID, page.IDs)
				if err != nil {
					return err
				}
				for _, before := range items {
					if before.State != store.StateDone {
						t.Errorf("%s is handed out while %s of page %d is %v on disk", item.ID, before.ID, page.Index, before.State)
					}
				}
			}
			return nil
		}
		_, err := w.run(w.job(func(j *everypage.Job[ticket]) { j.Options.ReadAhead, j.Options.Concurrency = ahead, 3 }))
		wantComplete(t, err)
	}
}

// confirmed-once: what was observed as settled is on disk, and is never called
// again after a crash at that instant.
func TestConfirmedOnce(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d").crashable()
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	left := w.fs
	confirmed := ""
	_, _ = everypage.Run(ctx, w.ledger, w.job(func(j *everypage.Job[ticket]) {
		j.Options.Observer.Settled = func(_ state.Receipt, item store.Item) {
			once.Do(func() {
				left, confirmed = w.crashed(0), item.ID
				cancel()
			})
		}
	}))
	w.open(left)
	w.calls = nil
	_, err := w.run(w.job())
	wantComplete(t, err)
	if slices.Contains(w.called(), confirmed) {
		t.Errorf("%s was confirmed and called again", confirmed)
	}
}

// Rule 19: the committer never waits to fill. An outcome is made durable while the
// next item's handler is still at work.
func TestRule19_CommitterNeverWaits(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c")
	job := w.job()
	outcomes := observe(&job)
	w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
		before := map[string][]string{"b": {"a"}, "c": {"a", "b"}}[item.ID]
		durable := make(chan struct{})
		go func() {
			outcomes.wait(before)
			close(durable)
		}()
		select {
		case <-durable:
		case <-time.After(20 * time.Second):
			t.Errorf("while %s is handled, the outcomes of %v wait for it", item.ID, before)
		}
		return nil
	}
	_, err := w.run(job)
	wantComplete(t, err)
}

// Rule 16: reading ahead fetches the next page while one is handled, and nothing
// else changes: one page at most, off for lists where it is not safe.
func TestRule16_ReadAhead(t *testing.T) {
	for name, c := range map[string]struct {
		is    pager.Description
		ahead bool
	}{
		"cursor":         {pager.Description{}, true},
		"offset":         {pager.Description{Style: pager.StyleOffset}, false},
		"page number":    {pager.Description{Style: pager.StylePage}, false},
		"not replayable": {pager.Description{NotReplayable: true}, false},
		"repeating":      {pager.Description{RepeatLimit: 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, "a", "b", "c", "d")
			fetched := make(chan int, 10)
			w.answer = func(n int, _ pager.Cursor, _ *pager.Page[ticket]) error {
				fetched <- n
				return nil
			}
			w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
				for ahead := item.ID == "a" && c.ahead; ahead; { // page 1 is fetched while a is handled
					select {
					case n := <-fetched:
						ahead = n == 0
					case <-time.After(20 * time.Second):
						t.Error("page 1 is not fetched while page 0 is handled")
						ahead = false
					}
				}
				for range 200 {
					runtime.Gosched()
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				most := item.Page + 1
				if c.ahead {
					most++
				}
				if len(w.requests) > most {
					t.Errorf("%d pages were fetched while page %d is handled", len(w.requests), item.Page)
				}
				return nil
			}
			receipt, err := w.run(w.job(w.as(c.is), func(j *everypage.Job[ticket]) { j.Options.ReadAhead, j.AcceptUnstable = true, true }))
			wantComplete(t, err)
			w.wantCalls("a", "b", "c", "d")
			want(t, "pages", receipt.Pages, 4)
		})
	}
}

// Rule 16: an answer or an error that was read ahead is acted on only when the
// page before is settled, and dropped at a stop.
func TestRule16_ReadAheadIsActedOnAfterSettlement(t *testing.T) {
	ahead := func(j *everypage.Job[ticket]) { j.Options.ReadAhead = true }
	t.Run("an error", func(t *testing.T) {
		w := newWorld(t, 2, "a", "b", "c")
		failed := make(chan struct{})
		w.answer = on(1, func(*pager.Page[ticket]) error {
			close(failed)
			return &pager.Fault{Code: pager.CodeRequestRefused}
		})
		w.handle = func(context.Context, everypage.Item[ticket]) error {
			<-failed
			return nil
		}
		receipt, err := w.run(w.job(ahead))
		wantReview(t, receipt, err, pager.CodeRequestRefused)
		want(t, "processed_unique", receipt.ProcessedUnique, 2)
		want(t, "pending_count", receipt.PendingCount, 0)
	})
	t.Run("dropped", func(t *testing.T) {
		w := newWorld(t, 2, "a", "b", "c", "d")
		fetched := make(chan struct{})
		w.answer = func(n int, _ pager.Cursor, page *pager.Page[ticket]) error {
			if n == 1 {
				show(page, "stale")
				close(fetched)
			}
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
			<-fetched
			if item.ID == "b" {
				cancel()
			}
			return ctx.Err()
		}
		receipt, err := w.runContext(ctx, w.job(ahead))
		wantPause(t, receipt, err, state.CodeCancelled)
		want(t, "pages", receipt.Pages, 1)
		w.handle = nil
		_, err = w.run(w.job(ahead))
		wantComplete(t, err)
		w.wantCalls("a", "b", "b", "c", "d")
	})
}

// Rule 17: an item keeps the bytes that the pager supplied, else the JSON of its
// value, and a codec where the job brings one; they reach the handler and the hold
// queue as they are.
func TestRule17_Payloads(t *testing.T) {
	codec := func(j *everypage.Job[ticket]) {
		j.Encode = func(v ticket) ([]byte, error) { return []byte("t:" + v.ID + ":" + v.Text), nil }
		j.Decode = func(raw []byte) (v ticket, err error) {
			_, err = fmt.Sscanf(string(raw), "t:%1s:%s", &v.ID, &v.Text)
			return v, err
		}
	}
	for name, c := range map[string]struct {
		raw  []byte
		edit func(*everypage.Job[ticket])
		want string
	}{
		"as supplied": {[]byte(`{"id": "b",  "text":"x" }`), func(*everypage.Job[ticket]) {}, `{"id": "b",  "text":"x" }`},
		"JSON":        {nil, func(*everypage.Job[ticket]) {}, `{"id":"b","text":"x"}`},
		"codec":       {nil, codec, "t:b:x"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, "b")
			w.answer = on(0, func(page *pager.Page[ticket]) error {
				page.Items[0].Value, page.Items[0].Raw = ticket{ID: "b", Text: "x"}, c.raw
				return nil
			})
			w.handle = failing("b")
			receipt, err := w.run(w.job(c.edit, maxAttempts(1)))
			wantReview(t, receipt, err, state.CodeItemsHeld)
			want(t, "the bytes that the handler got", string(w.calls[0].Raw), c.want)
			want(t, "the bytes in the hold queue", string(w.item(receipt.RunID, "b").Payload), c.want)
			w.handle = nil
			if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
				t.Fatal(err)
			}
			_, err = w.run(w.job(c.edit))
			wantComplete(t, err)
			want(t, "the value from stored bytes", w.calls[1].Value, ticket{ID: "b", Text: "x"})
			want(t, "the stored bytes", string(w.calls[1].Raw), c.want)
		})
	}
}

// Rule 17: stored bytes that do not decode hold the item and call nothing.
func TestRule17_PayloadThatDoesNotDecode(t *testing.T) {
	w := newWorld(t, 2, "a", "b")
	w.handle = failing("b")
	receipt, err := w.run(w.job())
	wantReview(t, receipt, err, state.CodeItemsHeld)
	if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
		t.Fatal(err)
	}
	calls := len(w.calls)
	receipt, err = w.run(w.job(func(j *everypage.Job[ticket]) {
		j.Decode = func([]byte) (ticket, error) { return ticket{}, errNo }
	}))
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantHeld(receipt.RunID, "b", state.HoldPayload)
	want(t, "the number of calls", len(w.calls), calls)
}

// The digest is a chain over the page records: the same walk gives the same digest,
// and another cursor, ID, end or order another one.
func TestDigest(t *testing.T) {
	walk := func(change func(int, pager.Cursor, *pager.Page[ticket]) error) string {
		w := newWorld(t, 2, "a", "b", "c")
		w.answer = change
		receipt, _ := w.run(w.job())
		return receipt.Digest
	}
	same := walk(nil)
	want(t, "the digest of the same walk", walk(nil), same)
	for name, change := range map[string]func(*pager.Page[ticket]){
		"order":  func(p *pager.Page[ticket]) { slices.Reverse(p.Items) },
		"ID":     func(p *pager.Page[ticket]) { p.Items[0].ID = "x" },
		"cursor": func(p *pager.Page[ticket]) { p.Next = pager.At("02") },
		"end":    func(p *pager.Page[ticket]) { p.End = pager.EndUnknown },
		"veto":   func(p *pager.Page[ticket]) { p.Vetoes = []string{"x"} },
	} {
		if walk(on(0, func(p *pager.Page[ticket]) error { change(p); return nil })) == same {
			t.Errorf("the digest does not cover the %s", name)
		}
	}
}

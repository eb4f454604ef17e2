package everypage_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// sequence is a pager that yields the given pages and then just stops.
type sequence struct {
	pages []pager.Page[ticket]
	last  func()
}

func (s sequence) Pages(context.Context, pager.Cursor) iter.Seq2[pager.Page[ticket], error] {
	return func(yield func(pager.Page[ticket], error) bool) {
		for _, page := range s.pages {
			if !yield(page, nil) {
				return
			}
		}
		if s.last != nil {
			s.last()
		}
	}
}

// leaveTime is a handler that lets whoever would fetch too much do so.
func leaveTime(context.Context, everypage.Item[ticket]) error {
	for range 2000 {
		runtime.Gosched()
	}
	return nil
}

// Rules 3 and 21, contradictory page: a page that cannot be gone on from is
// recorded and its items are handled; then the run stops for review, and no
// further request is made, nor is one when it is asked for again.
func TestRule03_ContradictoryPageIsHandledThenStops(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*pager.Page[ticket])
		code   pager.Code
	}{
		"more without a cursor": {
			func(p *pager.Page[ticket]) { p.Next = pager.Cursor{} }, pager.CodeCursorMissing,
		},
		"an unknown end without a cursor": {
			func(p *pager.Page[ticket]) { p.End, p.Next = pager.EndUnknown, pager.Cursor{} }, pager.CodeEndUnknown,
		},
		"the cursor that it was read at": {
			func(p *pager.Page[ticket]) { p.Next = pager.At("2") }, state.CodeCursorRepeated,
		},
	} {
		for _, ahead := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, read-ahead %t", name, ahead), func(t *testing.T) {
				w := newWorld(t, 2, "a", "b", "c", "d", "e")
				w.answer = on(1, func(page *pager.Page[ticket]) error {
					c.change(page)
					return nil
				})
				w.handle = leaveTime
				job := w.job(func(j *everypage.Job[ticket]) { j.Options.ReadAhead = ahead })
				receipt, err := w.run(job)
				wantReview(t, receipt, err, c.code)
				w.wantCalls("a", "b", "c", "d")
				w.wantRequests("(start)", `"2"`)
				want(t, "pages", receipt.Pages, 2)
				want(t, "processed_unique", receipt.ProcessedUnique, 4)
				want(t, "terminal_observed", receipt.TerminalObserved, false)
				receipt, err = w.run(job)
				wantReview(t, receipt, err, c.code)
				w.wantRequests("(start)", `"2"`)
			})
		}
	}
}

// opaque-cursor: every cursor that the run has read counts, however long ago; also
// those that were read before the run was stopped.
func TestOpaqueCursor_LongCycle(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		w := newWorld(t, 1, "a", "b", "c", "d", "e", "f")
		w.answer = on(5, func(page *pager.Page[ticket]) error { // the page at 4, after one stop
			page.Next = pager.At("1")
			return nil
		})
		reading := func(j *everypage.Job[ticket]) { j.Options.ReadAhead = ahead }
		w.stopAt("d", w.job())
		w.handle = leaveTime
		receipt, err := w.run(w.job(reading))
		wantReview(t, receipt, err, state.CodeCursorRepeated)
		w.wantCalls("a", "b", "c", "d", "d", "e")
		w.wantRequests("(start)", `"1"`, `"2"`, `"3"`, `"3"`, `"4"`)
	}
}

// opaque-cursor: a cursor goes back byte for byte, over a stop as well, whatever
// bytes it consists of. An empty token is a cursor and not the start.
func TestOpaqueCursor_ByteForByte(t *testing.T) {
	for _, token := range []string{"", " a+b%2F=&?\n", "\xff\x00\xfe", "日本語 \u2028", `{"page":2}`, "REDACTED"} {
		t.Run(fmt.Sprintf("%q", token), func(t *testing.T) {
			w := newWorld(t, 2)
			var sent []pager.Cursor
			walk := pager.Func[ticket](func(_ context.Context, at pager.Cursor) (page pager.Page[ticket], err error) {
				sent = append(sent, at)
				if at.IsStart() {
					show(&page, "a")
					page.End, page.Next = pager.EndMore, pager.At(token)
				} else {
					show(&page, "b")
					page.End = pager.EndLast
				}
				return page, nil
			})
			job := w.job(func(j *everypage.Job[ticket]) { j.Pager = walk })
			w.stopAt("b", job)
			w.crashlessReopen()
			receipt, err := w.run(job)
			wantComplete(t, err)
			for _, at := range sent[1:] {
				want(t, "the cursor that was sent", at, pager.At(token))
			}
			want(t, "cursor_in", receipt.CursorIn, pager.At(token))
		})
	}
}

// Rule 3, no progress: a server that shows its last page again for every position
// past it, and so never the empty page that would be the end, is noticed at the
// first repetition, at cursors that are all new.
func TestRule03_TheSamePageOnceMoreIsNoProgress(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	w.answer = func(n int, _ pager.Cursor, page *pager.Page[ticket]) error {
		if n > 0 {
			show(page, "c")
		}
		page.End, page.Next = pager.EndMore, pager.At(fmt.Sprint(100+n))
		return nil
	}
	job := w.job(func(j *everypage.Job[ticket]) { j.List.Style, j.AcceptUnstable = pager.StylePage, true })
	for range 2 { // asked again, it answers the same without a request
		receipt, err := w.run(job)
		wantReview(t, receipt, err, state.CodeNoProgress)
		w.wantCalls("a", "b", "c")
		want(t, "requests", len(w.requests), 3)
		want(t, "duplicate_conflicts", receipt.DuplicateConflicts, 1)
	}
}

// Rule 3: a cursor that comes back on the page with the declared end is no
// contradiction: the end is judged first.
func TestRule03_DeclaredEndComesBeforeContradictions(t *testing.T) {
	w := newWorld(t, 2, "a", "b")
	w.answer = on(0, func(page *pager.Page[ticket]) error {
		page.Next = pager.At("0")
		return nil
	})
	_, err := w.run(w.job())
	wantComplete(t, err)
	w.wantRequests("(start)")
}

// Rule 3: a contract may allow that a cursor comes back, as long as that brings
// new items, and a bounded number of times when it does not.
func TestRule03_RepeatLimit(t *testing.T) {
	same := func(items map[int]string, last int) func(int, pager.Cursor, *pager.Page[ticket]) error {
		return func(n int, _ pager.Cursor, page *pager.Page[ticket]) error {
			page.End, page.Next, page.Items = pager.EndMore, pager.At("1"), nil
			if id, ok := items[n]; ok {
				show(page, id)
			}
			if n == last {
				page.End = pager.EndLast
			}
			return nil
		}
	}
	allowed := pager.Description{RepeatLimit: 2}
	t.Run("progress goes on for ever", func(t *testing.T) {
		w := newWorld(t, 1, "-")
		w.answer = same(map[int]string{0: "a", 1: "b", 2: "c", 3: "d", 4: "e", 6: "f"}, 7)
		receipt, err := w.run(w.job(w.as(allowed)))
		wantComplete(t, err)
		want(t, "processed_unique", receipt.ProcessedUnique, 6)
	})
	t.Run("no progress is bounded", func(t *testing.T) {
		w := newWorld(t, 1, "-")
		w.answer = same(map[int]string{0: "a", 1: "b"}, -1)
		receipt, err := w.run(w.job(w.as(allowed)))
		wantReview(t, receipt, err, state.CodeCursorRepeated)
		w.wantRequests("(start)", `"1"`, `"1"`, `"1"`)
	})
	t.Run("the bound holds over pauses", func(t *testing.T) {
		w := newWorld(t, 1, "-")
		served := 0
		w.answer = func(n int, at pager.Cursor, page *pager.Page[ticket]) error {
			if n%2 == 1 {
				return &pager.Fault{Verdict: pager.Pause, Code: pager.CodeServerError}
			}
			served++
			return same(map[int]string{0: "a", 2: "b"}, -1)(n, at, page)
		}
		job := w.job(w.as(allowed), func(j *everypage.Job[ticket]) { j.Options.Force = true })
		var receipt *state.Receipt
		err := everypage.ErrPaused
		for i := 0; errors.Is(err, everypage.ErrPaused) && i < 20; i++ {
			receipt, err = w.run(job)
		}
		wantReview(t, receipt, err, state.CodeCursorRepeated)
		want(t, "the number of answers", served, 4)
	})
}

// Rule 21, unknown end: with a cursor it means that more follows.
func TestRule21_UnknownEndWithACursorGoesOn(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	w.answer = on(0, func(page *pager.Page[ticket]) error {
		page.End = pager.EndUnknown
		return nil
	})
	_, err := w.run(w.job())
	wantComplete(t, err)
	w.wantCalls("a", "b", "c")
}

// end-observed: neither an empty page, nor a short one, nor a reached total is the
// end; only what the contract says is.
func TestEndObserved_NothingElseIsTheEnd(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d", "e")
	total := int64(3)
	w.answer = func(n int, _ pager.Cursor, page *pager.Page[ticket]) error {
		page.Meta.Total, page.Meta.Status = &total, 200
		if n == 1 { // an empty page in the middle
			page.Items, page.End, page.Next = nil, pager.EndMore, pager.At("4")
		}
		if n == 2 { // a short one
			page.End, page.Next = pager.EndMore, pager.At("5")
		}
		return nil
	}
	receipt, err := w.run(w.job(func(j *everypage.Job[ticket]) {
		j.Options.Observer.Page = func(r state.Receipt, page store.Page) {
			want(t, fmt.Sprintf("terminal_observed at page %d", page.Index), r.TerminalObserved, page.Index == 3)
		}
	}))
	wantComplete(t, err)
	w.wantRequests("(start)", `"3"`, `"4"`, `"5"`)
	want(t, "pages", receipt.Pages, 4)
}

// Rule 21, a sequence that just stops: without an end there is none. It is a
// pause where the caller is gone, else a review.
func TestRule21_SequenceThatJustStops(t *testing.T) {
	more := pager.Page[ticket]{End: pager.EndMore, Next: pager.At("1")}
	show(&more, "a")
	for name, pages := range map[string][]pager.Page[ticket]{"before the first page": nil, "after one": {more}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1)
			receipt, err := w.run(w.job(func(j *everypage.Job[ticket]) { j.Pager = sequence{pages: pages} }))
			wantReview(t, receipt, err, state.CodeSequenceStopped)
			want(t, "processed_unique", receipt.ProcessedUnique, int64(len(pages)))
		})
	}
	t.Run("the caller is gone", func(t *testing.T) {
		w := newWorld(t, 1)
		ctx, cancel := context.WithCancel(t.Context())
		receipt, err := w.runContext(ctx, w.job(func(j *everypage.Job[ticket]) {
			j.Pager = sequence{pages: []pager.Page[ticket]{more}, last: cancel}
		}))
		wantPause(t, receipt, err, state.CodeCancelled)
	})
}

// Rule 4: vetoes are the union over all pages. The end that comes afterwards is
// not observed, and neither reopening nor accepting mends that.
func TestRule04_VetoesAreTheUnionOverPages(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c", "d", "e")
	w.answer = func(n int, _ pager.Cursor, page *pager.Page[ticket]) error {
		switch n {
		case 0:
			page.Vetoes = []string{"incomplete_results=true"}
		case 1:
			page.Vetoes = []string{"unreachable=[eu]", "incomplete_results=true"}
		}
		return nil
	}
	receipt, err := w.run(w.job())
	wantReview(t, receipt, err, state.CodeEndVetoed)
	wantList(t, "vetoes", receipt.Vetoes, "incomplete_results=true", "unreachable=[eu]")
	want(t, "terminal_observed", receipt.TerminalObserved, false)
	want(t, "end_evidence", receipt.EndEvidence, "has_more=false")
	w.wantCalls("a", "b", "c", "d", "e")
	if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err == nil {
		t.Error("a vetoed run was reopened")
	}
	if _, err := everypage.Accept(t.Context(), w.ledger, receipt.RunID, decision(w)); err == nil {
		t.Error("a veto was accepted")
	}
}

// Rules 4 and 5: the reported total is a cross-check. What a change means depends
// on how the list is walked; a shifted list leaves terminal_observed as it is and
// is no complete one.
func TestRule05_Totals(t *testing.T) {
	const (
		unstable  = pager.OrderUnstable
		stable    = pager.OrderStable
		ascending = pager.OrderStableAscending
	)
	for _, c := range []struct {
		style   pager.Style
		order   pager.Order
		first   int64
		last    int64
		shifted bool
		noted   bool
	}{
		{pager.StyleOffset, ascending, 3, 3, false, false},
		{pager.StyleOffset, ascending, 3, 4, false, true},
		{pager.StyleOffset, ascending, 3, 2, true, true},
		{pager.StyleOffset, stable, 3, 4, true, true},
		{pager.StyleOffset, unstable, 3, 4, true, true},
		{pager.StylePage, ascending, 3, 4, false, true},
		{pager.StylePage, stable, 3, 2, true, true},
		{pager.StyleCursor, unstable, 3, 2, false, true},
		{pager.StyleCursor, stable, 3, 9, false, true},
	} {
		t.Run(fmt.Sprintf("%s %s from %d to %d", c.style, c.order, c.first, c.last), func(t *testing.T) {
			w := newWorld(t, 2, "a", "b", "c")
			w.answer = func(n int, _ pager.Cursor, page *pager.Page[ticket]) error {
				page.Meta.Total = &c.first
				if n > 0 {
					page.Meta.Total = &c.last
				}
				return nil
			}
			receipt, err := w.run(w.job(w.as(pager.Description{Style: c.style, Order: c.order}), func(j *everypage.Job[ticket]) {
				j.AcceptUnstable = true
				j.Cutoff = everypage.ClientCutoff // under which growth at the end is harmless
			}))
			want(t, "terminal_observed", receipt.TerminalObserved, true)
			want(t, "reported_total", *receipt.ReportedTotal, state.ReportedTotal{First: c.first, Last: c.last})
			notes := 0
			for _, event := range w.transitions(receipt.RunID) {
				if event == string(state.EventNote) {
					notes++
				}
			}
			want(t, "whether the change is noted", notes == 1, c.noted)
			if !c.shifted {
				wantComplete(t, err)
				return
			}
			wantReview(t, receipt, err, state.CodeListShifted)
			if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err == nil {
				t.Error("rule 10: a shifted list was reopened")
			}
		})
	}
}

// Rule 4: blocked_by names everything that stands in the way, not only the first.
func TestRule04_BlockedByNamesEverything(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c", "a")
	w.list = append(w.list, ticket{})
	w.handle = failing("c")
	w.answer = on(2, func(page *pager.Page[ticket]) error {
		page.Vetoes = []string{"cap"}
		return nil
	})
	receipt, err := w.run(w.job(func(j *everypage.Job[ticket]) { j.Options.MaxAttempts = 1 }))
	wantReview(t, receipt, err, state.CodeEndVetoed)
	got := fmt.Sprint(receipt.BlockedBy)
	want(t, "blocked_by", got, fmt.Sprint([]pager.Code{
		state.CodeEndVetoed, state.CodeConflictsOpen, state.CodeItemsHeld, state.CodeEntriesWithoutID,
	}))
	want(t, "pending_count", receipt.PendingCount, 2)
}

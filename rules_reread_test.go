package everypage_test

import (
	"context"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// Rule 1: a page that is read again gets another revision. What it says now
// counts: new items join, items that are still owed are called as they are now
// and with the key of before, and the walk goes on from the newest cursor.
func TestRule01_RereadAppendsARevision(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
	w.answer = func(n int, _ pager.Cursor, page *pager.Page[ticket]) error {
		switch n {
		case 1:
			page.Next = pager.At("99") // superseded by what the second reading says
		case 2:
			show(page, "f", "x", "d")
			page.Items = append(page.Items, asItem(ticket{ID: "e", Text: "changed"}))
		}
		return nil
	}
	w.stopAt("e", w.job())
	receipt, err := w.run(w.job())
	wantComplete(t, err)
	w.wantCalls("a", "b", "c", "d", "e", "f", "x", "e", "g")
	w.wantRequests("(start)", `"3"`, `"3"`, `"6"`)
	w.wantOneKey()
	want(t, "the text of e's second call", w.calls[7].Value.Text, "changed")
	want(t, "duplicate_conflicts", receipt.DuplicateConflicts, 0)
	want(t, "processed_unique", receipt.ProcessedUnique, 8)
	pages := w.pages(receipt.RunID)
	want(t, "the number of page records", len(pages), 4)
	for i, at := range [][2]int{{0, 0}, {1, 0}, {1, 1}, {2, 0}} {
		want(t, "the index and revision", [2]int{pages[i].Index, pages[i].Revision}, at)
	}
	wantList(t, "the second revision", pages[2].IDs, "f", "x", "d", "e")
}

// Rule 1: the newest cursor counts also for a run that was stopped after the second
// reading was settled and before the next page was read.
func TestRule01_NewestCursorCountsAfterAStop(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
	w.answer = func(n int, _ pager.Cursor, page *pager.Page[ticket]) error {
		switch n {
		case 1:
			page.Next = pager.At("99")
		case 3:
			return &pager.Fault{Verdict: pager.Pause, Code: pager.CodeServerError}
		}
		return nil
	}
	w.stopAt("e", w.job())
	receipt, err := w.run(w.job())
	wantPause(t, receipt, err, pager.CodeServerError)
	_, err = w.run(w.job(force))
	wantComplete(t, err)
	w.wantRequests("(start)", `"3"`, `"3"`, `"6"`, `"6"`)
}

// Rule 21, changed re-read: an ID keeps the place at which it was first recorded.
func TestRule21_RereadKeepsOrdinals(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c")
	w.answer = on(1, func(page *pager.Page[ticket]) error {
		show(page, "c", "x", "b")
		return nil
	})
	w.stopAt("a", w.job())
	w.answer = on(1, func(page *pager.Page[ticket]) error {
		show(page, "c", "x", "b", "a")
		return nil
	})
	receipt, err := w.run(w.job())
	wantComplete(t, err)
	for id, ordinal := range map[string]int{"a": 0, "b": 1, "c": 2, "x": 1} {
		want(t, "the ordinal of "+id, w.item(receipt.RunID, id).Ordinal, ordinal)
	}
}

// Rule 1: the end evidence of the newest reading counts, in both directions.
func TestRule01_NewestEndEvidenceCounts(t *testing.T) {
	t.Run("the end is taken back", func(t *testing.T) {
		w := newWorld(t, 2, "a", "b", "c")
		w.answer = on(0, func(page *pager.Page[ticket]) error {
			page.End, page.Next, page.Evidence = pager.EndLast, pager.Cursor{}, "has_more=false"
			return nil
		})
		receipt := w.stopAt("b", w.job())
		want(t, "terminal_observed before", receipt.TerminalObserved, true)
		receipt, err := w.run(w.job())
		wantComplete(t, err)
		w.wantCalls("a", "b", "b", "c")
		want(t, "pages", receipt.Pages, 2)
	})
	t.Run("the end came meanwhile", func(t *testing.T) {
		w := newWorld(t, 2, "a", "b", "c")
		w.stopAt("b", w.job())
		w.list = w.list[:2]
		receipt, err := w.run(w.job())
		wantComplete(t, err)
		want(t, "end_evidence", receipt.EndEvidence, "has_more=false")
		w.wantRequests("(start)", "(start)")
	})
}

// Rule 1: what was recorded, is owed and is gone when its page is read again is
// held as vanished; nothing is complete over it. A job may say that it is
// dropped, and then the receipt counts it.
func TestRule01_VanishedIsHeldOrDropped(t *testing.T) {
	gone := on(2, func(page *pager.Page[ticket]) error {
		show(page, "d")
		return nil
	})
	t.Run("held", func(t *testing.T) {
		w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
		w.answer = gone
		w.stopAt("e", w.job())
		receipt, err := w.run(w.job())
		wantReview(t, receipt, err, state.CodeItemsHeld)
		w.wantHeld(receipt.RunID, "e", state.HoldVanished)
		w.wantHeld(receipt.RunID, "f", state.HoldVanished)
		want(t, "held_count", receipt.HeldCount, 2)
		want(t, "pending_count", receipt.PendingCount, 2)
		w.wantCalls("a", "b", "c", "d", "e", "g")
	})
	t.Run("dropped", func(t *testing.T) {
		w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
		w.answer = gone
		drop := func(j *everypage.Job[ticket]) { j.DropVanished = true }
		w.stopAt("e", w.job(drop))
		receipt, err := w.run(w.job(drop))
		wantComplete(t, err)
		want(t, "vanished_count", receipt.VanishedCount, 2)
		want(t, "processed_unique", receipt.ProcessedUnique, 5)
	})
}

// Rules 1 and 20: an item that was in doubt when its page lost it is asked about,
// so that a done one is not held, and a doubtful one not dropped.
func TestRule20_ConfirmSettlesTheDoubtOfAVanishedItem(t *testing.T) {
	for _, row := range []struct {
		name     string
		happened bool
		err      error
		held     bool
	}{
		{"it happened", true, nil, false},
		{"it did not", false, nil, false}, // and is dropped, as the job says
		{"nobody knows", false, errNo, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b", "c").crashable()
			var asked []string
			job := w.job(func(j *everypage.Job[ticket]) {
				j.DropVanished = true
				j.Confirm = func(_ context.Context, key string) (bool, error) {
					asked = append(asked, key)
					return row.happened, row.err
				}
			})
			w.die("b", true, job)
			w.answer = func(_ int, at pager.Cursor, page *pager.Page[ticket]) error {
				if at.IsStart() {
					show(page, "a")
				}
				return nil
			}
			receipt, err := w.run(job)
			if row.held {
				wantReview(t, receipt, err, state.CodeItemsHeld)
				w.wantHeld(receipt.RunID, "b", state.HoldVanished)
			} else {
				wantComplete(t, err)
				want(t, "vanished_count", receipt.VanishedCount, map[bool]int64{true: 0, false: 1}[row.happened])
			}
			w.wantCalls("a", "b", "c")
			if len(asked) != 1 || asked[0] != w.calls[1].Key {
				t.Errorf("asked about %v, want the key of b", asked)
			}
		})
	}
}

// Rule 1: a vanished item that a later page shows was never settled, so it is
// handled there, with its old key and without a conflict; dropped or not.
func TestRule01_VanishedIsAdoptedByALaterPage(t *testing.T) {
	for _, drop := range []bool{false, true} {
		w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
		w.answer = func(n int, _ pager.Cursor, page *pager.Page[ticket]) error {
			switch n {
			case 2:
				show(page, "d", "f")
			case 3:
				show(page, "e", "g")
			}
			return nil
		}
		dropping := func(j *everypage.Job[ticket]) { j.DropVanished = drop }
		w.stopAt("e", w.job(dropping))
		receipt, err := w.run(w.job(dropping))
		wantComplete(t, err)
		w.wantCalls("a", "b", "c", "d", "e", "f", "e", "g")
		w.wantOneKey()
		want(t, "duplicate_conflicts", receipt.DuplicateConflicts, 0)
		want(t, "vanished_count", receipt.VanishedCount, 0)
		want(t, "the page of e", w.item(receipt.RunID, "e").Page, 2)
	}
}

// Rule 21, in doubt: with at-most-once an item whose call was interrupted is
// never adopted by a page that shows it later.
func TestRule21_InDoubtIsNeverAdopted(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d").crashable()
	once := func(j *everypage.Job[ticket]) { j.AtMostOnce = true }
	w.die("b", true, w.job(once))
	w.answer = func(_ int, at pager.Cursor, page *pager.Page[ticket]) error {
		if at.IsStart() {
			show(page, "a", "c")
		} else {
			show(page, "b", "d")
		}
		return nil
	}
	receipt, err := w.run(w.job(once))
	if err == nil {
		t.Fatal("the run is complete, and nobody knows what became of b")
	}
	w.wantHeld(receipt.RunID, "b", state.HoldInDoubt)
	w.wantCalls("a", "b", "c", "d")
}

// Rule 21, equal copies: the same bytes twice in one answer are one item, which
// is handled once and counted, without a conflict. Copies that differ are a
// conflict, and the first is handled.
func TestRule21_CopiesInsideOneAnswer(t *testing.T) {
	t.Run("equal", func(t *testing.T) {
		w := newWorld(t, 4, "a", "b", "a", "a")
		receipt, err := w.run(w.job())
		wantComplete(t, err)
		w.wantCalls("a", "b")
		want(t, "in_page_duplicates", receipt.InPageDuplicates, 2)
		want(t, "duplicate_conflicts", receipt.DuplicateConflicts, 0)
	})
	t.Run("differing", func(t *testing.T) {
		w := newWorld(t, 4, "a", "b", "a", "a")
		w.list[2].Text, w.list[3].Text = "second", "third"
		receipt, err := w.run(w.job())
		wantReview(t, receipt, err, state.CodeConflictsOpen)
		w.wantCalls("a", "b")
		want(t, "the text that was handled", w.calls[0].Value.Text, "")
		want(t, "in_page_duplicates", receipt.InPageDuplicates, 0)
		want(t, "duplicate_conflicts", receipt.DuplicateConflicts, 1)
	})
	t.Run("a second reading counts no copy twice", func(t *testing.T) {
		w := newWorld(t, 8, "a", "b", "b", "c", "c", "c", "z")
		w.list[4].Text, w.list[5].Text = "second", "third"
		receipt := w.stopAt("z", w.job())
		want(t, "in_page_duplicates", receipt.InPageDuplicates, 1)
		want(t, "duplicate_conflicts", receipt.DuplicateConflicts, 1)
		receipt = w.stopAt("z", w.job())
		want(t, "in_page_duplicates after the second reading", receipt.InPageDuplicates, 1)
		want(t, "duplicate_conflicts after the second reading", receipt.DuplicateConflicts, 1)
		receipt, err := w.run(w.job())
		wantReview(t, receipt, err, state.CodeConflictsOpen)
		want(t, "in_page_duplicates after the third reading", receipt.InPageDuplicates, 1)
	})
}

// Rule 2: a list that cannot be read twice is not read twice. The items' bytes
// are stored before work, and a stopped run handles what it owes from them.
func TestRule02_ResumesFromStoredBytes(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d", "e", "f", "g")
	for i := range w.list {
		w.list[i].Text = "text of " + w.list[i].ID
	}
	w.stopAt("e", w.job(w.as(scroll())))
	receipt, err := w.run(w.job(w.as(scroll())))
	wantComplete(t, err)
	w.wantCalls("a", "b", "c", "d", "e", "e", "f", "g")
	w.wantRequests("(start)", `"3"`, `"6"`)
	w.wantOneKey()
	want(t, "the stored text", w.calls[5].Value.Text, "text of e")
	want(t, "processed_unique", receipt.ProcessedUnique, 7)
}

// Rule 2: the bytes are durable before the first item is handed out, and a crash
// costs none.
func TestRule02_BytesAreStoredBeforeWork(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d").crashable()
	w.die("a", true, w.job(w.as(scroll())))
	receipt, err := w.run(w.job(w.as(scroll())))
	wantComplete(t, err)
	w.wantCalls("a", "a", "b", "c", "d")
	w.wantRequests("(start)", `"3"`)
	w.wantOneKey()
	want(t, "processed_unique", receipt.ProcessedUnique, 4)
}

// Rule 2: where the fetch of such a page was begun and the page not recorded, the
// cursor is used up. The run needs review, and only a new listing helps.
func TestRule02_CursorLost(t *testing.T) {
	broken := on(1, func(*pager.Page[ticket]) error {
		return &pager.Fault{Verdict: pager.Pause, Code: pager.CodeTransport}
	})
	w := newWorld(t, 3, "a", "b", "c", "d")
	w.answer = broken
	receipt, err := w.run(w.job(w.as(scroll())))
	wantPause(t, receipt, err, pager.CodeTransport)
	force := func(j *everypage.Job[ticket]) { j.Options.Force = true }
	receipt, err = w.run(w.job(w.as(scroll()), force))
	wantReview(t, receipt, err, state.CodeCursorLost)
	w.wantRequests("(start)", `"3"`)
	if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err == nil {
		t.Error("a run whose cursor is lost was reopened")
	}
	if _, err := everypage.Supersede(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
		t.Fatal(err)
	}
	receipt, err = w.run(w.job(w.as(scroll())))
	wantComplete(t, err)
	w.wantCalls("a", "b", "c", "d")
	want(t, "inherited", receipt.Inherited, 3)
}

// Rule 2: a refusal that gave nothing away does not use the cursor up, nor does a
// failed fetch of the first page, which has no cursor.
func TestRule02_CursorNotLost(t *testing.T) {
	for request, code := range map[int]pager.Code{1: pager.CodeRateLimited, 0: pager.CodeTransport} {
		w := newWorld(t, 3, "a", "b", "c", "d")
		w.answer = on(request, func(*pager.Page[ticket]) error {
			return &pager.Fault{Verdict: pager.Pause, Code: code}
		})
		receipt, err := w.run(w.job(w.as(scroll())))
		wantPause(t, receipt, err, code)
		receipt, err = w.run(w.job(w.as(scroll()), func(j *everypage.Job[ticket]) { j.Options.Force = true }))
		wantComplete(t, err)
		want(t, "processed_unique", receipt.ProcessedUnique, 4)
	}
}

// Rule 2: a replayable list keeps no bytes of what is done, and needs none.
func TestRule02_ReplayableListStoresNoBytes(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c", "d")
	receipt := w.stopAt("b", w.job())
	if item := w.item(receipt.RunID, "c"); item.State != store.StatePending || item.Payload != nil {
		t.Errorf("item c is %v with %d stored bytes, want it pending with none", item.State, len(item.Payload))
	}
}

// Rule 1: entries without ID and entries that the contract skips are counted as the
// newest answer has them, and not once more each time their page is read.
func TestRule01_WhatHasNoIDIsCountedOnce(t *testing.T) {
	w := newWorld(t, 3, "a", "b", "c")
	w.answer = func(n int, _ pager.Cursor, page *pager.Page[ticket]) error {
		page.Items = append(page.Items, pager.Item[ticket]{Problem: "id is null"})
		page.Skipped = 2
		if n == 0 {
			page.Items = append(page.Items, pager.Item[ticket]{Problem: "id is null"})
			page.Skipped = 5
		}
		return nil
	}
	receipt := w.stopAt("b", w.job())
	want(t, "entries_without_id", receipt.EntriesWithoutID, 2)
	receipt, err := w.run(w.job())
	wantReview(t, receipt, err, state.CodeEntriesWithoutID)
	want(t, "entries_without_id", receipt.EntriesWithoutID, 1)
	want(t, "pending_count", receipt.PendingCount, 1)
	want(t, "entries_skipped", receipt.EntriesSkipped, 2)
	w.wantCalls("a", "b", "b", "c")
}

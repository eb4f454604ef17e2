package everypage_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// tampered is a ledger that reads its records as somebody changed them.
type tampered struct {
	store.Store
	run      func(*store.Run)
	page     func(*store.Page) (keep bool)
	item     func(*store.Item)
	conflict func(*store.Conflict) (keep bool)
	event    func(*state.Transition) (keep bool)
	forget   func(pager.Cursor) bool
}

func (l *tampered) Run(ctx context.Context, id string) (store.Run, error) {
	run, err := l.Store.Run(ctx, id)
	if l.run != nil {
		l.run(&run)
	}
	return run, err
}

func (l *tampered) Items(ctx context.Context, scope string, ids []string) ([]store.Item, error) {
	items, err := l.Store.Items(ctx, scope, ids)
	for i := range items {
		if l.item != nil {
			l.item(&items[i])
		}
	}
	return items, err
}

func (l *tampered) Pages(ctx context.Context, id string, from int) iter.Seq2[store.Page, error] {
	return edited(l.Store.Pages(ctx, id, from), l.page)
}

func (l *tampered) Conflicts(ctx context.Context, id string) iter.Seq2[store.Conflict, error] {
	return edited(l.Store.Conflicts(ctx, id), l.conflict)
}

func (l *tampered) Events(ctx context.Context, id string) iter.Seq2[state.Transition, error] {
	return edited(l.Store.Events(ctx, id), l.event)
}

func (l *tampered) PageAt(ctx context.Context, id string, cursor pager.Cursor) (int, bool, error) {
	index, found, err := l.Store.PageAt(ctx, id, cursor)
	return index, found && (l.forget == nil || !l.forget(cursor)), err
}

func edited[T any](seq iter.Seq2[T, error], edit func(*T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range seq {
			if edit != nil && err == nil && !edit(&v) {
				continue
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

// conflicted walks a list with a conflict to its review and accepts that, which
// completes the run: there is a record of each sort.
func conflicted(t *testing.T) (*world, string) {
	t.Helper()
	w := newWorld(t, 2, "a", "b", "c", "a", "d", "e")
	receipt, err := w.run(w.job())
	wantReview(t, receipt, err, state.CodeConflictsOpen)
	receipt, err = everypage.Accept(t.Context(), w.ledger, receipt.RunID, everypage.Decision{By: "Ada", Note: "known", Clock: w.clock, Random: w.random})
	wantComplete(t, err)
	return w, receipt.RunID
}

func TestVerifyVouchesForARunThatAddsUp(t *testing.T) {
	w, runID := conflicted(t)
	v, err := everypage.Verify(t.Context(), w.ledger, runID)
	if err != nil {
		t.Fatal(err)
	}
	if v.Pages != 3 || v.Items != 5 || v.Status != state.Complete || v.TakenOver || v.Digest == "" {
		t.Errorf("the report is %+v", v)
	}
	_, err = everypage.Verify(t.Context(), w.ledger, "no-such-run")
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a run that is not there gave %v", err)
	}
}

func TestVerifyNamesWhatDiffers(t *testing.T) {
	w, runID := conflicted(t)
	first := true
	once := func() bool { defer func() { first = false }(); return first }
	for name, c := range map[string]struct {
		ledger tampered
		kind   everypage.FindingKind
		where  string
	}{
		"a page is gone":       {tampered{page: func(p *store.Page) bool { return p.Index != 1 }}, everypage.FindingPage, "page 2"},
		"the last page is":     {tampered{page: func(p *store.Page) bool { return p.Index != 2 }}, everypage.FindingReceipt, "pages"},
		"all pages are":        {tampered{page: func(*store.Page) bool { return false }}, everypage.FindingReceipt, "pages"},
		"an ID was changed":    {tampered{page: func(p *store.Page) bool { p.IDs = append([]string{"x"}, p.IDs[1:]...); return true }}, everypage.FindingDigest, "page 0"},
		"an ID is gone":        {tampered{page: func(p *store.Page) bool { p.IDs = p.IDs[1:]; return true }}, everypage.FindingDigest, "page 0"},
		"the end was changed":  {tampered{page: func(p *store.Page) bool { p.End = pager.EndLast; return true }}, everypage.FindingDigest, "page 0"},
		"a cursor was":         {tampered{page: func(p *store.Page) bool { p.Next = pager.At("x"); return true }}, everypage.FindingDigest, "page 0"},
		"a cursor is unknown":  {tampered{forget: func(c pager.Cursor) bool { return !c.IsStart() }}, everypage.FindingPage, "page 1"},
		"an item is gone":      {tampered{item: func(i *store.Item) { forgetItem(i, "b") }}, everypage.FindingItem, "page 0"},
		"an item is pending":   {tampered{item: func(i *store.Item) { i.State = store.StatePending }}, everypage.FindingCounter, "processed_unique"},
		"a counter is wrong":   {tampered{run: func(r *store.Run) { r.Receipt.ProcessedUnique++ }}, everypage.FindingCounter, "processed_unique"},
		"the digest is":        {tampered{run: func(r *store.Run) { r.Receipt.Digest = "sha256:00" }}, everypage.FindingReceipt, "digest"},
		"the status is":        {tampered{run: func(r *store.Run) { r.Receipt.Status = state.Paused }}, everypage.FindingEvent, "status"},
		"the end is not there": {tampered{run: func(r *store.Run) { r.Receipt.TerminalObserved = false }}, everypage.FindingComplete, "status"},
		"it has no end":        {tampered{run: func(r *store.Run) { r.Receipt.FinishedAt = time.Time{} }}, everypage.FindingComplete, "finished_at"},
		"a conflict is gone":   {tampered{conflict: func(*store.Conflict) bool { return false }}, everypage.FindingConflict, "number of conflicts"},
		"an event is gone":     {tampered{event: func(e *state.Transition) bool { return e.Event != state.EventReview }}, everypage.FindingEvent, "event"},
		"the first event is":   {tampered{event: func(*state.Transition) bool { return !once() }}, everypage.FindingEvent, "event 0"},
	} {
		t.Run(name, func(t *testing.T) {
			first = true
			c.ledger.Store = w.ledger
			v, err := everypage.Verify(t.Context(), &c.ledger, runID)
			var failed *everypage.VerificationError
			if !errors.As(err, &failed) || !errors.Is(err, store.ErrCorrupt) || failed.Verification != v {
				t.Fatalf("want a *VerificationError with the report, have %v", err)
			}
			named := func(f everypage.Finding) bool { return f.Kind == c.kind && strings.HasPrefix(f.Where, c.where) }
			if !slices.ContainsFunc(v.Findings, named) {
				t.Errorf("want a finding %s at %s, have %v", c.kind, c.where, v.Findings)
			}
			if _, err := json.Marshal(v); err != nil {
				t.Error(err)
			}
		})
	}
}

func forgetItem(i *store.Item, id string) {
	if i.ID == id {
		*i = store.Item{Scope: i.Scope, ID: i.ID}
	}
}

// A run goes on from its newest page record, and is complete only if all of them
// are there: what an earlier process wrote may be gone.
func TestARunWhoseRecordsDoNotAddUpIsNotGoneOnWith(t *testing.T) {
	for name, lost := range map[string]int{"the newest page": 1, "an earlier page": 0} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, "a", "b", "c")
			w.answer = func(n int, _ pager.Cursor, _ *pager.Page[ticket]) error {
				if n == 2 {
					return &pager.Fault{Verdict: pager.Pause, Code: pager.CodeServerError}
				}
				return nil
			}
			receipt, err := w.run(w.job())
			wantPause(t, receipt, err, pager.CodeServerError)
			calls := len(w.calls)
			w.clock.advance(receipt.ResumeAt.Sub(w.clock.Now()))
			ledger := &tampered{Store: w.ledger, page: func(p *store.Page) bool { return p.Index != lost }}
			receipt, err = everypage.Run(t.Context(), ledger, w.job())
			if failed := new(everypage.VerificationError); !errors.As(err, &failed) || !errors.Is(err, store.ErrCorrupt) {
				t.Fatalf("want a *VerificationError, have %v", err)
			}
			if receipt.Status == state.Complete {
				t.Error("the receipt says complete")
			}
			if lost == 1 && len(w.calls) != calls {
				t.Error("a handler was called after the newest page was lost")
			}
			wantComplete(t, second(w.run(w.job()))) // the ledger itself is well
		})
	}
}

func second[A any](_ A, err error) error { return err }

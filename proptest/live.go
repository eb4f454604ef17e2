package proptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// newProcess returns a process that runs the world's job in a manner.
func newProcess(w *world, m manner) *process {
	return &process{
		w: w, manner: m, reached: map[moment]int{}, faults: map[int]fault{}, outcomes: map[int]fate{},
		causes: map[pager.Code]bool{}, untils: map[pager.Code][]time.Time{}, cancel: func(error) {},
	}
}

// live runs the job in a process until it ends or is ended, judges how it ended,
// and opens the ledger for the next one.
func (w *world) live(l *process, limit time.Duration) error {
	w.mu.Lock()
	w.lives++
	w.life = l
	was, _ := w.status()
	w.note("a process begins: %+v", l.manner)
	if l.manner.ReadAhead {
		w.count("read ahead")
	}
	for _, i := range l.incidents {
		w.note("  planned at %s %d: %s", i.at, i.n, i.what)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	l.cancel = cancel
	w.mu.Unlock()
	defer cancel(nil)
	if limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	began := now()
	err := w.run(ctx, l)
	w.mu.Lock()
	if ctx.Err() != nil {
		l.may(state.CodeCancelled)
	}
	if l.running > 0 {
		w.broken("pause-or-review", "Run has returned and %d calls are under way", l.running)
	}
	dead := l.dead
	w.note("Run says: %v", err)
	w.mu.Unlock()
	if err := w.reopen(l); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !dead {
		w.judgeEnd(l, &was, began, err)
	}
	return nil
}

// reopen closes the ledger of a process and opens it as it is on disk, and says
// whether it holds what was acknowledged.
func (w *world) reopen(l *process) error {
	closed := w.ledger.store.Close()
	w.mu.Lock()
	w.life = nil
	if l.dead {
		w.ledger.fs, closed = l.left, nil
	}
	w.mu.Unlock()
	if closed != nil {
		return fmt.Errorf("close the ledger: %w", closed)
	}
	if err := w.open(); err != nil {
		return fmt.Errorf("nothing-lost: the ledger does not open: %w", err)
	}
	return w.reconcile()
}

// reconcile compares the ledger with what it acknowledged. A change that was under
// way at a crash is there as a whole or not at all.
func (w *world) reconcile() error {
	f := w.facts
	is, err := dump(w.ledger.store, f.acked)
	if err != nil {
		return fmt.Errorf("nothing-lost: the ledger cannot be read: %w", err)
	}
	want, err := dump(newMemory(f.acked.clone()), f.acked)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	pending := f.pending
	f.pending = nil
	if bytes.Equal(is, want) {
		return nil
	}
	if pending != nil {
		then := f.acked.clone()
		if err := then.apply(*pending); err != nil {
			return err
		}
		is, err = dump(w.ledger.store, then)
		if err != nil {
			return err
		}
		if want, err = dump(newMemory(then.clone()), then); err != nil {
			return err
		}
		if bytes.Equal(is, want) {
			w.note("the record that was under way is there")
			w.count("crash: unacknowledged record kept")
			w.acknowledge(pending)
			return nil
		}
	}
	w.broken("nothing-lost", "after a restart the ledger holds\n%q\nand it acknowledged\n%q", is, want)
	return nil
}

// dump reads all of a ledger that can be there by the given records.
func dump(reader store.Reader, known *records) (all []byte, err error) {
	ctx := context.Background()
	for run, err := range reader.Runs(ctx, store.RunFilter{}) {
		if err != nil {
			return nil, err
		}
		if all, err = store.AppendRun(append(all, "\nrun "...), &run); err != nil {
			return nil, err
		}
		id := run.Receipt.RunID
		for page, err := range reader.Pages(ctx, id, 0) {
			if err != nil {
				return nil, err
			}
			all = store.AppendPage(fmt.Appendf(all, "\npage %d.%d ", page.Index, page.Revision), &page)
		}
		for c, err := range reader.Conflicts(ctx, id) {
			if err != nil {
				return nil, err
			}
			if all, err = store.AppendConflict(append(all, "\nconflict "...), &c); err != nil {
				return nil, err
			}
		}
		for e, err := range reader.Events(ctx, id) {
			if err != nil {
				return nil, err
			}
			if all, err = store.AppendTransition(append(all, "\nevent "...), &e); err != nil {
				return nil, err
			}
		}
	}
	var names []itemName
	for name := range known.items {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b itemName) int { return bytes.Compare([]byte(a.scope+"|"+a.id), []byte(b.scope+"|"+b.id)) })
	for _, name := range names {
		items, err := reader.Items(ctx, name.scope, []string{name.id})
		if err != nil {
			return nil, err
		}
		all = store.AppendItem(append(all, "\nitem "+name.scope+" "+name.id+" "...), &items[0])
	}
	return all, nil
}

// judgeEnd says whether a call of Run may have ended as it did. The caller holds
// the lock.
func (w *world) judgeEnd(l *process, was *state.Receipt, began time.Time, err error) {
	is, some := w.status()
	if !some {
		if err == nil {
			w.broken("end-observed", "there is no run, and no error")
		}
		return
	}
	complete := is.Status == state.Complete
	paused, review := errors.Is(err, everypage.ErrPaused), errors.Is(err, everypage.ErrNeedsReview)
	switch {
	case err == nil && !complete:
		w.broken("end-observed", "Run reports success and the run is %s", is.Status)
	case err != nil && complete && !l.failed && is.RunID != was.RunID:
		w.broken("pause-or-review", "the run is complete and Run says: %v", err)
	case errors.Is(err, errLeaveLoop), l.failed, err == nil:
	case paused && is.Status == state.Paused, review && is.Status == state.NeedsReview:
		w.judgeReason(l, was, &is, began)
	case l.cancelled || l.causes[state.CodeCancelled]: // before it was begun
	default:
		w.broken("pause-or-review", "the run is %s and Run says: %v", is.Status, err)
	}
}

// judgeReason says whether the world gave the reason for which a run stopped. The
// caller holds the lock.
func (w *world) judgeReason(l *process, was, is *state.Receipt, began time.Time) {
	if is.Reason == nil {
		w.broken("pause-or-review", "the run is %s and its receipt gives no reason", is.Status)
		return
	}
	code := is.Reason.Code
	w.count("reason: " + string(code))
	if was.RunID == is.RunID && was.Status == is.Status && was.Reason != nil && was.Reason.Code == code && l.requests == 0 && l.calls == 0 {
		switch {
		case is.Status == state.NeedsReview, is.ResumeAt.After(began), state.Explain(code).NeedsInstant:
			return // asked again too early, or without a decision
		}
	}
	if !l.causes[code] && !w.stands(is.RunID, code) {
		w.broken("pause-or-review", "the run is %s for %s, and nothing gave that reason", is.Status, code)
	}
	if given := l.untils[code]; is.Status == state.Paused && len(given) > 0 && !slices.ContainsFunc(given, func(at time.Time) bool {
		return at.IsZero() || at.Equal(is.ResumeAt) || !at.After(is.UpdatedAt)
	}) {
		w.broken("pause-or-review", "the run is paused for %s until %s, and what was said is %v", code, is.ResumeAt, given)
	}
	if is.Status == state.Paused && is.ResumeAt.IsZero() && !state.Explain(code).NeedsInstant && code != state.CodeCancelled && code != state.CodeDeadlinePassed {
		w.broken("pause-or-review", "the run is paused for %s without an instant", code)
	}
}

// stands reports whether what is recorded gives a reason to stop a run. The caller
// holds the lock.
func (w *world) stands(runID string, code pager.Code) bool {
	r := w.facts.acked
	run := r.runs[runID]
	last, some := r.lastPage(runID)
	pages := r.pages[runID]
	has := func(test func(store.Page) bool) bool { return slices.ContainsFunc(pages, test) }
	switch code { //nolint:exhaustive // the others are given by an answer or a call
	case state.CodeItemsHeld:
		return len(r.held(run.Scope)) > 0
	case state.CodeConflictsOpen:
		return slices.ContainsFunc(r.conflicts[runID], func(c store.Conflict) bool { return c.AcceptedBy == "" })
	case state.CodeEndVetoed:
		return has(func(p store.Page) bool { return len(p.Vetoes) > 0 })
	case state.CodeEntriesWithoutID:
		return has(func(p store.Page) bool { return len(p.Unidentified) > 0 })
	case state.CodeListShifted:
		return has(func(p store.Page) bool { return p.Total != nil && *p.Total != *pages[0].Total })
	case state.CodeCursorRepeated:
		_, found := r.pageAt(runID, last.Next)
		return some && found && last.End != pager.EndLast
	case state.CodeNoProgress:
		return some && last.Index > 0 && w.shape.List.Style != pager.StyleCursor &&
			has(func(p store.Page) bool { return p.Index == last.Index-1 && p.Hash == last.Hash })
	case pager.CodeCursorMissing:
		return some && last.End == pager.EndMore && last.Next.IsStart()
	case pager.CodeEndUnknown:
		return some && last.End == pager.EndUnknown && last.Next.IsStart()
	case state.CodeCursorLost:
		return w.shape.List.NotReplayable && run.Fetching > 0 && (!some || run.Fetching > last.Index)
	case state.CodeDeadlinePassed:
		return run.DeadlineSpent && now().After(run.Receipt.DeadlineAt)
	case state.CodeSuperseded:
		return run.Receipt.SupersededBy != ""
	}
	return false
}

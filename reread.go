package everypage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// revisions is what earlier records of the same page say.
type revisions struct {
	count     int
	at        time.Time // of the newest
	ids       []string  // of all, each once
	last      store.Page
	conflicts map[string]bool // IDs whose conflict on this page is recorded
	differing map[string]bool // those of them that had copies in one answer
	copies    int64           // equal copies inside the newest
}

// readEarlier reads the earlier records of a page that is read again.
func (r *runner[T]) readEarlier(ctx context.Context, sh *sheet[T]) error {
	if !sh.at.again {
		return nil
	}
	e, runID := &sh.earlier, r.book.current().Receipt.RunID
	seen := make(map[string]bool)
	for page, err := range r.ledger.Pages(ctx, runID, sh.at.index) {
		if err != nil {
			return fmt.Errorf("everypage: read what was recorded of page %d: %w", sh.at.index, err)
		}
		e.count, e.at, e.last = e.count+1, page.At, page
		for _, id := range page.IDs {
			if !seen[id] {
				seen[id] = true
				e.ids = append(e.ids, id)
			}
		}
	}
	e.conflicts, e.differing = make(map[string]bool), make(map[string]bool)
	for c, err := range r.ledger.Conflicts(ctx, runID) {
		if err != nil {
			return fmt.Errorf("everypage: read the conflicts of page %d: %w", sh.at.index, err)
		}
		if c.Page == sh.at.index {
			e.conflicts[c.ID] = true
			if c.FirstPage == c.Page {
				e.differing[c.ID] = true
			}
		}
	}
	e.copies = equalCopies(e.last.IDs, e.differing)
	return nil
}

// vanish settles what was recorded of the page and is no longer there.
func (r *runner[T]) vanish(ctx context.Context, sh *sheet[T], scope string) error {
	there := make(map[string]bool, len(sh.entries))
	for _, e := range sh.entries {
		there[e.item.ID] = true
	}
	gone := slices.DeleteFunc(slices.Clone(sh.earlier.ids), func(id string) bool { return there[id] })
	if len(gone) == 0 {
		return nil
	}
	known, err := r.ledger.Items(ctx, scope, gone)
	if err != nil {
		return fmt.Errorf("everypage: look up what is gone from page %d: %w", sh.at.index, err)
	}
	for _, was := range known {
		if was.State != store.StatePending || was.RunID != sh.page.RunID || was.Page != sh.at.index {
			continue
		}
		is := r.gone(ctx, sh, was)
		sh.becomes(&was, &is)
	}
	return nil
}

// gone returns what becomes of an unsettled item that its page no longer shows.
func (r *runner[T]) gone(ctx context.Context, sh *sheet[T], is store.Item) store.Item {
	is.UpdatedAt = sh.page.At
	if r.crashed && is.DoubtSince.IsZero() && !r.job.AtMostOnce {
		is.DoubtSince = sh.earlier.at // it may have been called before the runner died
	}
	var happened bool
	var err error
	if r.job.Confirm != nil && !is.DoubtSince.IsZero() {
		happened, err = r.confirm(ctx, is)
	}
	switch {
	case happened:
		is.State, is.SettledBy = store.StateDone, sh.page.RunID
		is.Intent, is.DoubtSince, is.Code, is.Detail = false, time.Time{}, "", ""
	case is.Intent && r.job.AtMostOnce: // never adopted by a page that shows it again
		is.State, is.Code = store.StateHeld, state.HoldInDoubt
		is.Detail = "its call was interrupted, and the list no longer has it"
	case r.job.DropVanished && err == nil:
		is.State, is.Code, is.SettledBy = store.StateDropped, state.HoldVanished, sh.page.RunID
	default:
		is.State, is.Code = store.StateHeld, state.HoldVanished
		is.Detail = fmt.Sprintf("page %d was read again and no longer has it", sh.at.index)
	}
	if err != nil {
		is.Detail = bounded(is.Detail + "; " + err.Error())
	}
	return is
}

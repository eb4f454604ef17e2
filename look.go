package everypage

import (
	"context"
	"fmt"
	"iter"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store"
)

// look reads what is known of the entries of a page. ahead is what was known of
// them when the page was read ahead, if it was.
func (r *runner[T]) look(ctx context.Context, sh *sheet[T], scope string, ahead []store.Item) error {
	if len(ahead) == len(sh.entries) && len(ahead) > 0 {
		for i := range sh.entries {
			sh.entries[i].known = ahead[i]
		}
		return nil
	}
	ids := make([]string, len(sh.entries))
	for i := range sh.entries {
		ids[i] = sh.entries[i].item.ID
	}
	known, err := r.knownItems(ctx, scope, ids)
	if err != nil {
		return fmt.Errorf("everypage: look the items of page %d up: %w", sh.at.index, err)
	}
	for i := range sh.entries {
		sh.entries[i].known = known[i]
	}
	return nil
}

// knownItems looks items up. One that was never recorded has its scope and ID all
// the same.
func (r *runner[T]) knownItems(ctx context.Context, scope string, ids []string) ([]store.Item, error) {
	known, err := r.ledger.Items(ctx, scope, ids)
	if err != nil {
		return nil, err
	}
	for i := range known {
		if known[i].State == store.StateUnknown {
			known[i] = store.Item{Scope: scope, ID: ids[i]}
		}
	}
	return known, nil
}

// seenAt returns the index of the page that the run has read at a cursor, and
// whether there is one.
func (r *runner[T]) seenAt(ctx context.Context, runID string, cursor pager.Cursor) (index int, found bool, err error) {
	r.looking.Lock()
	unseen := r.unseen == cursor && !cursor.IsStart()
	r.looking.Unlock()
	if unseen {
		return 0, false, nil
	}
	index, found, err = r.ledger.PageAt(ctx, runID, cursor)
	if err != nil {
		return 0, false, fmt.Errorf("everypage: look for an earlier page at the same cursor: %w", err)
	}
	return index, found, nil
}

// pagesAhead returns the pages from a cursor on, each read and looked up while the
// one before is handled; never past a page that the walk may not go on from.
func (r *runner[T]) pagesAhead(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[T], error] {
	clear(r.ahead) // of an earlier walk; nobody else is there yet
	r.unseen = pager.Cursor{}
	runID := r.book.current().Receipt.RunID
	reading := from
	return pager.ReadAhead(lookingAhead[T]{r}, func(page pager.Page[T]) bool {
		own := page.Next == reading
		reading = page.Next
		if own || page.End == pager.EndLast || page.Next.IsStart() {
			return false
		}
		_, found, err := r.ledger.PageAt(ctx, runID, page.Next)
		if err != nil || found {
			return false
		}
		r.looking.Lock()
		defer r.looking.Unlock()
		r.unseen = page.Next // until it is read; of others only this page is recorded, at another cursor
		return true
	}).Pages(ctx, from)
}

// lookingAhead is the run's pager, which looks up the items of a page as soon as it
// is read. Reading ahead, that is while the page before is recorded and handled.
type lookingAhead[T any] struct{ r *runner[T] }

var _ pager.Pager[any] = lookingAhead[any]{}

func (l lookingAhead[T]) Pages(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[T], error] {
	return func(yield func(pager.Page[T], error) bool) {
		at := from
		for page, err := range l.r.pager.Pages(ctx, from) {
			if err == nil && at != from { // nothing is done beside the first
				l.r.lookAhead(ctx, at, page.Items)
			}
			at = page.Next
			if !yield(page, err) {
				return
			}
		}
	}
}

// lookAhead looks the items of a page up that is not recorded yet. What cannot be
// looked up now, the record of the page looks up.
func (r *runner[T]) lookAhead(ctx context.Context, at pager.Cursor, items []pager.Item[T]) {
	ids := make([]string, len(items))
	for i := range items {
		if unusable(items[i].ID, "") != "" {
			return
		}
		ids[i] = items[i].ID
	}
	known, err := r.knownItems(ctx, r.book.current().Scope, ids)
	if err != nil {
		return
	}
	r.looking.Lock()
	defer r.looking.Unlock()
	r.ahead[at] = known
}

// lookedUp returns what was known of the items of a page when it was read ahead;
// nil where that may have changed since. Between the look and now, this run alone
// wrote of its scope: the record of the page before, whose IDs the sheet still has,
// and outcomes of items that were its own by then. A page that was read again is left
// out: its record also writes of items that it no longer has.
func (r *runner[T]) lookedUp(at position, page pager.Page[T]) []store.Item {
	r.looking.Lock()
	known := r.ahead[at.cursor]
	delete(r.ahead, at.cursor)
	if r.unseen == at.cursor {
		r.unseen = pager.Cursor{} // it is read now
	}
	r.looking.Unlock()
	if len(known) != len(page.Items) || at.again || r.sheet.at.again {
		return nil
	}
	for i := range known {
		if _, before := r.sheet.first[known[i].ID]; before || known[i].ID != page.Items[i].ID {
			return nil
		}
	}
	return known
}

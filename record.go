package everypage

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// sheet is a page on its way into the ledger.
type sheet[T any] struct {
	at        position
	page      store.Page
	bounded   bool
	first     map[string]int // the entry of each ID
	entries   []entry[T]     // one for each ID
	items     []store.Item   // what becomes of them
	counts    counts         // what that changes
	conflicts []store.Conflict
	tasks     []*task[T]
	room      []task[T] // for the tasks
	earlier   revisions
	newIDs    int
	copies    int64 // equal copies inside the answer
}

// begin makes the sheet an empty one for a page, in the room of the one before.
func (sh *sheet[T]) begin(at position, page pager.Page[T]) {
	n := len(page.Items)
	if sh.first == nil {
		sh.first = make(map[string]int, n)
	}
	clear(sh.first)
	clear(sh.entries)
	clear(sh.items)
	if cap(sh.room) < n { // tasks are pointed to, so they must not move
		sh.room = make([]task[T], 0, n)
	}
	clear(sh.room)
	*sh = sheet[T]{
		at: at, bounded: page.Bounded, first: sh.first, entries: slices.Grow(sh.entries[:0], n),
		items: slices.Grow(sh.items[:0], n), tasks: sh.tasks[:0], room: sh.room[:0],
	}
}

// becomes adds what a known item is from this page on.
func (sh *sheet[T]) becomes(was, is *store.Item) {
	sh.counts.move(sh.page.RunID, was, is)
	sh.items = append(sh.items, *is)
}

// entry is an item of an answer, and what was known of it.
type entry[T any] struct {
	item    pager.Item[T]
	ordinal int
	known   store.Item
}

// record makes a page durable, together with the outcomes of the page before,
// and returns what is to be handled. Nothing of the page is handled earlier.
func (r *runner[T]) record(ctx context.Context, at position, page pager.Page[T]) (store.Page, []*task[T], error) {
	known := r.lookedUp(at, page)
	sh := &r.sheet
	sh.begin(at, page)
	if err := r.readEarlier(ctx, sh); err != nil {
		return store.Page{}, nil, err
	}
	run := r.book.current()
	sh.page = store.Page{
		RunID: run.Receipt.RunID, Index: at.index, Revision: sh.earlier.count, At: r.clock.Now(),
		Cursor: at.cursor, Next: page.Next, End: page.End, Evidence: page.Evidence,
		Skipped: page.Skipped, Vetoes: page.Vetoes,
		Total: page.Meta.Total, Status: page.Meta.Status, RequestID: page.Meta.RequestID,
	}
	r.identify(sh, page.Items)
	sh.page.Hash = hashIDs(sh.page.IDs)
	sh.page.Digest = chain(run.Receipt.Digest, sh.page)
	if err := r.look(ctx, sh, run.Scope, known); err != nil {
		return store.Page{}, nil, err
	}
	for i := range sh.entries {
		r.place(sh, &sh.entries[i])
	}
	if err := r.vanish(ctx, sh, run.Scope); err != nil {
		return store.Page{}, nil, err
	}
	seen, err := r.cursorSeen(ctx, at)
	if err != nil {
		return store.Page{}, nil, err
	}
	err = r.book.commit(ctx, func(s step) error {
		r.write(s, sh, seen)
		return nil
	})
	if err != nil {
		return store.Page{}, nil, err
	}
	r.failures.Store(0)
	return sh.page, sh.tasks, nil
}

// identify tells the entries of an answer apart: those with an ID, each once;
// copies; and those that cannot be told apart.
func (r *runner[T]) identify(sh *sheet[T], items []pager.Item[T]) {
	sh.page.IDs = make([]string, 0, len(items))
	for place, item := range items {
		if problem := unusable(item.ID, item.Problem); problem != "" {
			sh.page.Unidentified = append(sh.page.Unidentified, place)
			if problem != item.Problem { // a pager's own word says which entry it means
				problem = fmt.Sprintf("entry %d: %s", place, problem)
			}
			sh.page.Problems = append(sh.page.Problems, problem)
			continue
		}
		sh.page.IDs = append(sh.page.IDs, item.ID)
		i, copied := sh.first[item.ID]
		if !copied {
			sh.first[item.ID] = len(sh.entries)
			sh.entries = append(sh.entries, entry[T]{item: item, ordinal: place})
			continue
		}
		if a, b := r.raw(sh.entries[i].item), r.raw(item); a == nil || !bytes.Equal(a, b) {
			r.conflict(sh, item, sh.at.index) // which of the two was meant?
		}
	}
	if len(sh.entries) == len(sh.page.IDs) {
		return // no copies
	}
	differing := maps.Clone(sh.earlier.differing)
	for _, c := range sh.conflicts {
		if differing == nil {
			differing = make(map[string]bool)
		}
		differing[c.ID] = true
	}
	sh.copies = equalCopies(sh.page.IDs, differing)
}

// equalCopies counts the entries of a page beyond the first of their ID, without
// those IDs whose copies differ: they are conflicts.
func equalCopies(ids []string, differing map[string]bool) (copies int64) {
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		if seen[id] && !differing[id] {
			copies++
		}
		seen[id] = true
	}
	return copies
}

// unusable says why an ID cannot identify an item; empty if it can.
func unusable(id, problem string) string {
	switch {
	case id == "" && problem != "":
		return problem
	case id == "":
		return "has no ID"
	case len(id) > maxItemIDLength:
		return fmt.Sprintf("has an ID of %d bytes; at most %d can be recorded", len(id), maxItemIDLength)
	}
	return ""
}

// raw returns an item's bytes, nil if it has none that could be stored.
func (r *runner[T]) raw(item pager.Item[T]) []byte {
	if item.Raw != nil {
		return item.Raw
	}
	var raw []byte
	err := guarded(func() (err error) {
		raw, err = r.job.Encode(item.Value)
		return err
	})
	if err != nil {
		r.log.Warn("an item's value cannot be encoded, so it cannot be stored", "item_id", item.ID, "error", err)
		return nil
	}
	return raw
}

// conflict records that an ID was seen where it should not have been, once for
// each page.
func (r *runner[T]) conflict(sh *sheet[T], item pager.Item[T], firstPage int) {
	if sh.earlier.conflicts[item.ID] {
		return
	}
	if sh.earlier.conflicts == nil {
		sh.earlier.conflicts = make(map[string]bool)
	}
	sh.earlier.conflicts[item.ID] = true
	sh.conflicts = append(sh.conflicts, store.Conflict{
		RunID: sh.page.RunID, ID: item.ID, FirstPage: firstPage, Page: sh.at.index,
		At: sh.page.At, Payload: r.raw(item),
	})
}

// place decides what an entry means for its item.
func (r *runner[T]) place(sh *sheet[T], e *entry[T]) {
	known := &e.known
	mine := known.RunID == sh.page.RunID
	here := mine && known.Page == sh.at.index
	vanished := known.Code == state.HoldVanished && (known.State == store.StateHeld || known.State == store.StateDropped)
	switch {
	case known.State == store.StateUnknown:
		sh.newIDs++
		r.take(sh, e, &store.Item{})
	case vanished: // it was never settled, so it is handled where it is met again
		r.take(sh, e, &store.Item{Attempts: known.Attempts, Intent: known.Intent, DoubtSince: known.DoubtSince})
	case here && known.State == store.StatePending:
		r.take(sh, e, known)
	case here:
	case mine:
		r.conflict(sh, e.item, known.Page)
	case known.State == store.StatePending:
		r.take(sh, e, known)
	case known.State == store.StateDeferred,
		known.State == store.StateHeld && known.Code != state.HoldInDoubt:
		r.take(sh, e, &store.Item{DoubtSince: known.DoubtSince}) // attempts start afresh
	default: // settled by an earlier run, or in doubt since then
		met := *known
		met.RunID, met.Page, met.Ordinal = sh.page.RunID, sh.at.index, e.ordinal
		sh.becomes(known, &met)
	}
}

// take makes an entry an item of this page: to be handled, or deferred past the
// cutoff. What is carried over are the attempts and the doubt of earlier calls.
func (r *runner[T]) take(sh *sheet[T], e *entry[T], carried *store.Item) {
	is := store.Item{
		Scope: e.known.Scope, ID: e.known.ID, State: store.StatePending,
		RunID: sh.page.RunID, Page: sh.at.index, Ordinal: e.ordinal,
		Attempts: carried.Attempts, Intent: carried.Intent, DoubtSince: carried.DoubtSince,
		Code: carried.Code, Detail: carried.Detail, UpdatedAt: sh.page.At,
	}
	if carried.State == store.StatePending && carried.RunID == sh.page.RunID {
		is.Ordinal = carried.Ordinal
		if r.crashed && is.DoubtSince.IsZero() && !r.job.AtMostOnce {
			is.DoubtSince = sh.earlier.at // it may have been called before the runner died
		}
	}
	if cutoff := r.book.current().Receipt.CutoffAt; !cutoff.IsZero() {
		switch {
		case e.item.CreatedAt.IsZero() && r.job.Cutoff == ClientCutoff:
			is.State, is.Code = store.StateHeld, state.HoldCreatedAt
			is.Detail = "its creation time is missing or unreadable, so it cannot be compared with the cutoff"
			is.Payload = r.raw(e.item)
		case e.item.CreatedAt.After(cutoff):
			is.State = store.StateDeferred
		}
	}
	if is.State == store.StatePending {
		if r.list.NotReplayable {
			is.Payload = r.raw(e.item)
		}
		sh.room = append(sh.room, task[T]{item: e.item, record: is, first: true})
		sh.tasks = append(sh.tasks, &sh.room[len(sh.room)-1])
	}
	sh.becomes(&e.known, &is)
}

// cursorSeen reports whether an earlier page was read at the same cursor, where
// the contract allows that at all.
func (r *runner[T]) cursorSeen(ctx context.Context, at position) (bool, error) {
	if r.list.RepeatLimit == 0 || at.again {
		return false, nil
	}
	_, found, err := r.ledger.PageAt(ctx, r.book.current().Receipt.RunID, at.cursor)
	if err != nil {
		return false, fmt.Errorf("everypage: look for an earlier page at the same cursor: %w", err)
	}
	return found, nil
}

// write puts the sheet and all that it counts into one commit.
func (r *runner[T]) write(s step, sh *sheet[T], seen bool) {
	receipt, page := &s.run.Receipt, &sh.page
	sh.counts.addTo(receipt)
	s.change.Items = append(s.change.Items, sh.items...)
	for i := range sh.conflicts {
		sh.conflicts[i].Seq = s.run.ConflictSeq
		s.run.ConflictSeq++
	}
	s.change.Conflicts, s.change.Page = sh.conflicts, page
	receipt.DuplicateConflicts += int64(len(sh.conflicts))
	receipt.InPageDuplicates += sh.copies - sh.earlier.copies
	without := int64(len(page.Unidentified) - len(sh.earlier.last.Unidentified))
	receipt.EntriesWithoutID += without
	receipt.PendingCount += without
	receipt.EntriesSkipped += int64(page.Skipped - sh.earlier.last.Skipped)

	stalled := len(page.IDs) > 0 && page.Hash == receipt.FetchedIDsHash
	if sh.at.again { // compared with itself
		stalled = stalled && s.run.Stalled
	}
	receipt.CursorIn, receipt.CursorOut = page.Cursor, page.Next
	receipt.PageIndex, receipt.Pages = page.Index, page.Index+1
	receipt.FetchedIDsHash, receipt.Digest = page.Hash, page.Digest
	receipt.LastRequestID = page.RequestID
	receipt.BoundedFeed = receipt.BoundedFeed || sh.bounded
	receipt.Vetoes = union(receipt.Vetoes, page.Vetoes)
	receipt.TerminalObserved = page.End == pager.EndLast && len(receipt.Vetoes) == 0
	receipt.EndEvidence = ""
	if page.End == pager.EndLast {
		receipt.EndEvidence = page.Evidence
	}
	if page.Total != nil {
		r.compareTotal(s, *page.Total)
	}

	s.run.Stalled = stalled
	s.run.Fetching = -1
	s.run.Died = false // what may have been called is marked, in this commit
	switch {
	case r.crashed && sh.at.again:
		s.run.Careful = sh.at.index
	case s.run.Careful != sh.at.index:
		s.run.Careful = -1
	}
	if seen && sh.newIDs == 0 {
		s.run.Repeats++
	} else {
		s.run.Repeats = 0
	}
}

// compareTotal cross-checks the size of the list that the API reports. It is
// never an end; for a walk by number a change can mean that items were missed.
func (r *runner[T]) compareTotal(s step, total int64) {
	receipt := &s.run.Receipt
	if receipt.ReportedTotal == nil {
		receipt.ReportedTotal = &state.ReportedTotal{First: total, Last: total}
		return
	}
	before := receipt.ReportedTotal.Last
	if total == before {
		return
	}
	receipt.ReportedTotal = &state.ReportedTotal{First: receipt.ReportedTotal.First, Last: total}
	byNumber := r.list.Style == pager.StyleOffset || r.list.Style == pager.StylePage
	harmless := !byNumber || total > before && r.list.Order == pager.OrderStableAscending
	code := state.NoteTotalChanged
	if !harmless {
		code = state.CodeListShifted
		contradict(receipt, code)
	}
	s.note(state.Reason{
		Code: code, PageIndex: receipt.PageIndex,
		Detail: fmt.Sprintf("the reported total went from %d to %d", before, total),
	})
}

// union returns a with what b adds, in a slice of its own.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, text := range b {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

package proptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// judgeRequest says whether a request may be made now, and at this cursor. ahead is
// what the answer before it in the same sequence named. The caller holds the lock.
func (w *world) judgeRequest(l *process, at, ahead pager.Cursor) {
	run, open := w.facts.acked.open(jobName)
	reads := l.manner.ReadAhead && at == ahead && !at.IsStart() // begun beside what stops the run, and dropped
	if (!open || run.Receipt.Status != state.Running) && reads {
		return
	}
	if !open || run.Receipt.Status != state.Running {
		w.broken("pause-or-review", "a request is made while the run is %q", run.Receipt.Status)
		return
	}
	runID := run.Receipt.RunID
	last, some := w.facts.acked.lastPage(runID)
	legal := at == pager.Cursor{} && !some || some && (w.means(at, last.Cursor) || w.means(at, last.Next) && !at.IsStart())
	if !legal && !reads {
		w.broken("opaque-cursor", "a page is read at %s, which is neither where the run stands (%s) nor where its last page points to (%s)", at, last.Cursor, last.Next)
	}
	if index, found := w.facts.acked.pageAt(runID, at); found && index < last.Index {
		w.broken("opaque-cursor", "the cursor %s was read on page %d and is read again after page %d", at, index, last.Index)
	}
	if w.shape.List.NotReplayable && some && at == last.Cursor {
		w.broken("opaque-cursor", "a list that cannot be read twice is read again at %s", at)
	}
}

// means reports whether a cursor that came with a request is the recorded one. A
// contract may keep a cursor as JSON, alone or as one value of several.
func (w *world) means(at, recorded pager.Cursor) bool {
	sent, there := at.Token()
	kept, _ := recorded.Token()
	if at == recorded || !there || w.shape.List.Contract == nil {
		return at == recorded
	}
	text, err := json.Marshal(sent)
	return err == nil && strings.Contains(kept, string(text))
}

// judgeCall says whether an item may be handled now. The caller holds the lock.
func (w *world) judgeCall(l *process, item everypage.Item[raw]) *calls {
	f := w.facts
	run, known := f.acked.runs[item.RunID]
	scope := f.scopeOf(string(w.shape.Once), item.RunID)
	name := itemName{scope, item.ID}
	c := f.calls[name]
	if c == nil {
		c = &calls{key: item.Key}
		f.calls[name] = c
	}
	if owner, used := f.keys[item.Key]; used && owner != name {
		w.broken("same-key", "%s of %s has the key of %s of %s", item.ID, scope, owner.id, owner.scope)
	}
	f.keys[item.Key] = name
	if c.key != item.Key {
		w.broken("same-key", "%s was called with the key %q and then with %q", item.ID, c.key, item.Key)
	}
	is := f.acked.item(scope, item.ID)
	switch {
	case !known || run.Receipt.Status != state.Running:
		w.broken("pause-or-review", "%s is called while its run is %q", item.ID, run.Receipt.Status)
	case is.State == store.StateDone:
		w.broken("confirmed-once", "%s was confirmed and is called again", item.ID)
	case is.State == store.StateDropped || is.State == store.StateDeferred:
		w.broken("nothing-lost", "%s is called and the ledger has it as %s", item.ID, is.State)
	case is.State == store.StateHeld && !is.Released:
		w.broken("nothing-lost", "%s is called while it is held (%s)", item.ID, is.Code)
	case is.State == store.StateUnknown:
		w.broken("page-before-work", "%s is called before its page is recorded", item.ID)
	case !is.Released && (is.RunID != item.RunID || is.Page != item.Page):
		w.broken("page-before-work", "%s is called for page %d and is recorded on page %d", item.ID, item.Page, is.Page)
	}
	if !is.Released { // those of the hold queue come before any page
		w.judgeEarlier(item.RunID, item.Page, nil, item.ID+" is called")
	}
	if cutoff := run.Receipt.CutoffAt; !cutoff.IsZero() && item.CreatedAt.After(cutoff) {
		w.broken("cutoff-closed", "%s was created at %s, after the cutoff %s", item.ID, item.CreatedAt, cutoff)
	}
	if w.shape.AtMostOnce && c.unknown > 0 {
		w.broken("at-most-once", "%s is called again, and nobody said that it was not done", item.ID)
	}
	if item.Attempt < 1 || item.Attempt > w.shape.MaxAttempts {
		w.broken("nothing-lost", "%s is called as attempt %d of %d", item.ID, item.Attempt, w.shape.MaxAttempts)
	}
	if most := max(1, l.manner.Concurrency); w.shape.Form != batches && l.running > most {
		w.broken("one-runner", "%d calls run at a time and %d were asked for", l.running, most)
	}
	c.begun++
	c.unknown++
	return c
}

// judgeEarlier says whether every item of a page's predecessors is settled, by what
// is durable and, where there is one, a change on its way.
func (w *world) judgeEarlier(runID string, index int, change *store.Change, doing string) {
	f := w.facts
	scope := f.acked.runs[runID].Scope
	for _, page := range f.acked.pages[runID] {
		if page.Index >= index {
			continue
		}
		for _, id := range page.IDs {
			is := f.acked.item(scope, id)
			if change != nil {
				for _, item := range change.Items {
					if item.ID == id {
						is = item
					}
				}
			}
			if is.State == store.StatePending && is.RunID == runID && is.Page < index {
				w.broken("page-settled-before-next", "%s of page %d while %s of page %d is pending", doing, index, id, is.Page)
			}
		}
	}
}

// judgeOutcome keeps what a handler said. The caller holds the lock.
func (w *world) judgeOutcome(c *calls, err error) {
	var permanent *everypage.PermanentError
	var pause *everypage.PauseRunError
	var none *everypage.NotDoneError
	switch {
	case err == nil:
	case errors.As(err, &permanent):
		c.refused = c.refused || permanent.Code == state.HoldKeyMismatch
		c.failed++
		c.unknown--
	case errors.As(err, &pause):
		c.unknown--
	case errors.As(err, &none):
		c.failed++
		c.unknown--
	default:
		c.failed++
	}
	if n := w.sink.effects[c.key]; n > 1 && (w.shape.Honours || w.shape.AtMostOnce) && !c.pardoned {
		w.broken("same-key", "the effect of %s happened %d times", c.key, n)
	}
}

// judgeChange says whether a change may be made. The caller holds the lock.
func (w *world) judgeChange(l *process, change *store.Change) {
	f := w.facts
	after := change.Run.Receipt
	before := f.acked.runs[after.RunID].Receipt
	if before.Status == state.Complete {
		w.broken("complete-is-final", "a record is written for run %s, which is complete", after.RunID)
	}
	if before.Status == state.Paused && after.Status == state.Running && !l.manner.Force && now().Before(before.ResumeAt) {
		w.broken("pause-or-review", "the run goes on before %s", before.ResumeAt)
	}
	if f.acked.runs[after.RunID].DeadlineSpent {
		for _, e := range change.Events {
			if e.Event == state.EventPause && e.Reason.Code == state.CodeDeadlinePassed {
				w.broken("pause-or-review", "the run pauses once more for its deadline")
			}
		}
	}
	if p := change.Page; p != nil {
		w.judgePage(change, p)
	}
	for _, item := range change.Items {
		w.judgeItem(change, item)
	}
}

// judgeItem says whether an item may become what a change makes of it. The caller
// holds the lock.
func (w *world) judgeItem(change *store.Change, is store.Item) {
	was := w.facts.acked.item(is.Scope, is.ID)
	c := w.facts.calls[itemName{is.Scope, is.ID}]
	if c == nil {
		c = &calls{}
	}
	switch is.State {
	case store.StateDeferred:
		if created := w.created[is.ID]; !created.After(change.Run.Receipt.CutoffAt) {
			w.broken("cutoff-closed", "%s is deferred, was created at %s, and the cutoff is %s", is.ID, created, change.Run.Receipt.CutoffAt)
		}
	case store.StateDone:
		if c.begun == 0 {
			w.broken("nothing-lost", "%s is done and was never called", is.ID)
		}
	case store.StateHeld:
		if was.State == store.StateHeld && was.Code == is.Code {
			return
		}
		w.count("held: " + string(is.Code))
		gone := change.Also != nil || change.Page != nil && change.Page.Revision > 0 && !slices.Contains(change.Page.IDs, is.ID)
		justified := map[pager.Code]bool{
			state.HoldAttempts: c.failed > 0, state.HoldPermanent: c.failed > 0, state.HoldKeyMismatch: c.refused,
			state.HoldInDoubt: w.shape.AtMostOnce || w.shape.KeyRetention > 0, state.HoldPoison: w.deaths > 0,
			state.HoldVanished: gone, state.HoldCreatedAt: w.shape.Cutoff == everypage.ClientCutoff,
		}
		if !justified[is.Code] {
			w.broken("nothing-lost", "%s is held for %s (%s), and nothing gave that reason", is.ID, is.Code, is.Detail)
		}
	case store.StateUnknown, store.StatePending, store.StateDropped:
	}
}

// judgePage says whether a page may be recorded. The caller holds the lock.
func (w *world) judgePage(change *store.Change, p *store.Page) {
	f := w.facts
	last, some := f.acked.lastPage(p.RunID)
	index, cursor := 0, pager.Cursor{}
	switch {
	case !some:
	case p.Revision > 0:
		index, cursor = last.Index, last.Cursor
	default:
		index, cursor = last.Index+1, last.Next
	}
	if p.Index != index || p.Cursor != cursor {
		w.broken("page-before-work", "page %d at %s is recorded, and the next is page %d at %s", p.Index, p.Cursor, index, cursor)
	}
	if !w.api.answered(p, w.shape.List.Contract != nil) {
		w.broken("end-observed", "page %d is recorded as %v, end %s, next %s, and the API did not say so", p.Index, p.IDs, p.End, p.Next)
	}
	w.judgeEarlier(p.RunID, p.Index, change, "a record is written")
	for _, id := range p.IDs {
		known := slices.ContainsFunc(change.Items, func(i store.Item) bool { return i.ID == id })
		if !known && f.acked.item(change.Run.Scope, id).State == store.StateUnknown {
			w.broken("page-before-work", "%s is on page %d and is not recorded with it", id, p.Index)
		}
		w.judgeCopy(change, p, id)
	}
}

// judgeCopy says whether an ID that an earlier page of the run has is recorded as a
// conflict. The caller holds the lock.
func (w *world) judgeCopy(change *store.Change, p *store.Page, id string) {
	is := w.facts.acked.item(change.Run.Scope, id)
	vanished := is.Code == state.HoldVanished && (is.State == store.StateHeld || is.State == store.StateDropped)
	if is.State == store.StateUnknown || is.RunID != p.RunID || is.Page == p.Index || vanished {
		return
	}
	same := func(c store.Conflict) bool { return c.ID == id && c.Page == p.Index }
	if !slices.ContainsFunc(change.Conflicts, same) && !slices.ContainsFunc(w.facts.acked.conflicts[p.RunID], same) {
		w.broken("duplicate-once", "%s of page %d is on page %d too, and no conflict is recorded", id, is.Page, p.Index)
	}
}

// judgeComplete says whether a run may be complete. It is, by now. The caller holds
// the lock.
func (w *world) judgeComplete(runID string) {
	f := w.facts
	run := f.acked.runs[runID]
	r := run.Receipt
	last, some := f.acked.lastPage(runID)
	if !some || last.End != pager.EndLast || !r.TerminalObserved || len(r.Vetoes) > 0 {
		w.broken("end-observed", "run %s is complete, and its last page is %+v", runID, last)
	}
	if r.PendingCount != 0 || r.DuplicateConflicts != 0 || r.HeldCount != 0 {
		w.broken("nothing-lost", "run %s is complete with %d pending, %d held, %d conflicts", runID, r.PendingCount, r.HeldCount, r.DuplicateConflicts)
	}
	for _, item := range w.must(runID) {
		is := f.acked.item(run.Scope, item.ID)
		switch {
		case is.State == store.StateDone:
		case is.State == store.StateDropped && is.Code == state.WrittenOff:
		default:
			w.broken("nothing-lost", "run %s is complete, %s stood in the list all the time, and it is %s", runID, item.ID, is.State)
		}
	}
	for name, item := range f.acked.items {
		if name.scope == run.Scope && item.State == store.StateDone && w.sink.effects[everypage.Key(name.scope, name.id, action)] == 0 {
			w.broken("confirmed-once", "%s is done and has no effect", name.id)
			break
		}
	}
	f.final[runID] = receiptText(&r)
	w.count("complete")
}

// receiptText is a receipt as a person reads it, for a comparison of all of it.
func receiptText(r *state.Receipt) string {
	text, err := json.Marshal(r)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// describeChange is a change as a line of the trace.
func describeChange(c *store.Change) string {
	var parts []string
	if c.Begin {
		parts = append(parts, "begin")
	}
	if p := c.Page; p != nil {
		parts = append(parts, fmt.Sprintf("page %d.%d at %s %v next %s end %s", p.Index, p.Revision, p.Cursor, p.IDs, p.Next, p.End))
	}
	for _, i := range c.Items {
		text := i.ID + " " + i.State.String()
		if i.Code != "" {
			text += " (" + string(i.Code) + ")"
		}
		if i.Intent {
			text += " intent"
		}
		parts = append(parts, text)
	}
	for _, x := range c.Conflicts {
		parts = append(parts, fmt.Sprintf("conflict %s on pages %d and %d", x.ID, x.FirstPage, x.Page))
	}
	for _, e := range c.Events {
		parts = append(parts, fmt.Sprintf("%s to %s %s", e.Event, e.To, e.Reason.Code))
	}
	if c.Also != nil {
		parts = append(parts, "supersedes "+c.Also.Run.Receipt.RunID)
	}
	if len(parts) == 0 {
		parts = append(parts, "a mark")
	}
	return c.Run.Receipt.RunID + ": " + strings.Join(parts, ", ")
}

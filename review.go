package everypage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// Decision is what a person decides about a run that needs review.
type Decision struct {
	// By is who decides. It is required and kept in the ledger.
	By string
	// Note says why. Accept requires it.
	Note string
	// Items are the IDs that the decision is about. What empty means depends on
	// the decision.
	Items []string
	// Clock is where the time comes from. Defaults to SystemClock.
	Clock Clock
	// Random is where the ID of a new run comes from. Defaults to
	// crypto/rand.Reader.
	Random io.Reader
}

// DecisionError says why a decision cannot be carried out. Nothing was changed.
type DecisionError struct {
	RunID string
	Act   string
	Err   error
}

func (e *DecisionError) Error() string {
	return fmt.Sprintf("everypage: %s run %s: %v", e.Act, e.RunID, e.Err)
}

// Unwrap returns the cause.
func (e *DecisionError) Unwrap() error { return e.Err }

// Retry reopens a run that needs review: the next Run goes on with it. Held items
// are tried again from their stored bytes, with their old key and fresh attempts;
// without Decision.Items, all that have stored bytes, except those in doubt and
// those whose key the sink knows with another body, which must be named. It is
// refused where the reason cannot be mended inside the run; see state.Explain.
func Retry(ctx context.Context, ledger store.Store, runID string, d Decision) (*state.Receipt, error) {
	return decide(ctx, ledger, runID, "retry", d, func(b *book, held []store.Item) error {
		released, err := chooseRetry(held, d.Items)
		if err != nil {
			return err
		}
		return b.commit(ctx, func(s step) error {
			if r := s.run.Receipt.Reason; len(released) == 0 && r != nil && r.Code == state.CodeItemsHeld {
				return errors.New("no held item can be tried again without being named: name those in doubt or with a reused key, accept the others by name, or supersede the run")
			}
			for _, item := range released {
				item.Released, item.Attempts, item.Intent, item.UpdatedAt = true, 0, false, s.now
				if len(d.Items) > 0 { // who names an item takes its doubt upon themselves
					item.DoubtSince = time.Time{}
				}
				s.change.Items = append(s.change.Items, item)
			}
			s.run.Careful = -1
			return s.fire(ctx, state.Change{Event: state.EventReopen, Who: d.By, Reason: noteOf(s.run, d.Note)})
		})
	})
}

// chooseRetry returns the held items that are to be tried again.
func chooseRetry(held []store.Item, ids []string) ([]store.Item, error) {
	if len(ids) == 0 {
		return slices.DeleteFunc(held, func(i store.Item) bool {
			return i.Payload == nil || i.Code == state.HoldInDoubt || i.Code == state.HoldKeyMismatch
		}), nil
	}
	chosen, err := choose(held, ids)
	if err != nil {
		return nil, err
	}
	for _, item := range chosen {
		if item.Payload == nil {
			return nil, fmt.Errorf("item %q (%s) has no stored bytes to try again with: accept it, or supersede the run", item.ID, item.Code)
		}
	}
	return chosen, nil
}

// choose returns the held items with the given IDs, each once.
func choose(held []store.Item, ids []string) ([]store.Item, error) {
	var chosen []store.Item
	for place, id := range ids {
		if slices.Contains(ids[:place], id) {
			continue
		}
		i := slices.IndexFunc(held, func(item store.Item) bool { return item.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("item %q is not held", id)
		}
		chosen = append(chosen, held[i])
	}
	return chosen, nil
}

// Accept takes a run's open conflicts as they are, or, with Decision.Items, those
// of the given items; held items among them are written off, and their number
// stands in the receipt. It needs a name and a note. Where nothing else stands in
// the way, the run is complete afterwards.
func Accept(ctx context.Context, ledger store.Store, runID string, d Decision) (*state.Receipt, error) {
	if d.Note == "" {
		return nil, &DecisionError{RunID: runID, Act: "accept", Err: errors.New("a note is missing: say why it may stand")}
	}
	return decide(ctx, ledger, runID, "accept", d, func(b *book, held []store.Item) error {
		conflicts, err := chooseConflicts(ctx, ledger, runID, d.Items)
		if err != nil {
			return err
		}
		conflicting := func(id string) bool {
			return slices.ContainsFunc(conflicts, func(c store.Conflict) bool { return c.ID == id })
		}
		isHeld := func(id string) bool {
			return slices.ContainsFunc(held, func(i store.Item) bool { return i.ID == id })
		}
		var writtenOff []string
		for _, id := range d.Items {
			if isHeld(id) || !conflicting(id) {
				writtenOff = append(writtenOff, id)
			}
		}
		dropped, err := choose(held, writtenOff)
		if err != nil {
			return fmt.Errorf("%w, and has no open conflict", err)
		}
		if len(conflicts)+len(dropped) == 0 {
			return errors.New("it has no open conflict; name the held items that are to be written off")
		}
		return b.commit(ctx, func(s step) error { return s.accept(ctx, d, conflicts, dropped) })
	})
}

// chooseConflicts returns the open conflicts, of the given IDs if there are any.
func chooseConflicts(ctx context.Context, ledger store.Reader, runID string, ids []string) ([]store.Conflict, error) {
	var open []store.Conflict
	for c, err := range ledger.Conflicts(ctx, runID) {
		if err != nil {
			return nil, err
		}
		if c.AcceptedBy == "" && (len(ids) == 0 || slices.Contains(ids, c.ID)) {
			open = append(open, c)
		}
	}
	return open, nil
}

// accept records the decision and moves the run on as far as that lets it.
func (s step) accept(ctx context.Context, d Decision, conflicts []store.Conflict, dropped []store.Item) error {
	r := &s.run.Receipt
	for _, c := range conflicts {
		c.AcceptedBy, c.Note, c.AcceptedAt = d.By, d.Note, s.now
		s.change.Conflicts = append(s.change.Conflicts, c)
	}
	r.DuplicateConflicts -= int64(len(conflicts))
	r.ConflictsAccepted += int64(len(conflicts))
	for _, was := range dropped {
		is := was
		is.State, is.SettledBy, is.UpdatedAt, is.Released = store.StateDropped, r.RunID, s.now, false
		is.Code, is.Detail = state.WrittenOff, d.By+": "+d.Note
		tally(r, &was, &is)
		s.change.Items = append(s.change.Items, is)
	}
	s.note(noteOf(s.run, d.By+": "+d.Note))
	atEnd := r.Reason != nil && (r.Reason.Code == state.CodeConflictsOpen || r.Reason.Code == state.CodeItemsHeld)
	blocks := r.Blocks()
	if !atEnd {
		r.BlockedBy = blocks
		return nil // what stopped the run is still there
	}
	if len(blocks) > 0 {
		reason := *r.Reason
		reason.Code, reason.Detail = blocks[0], "still in the way after what "+d.By+" accepted"
		r.Reason, r.BlockedBy = &reason, blocks
		return nil
	}
	if err := s.fire(ctx, state.Change{Event: state.EventReopen, Who: d.By, Reason: noteOf(s.run, d.Note)}); err != nil {
		return err
	}
	return s.fire(ctx, state.Change{Event: state.EventFinish, Who: d.By})
}

// Supersede gives up a run and puts a new one of the same lineage in its place,
// which lists from the start: what is done stays done, and what is in doubt keeps
// its key. It returns the receipt of the new run, which the next Run of the job
// carries out. A running or paused run is reviewed first.
func Supersede(ctx context.Context, ledger store.Store, runID string, d Decision) (*state.Receipt, error) {
	var successor *state.Receipt
	_, err := decide(ctx, ledger, runID, "supersede", d, func(b *book, held []store.Item) error {
		var err error
		successor, err = supersede(ctx, ledger, *b.current(), d.withDefaults(), held)
		return err
	})
	return successor, err
}

// supersede puts a successor in the place of a run, in one commit.
func supersede(ctx context.Context, ledger store.Store, run store.Run, d Decision, held []store.Item) (*state.Receipt, error) {
	now := d.Clock.Now()
	runID, err := newRunID(now, d.Random)
	if err != nil {
		return nil, err
	}
	change := store.Change{Begin: true}
	atMostOnce := run.Definition != nil && run.Definition.AtMostOnce
	for _, item := range held { // one that was let go and called, and nobody knows what came of it
		switch {
		case !item.Released || !run.Active && !run.Died:
			continue
		case atMostOnce && item.Intent:
			item.Code, item.Detail = state.HoldInDoubt, "its call was under way when the process died"
		case !atMostOnce && item.DoubtSince.IsZero():
			item.DoubtSince = item.UpdatedAt
		}
		item.Released, item.Intent, item.UpdatedAt = false, false, now
		change.Items = append(change.Items, item)
	}
	before := step{now: now, run: &run, change: &store.Change{}}
	pending, err := pendingOf(ctx, ledger, run)
	if err != nil {
		return nil, err
	}
	for _, was := range pending { // the successor may meet them; until then they are owed
		is := was
		is.State, is.UpdatedAt = store.StateHeld, now
		is.Code, is.Detail = state.HoldVanished, "it was pending when run "+run.Receipt.RunID+" was superseded"
		switch {
		case atMostOnce && is.Intent:
			is.Code = state.HoldInDoubt
		case !atMostOnce && (run.Active || run.Died) && is.DoubtSince.IsZero():
			is.DoubtSince = was.UpdatedAt // it may have been called before the runner died
		}
		tally(&run.Receipt, &was, &is)
		change.Items = append(change.Items, is)
	}
	owed := int64(len(held) + len(pending))
	if run.Receipt.Status != state.NeedsReview {
		err = before.fire(ctx, state.Change{Event: state.EventReview, Reason: state.Reason{
			Code: state.CodeSuperseded, Detail: d.By + ": " + d.Note, PageIndex: run.Receipt.PageIndex,
		}})
		if err != nil {
			return nil, err
		}
	}
	next := freshRun(runID, run.Receipt.Job)
	next.Lineage, next.Scope = run.Lineage, run.Scope
	next.Receipt.Supersedes, next.Receipt.Action = run.Receipt.RunID, run.Receipt.Action
	next.Receipt.WindowFrom = run.Receipt.WindowFrom
	next.Receipt.PendingCount, next.Receipt.HeldCount = owed, owed
	next.Receipt.StartedAt, next.Receipt.UpdatedAt = now, now
	change.Run = next
	change.Events = []state.Transition{{At: now, Event: state.EventBegin, To: state.Running, Who: d.By}}
	run.Receipt.SupersededBy, run.Receipt.UpdatedAt, run.Active = runID, now, false
	status := run.Receipt.Status
	change.Also = &store.Also{Run: run, Events: append(before.change.Events, state.Transition{
		At: now, Event: state.EventSupersede, From: status, To: status, Who: d.By, Reason: noteOf(&run, d.Note),
	})}
	if err := ledger.Commit(ctx, change); err != nil {
		return nil, err
	}
	return &next.Receipt, nil
}

// pendingOf returns the unsettled items of a run: those of its last page.
func pendingOf(ctx context.Context, ledger store.Reader, run store.Run) ([]store.Item, error) {
	seen := make(map[string]bool)
	var pending []store.Item
	for page, err := range ledger.Pages(ctx, run.Receipt.RunID, max(0, run.Receipt.Pages-1)) {
		if err != nil {
			return nil, err
		}
		items, err := ledger.Items(ctx, run.Scope, page.IDs)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if item.State == store.StatePending && item.RunID == run.Receipt.RunID && !seen[item.ID] {
				seen[item.ID] = true
				pending = append(pending, item)
			}
		}
	}
	return pending, nil
}

// supersedeLost supersedes a run whose cursor was lost, where the job allows it
// without a person.
func (j Job[T]) supersedeLost(ctx context.Context, ledger store.Store, err error) (again bool, failed error) {
	var needs *ReviewError
	if j.Options.SupersedeLost == 0 || !errors.As(err, &needs) || needs.Receipt.Reason == nil {
		return false, nil
	}
	if code := needs.Receipt.Reason.Code; code != pager.CodeCursorExpired && code != state.CodeCursorLost {
		return false, nil
	}
	run, err := ledger.Run(ctx, needs.Receipt.RunID)
	if err != nil {
		return false, fmt.Errorf("everypage: supersede run %s: %w", needs.Receipt.RunID, err)
	}
	length := 0
	for older := run; older.Receipt.Supersedes != ""; length++ {
		if older, err = ledger.Run(ctx, older.Receipt.Supersedes); err != nil {
			return false, fmt.Errorf("everypage: supersede run %s: %w", needs.Receipt.RunID, err)
		}
	}
	if length >= j.Options.SupersedeLost {
		return false, nil
	}
	held, err := heldOf(ctx, ledger, run.Scope)
	if err != nil {
		return false, err
	}
	d := Decision{By: "everypage", Note: "the cursor was lost, and Options.SupersedeLost allows a new listing", Clock: j.Options.Clock, Random: j.Options.Random}
	if _, err = supersede(ctx, ledger, run, d, held); err != nil {
		return false, fmt.Errorf("everypage: supersede run %s: %w", run.Receipt.RunID, err)
	}
	return true, nil
}

func (d Decision) withDefaults() Decision {
	defaults := Job[struct{}]{Options: Options{Clock: d.Clock, Random: d.Random}}.withDefaults().Options
	d.Clock, d.Random = defaults.Clock, defaults.Random
	return d
}

// decide carries out a person's act on a run that nobody else works on.
func decide(ctx context.Context, ledger store.Store, runID, act string, d Decision, do func(*book, []store.Item) error) (*state.Receipt, error) {
	refuse := func(err error) (*state.Receipt, error) {
		return nil, &DecisionError{RunID: runID, Act: act, Err: err}
	}
	if d.By == "" {
		return refuse(errors.New("a name is missing: say who decides"))
	}
	run, err := ledger.Run(ctx, runID)
	if err != nil {
		return refuse(err)
	}
	release, err := ledger.Hold(ctx, run.Receipt.Job)
	if err != nil {
		return refuse(err)
	}
	defer release()
	if run, err = ledger.Run(ctx, runID); err != nil { // as it is now that nobody changes it
		return refuse(err)
	}
	switch {
	case run.Receipt.Status == state.Complete:
		return refuse(errors.New("it is complete, and a complete run never changes"))
	case run.Receipt.SupersededBy != "":
		return refuse(fmt.Errorf("it was superseded by %s: decide about that one", run.Receipt.SupersededBy))
	case act != "supersede" && run.Receipt.Status != state.NeedsReview:
		return refuse(fmt.Errorf("it is %s and needs no review: run the job again", run.Receipt.Status))
	}
	held, err := heldOf(ctx, ledger, run.Scope)
	if err != nil {
		return refuse(err)
	}
	b := newBook(ctx, ledger, d.withDefaults().Clock, Observer{}, run)
	err = do(b, held)
	if failed := b.close(ctx); err == nil {
		err = failed
	}
	if err != nil {
		return refuse(err)
	}
	return b.receipt(), nil
}

// heldOf returns the hold queue of a scope.
func heldOf(ctx context.Context, ledger store.Reader, scope string) ([]store.Item, error) {
	var held []store.Item
	for item, err := range ledger.Held(ctx, scope) {
		if err != nil {
			return nil, fmt.Errorf("everypage: read the hold queue: %w", err)
		}
		held = append(held, item)
	}
	return held, nil
}

// noteOf is the reason of a transition that a person asked for.
func noteOf(run *store.Run, note string) state.Reason {
	reason := state.Reason{Detail: note, PageIndex: run.Receipt.PageIndex}
	if r := run.Receipt.Reason; r != nil {
		reason.Code = r.Code
	}
	return reason
}

package everypage

import (
	"context"
	"fmt"
	"iter"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// Items returns the items of a run in the order in which they were met, each
// once; then what the run settled of its predecessors' items and has not met;
// and then what it owes from them and has not met.
func Items(ctx context.Context, ledger store.Reader, runID string) iter.Seq2[store.Item, error] {
	return func(yield func(store.Item, error) bool) {
		run, err := ledger.Run(ctx, runID)
		if err != nil {
			yield(store.Item{}, fmt.Errorf("everypage: run %s: %w", runID, err))
			return
		}
		if !metItems(ctx, ledger, run, yield) || !settledUnmet(ctx, ledger, run, yield) {
			return
		}
		if run.Receipt.SupersededBy != "" || run.Receipt.Status == state.Complete {
			return
		}
		for item, err := range ledger.Held(ctx, run.Scope) {
			if err == nil && item.RunID == runID {
				continue
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// metItems yields the items that the run has on one of its pages.
func metItems(ctx context.Context, ledger store.Reader, run store.Run, yield func(store.Item, error) bool) bool {
	index, seen := -1, make(map[string]bool)
	for page, err := range ledger.Pages(ctx, run.Receipt.RunID, 0) {
		if err != nil {
			yield(store.Item{}, err)
			return false
		}
		if page.Index != index {
			index = page.Index
			clear(seen)
		}
		items, err := ledger.Items(ctx, run.Scope, page.IDs)
		if err != nil {
			yield(store.Item{}, err)
			return false
		}
		for _, item := range items {
			if seen[item.ID] || item.RunID != run.Receipt.RunID || item.Page != index {
				continue // met by a later run since, or adopted by a later page
			}
			seen[item.ID] = true
			if !yield(item, nil) {
				return false
			}
		}
	}
	return true
}

// settledUnmet yields the items that the run settled and that were met last by
// one of its predecessors: retried from their stored bytes, written off or
// dropped.
func settledUnmet(ctx context.Context, ledger store.Reader, run store.Run, yield func(store.Item, error) bool) bool {
	for older := run; older.Receipt.Supersedes != ""; {
		var err error
		if older, err = ledger.Run(ctx, older.Receipt.Supersedes); err != nil {
			yield(store.Item{}, fmt.Errorf("everypage: run %s: read its predecessor: %w", run.Receipt.RunID, err))
			return false
		}
		more := metItems(ctx, ledger, older, func(item store.Item, err error) bool {
			return err == nil && item.SettledBy != run.Receipt.RunID || yield(item, err)
		})
		if !more {
			return false
		}
	}
	return true
}

// Recount counts a run anew from its records and returns the counters as they
// must stand in its receipt, together with the digest of its pages. It holds for
// the newest run of a scope; a later run takes over the items that it meets.
func Recount(ctx context.Context, ledger store.Reader, runID string) (*state.Receipt, error) {
	run, err := ledger.Run(ctx, runID)
	if err != nil {
		return nil, fmt.Errorf("everypage: recount run %s: %w", runID, err)
	}
	counted := run.Receipt
	counted.ProcessedUnique, counted.PendingCount, counted.HeldCount, counted.Inherited = 0, 0, 0, 0
	counted.DeferredCount, counted.VanishedCount, counted.WrittenOff, counted.EntriesWithoutID = 0, 0, 0, 0
	counted.DuplicateConflicts, counted.ConflictsAccepted, counted.Digest, counted.Pages = 0, 0, "", 0
	var found counts
	for item, err := range Items(ctx, ledger, runID) {
		if err != nil {
			return nil, fmt.Errorf("everypage: recount run %s: %w", runID, err)
		}
		found.weigh(runID, &item, +1)
	}
	found.addTo(&counted)
	var last store.Page
	for page, err := range ledger.Pages(ctx, runID, 0) {
		if err != nil {
			return nil, fmt.Errorf("everypage: recount run %s: %w", runID, err)
		}
		if page.Index != last.Index {
			counted.EntriesWithoutID += int64(len(last.Unidentified))
		}
		counted.Digest, counted.Pages, last = chain(counted.Digest, page), page.Index+1, page
	}
	counted.EntriesWithoutID += int64(len(last.Unidentified))
	counted.PendingCount += counted.EntriesWithoutID
	for c, err := range ledger.Conflicts(ctx, runID) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("everypage: recount run %s: %w", runID, err)
		case c.AcceptedBy == "":
			counted.DuplicateConflicts++
		default:
			counted.ConflictsAccepted++
		}
	}
	return &counted, nil
}

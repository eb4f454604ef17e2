package store

import (
	"context"
	"iter"
)

// RunsAfterReader is a Reader that can list runs from the middle. It is optional;
// see [RunsAfter].
type RunsAfterReader interface {
	// RunsAfter is Runs without all up to and with the run of the given ID, whether
	// the filter chooses that run or not. It yields an error that wraps ErrNotFound
	// where there is no such run.
	RunsAfter(ctx context.Context, filter RunFilter, runID string) iter.Seq2[Run, error]
}

// RunsAfter returns the runs that began before the run of the given ID, the newest
// first: the next page of a listing whose last run that was. An empty ID starts at
// the top. A reader that is no [RunsAfterReader] is read from the top.
func RunsAfter(ctx context.Context, ledger Reader, filter RunFilter, runID string) iter.Seq2[Run, error] {
	if runID == "" {
		return ledger.Runs(ctx, filter)
	}
	if reader, ok := ledger.(RunsAfterReader); ok {
		return reader.RunsAfter(ctx, filter, runID)
	}
	return func(yield func(Run, error) bool) {
		if _, err := ledger.Run(ctx, runID); err != nil {
			yield(Run{}, err)
			return
		}
		behind := false
		for run, err := range ledger.Runs(ctx, RunFilter{}) { // the filter may leave that run out
			wanted := (filter.Job == "" || run.Receipt.Job == filter.Job) && (filter.Status == "" || run.Receipt.Status == filter.Status)
			if err != nil || behind && wanted {
				if !yield(run, err) || err != nil {
					return
				}
			}
			behind = behind || run.Receipt.RunID == runID
		}
	}
}

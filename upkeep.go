package everypage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// Backup copies a ledger into a folder that does not exist yet, while runs are at
// work on it in this process. Where the ledger's store cannot do that, the error
// wraps errors.ErrUnsupported.
func Backup(ctx context.Context, ledger store.Store, dir string) error {
	backuper, ok := ledger.(store.Backuper)
	if !ok {
		return fmt.Errorf("everypage: back up the ledger: %T cannot: %w", ledger, errors.ErrUnsupported)
	}
	if err := backuper.Backup(ctx, dir); err != nil {
		return fmt.Errorf("everypage: %w", err)
	}
	return nil
}

// Pruning says which runs Prune removes. A run is removed only together with its
// whole lineage, and only if the lineage came to a complete run.
type Pruning struct {
	// Job is the job whose runs are meant. Empty: every job.
	Job string
	// Keep is how many of a job's newest complete lineages stay. Defaults to 1.
	Keep int
	// OlderThan is how long ago a run was finished at least. Defaults to 0: any.
	OlderThan time.Duration
	// By is the name of the person who asks; it stays in the ledger. A dry run
	// needs none.
	By string
	// DryRun tells what would be removed, and removes nothing. Defaults to false.
	DryRun bool
	// Clock tells the time. Defaults to the system's.
	Clock Clock
}

// PrunedRun is what Prune says of one lineage that came to a complete run.
type PrunedRun struct {
	RunID      string    `json:"run_id"` // of the complete run
	Job        string    `json:"job"`
	FinishedAt time.Time `json:"finished_at"`
	// Runs are all of the lineage, the complete one first.
	Runs  []string `json:"runs"`
	Pages int      `json:"pages"`
	// Removed says that they are gone, or would be in a dry run; Kept says why not.
	Removed bool   `json:"removed"`
	Kept    string `json:"kept,omitempty"`
}

// Prune removes old complete runs: their receipts, pages, conflicts, transitions
// and items. It never touches what is still needed: a run that is open, and its
// lineage; the last complete run of a job, and of each endpoint and filter of it, from
// whose cutoff the next incremental run goes on; the items of a once-a-job job,
// which keep them from being done again. Other runs may be at work meanwhile, of the
// same job too.
//
// It returns one entry for each complete lineage that it looked at, the newest
// first. An error leaves the entries that were removed by then as they are. The ID
// of a removed run cannot be used again: a job pinned to it is refused, and not
// done anew. Where the ledger's store cannot remove, the error wraps
// errors.ErrUnsupported.
func Prune(ctx context.Context, ledger store.Store, p Pruning) ([]PrunedRun, error) {
	pruner, ok := ledger.(store.Pruner)
	switch {
	case !ok:
		return nil, fmt.Errorf("everypage: prune the ledger: %T cannot: %w", ledger, errors.ErrUnsupported)
	case p.By == "" && !p.DryRun:
		return nil, errors.New("everypage: prune the ledger: By is missing: removing is a person's act and needs a name")
	case p.Keep < 0 || p.OlderThan < 0:
		return nil, errors.New("everypage: prune the ledger: neither Keep nor OlderThan may be negative")
	}
	if p.Clock == nil {
		p.Clock = SystemClock{}
	}
	p.Keep = max(p.Keep, 1)
	lineages, err := readLineages(ctx, ledger, p.Job)
	if err != nil {
		return nil, fmt.Errorf("everypage: prune the ledger: %w", err)
	}
	now := p.Clock.Now()
	needed := make(map[string]bool)
	complete := make(map[string]int) // by job
	var answer []PrunedRun
	for _, l := range lineages {
		if l.open || l.head.Receipt.Status != state.Complete {
			continue // its lineage is not at its end
		}
		r := &l.head.Receipt
		entry := PrunedRun{RunID: r.RunID, Job: r.Job, FinishedAt: r.FinishedAt, Runs: l.runIDs, Pages: l.pages}
		complete[r.Job]++
		switch newest := l.firstOf(needed); {
		case complete[r.Job] <= p.Keep:
			entry.Kept = "among the newest of its job"
		case newest:
			entry.Kept = "the last complete one of its endpoint and filter, or of its items"
		case now.Sub(r.FinishedAt) < p.OlderThan:
			entry.Kept = "not old enough"
		default:
			entry.Removed = true
		}
		if entry.Removed && !p.DryRun {
			removal := store.Removal{RunIDs: l.runIDs, By: p.By, At: now}
			if l.head.Scope == l.head.Lineage {
				removal.Scopes = []string{l.head.Scope}
			}
			if err := pruner.Prune(ctx, removal); err != nil {
				return answer, fmt.Errorf("everypage: remove run %s: %w", r.RunID, err)
			}
		}
		answer = append(answer, entry)
	}
	return answer, nil
}

// lineage is a run and those that it supersedes.
type lineage struct {
	head   store.Run // the newest
	runIDs []string
	pages  int
	open   bool // one of them is neither complete nor superseded
}

// readLineages returns lineages, those with the newest runs first.
func readLineages(ctx context.Context, ledger store.Reader, job string) ([]*lineage, error) {
	var all []*lineage
	byID := make(map[string]*lineage)
	for run, err := range ledger.Runs(ctx, store.RunFilter{Job: job}) {
		if err != nil {
			return nil, err
		}
		l := byID[run.Lineage]
		if l == nil {
			l = &lineage{head: run}
			byID[run.Lineage] = l
			all = append(all, l)
		}
		l.runIDs = append(l.runIDs, run.Receipt.RunID)
		l.pages += run.Receipt.Pages
		l.open = l.open || run.Receipt.Status != state.Complete && run.Receipt.SupersededBy == ""
	}
	return all, nil
}

// firstOf notes what the next run of the job reads from the lineage, and reports
// whether it is the newest one that has it.
func (l *lineage) firstOf(seen map[string]bool) (newest bool) {
	r := &l.head.Receipt
	wants := []string{fmt.Sprintf("window %q %q %q", r.Job, r.Endpoint, r.Filter)}
	if l.head.Scope != l.head.Lineage {
		wants = append(wants, "scope "+l.head.Scope)
	}
	for _, want := range wants {
		newest = newest || !seen[want]
		seen[want] = true
	}
	return newest
}

package everypage

import (
	"context"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// find returns the run that a job is about: the pinned one, or the open one. A
// superseded run answers with its successor. The zero Run means that there is
// none yet.
func find(ctx context.Context, ledger store.Reader, job, pinned string) (store.Run, error) {
	if pinned == "" {
		return openRun(ctx, ledger, job)
	}
	run, err := ledger.Run(ctx, pinned)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return store.Run{}, nil
	case err != nil:
		return store.Run{}, fmt.Errorf("everypage: find run %s: %w", pinned, err)
	case run.Receipt.Job != job:
		return store.Run{}, &JobError{Job: job, Err: fmt.Errorf("RunID %q names a run of job %q: choose another one", pinned, run.Receipt.Job)}
	}
	return follow(ctx, ledger, run)
}

// openRun returns the newest run of a job that is neither complete nor superseded,
// or the zero Run.
func openRun(ctx context.Context, ledger store.Reader, job string) (store.Run, error) {
	var newest store.Run
	for _, status := range []state.Status{state.Running, state.Paused, state.NeedsReview} {
		for run, err := range ledger.Runs(ctx, store.RunFilter{Status: status}) { // few, however many are complete
			if err != nil {
				return store.Run{}, fmt.Errorf("everypage: find the open run of job %s: %w", job, err)
			}
			if run.Receipt.Job != job || run.Receipt.SupersededBy != "" {
				continue
			}
			if run.Receipt.StartedAt.After(newest.Receipt.StartedAt) || newest.Receipt.RunID == "" {
				newest = run
			}
			break
		}
	}
	return newest, nil
}

// follow returns the newest successor of a run.
func follow(ctx context.Context, ledger store.Reader, run store.Run) (store.Run, error) {
	for run.Receipt.SupersededBy != "" {
		next, err := ledger.Run(ctx, run.Receipt.SupersededBy)
		if err != nil {
			return store.Run{}, fmt.Errorf("everypage: find the successor of run %s: %w", run.Receipt.RunID, err)
		}
		run = next
	}
	return run, nil
}

// begin returns a new run of the job, not yet in the ledger.
func (j Job[T]) begin(ctx context.Context, ledger store.Reader) (store.Run, error) {
	runID := j.RunID
	if runID == "" {
		var err error
		if runID, err = newRunID(j.Options.Clock.Now(), j.Options.Random); err != nil {
			return store.Run{}, err
		}
	}
	run := freshRun(runID, j.Name)
	run.Lineage, run.Scope = runID, runID
	if j.Once == OnceAJob {
		run.Scope = jobScope(j.Name)
		if err := j.mayShareScope(ctx, ledger); err != nil {
			return store.Run{}, err
		}
	}
	err := j.bind(ctx, ledger, &run)
	return run, err
}

// mayShareScope refuses a second open run over the items of a once-a-job job, and
// another action, for which what is done would be taken as done.
func (j Job[T]) mayShareScope(ctx context.Context, ledger store.Reader) error {
	open, err := openRun(ctx, ledger, j.Name)
	if err != nil {
		return err
	}
	if open.Receipt.RunID != "" {
		return &JobError{Job: j.Name, Err: fmt.Errorf("run %s is open and shares its items with a new one: finish or supersede it first", open.Receipt.RunID)}
	}
	for run, err := range ledger.Runs(ctx, store.RunFilter{Job: j.Name}) {
		switch {
		case err != nil:
			return fmt.Errorf("everypage: find the newest run of job %s: %w", j.Name, err)
		case run.Scope != jobScope(j.Name):
			continue // a run whose items were done once a run
		case run.Receipt.Action != j.Action:
			return &JobError{Job: j.Name, Err: fmt.Errorf("its items are done once a job, and run %s did %q: give the job with action %q another name", run.Receipt.RunID, run.Receipt.Action, j.Action)}
		}
		return nil // all in the scope had the same action
	}
	return nil
}

// freshRun returns a run that has read nothing.
func freshRun(runID, job string) store.Run {
	return store.Run{
		Receipt: state.Receipt{
			RunID: runID, Job: job, Status: state.Running,
			CompleteWhen: state.CompleteWhen(), SchemaVersion: state.SchemaVersion,
		},
		Fetching: -1, Careful: -1,
	}
}

// bind gives a run its definition, and fixes its instants.
func (j Job[T]) bind(ctx context.Context, ledger store.Reader, run *store.Run) error {
	r, d := &run.Receipt, j.definition()
	if err := j.invalid(j.orderProblems()); err != nil {
		return err
	}
	if run.Lineage != r.RunID {
		if err := j.sameScope(*run); err != nil {
			return err
		}
	}
	now := j.Options.Clock.Now()
	run.Definition = d
	r.Endpoint, r.Filter, r.Order, r.PageSize = d.Endpoint, d.Filter, d.Order, d.PageSize
	r.Action, r.Contract, r.OrderClass, r.UnstableAccepted = d.Action, d.Contract, d.OrderClass, d.UnstableAccepted
	r.StartedAt, r.UpdatedAt = now, now
	if j.Cutoff != NoCutoff {
		r.CutoffAt = now
	}
	if j.Deadline > 0 {
		r.DeadlineAt = now.Add(j.Deadline)
	}
	if !j.Incremental || r.Supersedes != "" { // a successor keeps its predecessor's
		return nil
	}
	for last, err := range ledger.Runs(ctx, store.RunFilter{Job: j.Name, Status: state.Complete}) {
		if err != nil {
			return fmt.Errorf("everypage: find the last complete run of job %s: %w", j.Name, err)
		}
		if before := last.Definition; before != nil && before.Endpoint == d.Endpoint && before.Filter == d.Filter {
			r.WindowFrom = last.Receipt.CutoffAt
			return nil
		}
	}
	return nil
}

// sameScope returns a [*DefinitionError] if the job's items would not have the
// keys that they have in the run's lineage.
func (j Job[T]) sameScope(run store.Run) error {
	once := OnceARun
	if run.Scope == jobScope(run.Receipt.Job) {
		once = OnceAJob
	}
	recorded := &store.Definition{Action: run.Receipt.Action, Once: string(once)}
	return sameDefinition(run.Receipt.RunID, recorded, &store.Definition{Action: j.Action, Once: string(j.Once)})
}

// jobScope is the scope of a once-a-job job. A run ID has no colon.
func jobScope(job string) string { return "job:" + job }

// newRunID returns an ID that a person can read and a list can sort: the time,
// to the second, and 40 random bits.
func newRunID(now time.Time, random io.Reader) (string, error) {
	var bits [5]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return "", fmt.Errorf("everypage: make a run ID: %w", err)
	}
	return now.UTC().Format("20060102-150405-") + strings.ToLower(base32.StdEncoding.EncodeToString(bits[:])), nil
}

// sameDefinition returns a [*DefinitionError] if a run was begun with another
// definition than the given one.
func sameDefinition(runID string, recorded, given *store.Definition) error {
	var differences []Difference
	compare := func(field, a, b string) {
		if a != b {
			differences = append(differences, Difference{Field: field, Recorded: a, Given: b})
		}
	}
	compare("endpoint", recorded.Endpoint, given.Endpoint)
	compare("filter", recorded.Filter, given.Filter)
	compare("order", recorded.Order, given.Order)
	compare("page_size", strconv.Itoa(recorded.PageSize), strconv.Itoa(given.PageSize))
	compare("action", recorded.Action, given.Action)
	compare("contract", recorded.Contract, given.Contract)
	compare("cutoff", recorded.Cutoff, given.Cutoff)
	compare("once", recorded.Once, given.Once)
	compare("at_most_once", strconv.FormatBool(recorded.AtMostOnce), strconv.FormatBool(given.AtMostOnce))
	compare("order_class", string(recorded.OrderClass), string(given.OrderClass))
	compare("style", string(recorded.Style), string(given.Style))
	compare("unstable_accepted", strconv.FormatBool(recorded.UnstableAccepted), strconv.FormatBool(given.UnstableAccepted))
	if len(differences) == 0 {
		return nil
	}
	return &DefinitionError{RunID: runID, Differences: differences}
}

// under returns the job with its list read under the contract that a run was
// begun under, which an upgrade may have changed since.
func (j Job[T]) under(run store.Run) (Job[T], error) {
	document := run.Definition.ContractDocument
	if j.definition().Contract != run.Definition.Contract {
		return j, nil // another contract, and no newer text of the same
	}
	again, ok := j.Pager.(pager.Rebinder[T])
	if !ok || document == nil || string(document) == string(j.definition().ContractDocument) {
		return j, nil
	}
	bound, err := again.Rebind(document)
	if err != nil {
		return j, fmt.Errorf("everypage: run %s: read the contract that it was begun under: %w", run.Receipt.RunID, err)
	}
	j.Pager = bound
	return j, nil
}

// pagerFor returns the pager that a run reads its list with: within its window.
func (j Job[T]) pagerFor(run store.Run) (pager.Pager[T], error) {
	p := j.Pager
	if j.Cutoff != ServerCutoff {
		return p, nil
	}
	within, ok := p.(pager.Windower[T])
	if !ok {
		return nil, &JobError{Job: j.Name, Err: errors.New("the run's contract has no filter by creation time")}
	}
	bound, err := within.Window(run.Receipt.WindowFrom, run.Receipt.CutoffAt)
	if err != nil {
		return nil, fmt.Errorf("everypage: run %s: filter the list by creation time: %w", run.Receipt.RunID, err)
	}
	return bound, nil
}

package proptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// run is one process.
func (m *machine) run(t *rapid.T) {
	if receipt, _ := m.w.status(); receipt.Status == state.NeedsReview && !sometimes(t, 4, "run without a decision") {
		m.decide(t)
	}
	l := m.drawProcess(t)
	limit := time.Duration(0)
	if sometimes(t, 8, "a time limit") {
		limit = 30 * time.Second
		if _, odd := l.faults[1]; !odd {
			l.faults[1] = fault{name: "a hang", instead: hangs}
		}
	}
	if err := m.w.live(l, limit); err != nil {
		m.fail(t, err)
	}
}

// redefine asks for the open run with another definition: it is refused, and the
// refusal says what differs.
func (m *machine) redefine(t *rapid.T) {
	w := m.w
	run, open := w.facts.acked.open(jobName)
	if !open || run.Receipt.Status == state.NeedsReview || run.Definition == nil {
		return
	}
	l := newProcess(w, manner{Concurrency: 1, Force: true})
	job := w.job(l)
	if job.Handle == nil {
		job.HandleBatch, job.Options.BatchSize = nil, 0
		job.Handle = func(context.Context, everypage.Item[raw]) error { return errSink }
	}
	field := rapid.SampledFrom([]string{"page_size", "filter", "action", "at_most_once"}).Draw(t, "field")
	switch field {
	case "page_size":
		job.List.PageSize = 99
	case "filter":
		job.List.Filter = "status=other"
	case "action":
		job.Action = "another"
	case "at_most_once":
		job.AtMostOnce = !job.AtMostOnce
	}
	_, err := everypage.Run(context.Background(), watched{Store: w.ledger.store, w: w, life: l}, job)
	refused, ok := errors.AsType[*everypage.DefinitionError](err)
	if !ok || !slices.ContainsFunc(refused.Differences, func(d everypage.Difference) bool { return d.Field == field }) || l.requests+l.calls > 0 {
		m.fail(t, fmt.Sprintf("fixed-definition: with another %s, Run says %v after %d requests", field, err, l.requests))
	}
	m.count("definition refused")
}

// revisit asks for a complete run by name: its receipt comes back, and nothing
// happens.
func (m *machine) revisit(t *rapid.T) {
	w := m.w
	var complete []string
	for _, id := range w.facts.acked.order {
		if _, ok := w.facts.final[id]; ok {
			complete = append(complete, id)
		}
	}
	if len(complete) == 0 {
		return
	}
	id := rapid.SampledFrom(complete).Draw(t, "run")
	l := newProcess(w, manner{Concurrency: 1})
	job := w.job(l)
	job.RunID = id
	if job.Handle == nil {
		job.HandleBatch, job.Options.BatchSize = nil, 0
		job.Handle = func(context.Context, everypage.Item[raw]) error { return errSink }
	}
	receipt, err := everypage.Run(context.Background(), watched{Store: w.ledger.store, w: w, life: l}, job)
	if err != nil || receipt.RunID != id || l.requests+l.calls > 0 {
		m.fail(t, fmt.Sprintf("complete-is-final: run %s, asked for by name, gives %v", id, err))
	}
	m.count("complete run asked for")
}

func (m *machine) count(what string) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.w.note("%s", what)
	m.w.count(what)
}

// decide is what a person does about a run that needs review, and not always what
// helps.
func (m *machine) decide(t *rapid.T) {
	receipt, some := m.w.status()
	if !some || receipt.Status == state.Complete {
		return
	}
	acts := []string{"retry", "retry by name", "accept", "write off", "supersede"}
	act := rapid.SampledFrom(acts).Draw(t, "act")
	if act == "supersede" && receipt.Status != state.NeedsReview && !sometimes(t, 4, "supersede a run that needs no review") {
		return
	}
	err := m.act(receipt, act)
	review := receipt.Status == state.NeedsReview
	switch {
	case act != "supersede" && !review && err == nil:
		m.fail(t, "pause-or-review: "+act+" was taken for a run that needs no review")
	case act == "supersede" && err != nil:
		m.fail(t, fmt.Sprintf("pause-or-review: supersede was refused: %v", err))
	case act == "retry" && review && err == nil && !state.Explain(receipt.Reason.Code).Allows(state.Reopen):
		m.fail(t, "pause-or-review: a run was reopened for "+string(receipt.Reason.Code))
	}
}

// act carries a decision out, and returns its error.
func (m *machine) act(receipt state.Receipt, act string) error {
	w := m.w
	ledger := watched{Store: w.ledger.store, w: w, life: newProcess(w, manner{})}
	d := everypage.Decision{By: "Ada", Note: "as drawn", Random: w}
	run := w.facts.acked.runs[receipt.RunID]
	for _, item := range w.facts.acked.held(run.Scope) {
		if act == "write off" || act == "retry by name" && item.Payload != nil {
			d.Items = append(d.Items, item.ID)
		}
	}
	w.mu.Lock()
	w.note("a person decides: %s %q", act, d.Items)
	w.mu.Unlock()
	ctx := context.Background()
	var err error
	switch act {
	case "retry", "retry by name":
		_, err = everypage.Retry(ctx, ledger, receipt.RunID, d)
	case "accept", "write off":
		_, err = everypage.Accept(ctx, ledger, receipt.RunID, d)
	case "supersede":
		_, err = everypage.Supersede(ctx, ledger, receipt.RunID, d)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("  it says: %v", err)
	if err != nil {
		w.count("decision refused: " + act)
		return err
	}
	w.count("decision: " + act)
	for name, item := range w.facts.acked.items {
		if item.Released {
			w.facts.calls[name].retried(act == "retry by name")
		}
	}
	return nil
}

// retried says that a person wants an item called again, and whether they named it
// and so took upon themselves what is in doubt about it.
func (c *calls) retried(named bool) {
	if c != nil {
		c.unknown, c.pardoned = 0, c.pardoned || named
	}
}

// peace lets nothing happen any more: the run must come to its end.
func (m *machine) peace(t *rapid.T) {
	w := m.w
	w.mu.Lock()
	w.note("from here on nothing happens")
	w.api.quiet = true
	m.tidy()
	w.mu.Unlock()
	for range 12 {
		if err := w.live(newProcess(w, manner{Concurrency: 2, Force: true}), 0); err != nil {
			m.fail(t, err)
		}
		m.check(t)
		receipt, _ := w.status()
		if receipt.Status == state.NeedsReview {
			m.resolve(t, receipt)
			m.check(t)
			receipt, _ = w.status()
		}
		if receipt.Status == state.Complete {
			return
		}
	}
	m.fail(t, "pause-or-review: the run does not come to its end")
}

// tidy takes the copies out of the list: where a page is one item long, a walk by
// page number cannot tell them from no progress. The caller holds the lock.
func (m *machine) tidy() {
	list := m.w.list
	seen := map[string]bool{}
	for _, item := range list.Items() {
		if seen[item.ID] {
			list.Delete(item.ID)
			list.Append(item)
		}
		seen[item.ID] = true
	}
}

// resolve is what a person does who wants the run to come to its end.
func (m *machine) resolve(t *rapid.T, receipt state.Receipt) {
	var act string
	switch code := receipt.Reason.Code; code { //nolint:exhaustive // every other one is answered alike
	case state.CodeConflictsOpen:
		act = "accept"
	case state.CodeItemsHeld:
		act = "write off"
	default:
		act = "supersede"
		if !slices.Contains([]pager.Code{state.CodeListShifted, state.CodeCursorLost}, code) && state.Explain(code).Allows(state.Reopen) {
			act = "retry"
		}
	}
	if err := m.act(receipt, act); err != nil {
		if act != "retry" {
			m.fail(t, fmt.Sprintf("pause-or-review: %s is no remedy for %s: %v", act, receipt.Reason.Code, err))
		}
		if err := m.act(receipt, "supersede"); err != nil {
			m.fail(t, fmt.Sprintf("pause-or-review: a run cannot be superseded: %v", err))
		}
	}
}

package everypage_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// contracted is a world whose pager reads by a contract document, of which two
// versions exist.
type contracted struct {
	*world
	document string
	bound    *[]string // the documents that were bound again
}

func (c contracted) Describe() pager.Description {
	d := pager.Description{Contract: "tickets", ContractDocument: []byte(c.document), Order: pager.OrderStable}
	if c.document == "v2" {
		d.Order, d.NotReplayable = pager.OrderStableAscending, true
	}
	return d
}

func (c contracted) Rebind(document []byte) (pager.Pager[ticket], error) {
	if string(document) != "v1" && string(document) != "v2" {
		return nil, errNo
	}
	*c.bound = append(*c.bound, string(document))
	return contracted{c.world, string(document), c.bound}, nil
}

// Rule 18: a run finishes under the contract that it was begun under, also where
// a library upgrade brings another document of the same name, and whatever that
// says about the list. The next run takes the new one.
func TestRule18_FinishesUnderItsStoredContract(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	bound := new([]string)
	under := func(document string) func(*everypage.Job[ticket]) {
		return func(j *everypage.Job[ticket]) { j.Pager = contracted{w, document, bound} }
	}
	first := w.stopAt("b", w.job(under("v1")))
	wantList(t, "what was bound again", *bound)
	receipt, err := w.run(w.job(under("v2")))
	wantComplete(t, err)
	want(t, "the run", receipt.RunID, first.RunID)
	want(t, "order_class", receipt.OrderClass, pager.OrderStable)
	wantList(t, "what was bound again", *bound, "v1")
	w.wantRequests("(start)", "(start)", `"2"`) // v1 is read again, as v2 would not be

	receipt, err = w.run(w.job(under("v2")))
	wantComplete(t, err)
	want(t, "the next run's order_class", receipt.OrderClass, pager.OrderStableAscending)
	wantList(t, "what was bound again", *bound, "v1")
}

// Rule 18 and fixed-definition: another contract is another definition, and not a
// newer text of the one that the run was begun under.
func TestRule18_AnotherContractIsRefused(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	bound := new([]string)
	under := func(name string) func(*everypage.Job[ticket]) {
		return func(j *everypage.Job[ticket]) {
			j.Pager, j.List.Contract = contracted{w, map[string]string{"one": "v1", "other": "v2"}[name], bound}, name
		}
	}
	w.stopAt("b", w.job(under("one")))
	requests := len(w.requests)
	_, err := w.run(w.job(under("other")))
	refused, ok := errors.AsType[*everypage.DefinitionError](err)
	if !ok || refused.Differences[0].Field != "contract" {
		t.Fatalf("have %v, want a refusal that names the contract", err)
	}
	want(t, "requests", len(w.requests), requests)
}

// Rule 18: a stored document that the pager cannot read any more is an error that
// says so, and nothing is called.
func TestRule18_StoredContractThatCannotBeRead(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	bound := new([]string)
	w.stopAt("b", w.job(func(j *everypage.Job[ticket]) { j.Pager = contracted{w, "v0", bound} }))
	requests := len(w.requests)
	receipt, err := w.run(w.job(func(j *everypage.Job[ticket]) { j.Pager = contracted{w, "v1", bound} }))
	if !errors.Is(err, errNo) || receipt == nil {
		t.Fatalf("have %v, want the pager's error with the run's receipt", err)
	}
	want(t, "the number of requests", len(w.requests), requests)
}

// fixed-definition: a resume that differs is refused with the fields that differ,
// all of them; nothing is requested, called or recorded, and the run goes on when
// it is asked for as it was begun.
func TestFixedDefinition(t *testing.T) {
	base := func(j *everypage.Job[ticket]) {
		j.List = pager.Description{
			Endpoint: "https://api.test/tickets?key=s3cret", Filter: "status=open", Sort: "created", PageSize: 2,
			Contract: "catalogue", Style: pager.StyleCursor, Order: pager.OrderStable,
		}
		j.Cutoff, j.AcceptUnstable = everypage.ClientCutoff, true
	}
	differences := map[string]func(*everypage.Job[ticket]){
		"endpoint":          func(j *everypage.Job[ticket]) { j.List.Endpoint = "https://other.test/tickets" },
		"filter":            func(j *everypage.Job[ticket]) { j.List.Filter = "status=all" },
		"order":             func(j *everypage.Job[ticket]) { j.List.Sort = "updated" },
		"page_size":         func(j *everypage.Job[ticket]) { j.List.PageSize = 3 },
		"action":            func(j *everypage.Job[ticket]) { j.Action = "close" },
		"contract":          func(j *everypage.Job[ticket]) { j.List.Contract = "other" },
		"cutoff":            func(j *everypage.Job[ticket]) { j.Cutoff = everypage.NoCutoff },
		"once":              func(j *everypage.Job[ticket]) { j.Once = everypage.OnceAJob },
		"at_most_once":      func(j *everypage.Job[ticket]) { j.AtMostOnce = true },
		"order_class":       func(j *everypage.Job[ticket]) { j.List.Order = pager.OrderUnstable },
		"style":             func(j *everypage.Job[ticket]) { j.List.Style = pager.StyleOffset },
		"unstable_accepted": func(j *everypage.Job[ticket]) { j.AcceptUnstable = false },
	}
	w := newWorld(t, 2, "a", "b", "c")
	paused := w.stopAt("b", w.job(base))
	before, err := paused.YAML()
	if err != nil {
		t.Fatal(err)
	}
	requests, calls := len(w.requests), len(w.calls)
	refused := func(t *testing.T, names []string, edits ...func(*everypage.Job[ticket])) {
		t.Helper()
		receipt, err := w.run(w.job(append([]func(*everypage.Job[ticket]){base}, edits...)...))
		var different *everypage.DefinitionError
		if !errors.As(err, &different) {
			t.Fatalf("have %v, want a DefinitionError", err)
		}
		var fields []string
		for _, d := range different.Differences {
			fields = append(fields, d.Field)
			if !strings.Contains(err.Error(), d.Field) {
				t.Errorf("%q does not name %s", err, d.Field)
			}
		}
		slices.Sort(fields)
		slices.Sort(names)
		wantList(t, "the fields that differ", fields, names...)
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q shows a credential", err)
		}
		after, _ := receipt.YAML()
		want(t, "the receipt", string(after), string(before))
		want(t, "the number of requests", len(w.requests), requests)
		want(t, "the number of calls", len(w.calls), calls)
	}
	var names []string
	var all []func(*everypage.Job[ticket])
	for name, edit := range differences {
		t.Run(name, func(t *testing.T) { refused(t, []string{name}, edit) })
		if name != "unstable_accepted" { // an offset walk needs it
			names, all = append(names, name), append(all, edit)
		}
	}
	t.Run("all", func(t *testing.T) { refused(t, names, all...) })
	_, err = w.run(w.job(base))
	wantComplete(t, err)
}

// How a job is run is no part of its definition.
func TestFixedDefinition_OptionsMayChange(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	w.stopAt("b", w.job())
	_, err := w.run(w.job(func(j *everypage.Job[ticket]) {
		j.Options.Concurrency, j.Options.MaxAttempts, j.Options.ReadAhead = 4, 9, true
		j.DropVanished, j.Deadline = true, 1
	}))
	wantComplete(t, err)
}

// Rule 18: a pinned run ID names exactly that run. Complete, it answers with the
// same receipt and calls nothing; superseded, with its successor; another job's is
// refused.
func TestRule18_PinnedRun(t *testing.T) {
	pin := func(id string) func(*everypage.Job[ticket]) {
		return func(j *everypage.Job[ticket]) { j.RunID = id }
	}
	w := newWorld(t, 2, "a", "b", "c")
	first, err := w.run(w.job(pin("march")))
	wantComplete(t, err)
	want(t, "run_id", first.RunID, "march")
	other, err := w.run(w.job()) // a later run does not change the answer
	wantComplete(t, err)
	if other.RunID == first.RunID {
		t.Error("after a complete run, the next one has the same ID")
	}
	requests, calls := len(w.requests), len(w.calls)
	again, err := w.run(w.job(pin("march")))
	wantComplete(t, err)
	a, _ := first.YAML()
	b, _ := again.YAML()
	want(t, "the receipt", string(b), string(a))
	want(t, "the number of requests", len(w.requests), requests)
	want(t, "the number of calls", len(w.calls), calls)

	_, err = w.run(w.job(pin("march"), func(j *everypage.Job[ticket]) { j.Name = "other" }))
	if !errors.Is(err, everypage.ErrInvalidJob) || !strings.Contains(err.Error(), `"tickets"`) {
		t.Errorf("another job's run: %v", err)
	}
	want(t, "the number of requests", len(w.requests), requests)

	paused := w.stopAt("b", w.job(pin("april")))
	next := w.supersede(paused.RunID)
	receipt, err := w.run(w.job(pin("april")))
	wantComplete(t, err)
	want(t, "the successor", receipt.RunID, next.RunID)
}

// Rule 18: a complete run that is pinned with another definition is not taken for
// an answer: the error is not nil, so no receipt says complete.
func TestRule18_PinnedRunWithAnotherDefinition(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	_, err := w.run(w.job(func(j *everypage.Job[ticket]) { j.RunID = "march" }))
	wantComplete(t, err)
	_, err = w.run(w.job(func(j *everypage.Job[ticket]) { j.RunID, j.List.Filter = "march", "all" }))
	if _, ok := errors.AsType[*everypage.DefinitionError](err); !ok {
		t.Errorf("have %v, want a DefinitionError", err)
	}
	want(t, "the number of calls", len(w.calls), 3)
}

// A pinned run that is open stays the job's open run when it is not pinned.
func TestRule18_OpenRunIsFound(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	paused := w.stopAt("b", w.job(func(j *everypage.Job[ticket]) { j.RunID = "march" }))
	receipt, err := w.run(w.job())
	wantComplete(t, err)
	want(t, "the run", receipt.RunID, paused.RunID)
}

// Items that are done once a job are shared by all its runs, so a second open run
// over them is refused.
func TestOnceAJob_OneOpenRun(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	once := func(j *everypage.Job[ticket]) { j.Once = everypage.OnceAJob }
	w.stopAt("b", w.job(once, func(j *everypage.Job[ticket]) { j.RunID = "march" }))
	requests := len(w.requests)
	_, err := w.run(w.job(once, func(j *everypage.Job[ticket]) { j.RunID = "april" }))
	if !errors.Is(err, everypage.ErrInvalidJob) || !strings.Contains(err.Error(), "march") {
		t.Errorf("have %v, want a refusal that names the open run", err)
	}
	want(t, "the number of requests", len(w.requests), requests)
}

// one-runner: a second Run of the same job is refused at once, with no request and
// no call; the first completes. Another job may run beside it.
func TestOneRunner(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	var second, other error
	var requests int
	w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
		if item.ID != "b" {
			return nil
		}
		never := w.job(func(j *everypage.Job[ticket]) {
			j.Handle = func(context.Context, everypage.Item[ticket]) error {
				t.Error("the second runner called the handler")
				return nil
			}
		})
		requests = len(w.requests)
		_, second = everypage.Run(ctx, w.ledger, never)
		requests = len(w.requests) - requests
		_, other = everypage.Run(ctx, w.ledger, w.job(func(j *everypage.Job[ticket]) {
			j.Name = "other"
			j.Handle = func(context.Context, everypage.Item[ticket]) error { return nil }
			j.Pager = newWorld(t, 2, "x")
		}))
		return nil
	}
	_, err := w.run(w.job())
	wantComplete(t, err)
	if !errors.Is(second, store.ErrHeld) {
		t.Errorf("the second runner's error is %v, want one that wraps store.ErrHeld", second)
	}
	want(t, "the second runner's requests", requests, 0)
	wantComplete(t, other)
	w.handle = nil
	_, err = w.run(w.job())
	wantComplete(t, err) // nothing is left locked
}

// one-runner: neither can a person decide about a run that is at work.
func TestOneRunner_Decisions(t *testing.T) {
	w := newWorld(t, 2, "a", "b", "c")
	w.handle = func(ctx context.Context, item everypage.Item[ticket]) error {
		if _, err := everypage.Supersede(ctx, w.ledger, item.RunID, decision(w)); !errors.Is(err, store.ErrHeld) {
			return fmt.Errorf("superseded a run that is at work: %w", err)
		}
		return nil
	}
	receipt, err := w.run(w.job())
	wantComplete(t, err)
	want(t, "status", receipt.Status, state.Complete)
}

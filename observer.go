package everypage

import (
	"slices"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// Observer sees every step of a run. Each func may be nil. They are called from
// the run's own goroutines, some of them at the same time, so they must be quick
// and safe for that. They see a step once it is durable, except for Call.
type Observer struct {
	// Page is called when a page is recorded.
	Page func(receipt state.Receipt, page store.Page)
	// Call is called before a handler is, with the attempt's number.
	Call func(runID, itemID string, attempt int)
	// Settled is called when the outcome of an item is durable.
	Settled func(receipt state.Receipt, item store.Item)
	// Conflict is called when a conflict is recorded.
	Conflict func(receipt state.Receipt, conflict store.Conflict)
	// Transition is called when the run's status was changed, or a note was made.
	Transition func(receipt state.Receipt, transition state.Transition)
	// Wait is called before the run waits in place.
	Wait func(runID string, code pager.Code, until time.Time)
	// Commit is called after each commit that the ledger took, and after the calls
	// about what is in it, with the number of items in it and how long it took by
	// the run's clock, its sync included.
	Commit func(runID string, items int, took time.Duration)
}

// Tee returns an observer that passes each step to all of the given ones, in
// order.
func Tee(observers ...Observer) Observer {
	all := Observer{
		Page: func(r state.Receipt, p store.Page) {
			for _, o := range observers {
				o.page(r, p)
			}
		},
		Call: func(runID, itemID string, attempt int) {
			for _, o := range observers {
				o.call(runID, itemID, attempt)
			}
		},
		Settled: func(r state.Receipt, i store.Item) {
			for _, o := range observers {
				o.settled(&r, &i)
			}
		},
		Conflict: func(r state.Receipt, c store.Conflict) {
			for _, o := range observers {
				o.conflict(r, c)
			}
		},
		Transition: func(r state.Receipt, t state.Transition) {
			for _, o := range observers {
				o.transition(r, t)
			}
		},
		Wait: func(runID string, code pager.Code, until time.Time) {
			for _, o := range observers {
				o.wait(runID, code, until)
			}
		},
		Commit: func(runID string, items int, took time.Duration) {
			for _, o := range observers {
				o.commit(runID, items, took)
			}
		},
	}
	// What is called for each item is left out where nobody hears it.
	if !slices.ContainsFunc(observers, func(o Observer) bool { return o.Call != nil }) {
		all.Call = nil
	}
	if !slices.ContainsFunc(observers, func(o Observer) bool { return o.Settled != nil }) {
		all.Settled = nil
	}
	return all
}

func (o Observer) page(r state.Receipt, p store.Page) {
	if o.Page != nil {
		o.Page(r, p)
	}
}

func (o Observer) call(runID, itemID string, attempt int) {
	if o.Call != nil {
		o.Call(runID, itemID, attempt)
	}
}

func (o *Observer) settled(r *state.Receipt, i *store.Item) {
	if o.Settled != nil {
		o.Settled(*r, *i)
	}
}

func (o Observer) conflict(r state.Receipt, c store.Conflict) {
	if o.Conflict != nil {
		o.Conflict(r, c)
	}
}

func (o Observer) transition(r state.Receipt, t state.Transition) {
	if o.Transition != nil {
		o.Transition(r, t)
	}
}

func (o Observer) wait(runID string, code pager.Code, until time.Time) {
	if o.Wait != nil {
		o.Wait(runID, code, until)
	}
}

func (o Observer) commit(runID string, items int, took time.Duration) {
	if o.Commit != nil {
		o.Commit(runID, items, took)
	}
}

package rows

import (
	"context"
	"fmt"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/workload"
)

// What a slow API and a slow handler take.
const (
	pageTakes    = 50 * time.Millisecond
	handlerTakes = 5 * time.Millisecond
	overlapWorks = 16 // handlers at a time
	overlapPages = 40
)

// Overlap compares a walk over a slow API with a slow handler with the schedule
// that wastes nothing: pages are fetched one after the other, and handled
// meanwhile; before the first page nothing can be handled, and after the last
// one nothing is fetched.
func Overlap(s Setup) measure.Family {
	walk := workload.Walk{
		IDs: workload.Random, Items: overlapPages * workload.PageSize, Concurrency: overlapWorks, ReadAhead: true, PageTakes: pageTakes,
		Handle: func(context.Context, everypage.Item[workload.Nothing]) error {
			time.Sleep(handlerTakes)
			return nil
		},
	}
	waves := (workload.PageSize + overlapWorks - 1) / overlapWorks
	handling := time.Duration(waves) * handlerTakes
	ideal := pageTakes + time.Duration(overlapPages-1)*max(pageTakes, handling) + handling
	checkedWalk := walk
	checkedWalk.Handle, checkedWalk.PageTakes = nil, 0
	return measure.Family{
		Name:  "overlap",
		Work:  fmt.Sprintf("%d pages of %d items, %v a page, %v a handler, %d at a time, read ahead; ideal: %v", overlapPages, workload.PageSize, pageTakes, handlerTakes, overlapWorks, ideal),
		Title: "A slow API and a slow handler",
		Means: "With a real API and a real handler the ledger is not what takes the time: pages are fetched while items are handled, and the outcomes are made durable beside both. The ideal schedule fetches one page after the other, handles meanwhile, and never waits for a disk.",
		Sides: []measure.Side{{Name: "engine", Run: func(ctx context.Context) (measure.Sample, error) { return s.engine(ctx, walk) }}},
		Rows: []measure.Row{{
			Name: "wall time with 50 ms a page and 5 ms a handler (16 at a time, read-ahead) against the ideal schedule",
			Of:   func(r measure.Round) float64 { return r["engine"][seconds] / ideal.Seconds() }, Unit: "×", Bar: measure.AtMost(1.05),
			Beside: []measure.Absolute{{Side: "engine", Metric: seconds, Unit: "s"}},
		}},
		Check: checked(checkedWalk),
	}
}

// Allocations counts the allocations of a walk: those of the engine, its ledger
// and the pager that makes the pages.
func Allocations(s Setup) measure.Family {
	walk := workload.Walk{IDs: workload.Random, Items: s.Items, Concurrency: 1}
	return measure.Family{
		Name:  "allocations",
		Work:  fmt.Sprintf("%s items with random IDs, one at a time", thousands(s.Items)),
		Title: "Allocations",
		Means: "What the garbage collector has to do for each item, beside what the handler itself allocates.",
		Sides: []measure.Side{{Name: "engine", Run: func(ctx context.Context) (measure.Sample, error) { return s.engine(ctx, walk) }}},
		Rows: []measure.Row{{
			Name: "allocations an item, of the whole process: engine, ledger and pager",
			Of:   measure.Metric("engine", allocsPerItem), Bar: measure.AtMost(3),
			Beside: []measure.Absolute{{Side: "engine", Metric: cpuPerItem, Unit: "µs of processor time an item"}},
		}},
		Check: checked(walk),
	}
}

package oteleverypage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/everypage-go/everypage/state"
)

// instruments are the metrics of all runs under one meter.
type instruments struct {
	pages         metric.Int64Counter
	calls         metric.Int64Counter
	items         metric.Int64Counter
	conflicts     metric.Int64Counter
	runs          metric.Int64Counter
	pending       metric.Int64Gauge
	held          metric.Int64Gauge
	conflictsOpen metric.Int64Gauge
	wait          metric.Float64Counter
	commit        metric.Float64Histogram
}

// commitBounds are the bounds of the buckets of a commit's length, in seconds: a
// sync takes a fraction of a millisecond on a good disk, and seconds on a bad one.
func commitBounds() []float64 {
	return []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
}

func newInstruments(meter metric.Meter) (*instruments, error) {
	var problems []error
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		problems = append(problems, err)
		return c
	}
	gauge := func(name, unit, description string) metric.Int64Gauge {
		g, err := meter.Int64Gauge(name, metric.WithUnit(unit), metric.WithDescription(description))
		problems = append(problems, err)
		return g
	}
	i := &instruments{
		pages:         counter("everypage.pages", "{page}", "Pages recorded, re-reads included."),
		calls:         counter("everypage.calls", "{call}", "Calls of the handler."),
		items:         counter("everypage.items", "{item}", "Items settled, by outcome."),
		conflicts:     counter("everypage.conflicts", "{conflict}", "Conflicts recorded."),
		runs:          counter("everypage.runs", "{run}", "Calls of Run that ended, by status."),
		pending:       gauge("everypage.pending", "{item}", "Items that are owed, held ones included."),
		held:          gauge("everypage.held", "{item}", "Items that wait for a person."),
		conflictsOpen: gauge("everypage.conflicts.open", "{conflict}", "Conflicts that nobody accepted."),
	}
	var err error
	i.wait, err = meter.Float64Counter("everypage.wait.duration", metric.WithUnit("s"), metric.WithDescription("Time of waits in place."))
	problems = append(problems, err)
	i.commit, err = meter.Float64Histogram("everypage.commit.duration", metric.WithUnit("s"),
		metric.WithDescription("Time of a commit of the ledger, its sync included."), metric.WithExplicitBucketBoundaries(commitBounds()...))
	problems = append(problems, err)
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("oteleverypage: make the instruments: %w", err)
	}
	return i, nil
}

// gauges tells how a receipt stands.
func (i *instruments) gauges(ctx context.Context, r *state.Receipt) {
	of := metric.WithAttributes(jobKey.String(r.Job))
	i.pending.Record(ctx, r.PendingCount, of)
	i.held.Record(ctx, r.HeldCount, of)
	i.conflictsOpen.Record(ctx, r.DuplicateConflicts, of)
}

func (i *instruments) committed(ctx context.Context, job string, took time.Duration) {
	i.commit.Record(ctx, took.Seconds(), metric.WithAttributes(jobKey.String(job)))
}

// The attributes of spans and metrics.
const (
	jobKey       = attribute.Key("everypage.job")
	runIDKey     = attribute.Key("everypage.run_id")
	pageKey      = attribute.Key("everypage.page_index")
	revisionKey  = attribute.Key("everypage.revision")
	itemsKey     = attribute.Key("everypage.items")
	itemIDKey    = attribute.Key("everypage.item_id")
	outcomeKey   = attribute.Key("everypage.outcome")
	statusKey    = attribute.Key("everypage.status")
	eventKey     = attribute.Key("everypage.event")
	codeKey      = attribute.Key("everypage.code")
	untilKey     = attribute.Key("everypage.until")
	endKey       = attribute.Key("everypage.end")
	requestIDKey = attribute.Key("everypage.request_id")
	callsKey     = attribute.Key("everypage.calls")
)

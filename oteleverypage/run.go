package oteleverypage

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// scope is the name of the instrumentation.
const scope = "github.com/everypage-go/everypage/oteleverypage"

// Options say where traces and metrics go. Nil and zero mean the defaults.
type Options struct {
	// TracerProvider makes the tracer. Defaults to the global one.
	TracerProvider trace.TracerProvider
	// MeterProvider makes the meter. Defaults to the global one.
	MeterProvider metric.MeterProvider
}

// Run is [everypage.Run] under a span, with metrics. The job's own observer sees
// every step as well. It returns what everypage.Run returns, or, before anything is
// called, an error of the meter that cannot make an instrument.
func Run[T any](ctx context.Context, ledger store.Store, job everypage.Job[T], options *Options) (*state.Receipt, error) {
	w, err := begin(ctx, job.Name, options)
	if err != nil {
		return nil, err
	}
	receipt, err := everypage.Run(w.ctx, ledger, instrument(job, w))
	w.end(receipt, err)
	return receipt, err
}

// instrument returns the job with its steps told to a watch, and its handler under
// the span of the page.
func instrument[T any](job everypage.Job[T], w *watch) everypage.Job[T] {
	job.Options.Observer = everypage.Tee(w.observer(), job.Options.Observer)
	if handle := job.Handle; handle != nil {
		job.Handle = func(ctx context.Context, item everypage.Item[T]) error { return handle(w.under(ctx), item) }
	}
	if handle := job.HandleBatch; handle != nil {
		job.HandleBatch = func(ctx context.Context, items []everypage.Item[T]) []error { return handle(w.under(ctx), items) }
	}
	return job
}

// begin starts the span of a run.
func begin(ctx context.Context, job string, options *Options) (*watch, error) {
	if options == nil {
		options = &Options{}
	}
	tracers, meters := options.TracerProvider, options.MeterProvider
	if tracers == nil {
		tracers = otel.GetTracerProvider()
	}
	if meters == nil {
		meters = otel.GetMeterProvider()
	}
	metrics, err := newInstruments(meters.Meter(scope))
	if err != nil {
		return nil, err
	}
	w := &watch{
		tracer: tracers.Tracer(scope), metrics: metrics, job: job,
		settled: make(map[store.ItemState]int), fresh: make(map[store.ItemState]int),
	}
	w.ctx, w.run = w.tracer.Start(ctx, "everypage.run", trace.WithAttributes(jobKey.String(job)))
	return w, nil
}

// end ends what is open of the run's spans and says how the run stands.
func (w *watch) end(receipt *state.Receipt, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count()
	w.endBatch()
	w.endPage()
	status := "none" // there is no run
	if receipt != nil {
		status = string(receipt.Status)
		w.run.SetAttributes(runIDKey.String(receipt.RunID), statusKey.String(status), itemsKey.Int64(receipt.ProcessedUnique))
		if r := receipt.Reason; r != nil && receipt.Status != state.Complete {
			w.run.SetAttributes(codeKey.String(string(r.Code)))
		}
		w.metrics.gauges(w.ctx, receipt)
	}
	if err != nil && !errors.Is(err, everypage.ErrPaused) {
		w.run.SetStatus(codes.Error, err.Error())
	}
	w.metrics.runs.Add(w.ctx, 1, metric.WithAttributes(jobKey.String(w.job), statusKey.String(status)))
	w.run.End()
}

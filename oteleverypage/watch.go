package oteleverypage

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// batchesAPage is how many batches of a page get a span of their own. Where each
// item has a commit to itself, the last of them lasts until the page is settled.
const batchesAPage = 10

// watch is one call of Run as its observer sees it.
type watch struct {
	tracer  trace.Tracer
	metrics *instruments
	job     string
	ctx     context.Context //nolint:containedctx // spans and metrics of one call of Run hang on it
	run     trace.Span

	mu        sync.Mutex
	page      trace.Span              // of the newest page; nil before the first
	before    trace.Span              // of the page before it, until the commit is told that ended it
	beforeCtx context.Context         //nolint:containedctx // carries before
	pageCtx   context.Context         //nolint:containedctx // carries page
	batch     trace.Span              // of what is handled and not yet durable; nil where nothing is
	batches   int                     // that the page has begun
	calls     int                     // in the batch
	settled   map[store.ItemState]int // in the batch
	fresh     map[store.ItemState]int // of them, those whose commit is not told yet
	newest    *state.Receipt          // since the last commit; nil where none came
	paused    time.Time               // when the run was paused last
}

func (w *watch) observer() everypage.Observer {
	return everypage.Observer{
		Page: w.onPage, Call: w.onCall, Settled: w.onSettled, Conflict: w.onConflict,
		Transition: w.onTransition, Wait: w.onWait, Commit: w.onCommit,
	}
}

// under puts the span of the newest page into a handler's context.
func (w *watch) under(ctx context.Context) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.page == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, w.page)
}

func (w *watch) onPage(r state.Receipt, p store.Page) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before, w.beforeCtx, w.batches = w.page, w.pageCtx, 0 // its last outcomes may be in the same commit
	w.pageCtx, w.page = w.tracer.Start(w.ctx, "everypage.page", trace.WithAttributes(
		jobKey.String(w.job), runIDKey.String(r.RunID), pageKey.Int(p.Index), revisionKey.Int(p.Revision),
		itemsKey.Int(len(p.IDs)), endKey.String(p.End.String()), requestIDKey.String(p.RequestID),
	))
	w.newest = &r
	w.metrics.pages.Add(w.ctx, 1, w.ofJob())
}

func (w *watch) onCall(string, string, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.openBatch()
	w.calls++
	w.metrics.calls.Add(w.ctx, 1, w.ofJob())
}

func (w *watch) onSettled(r state.Receipt, i store.Item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fresh[i.State]++
	w.newest = &r
	if i.State == store.StateHeld {
		w.here().AddEvent("item held", trace.WithAttributes(itemIDKey.String(i.ID), codeKey.String(string(i.Code))))
	}
}

func (w *watch) onConflict(r state.Receipt, c store.Conflict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.newest = &r
	w.here().AddEvent("conflict", trace.WithAttributes(itemIDKey.String(c.ID), pageKey.Int(c.Page)))
	w.metrics.conflicts.Add(w.ctx, 1, w.ofJob())
}

func (w *watch) onTransition(r state.Receipt, t state.Transition) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.newest = &r
	if t.To == state.Paused {
		w.paused = t.At
	}
	attributes := []attribute.KeyValue{eventKey.String(string(t.Event)), statusKey.String(string(t.To))}
	if t.Reason.Code != "" {
		attributes = append(attributes, codeKey.String(string(t.Reason.Code)))
	}
	if t.Reason.RequestID != "" {
		attributes = append(attributes, requestIDKey.String(t.Reason.RequestID))
	}
	w.run.AddEvent("transition", trace.WithAttributes(attributes...))
}

// onWait counts a wait from the pause that came before it.
func (w *watch) onWait(_ string, code pager.Code, until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	reason := codeKey.String(string(code))
	w.run.AddEvent("wait", trace.WithAttributes(reason, untilKey.String(until.Format(time.RFC3339Nano))))
	if d := until.Sub(w.paused); !w.paused.IsZero() && d > 0 {
		w.metrics.wait.Add(w.ctx, d.Seconds(), metric.WithAttributes(jobKey.String(w.job), reason))
	}
}

// onCommit ends the batch whose outcomes have become durable.
func (w *watch) onCommit(_ string, _ int, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.metrics.committed(w.ctx, w.job, took)
	if w.newest != nil {
		w.metrics.gauges(w.ctx, w.newest)
		w.newest = nil
	}
	w.count()
	if len(w.settled) > 0 && (w.batches < batchesAPage || w.before != nil) {
		w.endBatch()
	}
	if w.before != nil {
		w.before.End()
		w.before, w.beforeCtx = nil, nil
	}
}

func (w *watch) openBatch() {
	if w.batch != nil {
		return
	}
	parent := w.ctx // items that a person released are handled before any page
	switch {
	case w.before != nil:
		parent = w.beforeCtx
	case w.page != nil:
		parent = w.pageCtx
	}
	_, w.batch = w.tracer.Start(parent, "everypage.batch", trace.WithAttributes(jobKey.String(w.job)))
	w.batches++
}

// count counts what a commit has made durable.
func (w *watch) count() {
	for outcome, n := range w.fresh {
		w.metrics.items.Add(w.ctx, int64(n), metric.WithAttributes(jobKey.String(w.job), outcomeKey.String(outcome.String())))
		w.settled[outcome] += n
	}
	clear(w.fresh)
}

// endBatch ends the open batch, if there is one. What became durable after the last
// batch had ended, and with no call since, is one of its own.
func (w *watch) endBatch() {
	if len(w.settled) > 0 {
		w.openBatch()
	}
	if w.batch != nil {
		w.batch.SetAttributes(callsKey.Int(w.calls))
		for outcome, n := range w.settled {
			w.batch.SetAttributes(attribute.Int("everypage."+outcome.String(), n))
		}
		w.batch.End()
	}
	w.batch, w.calls = nil, 0
	clear(w.settled)
}

// endPage ends the span of the newest page.
func (w *watch) endPage() {
	if w.page != nil {
		w.page.End()
	}
	w.page, w.pageCtx = nil, nil
}

// here is the innermost span that lasts for longer than a batch.
func (w *watch) here() trace.Span {
	if w.page != nil {
		return w.page
	}
	return w.run
}

func (w *watch) ofJob() metric.MeasurementOption { return metric.WithAttributes(jobKey.String(w.job)) }

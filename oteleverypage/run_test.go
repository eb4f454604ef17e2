package oteleverypage_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/oteleverypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store/pebblestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pages is a list of IDs, a page an element; a nil page is a rate limit, once.
type pages struct {
	list    [][]string
	until   time.Time
	limited bool
	traced  []trace.SpanContext // what the pager's contexts carried
}

func (p *pages) Pages(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[string], error] {
	return pager.Func[string](p.page).Pages(ctx, from)
}

func (p *pages) page(ctx context.Context, at pager.Cursor) (pager.Page[string], error) {
	p.traced = append(p.traced, trace.SpanContextFromContext(ctx))
	index := 0
	if token, ok := at.Token(); ok {
		if _, err := fmt.Sscan(token, &index); err != nil {
			return pager.Page[string]{}, err
		}
	}
	if index == 1 && !p.limited && !p.until.IsZero() {
		p.limited = true
		return pager.Page[string]{}, &pager.Fault{Verdict: pager.Pause, Code: pager.CodeRateLimited, Until: p.until}
	}
	page := pager.Page[string]{End: pager.EndMore, Next: pager.At(fmt.Sprint(index + 1))}
	if index == len(p.list)-1 {
		page.End, page.Next = pager.EndLast, pager.Cursor{}
	}
	for _, id := range p.list[index] {
		page.Items = append(page.Items, pager.Item[string]{ID: id, Value: id})
	}
	return page, nil
}

// clock moves only when somebody waits, and then at once.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) Timer(d time.Duration) (<-chan time.Time, func() bool) {
	c.now = c.now.Add(d)
	passed := make(chan time.Time, 1)
	passed <- c.now
	return passed, func() bool { return true }
}

// observed is a run with what OpenTelemetry was told of it.
type observed struct {
	receipt *state.Receipt
	err     error
	spans   tracetest.SpanStubs
	metrics map[string]metricdata.Aggregation
}

func observe(t *testing.T, job everypage.Job[string]) observed {
	t.Helper()
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	}()
	exporter, reader := tracetest.NewInMemoryExporter(), sdkmetric.NewManualReader()
	traces := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	o := observed{metrics: map[string]metricdata.Aggregation{}}
	o.receipt, o.err = oteleverypage.Run(t.Context(), ledger, job, &oteleverypage.Options{TracerProvider: traces, MeterProvider: meters})
	o.spans = exporter.GetSpans()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			o.metrics[m.Name] = m.Data
		}
	}
	return o
}

// total adds a counter's points that have all of the given attributes.
func (o observed) total(t *testing.T, name string, with ...attribute.KeyValue) float64 {
	t.Helper()
	sum := 0.0
	has := func(set attribute.Set) bool {
		for _, want := range with {
			if value, ok := set.Value(want.Key); !ok || value != want.Value {
				return false
			}
		}
		return true
	}
	switch data := o.metrics[name].(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			if has(p.Attributes) {
				sum += float64(p.Value)
			}
		}
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			if has(p.Attributes) {
				sum += p.Value
			}
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			if has(p.Attributes) {
				sum += float64(p.Value)
			}
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			if has(p.Attributes) {
				sum += float64(p.Count)
			}
		}
	default:
		t.Fatalf("there is no metric %s, or it is a %T", name, data)
	}
	return sum
}

func (o observed) named(name string) (spans tracetest.SpanStubs) {
	for _, s := range o.spans {
		if s.Name == name {
			spans = append(spans, s)
		}
	}
	return spans
}

// inside fails unless every span has one of the given as its parent.
func inside(t *testing.T, spans, parents tracetest.SpanStubs) {
	t.Helper()
	known := map[trace.SpanID]tracetest.SpanStub{}
	for _, p := range parents {
		known[p.SpanContext.SpanID()] = p
	}
	for _, s := range spans {
		parent, ok := known[s.Parent.SpanID()]
		if !ok {
			t.Errorf("a span %s hangs under %v, want one of %d", s.Name, s.Parent.SpanID(), len(parents))
			continue
		}
		if s.EndTime.After(parent.EndTime) {
			t.Errorf("a span %s ends after its parent %s", s.Name, parent.Name)
		}
	}
}

func want[V comparable](t *testing.T, what string, got, want V) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func job(p *pages, c *clock, handle func(context.Context, everypage.Item[string]) error) everypage.Job[string] {
	return everypage.Job[string]{
		Name: "letters", Pager: p, Action: "read", Handle: handle,
		Options: everypage.Options{Clock: c, MaxAttempts: 1, WaitUpTo: time.Hour},
	}
}

// A run that meets a limit, a held item and a conflict: its spans hang together, its
// metrics count what its receipt counts, and the job's own observer still sees it.
func TestRun(t *testing.T) {
	start := time.Date(2026, 3, 5, 10, 0, 0, 0, time.UTC)
	p := &pages{list: [][]string{{"a", "b", "c"}, {"d", "a"}}, until: start.Add(90 * time.Second)}
	var traced []trace.SpanContext
	j := job(p, &clock{now: start}, func(ctx context.Context, item everypage.Item[string]) error {
		traced = append(traced, trace.SpanContextFromContext(ctx))
		if item.ID == "b" {
			return errors.New("no")
		}
		return nil
	})
	seen := 0
	j.Options.Observer.Call = func(string, string, int) { seen++ }
	o := observe(t, j)
	if !errors.Is(o.err, everypage.ErrNeedsReview) {
		t.Fatal(o.err)
	}
	want(t, "calls that the job's observer saw", seen, 4)

	runs, listed, batches := o.named("everypage.run"), o.named("everypage.page"), o.named("everypage.batch")
	want(t, "the spans of runs", len(runs), 1)
	want(t, "the spans of pages", len(listed), 2)
	want(t, "all spans", len(o.spans), len(runs)+len(listed)+len(batches))
	want(t, "the status of the run's span", runs[0].Status.Code, codes.Error)
	inside(t, listed, runs)
	inside(t, batches, listed)
	for i, s := range p.traced {
		want(t, fmt.Sprintf("the span in the pager's context %d", i), s.SpanID(), runs[0].SpanContext.SpanID())
	}
	for i, s := range traced {
		want(t, fmt.Sprintf("the span in the handler's context %d", i), s.SpanID(), listed[i/3].SpanContext.SpanID())
	}
	events := map[string]int{}
	for _, s := range o.spans {
		for _, e := range s.Events {
			events[e.Name]++
		}
	}
	want(t, "the events", fmt.Sprint(events), "map[conflict:1 item held:1 transition:4 wait:1]")

	named := attribute.String("everypage.job", "letters")
	for name, n := range map[string]float64{
		"everypage.pages": 2, "everypage.calls": 4, "everypage.items": 4, "everypage.conflicts": 1, "everypage.runs": 1,
		"everypage.pending": 1, "everypage.held": 1, "everypage.conflicts.open": 1, "everypage.wait.duration": 90,
	} {
		want(t, name, o.total(t, name, named), n)
	}
	want(t, "items done", o.total(t, "everypage.items", attribute.String("everypage.outcome", "done")), float64(o.receipt.ProcessedUnique))
	want(t, "items held", o.total(t, "everypage.items", attribute.String("everypage.outcome", "held")), float64(o.receipt.HeldCount))
	want(t, "runs that need review", o.total(t, "everypage.runs", attribute.String("everypage.status", "needs_review")), 1)
	if o.total(t, "everypage.commit.duration", named) < 5 {
		t.Error("fewer than five commits were measured")
	}
}

// A pause is no error of a span, and a complete run has none.
func TestRun_NoError(t *testing.T) {
	start := time.Date(2026, 3, 5, 10, 0, 0, 0, time.UTC)
	fine := func(context.Context, everypage.Item[string]) error { return nil }
	paused := job(&pages{list: [][]string{{"a"}, {"b"}}, until: start.Add(2 * time.Hour)}, &clock{now: start}, fine)
	whole := job(&pages{list: [][]string{{"a"}, {"b"}}}, &clock{now: start}, fine)
	for status, j := range map[string]everypage.Job[string]{"paused": paused, "complete": whole} {
		o := observe(t, j)
		run := o.named("everypage.run")[0]
		want(t, "the status of a span of a run that is "+status, run.Status.Code, codes.Unset)
		want(t, "the runs that are "+status, o.total(t, "everypage.runs", attribute.String("everypage.status", status)), 1)
	}
}

// A job that is not valid has no receipt; its span says what was wrong.
func TestRun_BadJob(t *testing.T) {
	o := observe(t, everypage.Job[string]{Name: "letters"})
	if !errors.Is(o.err, everypage.ErrInvalidJob) {
		t.Fatal(o.err)
	}
	want(t, "the status of the span", o.named("everypage.run")[0].Status.Code, codes.Error)
	want(t, "the runs without a receipt", o.total(t, "everypage.runs", attribute.String("everypage.status", "none")), 1)
}

// Many items give no span each, even where each has a commit to itself.
func TestRun_Volume(t *testing.T) {
	p := &pages{}
	for i := range 10 {
		var page []string
		for k := range 100 {
			page = append(page, fmt.Sprintf("%d-%d", i, k))
		}
		p.list = append(p.list, page)
	}
	o := observe(t, job(p, &clock{now: time.Now()}, func(context.Context, everypage.Item[string]) error { return nil }))
	if o.err != nil {
		t.Fatal(o.err)
	}
	want(t, "the spans of pages", len(o.named("everypage.page")), 10)
	want(t, "items done", o.total(t, "everypage.items", attribute.String("everypage.outcome", "done")), 1000)
	batches := o.named("everypage.batch")
	if len(batches) < 10 || len(batches) > 100 {
		t.Errorf("there are %d spans of batches, want 10 to 100", len(batches))
	}
	inside(t, batches, o.named("everypage.page"))
	done := int64(0)
	for _, s := range batches {
		for _, a := range s.Attributes {
			if a.Key == "everypage.done" {
				done += a.Value.AsInt64()
			}
		}
	}
	want(t, "the items in the spans of batches", done, 1000)
}

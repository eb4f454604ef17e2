package rows

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/bench/crash"
	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/workload"
)

// Raw compares the engine with a loop that writes one record an item to Pebble, a
// page a batch, each batch with a sync: what the fastest program without any of
// the engine's promises would do.
func Raw(s Setup, ids workload.IDs, concurrency int, bar float64) measure.Family {
	walk := workload.Walk{IDs: ids, Items: s.Items, Concurrency: concurrency}
	ahead := walk
	ahead.ReadAhead = true
	row := func(side, how string) measure.Row {
		return measure.Row{
			Name: fmt.Sprintf("against raw Pebble, a page a batch with sync: %s IDs, %s%s", ids, atATime(concurrency), how),
			Of:   measure.Ratio(side, "pebble", itemsPerSecond), Unit: "×", Bar: measure.AtLeast(bar), Limit: rawLimit(ids),
			Beside: []measure.Absolute{
				{Side: side, Metric: itemsPerSecond, Unit: "items/s"}, {Side: "pebble", Metric: itemsPerSecond, Unit: "items/s"},
				{Side: side, Metric: cpuPerItem, Unit: "µs of processor time an item"}, {Side: "pebble", Metric: cpuPerItem, Unit: "µs"},
			},
		}
	}
	return measure.Family{
		Name:  fmt.Sprintf("raw/%s/%d", ids, concurrency),
		Work:  fmt.Sprintf("%s items with %s IDs, %s", thousands(s.Items), ids, atATime(concurrency)),
		Title: "Raw Pebble",
		Means: "What the engine's promises cost beside a loop that keeps none of them: it looks nothing up, so that a second copy of an item is not noticed, and after a crash it does not know which items of a page were handled. Both make a page durable before the next one. With read-ahead the engine also looks the next page up while this one is handled; it holds two pages then.",
		Sides: []measure.Side{
			{Name: "engine", Run: func(ctx context.Context) (measure.Sample, error) { return s.engine(ctx, walk) }},
			{Name: "engine, ahead", Run: func(ctx context.Context) (measure.Sample, error) { return s.engine(ctx, ahead) }},
			{Name: "pebble", Run: func(ctx context.Context) (measure.Sample, error) { return s.rawPages(ctx, ids) }},
		},
		Rows: []measure.Row{row("engine", ", default options"), row("engine, ahead", ", read-ahead")},
		Check: func(ctx context.Context, seed uint64) error {
			return errors.Join(crash.Check(ctx, walk, seed), crash.Check(ctx, ahead, seed))
		},
	}
}

// rawLimit says what the profiles of these rows show.
func rawLimit(ids workload.IDs) string {
	order := "The steps of a page follow each other, since a page is durable before its items are handled and settled before the next: while the disk syncs, the run waits, as the loop does, but the look-up, the receipt and the page's digest stand between one sync and the next, and the loop has nothing there but its batch."
	if ids == workload.Sequential {
		return order + " Of the processor's time a quarter is the sync itself, an eighth each the commit and compactions, a twelfth the look-up; calls of the handler take a twentieth."
	}
	return order + " Of the processor's time a quarter is looking up the page's IDs, none of which is there: filters answer for the tables, and what is left is the walk through the skip list of what was written last. A fifth is the commit, most of which inserts into the same skip list, a seventh the sync, a tenth compactions; calls of the handler take a twentieth. Random keys make each step of a skip list a miss of the processor's cache; numbers do not."
}

// rawPages writes the records of a list to Pebble, a page a batch.
func (s Setup) rawPages(ctx context.Context, ids workload.IDs) (sample measure.Sample, err error) {
	err = s.folder(func(dir string) error {
		database, err := openRaw(vfs.Default, filepath.Join(dir, "raw"))
		if err != nil {
			return err
		}
		var value []byte
		stop := start(s.Items)
		for from := 0; from < s.Items && ctx.Err() == nil; from += workload.PageSize {
			batch := database.NewBatch()
			for i, id := range ids.Page(from, min(workload.PageSize, s.Items-from)) {
				value = workload.Value(value[:0], from+i, workload.PageSize)
				if err := batch.Set([]byte(id), value, nil); err != nil {
					return err
				}
			}
			if err := batch.Commit(pebble.Sync); err != nil {
				return err
			}
			if err := batch.Close(); err != nil {
				return err
			}
		}
		sample = stop()
		if err := database.Close(); err != nil {
			return err
		}
		return ctx.Err()
	})
	return sample, err
}

// openRaw opens a Pebble as a program of one's own would: its defaults, and the
// newest format.
func openRaw(fs vfs.FS, dir string) (*pebble.DB, error) {
	return pebble.Open(dir, &pebble.Options{
		FS:                 fs,
		FormatMajorVersion: pebble.FormatValueSeparation,
		Logger:             silent{},
	})
}

// silent keeps Pebble from printing. What it calls fatal ends the benchmark.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf("pebble: "+format, args...))
}

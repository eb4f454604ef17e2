package rows

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/workload"
)

// Raw compares the engine with a loop that writes one record an item to Pebble, a
// page a batch, each batch with a sync: what the fastest program without any of
// the engine's promises would do.
func Raw(s Setup, ids workload.IDs, concurrency int, bar float64) measure.Family {
	walk := workload.Walk{IDs: ids, Items: s.Items, Concurrency: concurrency}
	return measure.Family{
		Name:  fmt.Sprintf("raw/%s/%d", ids, concurrency),
		Work:  fmt.Sprintf("%s items with %s IDs, %s", thousands(s.Items), ids, atATime(concurrency)),
		Title: "Raw Pebble",
		Means: "What the engine's promises cost beside a loop that keeps none of them: it looks nothing up, so that a second copy of an item is not noticed, and after a crash it does not know which items of a page were handled. Both make a page durable before the next one.",
		Sides: []measure.Side{
			{Name: "engine", Run: func(ctx context.Context) (measure.Sample, error) { return s.engine(ctx, walk) }},
			{Name: "pebble", Run: func(ctx context.Context) (measure.Sample, error) { return s.rawPages(ctx, ids) }},
		},
		Rows: []measure.Row{{
			Name: fmt.Sprintf("against raw Pebble, a page a batch with sync: %s IDs, %s", ids, atATime(concurrency)),
			Of:   measure.Ratio("engine", "pebble", itemsPerSecond), Unit: "×", Bar: measure.AtLeast(bar),
			Beside: []measure.Absolute{{Side: "engine", Metric: itemsPerSecond, Unit: "items/s"}, {Side: "pebble", Metric: itemsPerSecond, Unit: "items/s"}},
		}},
		Check: checked(walk),
	}
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

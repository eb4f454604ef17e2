package rows

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/bench/crash"
	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/workload"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// AtMostOnce compares a walk that makes an intent durable before each call with a
// loop that writes one record an item to Pebble, each with a sync.
func AtMostOnce(s Setup, items int) measure.Family {
	walk := workload.Walk{IDs: workload.Random, Items: items, Concurrency: 1, AtMostOnce: true}
	return measure.Family{
		Name:  "at-most-once",
		Work:  fmt.Sprintf("%s items with random IDs, one at a time, at most once", thousands(items)),
		Title: "At most once",
		Means: "An intent is durable before each call and an outcome after it, so that an item costs the wait for a disk. The second row says how much of the disk's own pace is used.",
		Sides: []measure.Side{
			{Name: "engine", Run: func(ctx context.Context) (measure.Sample, error) { return s.engineCounted(ctx, walk) }},
			{Name: "pebble", Run: func(ctx context.Context) (measure.Sample, error) { return s.rawItems(ctx, items) }},
		},
		Rows: []measure.Row{
			{
				Name: "at-most-once, one at a time, against raw Pebble with one sync an item",
				Of:   measure.Ratio("engine", "pebble", itemsPerSecond), Unit: "×", Bar: measure.AtLeast(0.45),
				Beside: []measure.Absolute{{Side: "engine", Metric: itemsPerSecond, Unit: "items/s"}, {Side: "pebble", Metric: itemsPerSecond, Unit: "items/s"}},
			},
			{
				Name: "the same, syncs a second against syncs a second",
				Of:   measure.Ratio("engine", "pebble", syncsPerSecond), Unit: "×", Bar: measure.AtLeast(0.8),
				Beside: []measure.Absolute{{Side: "engine", Metric: syncsPerSecond, Unit: "syncs/s"}, {Side: "pebble", Metric: syncsPerSecond, Unit: "syncs/s"}},
			},
		},
		Check: checked(walk),
	}
}

// engineCounted walks a list with the engine, and counts the syncs of its ledger.
func (s Setup) engineCounted(ctx context.Context, walk workload.Walk) (measure.Sample, error) {
	syncs, fs := counted()
	sample, err := s.engineWith(ctx, walk, &pebblestore.Options{FS: fs})
	if err != nil {
		return nil, err
	}
	// The few syncs of opening and closing are counted too.
	sample[syncsPerSecond] = float64(syncs.Load()) / sample[seconds]
	return sample, nil
}

// rawItems writes the records of a list to Pebble, each with a sync.
func (s Setup) rawItems(ctx context.Context, items int) (sample measure.Sample, err error) {
	err = s.folder(func(dir string) error {
		syncs, fs := counted()
		database, err := openRaw(fs, filepath.Join(dir, "raw"))
		if err != nil {
			return err
		}
		var value []byte
		before := syncs.Load()
		stop := start(items)
		for from := 0; from < items && ctx.Err() == nil; from += workload.PageSize {
			for i, id := range workload.Random.Page(from, min(workload.PageSize, items-from)) {
				value = workload.Value(value[:0], from+i, workload.PageSize)
				if err := database.Set([]byte(id), value, pebble.Sync); err != nil {
					return err
				}
			}
		}
		sample = stop()
		sample[syncsPerSecond] = float64(syncs.Load()-before) / sample[seconds]
		if err := database.Close(); err != nil {
			return err
		}
		return ctx.Err()
	})
	return sample, err
}

// counted is the disk, with a counter of the syncs of Pebble's log.
func counted() (*atomic.Int64, vfs.FS) {
	syncs := new(atomic.Int64)
	return syncs, crash.Syncs(vfs.Default, crash.Logs(func() { syncs.Add(1) }))
}

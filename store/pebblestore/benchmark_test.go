package pebblestore_test

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// BenchmarkSettle commits the outcome of one item at a time from a number of
// goroutines, each commit with its run's record.
func BenchmarkSettle(b *testing.B) {
	for _, goroutines := range []int{1, 16} {
		b.Run(strconv.Itoa(goroutines), func(b *testing.B) {
			s, run := benchmarkLedger(b)
			var next atomic.Int64
			var group sync.WaitGroup
			b.ResetTimer()
			for range goroutines {
				group.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						item := store.Item{Scope: "r", ID: strconv.FormatInt(i, 10), RunID: "r", SettledBy: "r", State: store.StateDone, UpdatedAt: instant(i)}
						if err := s.Commit(b.Context(), store.Change{Run: run, Items: []store.Item{item}}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "items/s")
		})
	}
}

// BenchmarkPage looks up and commits a page of 100 new items at a time.
func BenchmarkPage(b *testing.B) {
	s, run := benchmarkLedger(b)
	const size = 100
	ids := make([]string, size)
	items := make([]store.Item, size)
	b.ResetTimer()
	for n := range b.N {
		for i := range size {
			ids[i] = fmt.Sprintf("item-%08x", uint32(n*size+i)*2654435761)
			items[i] = store.Item{Scope: "r", ID: ids[i], RunID: "r", SettledBy: "r", State: store.StateDone, Page: n, Ordinal: i, UpdatedAt: instant(0)}
		}
		if _, err := s.Items(b.Context(), "r", ids); err != nil {
			b.Fatal(err)
		}
		page := &store.Page{RunID: "r", Index: n, Cursor: cursorOf(n), Next: cursorOf(n + 1), IDs: ids}
		if err := s.Commit(b.Context(), store.Change{Run: run, Page: page, Items: items}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "items/s")
}

// BenchmarkOpen opens and closes a ledger that exists.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		s, err := pebblestore.Open(dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkLedger(b *testing.B) (*pebblestore.Store, store.Run) {
	b.Helper()
	s, err := pebblestore.Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	run := newRun("job", "r")
	if err := s.Commit(b.Context(), beginChange(run)); err != nil {
		b.Fatal(err)
	}
	return s, run
}

package everypage_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// speedItems is the length of the benchmarks' lists, and speedPage that of a page.
const (
	speedItems = 200_000
	speedPage  = 100
)

// speedList returns the IDs of a list: 27 random characters, or numbers.
func speedList(random bool) []string {
	ids := make([]string, speedItems)
	source := rand.NewChaCha8([32]byte{1})
	for i := range ids {
		ids[i] = strconv.Itoa(1_000_000_000 + i)
		if random {
			const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
			var id [27]byte
			for at := range id {
				id[at] = letters[source.Uint64()%uint64(len(letters))]
			}
			ids[i] = string(id[:])
		}
	}
	return ids
}

// speedWalk is a walk over a list with a handler that does nothing.
type speedWalk struct {
	ids         []string
	concurrency int
	ahead       bool
	once        bool
}

func (s speedWalk) job() everypage.Job[struct{}] {
	raw := []byte("{}")
	return everypage.Job[struct{}]{
		Name: "speed", Action: "count", AtMostOnce: s.once,
		Pager: pager.Func[struct{}](func(_ context.Context, at pager.Cursor) (pager.Page[struct{}], error) {
			token, _ := at.Token()
			from, _ := strconv.Atoi(token)
			ids := s.ids[from:min(from+speedPage, len(s.ids))]
			page := pager.Page[struct{}]{End: pager.EndMore, Next: pager.At(strconv.Itoa(from + len(ids))), Items: make([]pager.Item[struct{}], len(ids))}
			for i, id := range ids {
				page.Items[i] = pager.Item[struct{}]{ID: id, Raw: raw}
			}
			if from+len(ids) == len(s.ids) {
				page.End, page.Next = pager.EndLast, pager.Cursor{}
			}
			return page, nil
		}),
		Handle:  func(context.Context, everypage.Item[struct{}]) error { return nil },
		Options: everypage.Options{Concurrency: s.concurrency, ReadAhead: s.ahead},
	}
}

// engine walks the list and returns how long that took, its allocations and its
// commits.
func (s speedWalk) engine(b *testing.B) (took time.Duration, mallocs, commits uint64) {
	b.Helper()
	ledger, err := pebblestore.Open(filepath.Join(b.TempDir(), "ledger"), nil)
	if err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	job := s.job()
	job.Options.Observer.Commit = func(string, int, time.Duration) { commits++ }
	receipt, err := everypage.Run(b.Context(), ledger, job)
	took = time.Since(began)
	runtime.ReadMemStats(&after)
	if err != nil || receipt.ProcessedUnique != int64(len(s.ids)) {
		b.Fatalf("%v: %+v", err, receipt)
	}
	if err := ledger.Close(); err != nil {
		b.Fatal(err)
	}
	return took, after.Mallocs - before.Mallocs, commits
}

// BenchmarkWalk measures a walk with a handler that does nothing: items a second,
// allocations an item, and commits a page. What share of raw Pebble's speed that is, bench/ says.
//
//	go test -run '^$' -bench Walk -benchtime 5x .
func BenchmarkWalk(b *testing.B) {
	for _, random := range []bool{true, false} {
		ids := speedList(random)
		name := map[bool]string{true: "random", false: "sequential"}[random]
		for _, concurrency := range []int{1, 16} {
			for _, ahead := range []bool{false, true} {
				s := speedWalk{ids: ids, concurrency: concurrency, ahead: ahead}
				b.Run(fmt.Sprintf("%s/%d/ahead=%t", name, concurrency, ahead), s.measure)
			}
		}
		s := speedWalk{ids: ids[:10_000], concurrency: 1, once: true}
		b.Run(name+"/at most once", s.measure)
	}
}

// measure reports the median of the turns.
func (s speedWalk) measure(b *testing.B) {
	var speeds []float64
	var allocations, commits uint64
	for b.Loop() {
		took, mallocs, synced := s.engine(b)
		speeds = append(speeds, float64(len(s.ids))/took.Seconds())
		allocations, commits = mallocs, synced
	}
	slices.Sort(speeds)
	b.ReportMetric(speeds[len(speeds)/2], "items/s")
	b.ReportMetric(float64(allocations)/float64(len(s.ids)), "allocs/item")
	b.ReportMetric(float64(commits)*speedPage/float64(len(s.ids)), "commits/page")
}

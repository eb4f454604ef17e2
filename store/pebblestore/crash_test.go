package pebblestore_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/internal/faultfs"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// small makes logs and tables turn over within a short test.
func small(fs vfs.FS) *pebblestore.Options {
	return &pebblestore.Options{FS: fs, MemTableSize: 64 << 10, CacheSize: 1 << 20}
}

// crash returns what a crash at this moment leaves of a file system.
func crash(fs *vfs.MemFS, percent int, seed uint64) *vfs.MemFS {
	return fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(seed, 1))})
}

// walkers walk several runs at the same time, each step confirmed before the next.
type walkers struct {
	prefix    string
	confirmed []atomic.Int64
	stop      atomic.Bool
	ended     atomic.Int64 // how many have ended
	group     sync.WaitGroup
	errs      []error
}

func walk(s store.Store, prefix string, runs, steps int) *walkers {
	w := &walkers{prefix: prefix, confirmed: make([]atomic.Int64, runs), errs: make([]error, runs)}
	for i := range runs {
		w.confirmed[i].Store(-1) // not even begun
		w.group.Go(func() {
			defer w.ended.Add(1)
			run := newRun("job", fmt.Sprint(prefix, i))
			if w.errs[i] = s.Commit(context.Background(), beginChange(run)); w.errs[i] != nil {
				return
			}
			for n := 0; !w.stop.Load() && n < steps; n++ {
				w.confirmed[i].Store(int64(n))
				if w.errs[i] = s.Commit(context.Background(), pageStep(run, n)); w.errs[i] != nil {
					return
				}
			}
		})
	}
	return w
}

// counts returns the confirmed steps by run; -1 for a run whose begin is not.
func (w *walkers) counts() map[string]int {
	counts := make(map[string]int, len(w.confirmed))
	for i := range w.confirmed {
		counts[fmt.Sprint(w.prefix, i)] = int(w.confirmed[i].Load())
	}
	return counts
}

// verify checks that a ledger holds every confirmed step and no torn one.
func verify(ctx context.Context, s store.Store, confirmed map[string]int) error {
	for _, runID := range slices.Sorted(maps.Keys(confirmed)) {
		want := confirmed[runID]
		got, err := wholeSteps(ctx, s, runID)
		switch {
		case errors.Is(err, store.ErrNotFound) && want < 0:
		case err != nil:
			return fmt.Errorf("run %s: %w", runID, err)
		case got < want:
			return fmt.Errorf("run %s: %d steps were confirmed, %d are there", runID, want, got)
		}
	}
	return nil
}

// TestCrashLosesNothingConfirmed crashes at random moments while several runs
// are walked, and again after the recovery.
func TestCrashLosesNothingConfirmed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs := vfs.NewCrashableMem()
		all := make(map[string]int)
		for round := range rapid.IntRange(1, 3).Draw(rt, "crashes") {
			s, err := pebblestore.Open("new/ledger", small(fs))
			if err != nil {
				rt.Fatalf("open: %v", err)
			}
			w := walk(s, fmt.Sprint("r", round, "-"), rapid.IntRange(1, 4).Draw(rt, "runs"), 40)
			steps := rapid.Int64Range(0, 30).Draw(rt, "steps")
			for w.confirmed[0].Load() < steps && w.ended.Load() == 0 {
				pause(100 * time.Microsecond)
			}
			maps.Copy(all, w.counts())
			left := crash(fs, rapid.SampledFrom([]int{0, 50, 100}).Draw(rt, "percent"), rapid.Uint64().Draw(rt, "seed"))
			w.stop.Store(true)
			w.group.Wait()
			if err := errors.Join(append(w.errs, s.Close())...); err != nil {
				rt.Fatalf("before the crash: %v", err)
			}
			fs = left
			r, err := pebblestore.Open("new/ledger", small(fs))
			if err != nil {
				rt.Fatalf("open after the crash: %v", err)
			}
			if err := errors.Join(verify(t.Context(), r, all), r.Close()); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// TestCrashAtEveryOperation crashes before each single change of the file system
// while a ledger is made, written, closed, and opened again.
func TestCrashAtEveryOperation(t *testing.T) {
	stride := int64(1)
	if testing.Short() {
		stride = 7
	}
	for _, percent := range []int{0, 50} { // with all of it, it is a killed process
		t.Run(fmt.Sprint(percent), func(t *testing.T) {
			for at := int64(1); ; at += stride {
				if crashed, err := crashAt(t.Context(), at, percent); err != nil {
					t.Fatalf("a crash before operation %d: %v", at, err)
				} else if !crashed {
					t.Logf("fewer than %d operations", at)
					return
				}
			}
		})
	}
}

// crashAt crashes before the given operation, and reports whether there was one.
func crashAt(ctx context.Context, at int64, percent int) (crashed bool, err error) {
	mem := vfs.NewCrashableMem()
	fs := faultfs.New(mem)
	var operations, confirmed atomic.Int64
	var clone *vfs.MemFS
	var want int64
	var mu sync.Mutex
	confirmed.Store(-1)
	fs.Set(func(string, string) error {
		mu.Lock()
		defer mu.Unlock()
		if operations.Add(1) == at {
			want = confirmed.Load()
			clone = crash(mem, percent, uint64(at))
		}
		return nil
	})
	run := newRun("job", "r0")
	for round := range 2 {
		s, err := pebblestore.Open("ledger", small(fs))
		if err != nil {
			return false, err
		}
		if round == 0 {
			err = s.Commit(ctx, beginChange(run))
			confirmed.Store(0)
		}
		for n := round * 3; err == nil && n < round*3+3; n++ {
			err = s.Commit(ctx, pageStep(run, n))
			confirmed.Store(int64(n + 1))
		}
		if err := errors.Join(err, s.Close()); err != nil {
			return false, err
		}
	}
	fs.Set(nil)
	mu.Lock()
	defer mu.Unlock()
	if clone == nil {
		return false, nil
	}
	for range 2 { // the recovery must not harm what it recovers
		s, err := pebblestore.Open("ledger", small(clone))
		if err != nil {
			return true, fmt.Errorf("open after the crash: %w", err)
		}
		if err := errors.Join(verify(ctx, s, map[string]int{"r0": int(want)}), s.Close()); err != nil {
			return true, err
		}
	}
	return true, nil
}

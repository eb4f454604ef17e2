package everypage_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/faultfs"
	"github.com/everypage-go/everypage/internal/tier"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// diskPlan is a run whose records make logs and tables turn over.
func diskPlan(seed uint64) *crashPlan {
	r := rand.New(rand.NewPCG(seed, 7))
	p := &crashPlan{atMostOnce: seed%3 == 1, notReplayable: seed%2 == 0, padding: strings.Repeat("x", 16<<10)}
	for n := range 12 {
		var ids []string
		for i := range 4 {
			ids = append(ids, fmt.Sprintf("i%02d", 4*n+i))
		}
		p.pages = append(p.pages, ids[:2+r.IntN(3)])
	}
	return p
}

// onDisk lives one life on a disk with small logs, and returns what Run and Close
// said. The ledger's error is nil where it was opened.
func (h *history) onDisk(disk vfs.FS, seed uint64) (opened, ran, closed error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h.mu.Lock()
	h.number++
	h.is = life{end: inPeace, at: -1, concurrency: 1 + int(seed%3), ahead: seed%2 == 1}
	h.calls, h.fetches, h.dead, h.cancel = 0, 0, false, cancel
	h.note("a process begins, with %d at a time", h.is.concurrency)
	h.mu.Unlock()
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: disk, Now: h.clock.Now, MemTableSize: 64 << 10, CacheSize: 1 << 20})
	if err != nil {
		return err, nil, nil
	}
	_, ran = everypage.Run(ctx, ledger, h.job())
	return nil, ran, ledger.Close()
}

// operations counts the changes of the file system in a run that nothing happens
// to, and sees that every sort of them is among them but the recycling of a log, which
// a slow machine may not come to; pebblestore's own tests wait for one.
func operations(t *testing.T, seed uint64) int64 {
	t.Helper()
	h := newHistory(diskPlan(seed), vfs.NewCrashableMem())
	var n int64
	var mu sync.Mutex
	met := make(map[string]bool)
	disk := faultfs.New(h.fs)
	disk.Set(func(op, name string) error {
		mu.Lock()
		defer mu.Unlock()
		n++
		met[op+" "+strings.Trim(name, "0123456789-")] = true
		return nil
	})
	if err := errors.Join(h.onDisk(disk, seed)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"create .log", "write .log", "sync .log", "create .sst", "write .sst", "sync .sst",
		"create MANIFEST", "write MANIFEST", "sync MANIFEST", "sync db", "write everypage.witness", "sync everypage.witness",
	} {
		if !met[want] {
			t.Fatalf("no %q among the changes of a run: %v", want, slices.Sorted(maps.Keys(met)))
		}
	}
	return n
}

// steps chooses some of the numbers from 1 to n, in order: all of them if as many
// are asked for. The first ones differ by seed.
func steps(n, wanted int64, seed uint64) []int64 {
	stride := max(1, n/wanted)
	var chosen []int64
	for at := 1 + int64(seed)%stride; at <= n; at += stride {
		chosen = append(chosen, at)
	}
	return chosen
}

// TestCrashBeforeEachChangeOfTheDisk crashes a whole run before single changes of
// the file system, with what was not synced lost, kept in part, and kept. Whatever is
// left of it opens, and the run goes on to its end with every promise kept. The long
// tier takes every change; a failure names the seed and the change.
func TestCrashBeforeEachChangeOfTheDisk(t *testing.T) {
	for seed := range uint64(tier.Checks(2, 3, 6)) {
		total := operations(t, seed)
		for _, percent := range []int{0, 50, 100} {
			t.Run(fmt.Sprintf("seed %d, %d percent", seed, percent), func(t *testing.T) {
				for _, at := range steps(total, int64(tier.Checks(16, 60, 1<<20)), seed+uint64(percent)) {
					crashOnce(t, seed, at, percent)
				}
			})
		}
	}
}

func crashOnce(t *testing.T, seed uint64, at int64, percent int) {
	t.Helper()
	h := newHistory(diskPlan(seed), vfs.NewCrashableMem())
	disk := faultfs.New(h.fs)
	var n atomic.Int64
	disk.Set(func(string, string) error {
		if n.Add(1) == at {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.dieOf(percent, seed+uint64(at))
		}
		return nil
	})
	_, _, _ = h.onDisk(disk, seed) // what a dead process would have said
	if !h.dead {
		return // this time it took fewer
	}
	h.fs = h.left
	h.goOn(h.named(t, "seed %d, a crash before change %d, %d percent kept", seed, at, percent), false)
}

// goOn lets the run come to its end in peace, unless it is complete: that one is
// final, and the next would be another.
func (h *history) goOn(t failer, mustBeComplete bool) {
	ledger := h.open(t)
	receipt := h.newest(t, ledger)
	_ = ledger.Close()
	switch {
	case receipt != nil && receipt.Status == state.Complete:
		h.check(t, receipt)
	case mustBeComplete:
		h.fail(t, "the run was complete, and the ledger has %+v", receipt)
	default:
		h.toTheEnd(t, nil)
	}
}

// TestOneErrorAtEachChangeOfTheDisk lets single changes of the file system fail
// during a whole run: as it is opened, at work and as it is closed, recycled logs
// included. What fails is a typed error, this process lives on, nothing confirmed is
// lost, and the run goes on to its end as soon as the disk is well.
func TestOneErrorAtEachChangeOfTheDisk(t *testing.T) {
	for seed := range uint64(tier.Checks(1, 3, 6)) {
		total := operations(t, seed)
		for _, kind := range []error{syscall.EIO, syscall.ENOSPC} {
			t.Run(fmt.Sprintf("seed %d, %v", seed, kind), func(t *testing.T) {
				for _, at := range steps(total, int64(tier.Checks(30, 80, 1<<20)), seed) {
					failOnce(t, seed, at, func(n int64, op, name string) error {
						if n == at {
							return &fs.PathError{Op: op, Path: name, Err: kind}
						}
						return nil
					})
				}
			})
		}
	}
}

// TestAFullDisk has no room from some change of the file system on, for the logs,
// for the manifest, or for anything.
func TestAFullDisk(t *testing.T) {
	for name, full := range map[string]func(name string) bool{
		"log":      func(name string) bool { return strings.HasSuffix(name, ".log") },
		"manifest": func(name string) bool { return strings.HasPrefix(name, "MANIFEST") },
		"all":      func(string) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			seed := uint64(0)
			for _, at := range steps(operations(t, seed), int64(tier.Checks(8, 20, 200)), seed) {
				failOnce(t, seed, at, func(n int64, op, name string) error {
					if n >= at && op != "remove" && op != "sync" && full(name) {
						return &fs.PathError{Op: op, Path: name, Err: syscall.ENOSPC}
					}
					return nil
				})
			}
		})
	}
}

func failOnce(t *testing.T, seed uint64, at int64, fault func(n int64, op, name string) error) {
	t.Helper()
	h := newHistory(diskPlan(seed), vfs.NewCrashableMem())
	named := h.named(t, "seed %d, a fault at change %d", seed, at)
	disk := faultfs.New(h.fs)
	var n atomic.Int64
	var what atomic.Pointer[string]
	disk.Set(func(op, name string) error {
		err := fault(n.Add(1), op, name)
		if err != nil {
			text := err.Error()
			what.CompareAndSwap(nil, &text)
		}
		return err
	})
	done := make(chan struct{})
	var opened, ran, closed error
	go func() {
		defer close(done)
		opened, ran, closed = h.onDisk(disk, seed)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		named.Fatalf("the run hangs")
	}
	disk.Set(nil)
	if text := what.Load(); text != nil {
		h.note("%s", *text)
	}
	for _, err := range []error{opened, ran, closed} {
		detail := new(store.Error)
		pause := errors.Is(err, everypage.ErrPaused) || errors.Is(err, everypage.ErrNeedsReview)
		if err != nil && !pause && !errors.As(err, &detail) {
			named.Fatalf("%v is no *store.Error", err)
		}
	}
	if ran != nil && !errors.Is(ran, store.ErrFailed) {
		named.Fatalf("the run ended with %v, want one that wraps %v", ran, store.ErrFailed)
	}
	h.mu.Lock()
	confirmed := len(h.confirmed)
	h.mu.Unlock()
	if ran == nil && opened == nil && confirmed != len(h.plan.ids()) {
		named.Fatalf("the run is complete and %d of %d items are confirmed", confirmed, len(h.plan.ids()))
	}
	h.goOn(named, ran == nil && opened == nil)
}

// named is a test whose failures begin with what was done.
func (h *history) named(t *testing.T, format string, args ...any) failer {
	t.Helper()
	return namedFailer{t, fmt.Sprintf(format, args...)}
}

type namedFailer struct {
	t    *testing.T
	what string
}

func (f namedFailer) Fatalf(format string, args ...any) {
	f.t.Helper()
	f.t.Fatalf("%s: %s", f.what, fmt.Sprintf(format, args...))
}

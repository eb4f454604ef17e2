// Package crash checks that a figure was not bought with durability: it crashes a
// walk at a random sync, and looks for what had been confirmed.
package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/bench/workload"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// Items is the length of the list that is crashed.
const Items = 2_000

// ErrBroken is wrapped by an error that says that a promise was broken.
var ErrBroken = errors.New("a promise was broken")

// Check walks a list of Items items as walk says, in a file system in memory,
// crashes at a sync that seed chooses, and goes on with what is left. It returns
// an error that wraps ErrBroken where an item or a page that was confirmed before
// the crash is not in the ledger after it, is handled again, or where an item is
// never handled; with at-most-once, where any item is called twice.
func Check(ctx context.Context, walk workload.Walk, seed uint64) error {
	return check(ctx, walk, seed, func(disk vfs.FS) vfs.FS { return disk })
}

// check is Check on a disk of the caller's.
func check(ctx context.Context, walk workload.Walk, seed uint64, disk func(vfs.FS) vfs.FS) error {
	walk.Items = Items
	random := rand.New(rand.NewPCG(seed, 0))       //nolint:gosec // has to be repeated from its seed
	all, err := before(ctx, walk, 0, random, disk) // how many syncs there are
	if err != nil {
		return err
	}
	seen, err := before(ctx, walk, 1+random.Int64N(all.syncs), random, disk)
	if err != nil {
		return err
	}
	if err := after(ctx, walk, seen); err != nil {
		return fmt.Errorf("crash at sync %d of about %d, seed %d: %w", seen.syncs, all.syncs, seed, err)
	}
	return nil
}

// witness is what was seen of a walk until it crashed.
type witness struct {
	syncs     int64
	left      *vfs.MemFS // what the crash left
	confirmed map[string]bool
	called    map[string]int
	pages     int
}

// before walks until the given sync, and crashes there; 0 is never.
func before(ctx context.Context, walk workload.Walk, at int64, random *rand.Rand, disk func(vfs.FS) vfs.FS) (*witness, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	mem := vfs.NewCrashableMem()
	var mu sync.Mutex
	now := witness{confirmed: make(map[string]bool), called: make(map[string]int)}
	var crashed *witness
	percent := []int{0, 50, 100}[random.IntN(3)]
	clone := func() { // the caller holds mu
		crashed = &witness{syncs: now.syncs, confirmed: maps.Clone(now.confirmed), called: maps.Clone(now.called), pages: now.pages}
		crashed.left = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: random})
	}
	ledger, err := pebblestore.Open("ledger", options(Syncs(disk(mem), func(string) {
		mu.Lock()
		defer mu.Unlock()
		if now.syncs++; now.syncs == at {
			clone()
			cancel()
		}
	})))
	if err != nil {
		return nil, err
	}
	walk.Handle = func(_ context.Context, item everypage.Item[workload.Nothing]) error {
		mu.Lock()
		defer mu.Unlock()
		now.called[item.ID]++
		return nil
	}
	walk.Observer = everypage.Observer{
		Settled: func(_ state.Receipt, item store.Item) {
			mu.Lock()
			defer mu.Unlock()
			now.confirmed[item.ID] = true
		},
		Page: func(_ state.Receipt, page store.Page) {
			mu.Lock()
			defer mu.Unlock()
			now.pages = max(now.pages, page.Index+1)
		},
	}
	_, err = everypage.Run(ctx, ledger, walk.Job())
	if errors.Is(err, context.Canceled) && crashed != nil {
		err = nil
	}
	if err = errors.Join(err, ledger.Close()); err != nil {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	if crashed == nil { // there were fewer syncs than the last time
		clone()
	}
	return crashed, nil
}

// options make logs and tables turn over within a short walk.
func options(fs vfs.FS) *pebblestore.Options {
	return &pebblestore.Options{FS: fs, MemTableSize: 64 << 10}
}

// after looks at what a crash left, goes on from there, and compares.
func after(ctx context.Context, walk workload.Walk, seen *witness) error {
	ledger, err := pebblestore.Open("ledger", options(seen.left))
	if err != nil {
		return fmt.Errorf("%w: the ledger does not open: %w", ErrBroken, err)
	}
	err = compare(ctx, walk, ledger, seen)
	return errors.Join(err, ledger.Close())
}

func compare(ctx context.Context, walk workload.Walk, ledger store.Store, seen *witness) error {
	job := walk.Job()
	if err := recorded(ctx, ledger, job.RunID, seen); err != nil {
		return err
	}
	var mu sync.Mutex
	var wrong error
	job.Handle = func(_ context.Context, item everypage.Item[workload.Nothing]) error {
		mu.Lock()
		defer mu.Unlock()
		seen.called[item.ID]++
		if seen.confirmed[item.ID] {
			wrong = fmt.Errorf("%w: item %s was confirmed and is handled again", ErrBroken, item.ID)
		}
		return nil
	}
	receipt, err := everypage.Run(ctx, ledger, job)
	switch {
	case wrong != nil:
		return wrong
	case err != nil && (!walk.AtMostOnce || !errors.Is(err, everypage.ErrNeedsReview)):
		return fmt.Errorf("%w: the run does not go on: %w", ErrBroken, err)
	}
	if n := receipt.ProcessedUnique + receipt.HeldCount; n != int64(walk.Items) {
		return fmt.Errorf("%w: %d of %d items are done or held", ErrBroken, n, walk.Items)
	}
	return called(walk, receipt, seen)
}

// called compares the calls before and after the crash with what is promised.
func called(walk workload.Walk, receipt *state.Receipt, seen *witness) error {
	missing := int64(0)
	for _, id := range walk.IDs.Page(0, walk.Items) {
		switch n := seen.called[id]; {
		case n == 0:
			missing++
		case n > 1 && walk.AtMostOnce:
			return fmt.Errorf("%w: item %s was called %d times", ErrBroken, id, n)
		}
	}
	if missing > receipt.HeldCount { // held in doubt: an intent was durable and the call had not begun
		return fmt.Errorf("%w: %d items were never called, and %d are held", ErrBroken, missing, receipt.HeldCount)
	}
	return nil
}

// recorded looks for what was confirmed.
func recorded(ctx context.Context, ledger store.Reader, run string, seen *witness) error {
	ids := slices.Sorted(maps.Keys(seen.confirmed))
	items, err := ledger.Items(ctx, run, ids)
	if err != nil {
		return err
	}
	for i, item := range items {
		if item.State != store.StateDone {
			return fmt.Errorf("%w: item %s was confirmed and is %s", ErrBroken, ids[i], item.State)
		}
	}
	pages := 0
	for _, err := range ledger.Pages(ctx, run, 0) {
		if err != nil {
			return err
		}
		pages++
	}
	if pages < seen.pages {
		return fmt.Errorf("%w: %d pages were recorded and %d are left", ErrBroken, seen.pages, pages)
	}
	return nil
}

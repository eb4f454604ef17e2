package proptest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store"
)

// shaky is a store in memory some of whose methods somebody wrote wrongly.
type shaky struct {
	*memory

	commit func(ctx context.Context, change store.Change) error
	items  func(ctx context.Context, scope string, ids []string) ([]store.Item, error)
	held   func(ctx context.Context, scope string) iter.Seq2[store.Item, error]
	runs   func(ctx context.Context, filter store.RunFilter) iter.Seq2[store.Run, error]
	pageAt func(ctx context.Context, runID string, cursor pager.Cursor) (int, bool, error)
	hold   func(ctx context.Context, job string) (func(), error)
}

func (s shaky) Commit(ctx context.Context, change store.Change) error {
	if s.commit != nil {
		return s.commit(ctx, change)
	}
	return s.memory.Commit(ctx, change)
}

func (s shaky) Items(ctx context.Context, scope string, ids []string) ([]store.Item, error) {
	if s.items != nil {
		return s.items(ctx, scope, ids)
	}
	return s.memory.Items(ctx, scope, ids)
}

func (s shaky) Held(ctx context.Context, scope string) iter.Seq2[store.Item, error] {
	if s.held != nil {
		return s.held(ctx, scope)
	}
	return s.memory.Held(ctx, scope)
}

func (s shaky) Runs(ctx context.Context, filter store.RunFilter) iter.Seq2[store.Run, error] {
	if s.runs != nil {
		return s.runs(ctx, filter)
	}
	return s.memory.Runs(ctx, filter)
}

func (s shaky) PageAt(ctx context.Context, runID string, cursor pager.Cursor) (int, bool, error) {
	if s.pageAt != nil {
		return s.pageAt(ctx, runID, cursor)
	}
	return s.memory.PageAt(ctx, runID, cursor)
}

func (s shaky) Hold(ctx context.Context, job string) (func(), error) {
	if s.hold != nil {
		return s.hold(ctx, job)
	}
	return s.memory.Hold(ctx, job)
}

// shakyPlace makes a shaky store.
type shakyPlace func(m *memory) shaky

func (p shakyPlace) Open() (store.Store, error) { return p(newMemory(newRecords())), nil }

// brokenStore is a store that somebody might write, with the rule that names its
// fault.
type brokenStore struct {
	name, rule string
	fresh      func(dir string) StorePlace
}

// onCommit changes what a store in memory is told to keep.
func onCommit(change func(*store.Change)) func(string) StorePlace {
	return func(string) StorePlace {
		return shakyPlace(func(m *memory) shaky {
			return shaky{memory: m, commit: func(ctx context.Context, c store.Change) error {
				change(&c)
				return m.Commit(ctx, c)
			}}
		})
	}
}

func brokenStores() []brokenStore {
	made := func(broken func(m *memory) shaky) func(string) StorePlace {
		return func(string) StorePlace { return shakyPlace(broken) }
	}
	return []brokenStore{
		{"a store that commits the cursor alone", "a committed change is read back as a whole", onCommit(func(c *store.Change) { c.Items = nil })},
		{"a store that loses a counter", "a committed change is read back as a whole", onCommit(func(c *store.Change) { c.Run.Receipt.Pages = 0 })},
		{"a store that leaves the second run of a change out", "a second run changes in the same step", onCommit(func(c *store.Change) { c.Also = nil })},
		{"a store that takes the start for an empty token", "cursors are kept byte for byte", onCommit(func(c *store.Change) {
			if c.Page != nil && c.Page.Cursor == pager.At("") {
				page := *c.Page
				page.Cursor, page.Next = pager.Cursor{}, pager.Cursor{}
				c.Page = &page
			}
		})},
		{"a store that writes over a run that is there", "a change that begins a run that is there is refused", made(func(m *memory) shaky {
			return shaky{memory: m, commit: func(ctx context.Context, c store.Change) error {
				if _, err := m.Run(ctx, c.Run.Receipt.RunID); err == nil {
					c.Begin = false
				}
				return m.Commit(ctx, c)
			}}
		})},
		{"a store that gives up when its caller is gone", "a commit ignores the caller's cancellation", made(func(m *memory) shaky {
			return shaky{memory: m, commit: func(ctx context.Context, c store.Change) error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return m.Commit(ctx, c)
			}}
		})},
		{"a store that answers from what it read before", "an item is replaced", made(func(m *memory) shaky {
			var mu sync.Mutex
			known := map[itemName]store.Item{}
			return shaky{memory: m, items: func(ctx context.Context, scope string, ids []string) ([]store.Item, error) {
				items, err := m.Items(ctx, scope, ids)
				mu.Lock()
				defer mu.Unlock()
				for i, item := range items {
					if old, ok := known[itemName{scope, item.ID}]; ok {
						items[i] = old
					} else if item.State != store.StateUnknown {
						known[itemName{scope, item.ID}] = item
					}
				}
				return items, err
			}}
		})},
		{"a store that forgets to sort the hold queue", "held items follow their state", made(func(m *memory) shaky {
			return shaky{memory: m, held: func(ctx context.Context, scope string) iter.Seq2[store.Item, error] {
				return func(yield func(store.Item, error) bool) {
					var all []store.Item
					for item, err := range m.Held(ctx, scope) {
						if err != nil {
							yield(item, err)
							return
						}
						all = append(all, item)
					}
					for _, item := range slices.Backward(all) {
						if !yield(item, nil) {
							return
						}
					}
				}
			}}
		})},
		{"a store that lists a run under its old status", "a run whose status changed is listed under the new one only", made(func(m *memory) shaky {
			return shaky{memory: m, runs: func(ctx context.Context, filter store.RunFilter) iter.Seq2[store.Run, error] {
				filter.Status = ""
				return m.Runs(ctx, filter)
			}}
		})},
		{"a store that finds cursors of other runs", "cursors are kept byte for byte", made(func(m *memory) shaky {
			return shaky{memory: m, pageAt: func(ctx context.Context, runID string, cursor pager.Cursor) (int, bool, error) {
				for run, err := range m.Runs(ctx, store.RunFilter{}) {
					if err != nil {
						return 0, false, err
					}
					if at, found, err := m.PageAt(ctx, run.Receipt.RunID, cursor); found || err != nil {
						return at, found, err
					}
				}
				return m.PageAt(ctx, runID, cursor)
			}}
		})},
		{"a store that lets two runners hold a job", "one holder at a time works on a job", made(func(m *memory) shaky {
			return shaky{memory: m, hold: func(context.Context, string) (func(), error) { return func() {}, nil }}
		})},
		{"a store that forgets a sync", "a crash loses nothing confirmed", func(string) StorePlace {
			return &inMemory{fs: vfs.NewCrashableMem(), lazy: true}
		}},
		{"a store that keeps its lock after a kill", "a crash leaves no lock", func(string) StorePlace {
			return &lockedPlace{inMemory: inMemory{fs: vfs.NewCrashableMem()}, held: map[string]bool{}}
		}},
		{"a store that begins anew each time it is opened", "what was committed is there when it is opened again", func(string) StorePlace {
			return forgetful{}
		}},
	}
}

// forgetful says that it is durable and is not.
type forgetful struct{ plain }

func (forgetful) Durable() {}

// lockedPlace keeps its locks where a dead process cannot release them.
type lockedPlace struct {
	inMemory

	taking sync.Mutex
	held   map[string]bool
}

func (p *lockedPlace) Open() (store.Store, error) {
	s, err := p.inMemory.Open()
	if err != nil {
		return nil, err
	}
	return lockedStore{s, p}, nil
}

type lockedStore struct {
	store.Store

	place *lockedPlace
}

func (s lockedStore) Hold(_ context.Context, job string) (func(), error) {
	s.place.taking.Lock()
	defer s.place.taking.Unlock()
	if s.place.held[job] {
		return nil, store.ErrHeld
	}
	s.place.held[job] = true
	return func() {
		s.place.taking.Lock()
		defer s.place.taking.Unlock()
		delete(s.place.held, job)
	}, nil
}

// unsynced is a file system whose logs are never synced.
type unsynced struct{ vfs.FS }

type unsyncedFile struct{ vfs.File }

func (unsyncedFile) Sync() error     { return nil }
func (unsyncedFile) SyncData() error { return nil }

func (unsyncedFile) SyncTo(int64) (bool, error) { return true, nil }

func (f unsynced) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	if err == nil && strings.HasSuffix(name, ".log") {
		file = unsyncedFile{file}
	}
	return file, err
}

func (f unsynced) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(from, to, c)
	if err == nil && strings.HasSuffix(to, ".log") {
		file = unsyncedFile{file}
	}
	return file, err
}

func (f unsynced) Unwrap() vfs.FS { return f.FS }

// Each broken store is caught by the rule that names its fault.
func storeFaults(t *testing.T) (rows []faultRow) {
	t.Helper()
	for _, b := range brokenStores() {
		t.Run(b.name, func(t *testing.T) {
			err := CheckStore(t.Context(), b.fresh)
			caught := fmt.Sprint(err)
			if !strings.Contains(caught, b.rule) {
				t.Fatalf("it is caught by %q, want %q", caught, b.rule)
			}
			rows = append(rows, faultRow{b.name, b.rule, "1"})
		})
	}
	return rows
}

package pebblestore_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// itemsModel is what a ledger must answer, by the ID in the one scope of a run.
type itemsModel struct {
	run   store.Run
	items map[string]store.Item
	pages int
}

// modelIDs are few, so that items are met again; some are longer than a key.
func modelIDs() []string {
	ids := []string{"", "a", "b", "\x00", strings.Repeat("x", 16), strings.Repeat("x", 17), strings.Repeat("x", 300)}
	for i := range 6 {
		ids = append(ids, fmt.Sprintf("item-with-a-long-id-%d", i))
	}
	return ids
}

// anyItemOfPage draws an item as the engine writes them most of the time, and now
// and then any other.
func anyItemOfPage(rt *rapid.T, m *itemsModel, page int) store.Item {
	id := rapid.SampledFrom(modelIDs()).Draw(rt, "id")
	item := store.Item{
		Scope: m.run.Scope, ID: id, State: store.StatePending, RunID: m.run.Receipt.RunID, Page: page,
		Ordinal: rapid.IntRange(0, 5).Draw(rt, "ordinal"), UpdatedAt: instant(int64(page)),
	}
	switch rapid.IntRange(0, 9).Draw(rt, "how") {
	case 0, 1, 2, 3: // new on the page
	case 4, 5, 6: // settles what is there
		if known, ok := m.items[id]; ok {
			item = known
			item.State, item.SettledBy, item.Attempts = store.StateDone, item.RunID, 1
			item.UpdatedAt = instant(rapid.Int64Range(-5, 5).Draw(rt, "later"))
			if rapid.IntRange(0, 3).Draw(rt, "exactly") > 0 {
				item.UpdatedAt = item.UpdatedAt.Truncate(time.Millisecond)
			}
		}
	case 7: // settles a place that may be another's
		item.State, item.SettledBy, item.Attempts = store.StateDone, item.RunID, 1
		item.Page = rapid.IntRange(0, page).Draw(rt, "page")
	case 8:
		item.State, item.Code, item.Payload = store.StateHeld, "attempts_exhausted", []byte("{}")
	default:
		item.Intent, item.Attempts, item.DoubtSince = true, 1, item.UpdatedAt
	}
	return item
}

// TestItemsAgainstModel compares the items of a ledger with a map, whatever is
// written how often and in which order, over reopens and crashes.
func TestItemsAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fs := vfs.NewCrashableMem()
		s, err := pebblestore.Open("ledger", small(fs))
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		m := &itemsModel{run: newRun("job", "r"), items: make(map[string]store.Item)}
		m.run.Scope = "r"
		if err := s.Commit(t.Context(), beginChange(m.run)); err != nil {
			rt.Fatal(err)
		}
		open := func() {
			if s, err = pebblestore.Open("ledger", small(fs)); err != nil {
				rt.Fatal(err)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"commit": func(rt *rapid.T) {
				change := store.Change{Run: m.run}
				page := max(0, m.pages-1)
				if rapid.IntRange(0, 2).Draw(rt, "with a page") > 0 {
					again := rapid.IntRange(0, 3).Draw(rt, "again") == 0
					if !again {
						page = m.pages
						m.pages++
					}
					change.Page = &store.Page{RunID: "r", Index: page, Cursor: cursorOf(page), IDs: modelIDs(), At: instant(int64(page))}
				}
				for range rapid.IntRange(0, 8).Draw(rt, "items") {
					item := anyItemOfPage(rt, m, page)
					change.Items = append(change.Items, item)
					m.items[item.ID] = item
				}
				if err := s.Commit(t.Context(), change); err != nil {
					rt.Fatal(err)
				}
				clear(change.Items) // the room is the caller's again
			},
			"reopen": func(rt *rapid.T) {
				if rapid.IntRange(0, 7).Draw(rt, "seldom") > 0 {
					rt.Skip("not this time")
				}
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				open()
			},
			"crash": func(rt *rapid.T) {
				if rapid.IntRange(0, 7).Draw(rt, "seldom") > 0 {
					rt.Skip("not this time")
				}
				left := crash(fs, 0, 1)
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				fs = left
				open()
			},
			"": func(rt *rapid.T) {
				ids := modelIDs()
				got, err := s.Items(t.Context(), "r", ids)
				if err != nil {
					rt.Fatal(err)
				}
				for i, id := range ids {
					want, ok := m.items[id]
					if !ok {
						want = store.Item{Scope: "r", ID: id}
					}
					if !reflect.DeepEqual(got[i], want) {
						rt.Fatalf("item %.20q\n got %+v\nwant %+v", id, got[i], want)
					}
				}
			},
		})
	})
}

// A page that is settled costs a small record, and no item is written twice.
func TestASettledPageIsSmall(t *testing.T) {
	for name, most := range map[string]float64{"random": 48, "sequential": 17} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := pebblestore.Open(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			const pages, size = 200, 100
			walkPages(t, s, pages, size, name == "sequential")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if each := float64(tablesSize(t, dir)) / (pages * size); each > most {
				t.Errorf("an item takes %.1f bytes, want at most %.0f", each, most)
			} else {
				t.Logf("an item takes %.1f bytes", each)
			}
		})
	}
}

// walkPages commits pages the way the engine does: each with the outcomes of the
// one before.
func walkPages(tb testing.TB, s store.Store, pages, size int, sequential bool) {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	run := newRun("job", "r")
	run.Scope = "r"
	if err := s.Commit(tb.Context(), beginChange(run)); err != nil {
		tb.Fatal(err)
	}
	var settled []store.Item
	for n := range pages + 1 {
		change := store.Change{Run: run, Items: settled}
		settled = nil
		if n < pages {
			change.Page = &store.Page{RunID: "r", Index: n, At: instant(int64(n)), Cursor: cursorOf(n), Next: cursorOf(n + 1)}
			for i := range size {
				item := store.Item{Scope: "r", ID: anyLongID(random, sequential, n*size+i), State: store.StatePending, RunID: "r", Page: n, Ordinal: i, UpdatedAt: instant(int64(n))}
				change.Page.IDs, change.Items = append(change.Page.IDs, item.ID), append(change.Items, item)
				item.State, item.SettledBy, item.Attempts = store.StateDone, "r", 1
				item.UpdatedAt = item.UpdatedAt.Add(time.Duration(i) * 7310).Truncate(time.Millisecond)
				settled = append(settled, item)
			}
			if _, err := s.Items(tb.Context(), "r", change.Page.IDs); err != nil {
				tb.Fatal(err)
			}
		}
		if err := s.Commit(tb.Context(), change); err != nil {
			tb.Fatal(err)
		}
	}
}

func anyLongID(random *rand.Rand, sequential bool, n int) string {
	if sequential {
		return fmt.Sprint(1_000_000_000 + n)
	}
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	id := make([]byte, 27)
	for i := range id {
		id[i] = letters[random.IntN(len(letters))]
	}
	return string(id)
}

// tablesSize is the size of a ledger's records.
func tablesSize(t *testing.T, dir string) (sum int64) {
	t.Helper()
	for _, path := range filesOf(t, vfs.Default, dir) {
		if !isTable(path) {
			continue // logs are kept, to be used again
		}
		info, err := vfs.Default.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}

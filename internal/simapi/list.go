package simapi

import (
	"slices"
	"sync"
)

// List is what an API lists, in the API's order. It may be changed while it is
// walked; its methods may be called from several goroutines.
type List struct {
	mu      sync.Mutex
	entries []entry
	serial  int64
	changes []Change
	// The index follows the entries lazily: a list of a million items would
	// otherwise be searched for every page.
	indexed  bool
	live     []int
	bySerial map[int64]int
	byID     map[string]int
}

// entry is one place in the list. A deleted one stays as a tombstone, so that a
// keyset position that points to it still has its place.
type entry struct {
	item    Item
	serial  int64
	deleted bool
}

// ChangeKind is what was done to a list.
type ChangeKind string

// The kinds of changes.
const (
	Inserted   ChangeKind = "inserted"
	Duplicated ChangeKind = "duplicated"
	Deleted    ChangeKind = "deleted"
	Replaced   ChangeKind = "replaced"
	Moved      ChangeKind = "moved"
)

// Change is one entry of a list's history.
type Change struct {
	Kind ChangeKind
	Item Item // as it was from then on; for Deleted, only its ID
}

// NewList returns a list of the given items. Its history begins after them.
func NewList(items ...Item) *List {
	l := &List{}
	l.insert(0, items)
	return l
}

// Append adds items at the end.
func (l *List) Append(items ...Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.insert(len(l.entries), items)
	l.noteInserted(items)
}

// Insert adds items before the one at index at, counted from 0; at the end where
// the list is not longer.
func (l *List) Insert(at int, items ...Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.insert(l.place(at), items)
	l.noteInserted(items)
}

// Duplicate adds a copy of the item with the given ID before the one at index
// at. It reports whether there is such an item.
func (l *List) Duplicate(id string, at int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index()
	i, found := l.byID[id]
	if !found {
		return false
	}
	item := l.entries[i].item
	l.insert(l.place(at), []Item{item})
	l.note(Duplicated, item)
	return true
}

// Delete removes every item with the given ID and reports whether there was one.
func (l *List) Delete(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := false
	for i := range l.entries {
		if e := &l.entries[i]; !e.deleted && e.item.ID == id {
			e.deleted, found = true, true
		}
	}
	l.indexed = l.indexed && !found
	if found {
		l.note(Deleted, Item{ID: id})
	}
	return found
}

// Replace changes the first item that has the ID of the given one, in its
// place. It reports whether there is such an item.
func (l *List) Replace(item Item) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index()
	i, found := l.byID[item.ID]
	if found {
		l.entries[i].item = item
		l.note(Replaced, item)
	}
	return found
}

// Move takes the first item with the given ID away and puts it before the one
// that is then at index at. It reports whether there is such an item.
func (l *List) Move(id string, at int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index()
	i, found := l.byID[id]
	if !found {
		return false
	}
	item := l.entries[i].item
	l.entries[i].deleted, l.indexed = true, false
	l.insert(l.place(at), []Item{item})
	l.note(Moved, item)
	return true
}

// Changes returns the list's history from the given length of it on.
func (l *List) Changes(from int) []Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.changes[min(from, len(l.changes)):])
}

// Age is the length of the list's history.
func (l *List) Age() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.changes)
}

func (l *List) note(kind ChangeKind, item Item) {
	l.changes = append(l.changes, Change{Kind: kind, Item: item})
}

func (l *List) noteInserted(items []Item) {
	for _, item := range items {
		l.note(Inserted, item)
	}
}

// Items returns a copy of the list.
func (l *List) Items() []Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index()
	items := make([]Item, len(l.live))
	for i, at := range l.live {
		items[i] = l.entries[at].item
	}
	return items
}

// Len returns the number of items.
func (l *List) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index()
	return len(l.live)
}

// place is the index in entries of the live item at index at.
func (l *List) place(at int) int {
	l.index()
	if at < 0 || at >= len(l.live) {
		return len(l.entries)
	}
	return l.live[at]
}

func (l *List) insert(at int, items []Item) {
	fresh := make([]entry, len(items))
	for i, item := range items {
		l.serial++
		fresh[i] = entry{item: item, serial: l.serial}
	}
	l.entries = slices.Insert(l.entries, at, fresh...)
	l.indexed = l.indexed && len(items) == 0
}

func (l *List) index() {
	if l.indexed {
		return
	}
	l.live = l.live[:0]
	l.bySerial = make(map[int64]int, len(l.entries))
	l.byID = make(map[string]int, len(l.entries))
	for i, e := range l.entries {
		l.bySerial[e.serial] = i
		if e.deleted {
			continue
		}
		l.live = append(l.live, i)
		if _, earlier := l.byID[e.item.ID]; !earlier {
			l.byID[e.item.ID] = i
		}
	}
	l.indexed = true
}

// Stretch is a stretch of the list that a page is made of.
type Stretch struct {
	Items []Item
	// Last is the place of the last item, or where the stretch is empty the one
	// that it was read after. A place survives what is inserted, deleted and moved
	// around it.
	Last int64
	More bool
	// Total counts all items that the filter keeps; only At tells it.
	Total int
}

// After selects up to n items behind the one with the given serial, 0 for the
// start. It reports false for a serial that this list never gave out.
func (l *List) After(serial int64, n int, keep func(Item) bool) (Stretch, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index()
	from := 0
	if serial != 0 {
		i, found := l.bySerial[serial]
		if !found {
			return Stretch{}, false
		}
		from = i + 1
	}
	return l.collect(from, serial, n, keep), true
}

// AfterID selects up to n items behind the first one with the given ID. It
// reports false where the item is gone.
func (l *List) AfterID(id string, n int, keep func(Item) bool) (Stretch, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index()
	i, found := l.byID[id]
	if !found {
		return Stretch{}, false
	}
	return l.collect(i+1, l.entries[i].serial, n, keep), true
}

func (l *List) collect(from int, serial int64, n int, keep func(Item) bool) Stretch {
	s := Stretch{Last: serial}
	for _, e := range l.entries[from:] {
		if e.deleted || !keep(e.item) {
			continue
		}
		if len(s.Items) == n {
			s.More = true
			break
		}
		s.Items = append(s.Items, e.item)
		s.Last = e.serial
	}
	return s
}

// At selects up to n items from the given offset, and counts all.
func (l *List) At(offset, n int, keep func(Item) bool) Stretch {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index()
	var s Stretch
	for _, i := range l.live {
		item := l.entries[i].item
		if !keep(item) {
			continue
		}
		if s.Total >= offset && len(s.Items) < n {
			s.Items = append(s.Items, item)
		}
		s.Total++
	}
	s.More = s.Total > offset+len(s.Items)
	return s
}

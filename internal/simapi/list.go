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

// NewList returns a list of the given items.
func NewList(items ...Item) *List {
	l := &List{}
	l.Append(items...)
	return l
}

// Append adds items at the end.
func (l *List) Append(items ...Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.insert(len(l.entries), items)
}

// Insert adds items before the one at index at, counted from 0; at the end where
// the list is not longer.
func (l *List) Insert(at int, items ...Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.insert(l.place(at), items)
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
	l.insert(l.place(at), []Item{l.entries[i].item})
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
	}
	return found
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

// selection is a stretch of the list that a page is made of.
type selection struct {
	items []Item
	// last is the serial of the last item, or where the stretch is empty of the
	// position that it was read after.
	last int64
	more bool
	// total counts all items that the filter keeps; only at tells it.
	total int
}

// after selects up to n items behind the one with the given serial, 0 for the
// start. It reports false for a serial that this list never gave out.
func (l *List) after(serial int64, n int, keep func(Item) bool) (selection, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index()
	from := 0
	if serial != 0 {
		i, found := l.bySerial[serial]
		if !found {
			return selection{}, false
		}
		from = i + 1
	}
	return l.collect(from, serial, n, keep), true
}

// afterID selects up to n items behind the first one with the given ID. It
// reports false where the item is gone.
func (l *List) afterID(id string, n int, keep func(Item) bool) (selection, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index()
	i, found := l.byID[id]
	if !found {
		return selection{}, false
	}
	return l.collect(i+1, l.entries[i].serial, n, keep), true
}

func (l *List) collect(from int, serial int64, n int, keep func(Item) bool) selection {
	s := selection{last: serial}
	for _, e := range l.entries[from:] {
		if e.deleted || !keep(e.item) {
			continue
		}
		if len(s.items) == n {
			s.more = true
			break
		}
		s.items = append(s.items, e.item)
		s.last = e.serial
	}
	return s
}

// at selects up to n items from the given offset, and counts all.
func (l *List) at(offset, n int, keep func(Item) bool) selection {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index()
	var s selection
	for _, i := range l.live {
		item := l.entries[i].item
		if !keep(item) {
			continue
		}
		if s.total >= offset && len(s.items) < n {
			s.items = append(s.items, item)
		}
		s.total++
	}
	s.more = s.total > offset+len(s.items)
	return s
}

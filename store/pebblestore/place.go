package pebblestore

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/everypage-go/everypage/store"
)

const (
	// mostSheets bounds the sheets that the writer keeps open. The items of one that
	// it let go get records of their own once they are settled.
	mostSheets = 16
	// mostPlaces bounds the places of a sheet.
	mostPlaces = 1 << 14
)

// openSheet is a sheet with items that are pending, as the ledger will have it.
type openSheet struct {
	sheet
	run     uint64
	scope   string
	where   *scope
	ids     []string // by the place
	waits   []bool   // by the place: an item's key leads here, and it is pending
	left    int      // how many those are
	changed bool
	// seen has a bit for the hash of each ID that was placed: most are on no other
	// place, and that is all that has to be found out.
	seen [64]uint64
}

// leave frees the place of an item, if it has one.
func (o *openSheet) leave(item *store.Item, hash uint64) {
	if o.left == 0 || o.scope != item.Scope || o.seen[hash>>6&63]&(1<<(hash&63)) == 0 {
		return
	}
	for ordinal, id := range o.ids {
		if o.waits[ordinal] && id == item.ID {
			o.free(ordinal)
			return
		}
	}
}

// is reports whether an item is at a place of the sheet, and pending.
func (o *openSheet) is(item *store.Item) bool {
	return item.Ordinal >= 0 && item.Ordinal < len(o.ids) && o.waits[item.Ordinal] && o.ids[item.Ordinal] == item.ID && o.scope == item.Scope
}

func (o *openSheet) free(ordinal int) {
	o.ids[ordinal], o.waits[ordinal] = "", false
	o.left--
}

// takes reports whether an item can be placed.
func (o *openSheet) takes(item *store.Item) bool {
	if item.Scope != o.scope || item.Ordinal >= mostPlaces || !mayPlace(item) || !item.UpdatedAt.Equal(o.at) {
		return false
	}
	return item.Ordinal >= len(o.ids) || !o.waits[item.Ordinal] && o.done[item.Ordinal].IsZero()
}

func (o *openSheet) place(item *store.Item, hash uint64, where *scope) {
	for len(o.ids) <= item.Ordinal {
		o.ids, o.waits, o.done = append(o.ids, ""), append(o.waits, false), append(o.done, time.Time{})
	}
	o.ids[item.Ordinal], o.waits[item.Ordinal] = item.ID, true
	o.left++
	o.where, o.changed = where, true
	o.seen[hash>>6&63] |= 1 << (hash & 63)
}

func (o *openSheet) settle(item *store.Item) {
	o.done[item.Ordinal] = item.UpdatedAt.Round(0)
	o.free(item.Ordinal)
	o.changed = true
}

// nextSheet returns the page of a run from which on there is no sheet.
func (s *Store) nextSheet(scopeText string, run uint64) (next int, err error) {
	c, err := s.scope(scopeText, s.copied)
	if err != nil || c == nil {
		return 0, err
	}
	prefix := c.sheetsKey(run)
	it, err := s.database.NewIter(bounds(prefix))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	if !it.Last() {
		return 0, it.Error()
	}
	if rest := it.Key()[len(prefix):]; len(rest) == 8 {
		next = int(binary.BigEndian.Uint64(rest)) + 1 //nolint:gosec // written from an int
	}
	return next, nil
}

// scopesOf returns the scopes of items; nil for one that is new.
func (s *Store) scopesOf(g *group, items []store.Item) (map[string]*scope, error) {
	known := make(map[string]*scope, 1)
	last := ""
	for i := range items {
		text := items[i].Scope
		if i > 0 && text == last {
			continue
		}
		last = text
		if _, ok := known[text]; ok {
			continue
		}
		c, ok := g.newScopes[text]
		if !ok {
			var err error
			if c, err = s.scope(text, s.copied); err != nil {
				return nil, err
			}
		}
		known[text] = c
	}
	return known, nil
}

// copied looks a key up and returns a copy of its value.
func (s *Store) copied(key []byte) (value []byte, err error) {
	err = s.get(key, func(found []byte) error {
		value = slices.Clone(found)
		return nil
	})
	return value, err
}

// putItems writes the items of a change: on the sheet of the change's page where
// they have nothing unusual, and else with records of their own. What it changes of
// the open sheets stays changed, so it fails only where the store does.
func (s *Store) putItems(g *group, p *prepared, entry *runEntry, known map[string]*scope) error {
	items := *p.items
	if len(items) == 0 {
		return nil
	}
	fresh := s.freshSheet(p, entry)
	var room [512]byte
	var c *scope
	for i := range items {
		item := &items[i]
		if c == nil || items[i-1].Scope != item.Scope {
			if c = known[item.Scope]; c == nil {
				var err error
				if c, err = g.giveScope(p.batch, s.options.Random, item.Scope); err != nil {
					return err
				}
				known[item.Scope] = c
			}
		}
		o := s.writer.sheetOf(item, fresh)
		if o != nil && maySettle(item) && o.is(item) && o.holds(item.UpdatedAt) {
			o.settle(item)
			continue
		}
		hash := maphash.String(s.writer.seed, item.ID)
		s.writer.leaves(item, hash, fresh)
		key := c.appendItemKey(room[:0], item.ID)
		var value []byte
		if o != nil && o == fresh && fresh.takes(item) {
			fresh.place(item, hash, c)
			value = place{run: fresh.run, page: fresh.page, ordinal: item.Ordinal}.append(key[len(key):])
		} else {
			value = store.AppendItem(append(key[len(key):], 0), item)
		}
		if err := p.batch.Set(key, value, nil); err != nil {
			return err
		}
	}
	return s.writeSheets(p.batch, fresh, entry)
}

// freshSheet returns the sheet for the items of a change's page, nil where it can
// have none.
func (s *Store) freshSheet(p *prepared, entry *runEntry) *openSheet {
	run := &p.run.run
	if p.page.runID == "" || !p.page.first || p.page.runID != run.Receipt.RunID || run.Scope != entry.scope || p.page.index < entry.nextSheet {
		return nil
	}
	o := s.writer.spare
	if s.writer.spare = nil; o == nil {
		o = new(openSheet)
	}
	*o = openSheet{
		sheet: sheet{runID: p.page.runID, page: p.page.index, at: p.page.at, done: o.done[:0]},
		run:   entry.header.seq, scope: run.Scope, ids: o.ids[:0], waits: o.waits[:0],
	}
	return o
}

// sheetOf returns the open sheet of an item's page, if there is one.
func (w *writer) sheetOf(item *store.Item, fresh *openSheet) *openSheet {
	if fresh != nil && fresh.page == item.Page && fresh.runID == item.RunID {
		return fresh
	}
	for _, o := range w.sheets {
		if o.page == item.Page && o.runID == item.RunID {
			return o
		}
	}
	return nil
}

// leaves frees the place of an item whose key will lead elsewhere. hash is that of
// its ID.
func (w *writer) leaves(item *store.Item, hash uint64, fresh *openSheet) {
	for _, o := range w.sheets {
		o.leave(item, hash)
	}
	if fresh != nil {
		fresh.leave(item, hash)
	}
}

// writeSheets writes the sheets that changed, and lets those go that nobody waits
// on.
func (s *Store) writeSheets(batch *pebble.Batch, fresh *openSheet, entry *runEntry) error {
	w := &s.writer
	switch {
	case fresh == nil:
	case fresh.changed:
		w.sheets = append(w.sheets, fresh)
		entry.nextSheet = fresh.page + 1
	default:
		w.spare = fresh
	}
	for _, o := range w.sheets {
		if !o.changed {
			continue
		}
		o.changed = false
		var room [512]byte
		if err := batch.Set(o.where.sheetKey(o.run, o.page), o.append(room[:0]), nil); err != nil {
			return err
		}
	}
	w.sheets = slices.DeleteFunc(w.sheets, func(o *openSheet) bool {
		if o.left == 0 {
			w.spare = o
		}
		return o.left == 0
	})
	if more := len(w.sheets) - mostSheets; more > 0 {
		w.sheets = slices.Delete(w.sheets, 0, more)
	}
	return nil
}

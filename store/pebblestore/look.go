package pebblestore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/everypage-go/everypage/store"
)

// look is one look for the items of a scope, all as of one instant.
type look struct {
	store *Store
	scope string
	ids   []string
	items []store.Item
	it    *pebble.Iterator
	where *scope
	*lookRoom
}

// lookRoom is room that looks use again.
type lookRoom struct {
	keys  []byte
	order []soughtItem
	found []foundPlace
}

// soughtItem is an item with its key, which is part of keys.
type soughtItem struct {
	key   []byte
	index int
}

// foundPlace is an item that is on a sheet.
type foundPlace struct {
	place
	index int
}

func (s *Store) loadItems(scope string, ids []string) (items []store.Item, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	it, err := s.database.NewIter(&pebble.IterOptions{
		LowerBound: []byte{keyShort}, UpperBound: []byte{keyScope + 1},
		UseL6Filters: true, // most IDs of a page are new
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	room, ok := s.lookRoom.Get().(*lookRoom)
	if !ok {
		room = new(lookRoom)
	}
	defer s.lookRoom.Put(room)
	l := look{store: s, scope: scope, ids: ids, items: make([]store.Item, len(ids)), it: it, lookRoom: room}
	for i, id := range ids {
		l.items[i] = store.Item{Scope: scope, ID: id}
	}
	if err := l.byKey(); err != nil {
		return nil, err
	}
	if err := l.bySheet(); err != nil {
		return nil, err
	}
	return l.items, l.older()
}

// exactly looks a key up by way of the tables' filters.
func (l *look) exactly(key []byte) ([]byte, error) {
	if !l.it.SeekPrefixGE(key) {
		if err := l.it.Error(); err != nil {
			return nil, err
		}
		return nil, store.ErrNotFound
	}
	if !bytes.Equal(l.it.Key(), key) {
		return nil, store.ErrNotFound
	}
	return l.it.ValueAndErr()
}

// byKey looks the items up in the order of their keys: each look goes on from
// where the last one ended.
func (l *look) byKey() error {
	c, err := l.store.scope(l.scope, l.exactly)
	l.where, l.found = c, l.found[:0]
	if err != nil || c == nil {
		return err
	}
	l.keys, l.order = l.keys[:0], l.order[:0]
	for _, id := range l.ids {
		l.keys = c.appendItemKey(l.keys, id)
	}
	rest := l.keys // where it has got all its room
	for i, id := range l.ids {
		n := c.keyLength(id)
		l.order = append(l.order, soughtItem{key: rest[:n:n], index: i})
		rest = rest[n:]
	}
	slices.SortFunc(l.order, func(a, b soughtItem) int { return bytes.Compare(a.key, b.key) })
	for _, sought := range l.order {
		value, err := l.exactly(sought.key)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err == nil {
			err = l.read(sought.index, value)
		}
		if err != nil {
			return fmt.Errorf("item %q: %w", l.ids[sought.index], err)
		}
	}
	return nil
}

// read reads the value of an item's key.
func (l *look) read(index int, value []byte) error {
	at, own, err := decodeItemValue(value)
	switch {
	case err != nil:
		return err
	case own != nil:
		l.items[index], err = store.DecodeItem(l.scope, l.ids[index], own)
		return err
	}
	l.found = append(l.found, foundPlace{place: at, index: index})
	return nil
}

// bySheet completes the items that are on sheets.
func (l *look) bySheet() error {
	if len(l.found) == 0 {
		return nil
	}
	slices.SortFunc(l.found, func(a, b foundPlace) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.page, b.page))
	})
	var c *sheet
	for i, f := range l.found {
		if before := l.found[max(i-1, 0)]; c == nil || before.run != f.run || before.page != f.page {
			record, err := l.exactly(l.where.sheetKey(f.run, f.page))
			if errors.Is(err, store.ErrNotFound) {
				err = fmt.Errorf("%w: item %q is on a sheet that is missing", store.ErrCorrupt, l.ids[f.index])
			}
			if err != nil {
				return err
			}
			if c, err = decodeSheet(record); err != nil {
				return err
			}
		}
		var err error
		if l.items[f.index], err = c.item(l.scope, l.ids[f.index], f.ordinal); err != nil {
			return err
		}
	}
	return nil
}

// older looks for what is missing among the items that an older build wrote.
func (l *look) older() (err error) {
	has, err := l.store.hasOlder(l.scope)
	if err != nil || !has {
		return err
	}
	it, err := l.it.Clone(pebble.CloneOptions{IterOptions: bounds(partKey(keyItem, l.scope))})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for i := range l.items {
		if l.items[i].State != store.StateUnknown {
			continue
		}
		record, err := seek(it, textKey(keyItem, l.scope, l.ids[i]))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err == nil {
			l.items[i], err = store.DecodeItem(l.scope, l.ids[i], record)
		}
		if err != nil {
			return fmt.Errorf("item %q: %w", l.ids[i], err)
		}
	}
	return nil
}

package pebblestore

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store"
)

// The value of an item's key is its place, where the item has nothing unusual: the
// run# of the page's sheet, the page and the place on it, as varints. The sheet says
// whether it is pending or done, and since when, for all items of the page at once:
// settling a page is one small record. Where a run# would stand, a zero says that
// the item's own record follows.

// sheet is what became of the items that are placed on a page. There is one for the
// first revision of a page, for the items of the run's scope.
type sheet struct {
	runID string
	page  int
	at    time.Time   // since when the items are pending
	done  []time.Time // by their place; zero: pending
}

const sheetVersion = 1

// sheetsKey is the prefix of the keys of a run's sheets. They go when the items of
// the scope go, and not with the run.
func (c *scope) sheetsKey(run uint64) []byte {
	key := binary.AppendUvarint(append(make([]byte, 0, 32), keySheet), c.number)
	return binary.BigEndian.AppendUint64(key, run)
}

func (c *scope) sheetKey(run uint64, page int) []byte {
	return binary.BigEndian.AppendUint64(c.sheetsKey(run), uint64(page)) //nolint:gosec // checked to be no less than 0
}

// append appends the sheet's record: the version, the run, the page, at, the number
// of places, the unit of what follows (0: nanoseconds, 1: milliseconds, where those
// tell every instant), a bit for each place that is done, and for each of those how
// much later it was than the one before; the first after at, in whole units.
func (c *sheet) append(dst []byte) []byte {
	dst = append(dst, sheetVersion)
	dst = binary.AppendUvarint(dst, uint64(len(c.runID)))
	dst = append(dst, c.runID...)
	dst = binary.AppendUvarint(dst, uint64(c.page)) //nolint:gosec // checked to be no less than 0
	dst = binary.AppendVarint(dst, c.at.Unix())
	dst = binary.AppendUvarint(dst, uint64(c.at.Nanosecond())) //nolint:gosec // 0 to 999999999
	dst = binary.AppendUvarint(dst, uint64(len(c.done)))
	unit := c.unit()
	dst = append(dst, unitCode(unit))
	bits := len(dst)
	for range (len(c.done) + 7) / 8 {
		dst = append(dst, 0)
	}
	before := c.at.Truncate(unit)
	for i, at := range c.done {
		if !at.IsZero() {
			dst[bits+i/8] |= 1 << (i % 8)
			dst = binary.AppendVarint(dst, int64(at.Sub(before)/unit))
			before = at
		}
	}
	return dst
}

// unit is the largest unit that tells every instant.
func (c *sheet) unit() time.Duration {
	for _, at := range c.done {
		if !at.IsZero() && at.Nanosecond()%int(time.Millisecond) != 0 {
			return time.Nanosecond
		}
	}
	return time.Millisecond
}

func unitCode(unit time.Duration) byte {
	if unit == time.Nanosecond {
		return 0
	}
	return 1
}

// holds reports whether a sheet can say exactly when an item was settled.
func (c *sheet) holds(at time.Time) bool {
	const most = 100 * 365 * 24 * time.Hour
	passed := at.Sub(c.at)
	return !at.IsZero() && passed > -most && passed < most
}

func decodeSheet(record []byte) (*sheet, error) {
	if len(record) > 0 && record[0] > sheetVersion {
		return nil, fmt.Errorf("%w: a sheet has version %d, this build reads up to %d", store.ErrVersion, record[0], sheetVersion)
	}
	damaged := fmt.Errorf("%w: a sheet cannot be read", store.ErrCorrupt)
	if len(record) == 0 || record[0] != sheetVersion {
		return nil, damaged
	}
	rest, ok := record[1:], true
	unsigned := func() uint64 {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			rest, ok = nil, false
			return 0
		}
		rest = rest[n:]
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(rest)
		if n <= 0 {
			rest, ok = nil, false
			return 0
		}
		rest = rest[n:]
		return v
	}
	take := func(n uint64) []byte {
		if n > uint64(len(rest)) {
			rest, ok = nil, false
			return nil
		}
		b := rest[:n]
		rest = rest[n:]
		return b
	}
	c := &sheet{runID: string(take(unsigned())), page: int(unsigned())} //nolint:gosec // written from an int
	seconds, nanoseconds := signed(), unsigned()
	if nanoseconds >= uint64(time.Second) {
		return nil, damaged
	}
	c.at = time.Unix(seconds, int64(nanoseconds)).UTC()
	places := unsigned()
	if places > 8*uint64(len(rest)) {
		return nil, damaged
	}
	unit := time.Nanosecond
	switch code := take(1); {
	case len(code) == 0 || code[0] > 1:
		return nil, damaged
	case code[0] == 1:
		unit = time.Millisecond
	}
	bits := take((places + 7) / 8)
	c.done = make([]time.Time, places)
	before := c.at.Truncate(unit)
	for i := range c.done {
		if ok && bits[i/8]&(1<<(i%8)) != 0 {
			before = before.Add(time.Duration(signed()) * unit)
			c.done[i] = before
		}
	}
	if !ok || len(rest) > 0 {
		return nil, damaged
	}
	return c, nil
}

// place is where an item stands that has nothing unusual.
type place struct {
	run     uint64
	page    int
	ordinal int
}

func (p place) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, p.run)
	dst = binary.AppendUvarint(dst, uint64(p.page))     //nolint:gosec // a page's index
	return binary.AppendUvarint(dst, uint64(p.ordinal)) //nolint:gosec // checked to be no less than 0
}

// decodeItemValue reads the value of an item's key: its place, or its own record.
func decodeItemValue(value []byte) (at place, own []byte, err error) {
	run, n := binary.Uvarint(value)
	if n <= 0 {
		return at, nil, fmt.Errorf("%w: an item's value cannot be read", store.ErrCorrupt)
	}
	value = value[n:]
	if run == 0 {
		return at, value, nil
	}
	page, n := binary.Uvarint(value)
	if n > 0 {
		ordinal, m := binary.Uvarint(value[n:])
		if m > 0 && n+m == len(value) {
			return place{run: run, page: int(page), ordinal: int(ordinal)}, nil, nil //nolint:gosec // written from ints
		}
	}
	return at, nil, fmt.Errorf("%w: an item's place cannot be read", store.ErrCorrupt)
}

// item returns the item at a place.
func (c *sheet) item(scope, id string, ordinal int) (store.Item, error) {
	if ordinal >= len(c.done) || ordinal < 0 {
		return store.Item{}, fmt.Errorf("%w: the sheet of page %d has no place %d", store.ErrCorrupt, c.page, ordinal)
	}
	item := store.Item{Scope: scope, ID: id, State: store.StatePending, RunID: c.runID, Page: c.page, Ordinal: ordinal, UpdatedAt: c.at}
	if at := c.done[ordinal]; !at.IsZero() {
		item.State, item.SettledBy, item.Attempts, item.UpdatedAt = store.StateDone, c.runID, 1, at
	}
	return item, nil
}

// plain reports whether an item has nothing but its state, its place and its time.
func plain(item *store.Item) bool {
	return !item.Intent && item.DoubtSince.IsZero() && !item.Released && item.Code == pager.Code("") && item.Detail == "" &&
		item.Payload == nil && item.Ordinal >= 0
}

// maySettle reports whether a sheet can say that an item is done.
func maySettle(item *store.Item) bool {
	return item.State == store.StateDone && item.Attempts == 1 && item.SettledBy == item.RunID && plain(item)
}

// mayPlace reports whether a sheet can say that an item is pending.
func mayPlace(item *store.Item) bool {
	return item.State == store.StatePending && item.Attempts == 0 && item.SettledBy == "" && plain(item)
}

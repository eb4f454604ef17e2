package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/everypage-go/everypage/pager"
)

// The versions of the binary records. A record begins with its version; one that
// is higher than these was written by a newer build.
const (
	itemVersion byte = 1
	pageVersion byte = 2 // in 1, IDs were a list of texts, and hashes were texts
)

// The flags of an item record.
const (
	itemIntent        = 1 << iota // Intent is set
	itemReleased                  // Released is set
	itemRunIsScope                // RunID equals Scope and is left out
	itemSettledByRun              // SettledBy equals RunID and is left out
	itemFlagsReserved             // this bit and those above it are zero
)

// AppendItem appends an item's record to dst. The scope and the ID are the
// record's key in whatever keeps it, and are not repeated. An instant is kept to
// the nanosecond, without its zone.
func AppendItem(dst []byte, item *Item) []byte {
	var flags byte
	if item.Intent {
		flags |= itemIntent
	}
	if item.Released {
		flags |= itemReleased
	}
	if item.RunID == item.Scope {
		flags |= itemRunIsScope
	}
	if item.SettledBy == item.RunID {
		flags |= itemSettledByRun
	}
	dst = append(dst, itemVersion, byte(item.State), flags)
	if flags&itemRunIsScope == 0 {
		dst = appendString(dst, item.RunID)
	}
	if flags&itemSettledByRun == 0 {
		dst = appendString(dst, item.SettledBy)
	}
	dst = binary.AppendVarint(dst, int64(item.Page))
	dst = binary.AppendVarint(dst, int64(item.Ordinal))
	dst = binary.AppendVarint(dst, int64(item.Attempts))
	dst = appendTime(dst, item.DoubtSince)
	dst = appendTime(dst, item.UpdatedAt)
	dst = appendString(dst, string(item.Code))
	dst = appendString(dst, item.Detail)
	return appendBytes(dst, item.Payload)
}

// DecodeItem reads what AppendItem wrote under a key. It returns an error that
// wraps ErrVersion or ErrCorrupt. Instants come back in UTC.
func DecodeItem(scope, id string, record []byte) (Item, error) {
	d, err := openRecord("item", record, itemVersion)
	if err != nil {
		return Item{}, err
	}
	item := Item{Scope: scope, ID: id, State: ItemState(d.byte())}
	flags := d.byte()
	if item.State > StateDropped || flags >= itemFlagsReserved {
		d.fail("a state or flag that does not exist")
	}
	item.Intent = flags&itemIntent != 0
	item.Released = flags&itemReleased != 0
	item.RunID = scope
	if flags&itemRunIsScope == 0 {
		item.RunID = d.string()
	}
	item.SettledBy = item.RunID
	if flags&itemSettledByRun == 0 {
		item.SettledBy = d.string()
	}
	item.Page, item.Ordinal, item.Attempts = d.int(), d.int(), d.int()
	item.DoubtSince, item.UpdatedAt = d.time(), d.time()
	item.Code, item.Detail = pager.Code(d.string()), d.string()
	item.Payload = d.bytes()
	if err := d.close(); err != nil {
		return Item{}, err
	}
	return item, nil
}

// AppendPage appends the record of a page's revision to dst. The run, the index
// and the revision are its key and are not repeated. Cursors are kept byte for
// byte, and the start is not an empty token.
func AppendPage(dst []byte, page *Page) []byte {
	dst = append(dst, pageVersion, byte(page.End))
	dst = appendTime(dst, page.At)
	dst = AppendCursor(dst, page.Cursor)
	dst = AppendCursor(dst, page.Next)
	dst = appendString(dst, page.Evidence)
	dst = appendIDs(dst, page.IDs)
	dst = appendSum(dst, page.Hash)
	dst = binary.AppendUvarint(dst, uint64(len(page.Unidentified)))
	for _, place := range page.Unidentified {
		dst = binary.AppendVarint(dst, int64(place))
	}
	dst = appendStrings(dst, page.Problems)
	dst = binary.AppendVarint(dst, int64(page.Skipped))
	dst = appendStrings(dst, page.Vetoes)
	if page.Total == nil {
		dst = append(dst, 0)
	} else {
		dst = binary.AppendVarint(append(dst, 1), *page.Total)
	}
	dst = binary.AppendVarint(dst, int64(page.Status))
	dst = appendString(dst, page.RequestID)
	return appendSum(dst, page.Digest)
}

// DecodePage reads what AppendPage wrote under a key, in this version or an older. It returns an error that
// wraps ErrVersion or ErrCorrupt. Empty lists come back nil, instants in UTC.
func DecodePage(runID string, index, revision int, record []byte) (Page, error) {
	d, err := openRecord("page", record, pageVersion)
	if err != nil {
		return Page{}, err
	}
	page := Page{RunID: runID, Index: index, Revision: revision, End: pager.End(d.byte())}
	if page.End > pager.EndLast {
		d.fail("an end that does not exist")
	}
	page.At = d.time()
	page.Cursor, page.Next = d.cursor(), d.cursor()
	page.Evidence = d.string()
	ids, sum := d.ids, d.sum
	if record[0] == 1 {
		ids, sum = d.strings, d.string
	}
	page.IDs = ids()
	page.Hash = sum()
	for range d.count() {
		page.Unidentified = append(page.Unidentified, d.int())
	}
	page.Problems = d.strings()
	page.Skipped = d.int()
	page.Vetoes = d.strings()
	if d.bool() {
		total := d.varint()
		page.Total = &total
	}
	page.Status = d.int()
	page.RequestID = d.string()
	page.Digest = sum()
	if err := d.close(); err != nil {
		return Page{}, err
	}
	return page, nil
}

// AppendCursor appends a cursor to dst: a byte that tells the start from a
// token, then the token.
func AppendCursor(dst []byte, c pager.Cursor) []byte {
	token, ok := c.Token()
	if !ok {
		return append(dst, 0)
	}
	return appendString(append(dst, 1), token)
}

// DecodeCursor reads what AppendCursor wrote, and nothing else. It returns an
// error that wraps ErrCorrupt.
func DecodeCursor(record []byte) (pager.Cursor, error) {
	d := decoder{what: "cursor", rest: record}
	c := d.cursor()
	return c, d.close()
}

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendStrings(dst []byte, list []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	for _, s := range list {
		dst = appendString(dst, s)
	}
	return dst
}

// appendBytes tells nil from empty: an empty payload is one that came.
func appendBytes(dst, b []byte) []byte {
	if b == nil {
		return append(dst, 0)
	}
	return append(binary.AppendUvarint(dst, uint64(len(b))+1), b...)
}

func appendTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(append(dst, 1), t.Unix())
	return binary.AppendUvarint(dst, uint64(t.Nanosecond())) //nolint:gosec // 0 to 999999999
}

// decoder reads a record from its front. The first thing that does not fit is
// kept as the error, and everything after it reads as zero.
type decoder struct {
	what string
	rest []byte
	err  error
}

// openRecord checks a record's version and returns a decoder for what follows.
func openRecord(what string, record []byte, version byte) (*decoder, error) {
	if len(record) == 0 {
		return nil, fmt.Errorf("%w: an empty %s record", ErrCorrupt, what)
	}
	switch found := record[0]; {
	case found == 0:
		return nil, fmt.Errorf("%w: a %s record of version 0", ErrCorrupt, what)
	case found > version:
		return nil, fmt.Errorf("%w: a %s record of version %d, this build reads up to %d", ErrVersion, what, found, version)
	}
	return &decoder{what: what, rest: record[1:]}, nil
}

func (d *decoder) fail(why string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: a %s record has %s", ErrCorrupt, d.what, why)
	}
	d.rest = nil
}

// close returns the first error; bytes that are left over are one.
func (d *decoder) close() error {
	if d.err == nil && len(d.rest) > 0 {
		d.fail("bytes after its end")
	}
	return d.err
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.fail("no more bytes where one is due")
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) bool() bool {
	b := d.byte()
	if b > 1 {
		d.fail("a flag that is neither 0 nor 1")
	}
	return b == 1
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail("a number that does not end")
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.rest)
	if n <= 0 {
		d.fail("a number that does not end")
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) int() int {
	v := d.varint()
	if v < math.MinInt || v > math.MaxInt {
		d.fail("a number that is too large for this machine")
		return 0
	}
	return int(v)
}

// count reads the length of a list whose elements take at least a byte each, so
// that a damaged length cannot ask for more memory than the record is long.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.fail("a list that is longer than the record")
		return 0
	}
	return int(n) //nolint:gosec // at most the length of a slice
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.fail("a text that is longer than the record")
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) string() string { return string(d.take(d.uvarint())) }

func (d *decoder) strings() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, d.string())
		if d.err != nil {
			return nil
		}
	}
	return list
}

func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n == 0 {
		return nil
	}
	return append([]byte{}, d.take(n-1)...)
}

func (d *decoder) time() time.Time {
	if !d.bool() {
		return time.Time{}
	}
	seconds, nanoseconds := d.varint(), d.uvarint()
	if nanoseconds >= uint64(time.Second) {
		d.fail("an instant with more than a second of nanoseconds")
		return time.Time{}
	}
	return time.Unix(seconds, int64(nanoseconds)).UTC()
}

func (d *decoder) cursor() pager.Cursor {
	if !d.bool() {
		return pager.Cursor{}
	}
	return pager.At(d.string())
}

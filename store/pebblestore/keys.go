package pebblestore

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store"
)

// The first byte of a key tells what it is for. The bytes are persisted.
//
//	r run                      → counters and the run's record, as of its base
//	q run                      → the run's progress since then
//	a ^seq                     → run        every run, the newest first
//	j job ^seq                 → run        the runs of a job, the newest first
//	s status ^seq              → run        the runs of a status, the newest first
//	k scope# id                → the item's record or place, of an ID of up to 16 bytes
//	l scope# hash(id)          → the same, of a longer one
//	m scope# run# page         → the sheet: who is done of the items that are placed there
//	n scope                    → the scope's number, and the salt of its hashes
//	n                          → the number of the next scope
//	i scope id                 → the item's record, in ledgers of older builds
//	h scope id                 → nothing    the items that are held
//	p run index revision       → the page's record
//	c run hash(cursor)         → index and cursor
//	d run number               → the conflict's record
//	e run number               → the transition's record
//	x run                      → who removed the run, and when
//	w                          → the number of the newest commit
//
// Texts may hold any byte, so each but the last of a key is escaped and
// terminated. Numbers are eight bytes, the highest first; scope# is a varint, and
// run# the number of the run's begin.
const (
	keyRun      = 'r'
	keyProgress = 'q'
	keyBegun    = 'a'
	keyJob      = 'j'
	keyStatus   = 's'
	keyShort    = 'k'
	keyLong     = 'l'
	keySheet    = 'm'
	keyScope    = 'n'
	keyItem     = 'i'
	keyHeld     = 'h'
	keyPage     = 'p'
	keyCursor   = 'c'
	keyConflict = 'd'
	keyEvent    = 'e'
)

// A text in a key ends with terminator; a zero byte inside it is followed by
// escaped. Both keep the order of the texts.
const (
	terminator = 0x01
	escaped    = 0xff
)

func appendPart(dst []byte, text string) []byte {
	for i := range len(text) {
		dst = append(dst, text[i])
		if text[i] == 0 {
			dst = append(dst, escaped)
		}
	}
	return append(dst, 0, terminator)
}

// partKey is the prefix of all keys of a kind that belong to a text.
func partKey(kind byte, text string) []byte {
	return appendPart(append(make([]byte, 0, len(text)+24), kind), text)
}

// textKey is the key of a text within what another one contains.
func textKey(kind byte, part, last string) []byte {
	key := make([]byte, 0, len(part)+len(last)+3)
	return append(appendPart(append(key, kind), part), last...)
}

func numberKey(kind byte, part string, number uint64) []byte {
	return binary.BigEndian.AppendUint64(partKey(kind, part), number)
}

// newestFirst turns the number of a run's begin into one that sorts the other
// way round.
func newestFirst(seq uint64) uint64 { return ^seq }

func runKey(runID string) []byte { return append([]byte{keyRun}, runID...) }

func progressKey(runID string) []byte { return append([]byte{keyProgress}, runID...) }

func begunKey(seq uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{keyBegun}, newestFirst(seq))
}

func pageKey(runID string, index, revision int) []byte {
	key := numberKey(keyPage, runID, uint64(index))             //nolint:gosec // checked to be no less than 0
	return binary.BigEndian.AppendUint64(key, uint64(revision)) //nolint:gosec // checked to be no less than 0
}

// cursorKey holds half of a SHA-256, so that long cursors make short keys; the
// value repeats the cursor, and a reader compares it.
func cursorKey(runID string, cursor pager.Cursor) []byte {
	sum := sha256.Sum256(store.AppendCursor(nil, cursor))
	return append(partKey(keyCursor, runID), sum[:sha256.Size/2]...)
}

// lastPart returns what follows a prefix in a key that has it.
func lastPart(prefix, key []byte) string { return string(key[len(prefix):]) }

// afterPrefix is the first key that sorts after every key with the prefix. No
// prefix of this package ends in 0xff.
func afterPrefix(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	end[len(end)-1]++
	return end
}

// bounds confine an iterator to the keys with a prefix.
func bounds(prefix []byte) *pebble.IterOptions {
	return &pebble.IterOptions{LowerBound: prefix, UpperBound: afterPrefix(prefix)}
}

// pageNumbers reads the index and the revision from the end of a page's key.
func pageNumbers(prefix, key []byte) (index, revision int, err error) {
	rest := key[len(prefix):]
	if len(rest) != 16 {
		return 0, 0, fmt.Errorf("%w: a page's key has %d bytes after its run, not 16", store.ErrCorrupt, len(rest))
	}
	return int(binary.BigEndian.Uint64(rest)), int(binary.BigEndian.Uint64(rest[8:])), nil //nolint:gosec // written from an int
}

package store

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"strings"
)

// packable is the largest alphabet whose letters are packed: 6 bits each.
const packable = 64

// appendIDs appends a list of IDs, which make up most of a page's record. Each is
// kept as the length of what it shares with the one before and the length of its
// rest. The rests follow as one text: letter by letter in as few bits as their
// alphabet needs, where that is 6 or less, and else byte by byte.
func appendIDs(dst []byte, ids []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(ids)))
	if len(ids) == 0 {
		return dst
	}
	var place [256]uint8 // of a letter in the alphabet, from 1
	letters, before := 0, ""
	for _, id := range ids {
		rest := id[shared(before, id):]
		for i := range len(rest) {
			if place[rest[i]] == 0 {
				place[rest[i]] = 1
				letters++
			}
		}
		before = id
	}
	if letters > packable {
		letters = 0
	}
	dst = append(dst, byte(letters))
	if letters > 0 {
		next := uint8(0)
		for letter := range place {
			if place[letter] != 0 {
				next++
				place[letter] = next
				dst = append(dst, byte(letter))
			}
		}
	}
	before = ""
	for _, id := range ids {
		n := shared(before, id)
		dst = binary.AppendUvarint(dst, uint64(n))         //nolint:gosec // a length
		dst = binary.AppendUvarint(dst, uint64(len(id)-n)) //nolint:gosec // a length
		before = id
	}
	width := letterWidth(letters)
	var held uint64 // bits that are not written yet
	count := 0
	before = ""
	for _, id := range ids {
		rest := id[shared(before, id):]
		before = id
		if letters == 0 {
			dst = append(dst, rest...)
			continue
		}
		for i := range len(rest) {
			held |= uint64(place[rest[i]]-1) << count
			if count += width; count >= 32 {
				dst = binary.LittleEndian.AppendUint32(dst, uint32(held)) //nolint:gosec // its lower half
				held >>= 32
				count -= 32
			}
		}
	}
	for ; count > 0; count -= 8 {
		dst = append(dst, byte(held))
		held >>= 8
	}
	return dst
}

// shared returns the length of what two texts have in common at their beginning.
func shared(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// letterWidth is the number of bits of a packed letter.
func letterWidth(letters int) int {
	if letters == 0 {
		return 8
	}
	return max(1, bits.Len(uint(letters-1)))
}

// ids reads what appendIDs wrote.
func (d *decoder) ids() []string {
	count := d.count()
	if count == 0 {
		return nil
	}
	letters := int(d.byte())
	if letters > packable {
		d.fail("an alphabet that is too large")
		return nil
	}
	alphabet := d.take(uint64(letters))
	type lengths struct{ shared, rest uint64 }
	all := make([]lengths, count)
	total := uint64(0)
	for i := range all {
		all[i] = lengths{shared: d.uvarint(), rest: d.uvarint()}
		most := 8 * uint64(len(d.rest))
		if total += min(all[i].rest, most+1); d.err != nil || total > most {
			d.fail("IDs that are longer than the record")
			return nil
		}
	}
	width := uint64(letterWidth(letters)) //nolint:gosec // 1 to 8
	packed := d.take((total*width + 7) / 8)
	if d.err != nil {
		return nil
	}
	r := letterReader{packed: packed, alphabet: alphabet, width: int(width)} //nolint:gosec // 1 to 8
	ids := make([]string, count)
	var id []byte
	for i, n := range all {
		if n.shared > uint64(len(id)) {
			d.fail("an ID that shares more than there is")
			return nil
		}
		id = id[:n.shared]
		for range n.rest {
			letter, ok := r.next()
			if !ok {
				d.fail("a letter that is not in the alphabet")
				return nil
			}
			id = append(id, letter)
		}
		ids[i] = string(id)
	}
	return ids
}

// letterReader takes letters from a packed text.
type letterReader struct {
	packed   []byte
	alphabet []byte // empty: the letters are bytes
	width    int
	held     uint64
	count    int
}

func (r *letterReader) next() (letter byte, ok bool) {
	if r.count < r.width {
		r.held |= uint64(r.packed[0]) << r.count
		r.packed = r.packed[1:]
		r.count += 8
	}
	value := int(r.held & (1<<r.width - 1)) //nolint:gosec // at most 8 bits
	r.held >>= r.width
	r.count -= r.width
	switch {
	case len(r.alphabet) == 0:
		return byte(value), true //nolint:gosec // at most 8 bits
	case value >= len(r.alphabet):
		return 0, false
	}
	return r.alphabet[value], true
}

// sumPrefix begins the text of a hash.
const sumPrefix = "sha256:"

// appendSum appends the text of a hash: its bytes, where it is one in the usual
// form, and else the text.
func appendSum(dst []byte, text string) []byte {
	const size = 32
	if digits, ok := strings.CutPrefix(text, sumPrefix); ok && len(digits) == 2*size && strings.ToLower(digits) == digits {
		before := len(dst)
		grown, err := hex.AppendDecode(append(dst, 1), []byte(digits))
		if err == nil {
			return grown
		}
		dst = grown[:before]
	}
	return appendString(append(dst, 0), text)
}

func (d *decoder) sum() string {
	if !d.bool() {
		return d.string()
	}
	return sumPrefix + hex.EncodeToString(d.take(32))
}

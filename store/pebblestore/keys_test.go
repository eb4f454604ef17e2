package pebblestore

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyPart draws texts that are likely to be confused: short ones of the bytes
// that the escaping treats specially.
func anyPart() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 0xfe, 0xff, 'a'}), 0, 5), func(b []byte) string { return string(b) })
}

func TestKeysAreInjectiveAndKeepTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scopeA, idA := anyPart().Draw(t, "scope a"), anyPart().Draw(t, "id a")
		scopeB, idB := anyPart().Draw(t, "scope b"), anyPart().Draw(t, "id b")
		want := strings.Compare(scopeA, scopeB)
		if want == 0 {
			want = strings.Compare(idA, idB)
		}
		a, b := textKey(keyItem, scopeA, idA), textKey(keyItem, scopeB, idB)
		if got := bytes.Compare(a, b); got != want {
			t.Fatalf("keys %x and %x compare as %d, want %d", a, b, got, want)
		}
		prefix := partKey(keyItem, scopeA)
		inside := bytes.Compare(prefix, b) <= 0 && bytes.Compare(b, afterPrefix(prefix)) < 0
		if inside != (scopeA == scopeB) {
			t.Fatalf("key %x is within the bounds of %x: %v", b, prefix, inside)
		}
		if got := lastPart(prefix, a); got != idA {
			t.Fatalf("the ID comes back as %q, want %q", got, idA)
		}
	})
}

func TestPageKeysComeBackInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := anyPart().Draw(t, "run")
		a, b := rapid.IntMin(0).Draw(t, "index a"), rapid.IntMin(0).Draw(t, "index b")
		r := rapid.IntMin(0).Draw(t, "revision")
		key := pageKey(run, a, r)
		index, revision, err := pageNumbers(partKey(keyPage, run), key)
		if err != nil || index != a || revision != r {
			t.Fatalf("got %d, %d, %v, want %d, %d", index, revision, err, a, r)
		}
		if a < b != (bytes.Compare(key, pageKey(run, b, 0)) < 0) {
			t.Fatalf("the keys of pages %d and %d are out of order", a, b)
		}
	})
}

func TestNewerRunsSortFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint64().Draw(t, "a"), rapid.Uint64().Draw(t, "b")
		if a < b != (bytes.Compare(begunKey(a), begunKey(b)) > 0) {
			t.Fatalf("runs %d and %d are out of order", a, b)
		}
		if seq, err := sequenceOf([]byte{keyBegun}, begunKey(a)); err != nil || seq != a {
			t.Fatalf("got %d, %v, want %d", seq, err, a)
		}
	})
}

func FuzzRunHeader(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0x80})
	f.Add(runHeader{seq: 300, events: 2}.append(nil))
	f.Fuzz(func(t *testing.T, value []byte) {
		header, rest, err := cutRunHeader(value)
		if err != nil {
			return
		}
		again, restAgain, err := cutRunHeader(append(header.append(nil), rest...))
		again.version = header.version // it is always written in the newest
		if err != nil || again != header || !bytes.Equal(rest, restAgain) {
			t.Fatalf("second round: %v, %v, want %v", again, err, header)
		}
	})
}

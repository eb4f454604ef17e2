package everypage

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store"
)

// hashIDs returns the hash over the IDs of a page, in order.
func hashIDs(ids []string) string {
	size := 0
	for _, id := range ids {
		size += 8 + len(id)
	}
	text := make([]byte, 0, size)
	for _, id := range ids {
		text = binary.BigEndian.AppendUint64(text, uint64(len(id)))
		text = append(text, id...)
	}
	hash := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(hash[:])
}

// chain returns the digest of a page record that follows on the given digest. It
// covers everything that the run's course rests on, and not the clock.
func chain(before string, page store.Page) string {
	h := sha256.New()
	addText(h, before)
	addNumber(h, uint64(page.Index))    //nolint:gosec // an index is never negative
	addNumber(h, uint64(page.Revision)) //nolint:gosec // nor is a revision
	addCursor(h, page.Cursor)
	addCursor(h, page.Next)
	addNumber(h, uint64(page.End))
	addText(h, page.Hash)
	addNumber(h, uint64(len(page.Unidentified)))
	addNumber(h, uint64(len(page.Vetoes)))
	for _, veto := range page.Vetoes {
		addText(h, veto)
	}
	return sum(h)
}

func addNumber(h hash.Hash, n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	h.Write(b[:])
}

func addText(h hash.Hash, text string) {
	addNumber(h, uint64(len(text)))
	h.Write([]byte(text))
}

func addCursor(h hash.Hash, c pager.Cursor) {
	token, ok := c.Token()
	if !ok {
		addNumber(h, 0)
		return
	}
	addNumber(h, 1)
	addText(h, token)
}

func sum(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

package pebblestore

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/everypage-go/everypage/store"
)

const (
	// shortID is the longest ID that is its own key, in bytes.
	shortID = 16
	// hashSize is what is kept of the hash of a longer one. Two of ten million IDs
	// meet once in 25 billion ledgers; the salt keeps others from aiming.
	hashSize = 10
	saltSize = 16
)

// scope is where the items of a scope are. Its number and its salt are given once.
type scope struct {
	number uint64
	salt   [saltSize]byte
}

// scopes remembers scopes, which never change once they are in the ledger.
type scopes struct {
	known sync.Map // from the text to the scope
	older sync.Map // from the text to whether it has items of an older build
}

func scopeKey(text string) []byte { return partKey(keyScope, text) }

// nextScopeKey is the key of the number of the next scope.
func nextScopeKey() []byte { return []byte{keyScope} }

// kindKey is the prefix of the keys of a scope's items.
func (c *scope) kindKey(kind byte) []byte {
	return binary.AppendUvarint([]byte{kind}, c.number)
}

// appendItemKey appends the key of an item.
func (c *scope) appendItemKey(dst []byte, id string) []byte {
	if len(id) <= shortID {
		return append(binary.AppendUvarint(append(dst, keyShort), c.number), id...)
	}
	var room [256]byte
	sum := sha256.Sum256(append(append(room[:0], c.salt[:]...), id...))
	return append(binary.AppendUvarint(append(dst, keyLong), c.number), sum[:hashSize]...)
}

// keyLength is the length of an item's key.
func (c *scope) keyLength(id string) int {
	var room [binary.MaxVarintLen64]byte
	return 1 + binary.PutUvarint(room[:], c.number) + keyedLength(id)
}

// keyedLength is the length of what stands for an ID in its key.
func keyedLength(id string) int {
	if len(id) <= shortID {
		return len(id)
	}
	return hashSize
}

const scopeVersion = 1

func (c *scope) append(dst []byte) []byte {
	dst = binary.AppendUvarint(append(dst, scopeVersion), c.number)
	return append(dst, c.salt[:]...)
}

func decodeScope(record []byte) (*scope, error) {
	switch {
	case len(record) > 0 && record[0] > scopeVersion:
		return nil, fmt.Errorf("%w: a scope's record has version %d, this build reads up to %d", store.ErrVersion, record[0], scopeVersion)
	case len(record) > 0 && record[0] == scopeVersion:
		number, n := binary.Uvarint(record[1:])
		if n > 0 && len(record) == 1+n+saltSize {
			return &scope{number: number, salt: [saltSize]byte(record[1+n:])}, nil
		}
	}
	return nil, fmt.Errorf("%w: a scope's record cannot be read", store.ErrCorrupt)
}

// getter looks a key up. Its error wraps store.ErrNotFound if there is none, and the
// value is good until the next look.
type getter func(key []byte) ([]byte, error)

// scope returns a scope, or nil where nothing was kept under it by this version.
func (s *Store) scope(text string, get getter) (*scope, error) {
	if known, ok := s.scopes.known.Load(text); ok {
		return known.(*scope), nil //nolint:forcetypeassert // there is nothing else in it
	}
	record, err := get(scopeKey(text))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil //nolint:nilnil // there is none, and that is no error
	}
	if err != nil {
		return nil, err
	}
	c, err := decodeScope(record)
	if err == nil {
		s.scopes.known.Store(text, c)
	}
	return c, err
}

// hasOlder reports whether a scope has items that an older build wrote. This one
// writes none there, so the answer stays the same.
func (s *Store) hasOlder(text string) (bool, error) {
	if older, ok := s.scopes.older.Load(text); ok {
		return older.(bool), nil //nolint:forcetypeassert // there is nothing else in it
	}
	it, err := s.database.NewIter(bounds(partKey(keyItem, text)))
	if err != nil {
		return false, err
	}
	older := it.First()
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return false, err
	}
	s.scopes.older.Store(text, older)
	return older, nil
}

// nextScope returns the number that the next scope gets.
func (s *Store) nextScope() (next uint64, err error) {
	err = s.get(nextScopeKey(), func(value []byte) error {
		n, length := binary.Uvarint(value)
		if length <= 0 {
			return fmt.Errorf("%w: the number of the next scope cannot be read", store.ErrCorrupt)
		}
		next = n
		return nil
	})
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return next, err
}

// giveScope numbers a scope that is new.
func (g *group) giveScope(batch *pebble.Batch, random io.Reader, text string) (*scope, error) {
	c := &scope{number: g.nextScope}
	if _, err := io.ReadFull(random, c.salt[:]); err != nil {
		return nil, fmt.Errorf("make a salt: %w", err)
	}
	g.nextScope++
	g.newScopes[text] = c
	return c, errors.Join(
		batch.Set(scopeKey(text), c.append(nil), nil),
		batch.Set(nextScopeKey(), binary.AppendUvarint(nil, g.nextScope), nil),
	)
}

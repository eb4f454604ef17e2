package everypage

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// The limits of an idempotency key, in characters.
const (
	minKeyLength = 8
	maxKeyLength = 255
)

// Key returns the idempotency key of one action on one item in one scope. It has
// 8 to 255 characters, all of which may stand in an HTTP header as they are.
//
// The encoding is injective and frozen: a key that was sent once must be sent
// again by every later version. Where it fits, it reads scope|item|action; else
// it is "sha256|" and the hash, in hexadecimal, over the three with their lengths.
func Key(scope, itemID, action string) string {
	k := newKeys(scope, action)
	return k.of(itemID)
}

// keys makes the keys of one action on the items of one scope.
type keys struct {
	scope, action string
	before, after string
	plain         bool // scope and action can stand in a key as they are
}

func newKeys(scope, action string) keys {
	return keys{
		scope: scope, action: action, before: scope + "|", after: "|" + action,
		plain: headerSafe(scope) && headerSafe(action),
	}
}

// of returns the key of the action on an item.
func (k *keys) of(itemID string) string {
	length := len(k.before) + len(itemID) + len(k.after)
	if k.plain && length >= minKeyLength && length <= maxKeyLength && headerSafe(itemID) {
		return k.before + itemID + k.after
	}
	hash := sha256.New()
	for _, part := range []string{k.scope, itemID, k.action} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		hash.Write(length[:])
		hash.Write([]byte(part))
	}
	return "sha256|" + hex.EncodeToString(hash.Sum(nil))
}

// headerSafe reports whether a part can stand in a key as it is: visible ASCII
// without the separator and without what quotes or splits a header's value. A
// plain key has two separators and a hashed one has one, so they never meet.
func headerSafe(part string) bool {
	for i := range len(part) {
		switch c := part[i]; {
		case c <= ' ' || c > '~':
			return false
		case c == '|' || c == '"' || c == '\\' || c == ',' || c == ';':
			return false
		}
	}
	return true
}

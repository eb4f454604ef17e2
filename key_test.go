package everypage_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage"
)

// The encoding of keys is frozen: what was sent once must be sent again by every
// later version. A change that makes this fail needs another action, not another
// vector.
func TestKey_GoldenVectors(t *testing.T) {
	for _, v := range []struct{ scope, item, action, key string }{
		{"20260305-100000-q2wqlxey", "42", "remind", "20260305-100000-q2wqlxey|42|remind"},
		{"job:tickets", "gid://shop/Order/7", "send-reminder", "job:tickets|gid://shop/Order/7|send-reminder"},
		{"r", "0123", "x", "r|0123|x"}, // eight characters, the shortest that is plain
		{"r", "012", "x", "sha256|003913af574a1be27f8336ba3ba361c5422b1fedc26d59de9d1783d4a5520809"},
		{"run", "a|b", "remind", "sha256|a0cefa78b0460d5325ec58ac7032fcf1bcba9c919d0aca49ffe934eb5926034a"},
		{"run", "größe", "remind", "sha256|702ec72c56d0b251ace23bd93c86df610eebd24cd888a4bdd0487651e6f909d7"},
		{"run", "a b", "remind", "sha256|9d15ccf22597bc748cd784c69f9536b6d9b8e8cc5ee46e9d9bf27b1ed64ace02"},
		{"", "", "", "sha256|9d908ecfb6b256def8b49a7c504e6c889c4b0e41fe6ce3e01863dd7b61a20aa0"},
	} {
		if got := everypage.Key(v.scope, v.item, v.action); got != v.key {
			t.Errorf("the key of (%q, %q, %q) is %q, want %q", v.scope, v.item, v.action, got, v.key)
		}
	}
}

// A key has 8 to 255 characters which may stand in an HTTP header as they are, and
// two things never share one.
func TestKey_IsInjectiveAndSafe(t *testing.T) {
	part := rapid.OneOf(
		rapid.StringMatching(`[a-c|,;"\\ ]{0,4}`), // small, so that collisions would show
		rapid.StringMatching(`sha256\|?[0-9a-f]{0,2}`),
		rapid.String(),
		rapid.Map(rapid.IntRange(0, 300), func(n int) string { return strings.Repeat("x", n) }),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }),
	)
	type triple struct{ scope, item, action string }
	rapid.Check(t, func(t *rapid.T) {
		keys := map[string]triple{}
		for range 8 {
			is := triple{part.Draw(t, "scope"), part.Draw(t, "item"), part.Draw(t, "action")}
			key := everypage.Key(is.scope, is.item, is.action)
			if len(key) < 8 || len(key) > 255 {
				t.Fatalf("the key of %q has %d characters", is, len(key))
			}
			for _, c := range []byte(key) {
				if c <= ' ' || c > '~' || c == '"' || c == ',' || c == ';' || c == '\\' {
					t.Fatalf("the key %q of %q has %q, which a header would not carry as it is", key, is, c)
				}
			}
			if other, ok := keys[key]; ok && other != is {
				t.Fatalf("%q and %q share the key %q", is, other, key)
			}
			keys[key] = is
			if again := everypage.Key(is.scope, is.item, is.action); again != key {
				t.Fatalf("%q has the keys %q and %q", is, key, again)
			}
		}
	})
}

// The separator moves nothing from one part to the next.
func TestKey_PartsStayApart(t *testing.T) {
	seen := map[string][3]string{}
	for _, v := range [][3]string{
		{"run-0001", "a|b", "c"},
		{"run-0001", "a", "b|c"},
		{"run-0001|a", "b", "c"},
		{"run-0001", "ab", "c"},
		{"run-0001", "a", "bc"},
		{"run-0001a", "b", "c"},
		{"run-0001", "", "abc"},
		{"run-0001", "abc", ""},
	} {
		key := everypage.Key(v[0], v[1], v[2])
		if other, ok := seen[key]; ok {
			t.Errorf("%q and %q share the key %q", v, other, key)
		}
		seen[key] = v
	}
}

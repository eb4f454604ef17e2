package pager_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/everypage-go/everypage/pager"
)

// Redacting a text again changes nothing, and user information never stays.
func FuzzRedactText(f *testing.F) {
	for _, text := range []string{
		"", "GET https://bob:hunter2@api.test/items?token=s: 401", "//a#token=x@b", "api_key=s&page=2", "//token=#a@b",
		"https://api.test/items?access_token=s#x", `{"url":"https://u:p@h/?sig=1"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := pager.RedactText(text)
		if again := pager.RedactText(once); again != once {
			t.Errorf("%q becomes %q, and again %q", text, once, again)
		}
		const user = "//s3cret-user:s3cret-word@"
		if got := pager.RedactText(text + " " + user + "host/"); strings.Contains(got, "s3cret-word") {
			t.Errorf("%q shows the user information behind it: %q", text, got)
		}
	})
}

// A cursor goes through JSON byte for byte where it is text, and no cursor stays no
// cursor.
func FuzzCursor(f *testing.F) {
	for _, token := range []string{"", "abc", "https://api.test/?page=2&x=%20", "\x00", "\xff", `"`, "null"} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		cursor := pager.At(token)
		if got, ok := cursor.Token(); !ok || got != token || cursor.IsStart() {
			t.Fatalf("%q becomes %q, %v", token, got, ok)
		}
		if !utf8.ValidString(token) {
			return // a ledger stores such tokens in binary
		}
		data, err := json.Marshal(cursor)
		if err != nil {
			t.Fatal(err)
		}
		var back pager.Cursor
		if err := json.Unmarshal(data, &back); err != nil || back != cursor {
			t.Errorf("%q becomes %v over %s: %v", token, back, data, err)
		}
	})
}

package store_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage/store"
)

// IDs come back, whatever letters they are made of.
func TestIDsComeBack(t *testing.T) {
	alphabets := []string{"0123456789", "abc", "x", "\x00\xff", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"}
	rapid.Check(t, func(t *rapid.T) {
		letters := []byte(rapid.SampledFrom(alphabets).Draw(t, "letters"))
		id := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 40), func(b []byte) string { return string(b) })
		if rapid.Bool().Draw(t, "any bytes") {
			id = rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) })
		}
		page := store.Page{RunID: "r", IDs: rapid.SliceOfN(id, 1, 120).Draw(t, "ids")}
		got, err := store.DecodePage("r", 0, 0, store.AppendPage(nil, &page))
		if err != nil || !reflect.DeepEqual(got.IDs, page.IDs) {
			t.Fatalf("got %q, %v, want %q", got.IDs, err, page.IDs)
		}
	})
}

func TestIDsArePacked(t *testing.T) {
	sum := "sha256:" + strings.Repeat("0123abcd", 8)
	page := store.Page{RunID: "r", Hash: sum, Digest: sum}
	for i := range 100 {
		page.IDs = append(page.IDs, fmt.Sprint(1_000_000_000+i))
	}
	if n := len(store.AppendPage(nil, &page)); n > 400 {
		t.Errorf("100 numbers in a row take %d bytes", n)
	}
}

// A page's record of version 1 is read: these bytes are what an older build wrote.
func TestPageOfVersion1IsRead(t *testing.T) {
	record := []byte("\x01\x01" + // version, end
		"\x01\x02\x05" + // at: 1 s and 5 ns
		"\x00\x01\x04next" + // cursor, next
		"\x04e=no" + "\x02\x01a\x02bc" + "\x08sha256:1" + // evidence, IDs, hash
		"\x00\x00\x00\x00\x00" + // unidentified, problems, skipped, vetoes, total
		"\x90\x03\x03req\x08sha256:2") // status, request, digest
	page, err := store.DecodePage("r", 3, 1, record)
	if err != nil {
		t.Fatal(err)
	}
	token, _ := page.Next.Token()
	if page.Hash != "sha256:1" || page.Digest != "sha256:2" || !reflect.DeepEqual(page.IDs, []string{"a", "bc"}) || token != "next" || page.Status != 200 || page.RequestID != "req" || page.Index != 3 {
		t.Errorf("got %+v", page)
	}
}

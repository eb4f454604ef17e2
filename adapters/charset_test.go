package adapters_test

import (
	"strings"
	"testing"

	"github.com/everypage-go/everypage/pager"
)

// TestCharsets reads pages in the encodings that their Content-Type names.
func TestCharsets(t *testing.T) {
	const bom = "\xef\xbb\xbf"
	for _, c := range []struct {
		name      string
		mediaType string
		body      string
		id        string
		ok        bool
	}{
		{"UTF-8", "application/json; charset=utf-8", `{"items":[{"id":"é"}]}`, "é", true},
		{"UTF-8 in quotes", `application/json;Charset="UTF-8"`, `{"items":[{"id":"é"}]}`, "é", true},
		{"UTF-8 with a mark", "application/json", bom + `{"items":[{"id":"é"}]}`, "é", true},
		{"ASCII", "application/json; charset=us-ascii", `{"items":[{"id":"e"}]}`, "e", true},
		{"Latin-1", "application/json; charset=ISO-8859-1", "{\"items\":[{\"id\":\"\xe9\"}]}", "é", true},
		{"ASCII in a code page", "application/json; charset=windows-1252", `{"items":[{"id":"e"}]}`, "e", true},
		{"a code page", "application/json; charset=windows-1252", "{\"items\":[{\"id\":\"\xe9\"}]}", "", false},
		{"UTF-16", "application/json; charset=utf-16", "{\x00}\x00", "", false},
		{"a malformed type", "application/json; charset", `{"items":[{"id":"e"}]}`, "e", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			canned := answer(200, c.body)
			canned.header.Set("Content-Type", c.mediaType)
			_, client := api(t, canned)
			pages, fault, err := walk(t.Context(), list(t, client, tokens(), things, nil), pager.Cursor{})
			switch {
			case c.ok && (err != nil || ids(pages...) != c.id):
				t.Errorf("got %v, %v", pages, err)
			case !c.ok && (fault == nil || fault.Code != pager.CodeNotAList || !strings.Contains(fault.Detail, "encoded as")):
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("XML that contradicts its Content-Type", func(t *testing.T) {
		canned := answer(200, `<?xml version="1.0" encoding="ISO-8859-1"?><ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>é</Key></Contents></ListBucketResult>`)
		canned.header.Set("Content-Type", "application/xml; charset=utf-8")
		_, client := api(t, canned)
		if pages, _, err := walk(t.Context(), list(t, client, parsed(t, objects), things, nil), pager.Cursor{}); err != nil || ids(pages...) != "é" {
			t.Errorf("got %v, %v", pages, err)
		}
	})
	t.Run("XML that names it itself", func(t *testing.T) {
		body := "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>\xe9</Key></Contents></ListBucketResult>"
		if page := readOne(t, parsed(t, objects), body); ids(page) != "é" {
			t.Errorf("got %q", ids(page))
		}
	})
}

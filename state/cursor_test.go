package state_test

import (
	"testing"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// A receipt keeps cursors as they are, in both forms, whatever their tokens look
// like to YAML; the start of the list stays the start.
func TestReceipt_CursorsBothWays(t *testing.T) {
	for _, c := range []pager.Cursor{
		{},
		pager.At(""), pager.At("null"), pager.At("~"), pager.At("yes"), pager.At("NO"), pager.At("true"), pager.At("42"), pager.At("1e3"),
		pager.At("0o17"), pager.At("0x1F"), pager.At(".inf"), pager.At("2026-03-05"), pager.At("12:30:45"), pager.At("=="), pager.At("<<"),
		pager.At("- a"), pager.At("a: b"), pager.At("# c"), pager.At("&x *x !x %x @x `x"), pager.At(" both "), pager.At("\ttab"), pager.At("\n\n"),
		pager.At("line\r\nline"), pager.At("\u2028\u0085\ufeff"), pager.At("\x00\x07"), pager.At(`"'\`), pager.At("日本語"), pager.At("{}"), pager.At("[1"),
	} {
		r := &state.Receipt{SchemaVersion: state.SchemaVersion, CursorIn: c, CursorOut: c}
		asYAML, err := r.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := state.ParseYAML(asYAML); err != nil || got.CursorIn != c || got.CursorOut != c {
			t.Errorf("%s reads back from YAML as %+v: %v\n%s", c, got, err, asYAML)
		}
		asJSON, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := state.ParseJSON(asJSON); err != nil || got.CursorIn != c || got.CursorOut != c {
			t.Errorf("%s reads back from JSON as %+v: %v\n%s", c, got, err, asJSON)
		}
	}
}

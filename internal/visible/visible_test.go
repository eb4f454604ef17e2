package visible_test

import (
	"testing"

	"github.com/everypage-go/everypage/internal/visible"
)

// Whatever a terminal obeys is shown, and all else stays as it is.
func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"é 日本 \U0001f600 a\tb\nc": "é 日本 \U0001f600 a\tb\nc",
		"\x1b[31mred\x1b]0;x\x07": `\u001b[31mred\u001b]0;x\u0007`,
		"a\rb\x00\x7f":            `a\u000db\u0000\u007f`,
		"\u009b31m":               `\u009b31m`,
		"\x9b31m\xff":             `\x9b31m\xff`,
		"\u202egnp.exe \u2066x":   `\u202egnp.exe \u2066x`,
		"a\u2028b\u200bc\ufeff":   `a\u2028b\u200bc\ufeff`,
		"\U000e0041":              `\udb40\udc41`,
	} {
		if got := visible.Text(text); got != want {
			t.Errorf("Text(%q) is %q, want %q", text, got, want)
		}
	}
	if got := visible.Line("a\nb\tc\x1b"); got != `a\u000ab\u0009c\u001b` {
		t.Errorf("Line gives %q", got)
	}
}

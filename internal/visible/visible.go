// Package visible makes the texts of others safe to look at, on a terminal and on a
// page.
package visible

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns a text that may go to a terminal or a page: an API's or a command's
// words must not move the cursor, colour what follows, or turn its order round. Each
// control and format character but line feed and tab stands there as \uXXXX, and a
// byte that is no UTF-8 as \xXX. Such an escape is the character itself within a
// string of JSON.
func Text(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, Hidden) < 0 {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case r > 0xffff && Hidden(r):
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		case Hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// Hidden reports whether a reader does not see a character, or a terminal obeys it.
func Hidden(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Line is Text for what has to stay one line.
func Line(text string) string {
	return strings.NewReplacer("\n", `\u000a`, "\t", `\u0009`).Replace(Text(text))
}

// Writer shows whole texts. Each Write must be of whole characters.
type Writer struct{ To io.Writer }

// Write writes a text.
func (w Writer) Write(data []byte) (int, error) {
	if _, err := io.WriteString(w.To, Text(string(data))); err != nil {
		return 0, err
	}
	return len(data), nil
}

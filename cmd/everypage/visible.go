package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// visible returns a text that may go to a terminal: an API's or a command's words
// must not move the cursor, colour what follows, or turn its order round. Each
// control and format character but line feed and tab stands there as \uXXXX, and a
// byte that is no UTF-8 as \xXX. Such an escape is the character itself within a
// string of JSON.
func visible(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, isHidden) < 0 {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case r > 0xffff && isHidden(r):
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		case isHidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// isHidden reports whether a terminal obeys a character instead of showing it.
func isHidden(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// visibleLine is visible for what has to stay one line.
func visibleLine(text string) string {
	return strings.NewReplacer("\n", `\u000a`, "\t", `\u0009`).Replace(visible(text))
}

// visibleWriter shows whole texts on a terminal.
type visibleWriter struct{ to io.Writer }

// Write writes a text of whole characters.
func (w visibleWriter) Write(data []byte) (int, error) {
	if _, err := io.WriteString(w.to, visible(string(data))); err != nil {
		return 0, err
	}
	return len(data), nil
}

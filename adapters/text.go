package adapters

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	textLimit   = 2 << 10 // bytes of one text that an API gave
	detailLimit = 20      // entries of a list of texts
)

// clean makes a text from an API fit for a log line, a receipt and a terminal: at
// most limit bytes, valid UTF-8, and none of the characters that could move a
// cursor or turn the direction of what follows.
func clean(text string, limit int) string {
	if len(text) > 4*limit {
		text = text[:4*limit] // what is removed below must not cost without bound
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\u2028', r == '\u2029':
			return ' '
		case unicode.IsControl(r), r == utf8.RuneError, r == '\ufeff',
			r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
			return -1
		}
		return r
	}, text)
	text = strings.TrimSpace(text)
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

package receiptweb

import (
	"bytes"
	"encoding/json"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// clean makes a text of others fit to be shown: without credentials, and without
// characters that a reader does not see.
func clean(text string) string { return visible.Text(pager.RedactText(text)) }

// cleanCursor shows a cursor without the credentials of one that is a URL.
func cleanCursor(c pager.Cursor) string {
	c = state.Receipt{CursorIn: c}.Redacted().CursorIn
	token, ok := c.Token()
	switch {
	case !ok:
		return "(start)"
	case token == "":
		return "(an empty token)"
	}
	return visible.Line(token)
}

// functions are what the templates may use.
func functions() template.FuncMap {
	return template.FuncMap{
		"count": func(n any) string {
			switch n := n.(type) {
			case int:
				return count(int64(n))
			case int64:
				return count(n)
			}
			return ""
		},
		"iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"instant": func(t time.Time) string {
			if t.IsZero() {
				return "–"
			}
			return t.UTC().Format("2006-01-02 15:04:05") + " UTC"
		},
		"short": short,
	}
}

// count writes a number in groups of three digits.
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "−", digits[1:]
	}
	var b strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return sign + b.String()
}

// span says how long something is, roughly, as a person would.
func span(d time.Duration) string {
	unit := func(n int, one string) string {
		if n == 1 {
			return "1 " + one
		}
		return strconv.Itoa(n) + " " + one + "s"
	}
	switch d = d.Abs(); {
	case d < time.Second:
		return "less than a second"
	case d < 2*time.Minute:
		return unit(int(d/time.Second), "second")
	case d < 2*time.Hour:
		return unit(int(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return unit(int(d/time.Hour), "hour")
	}
	return unit(int(d/(24*time.Hour)), "day")
}

// ago says how long ago something was.
func ago(now, then time.Time) string {
	switch d := now.Sub(then); {
	case then.IsZero():
		return ""
	case d < -time.Second:
		return "in " + span(d)
	case d < time.Second:
		return "just now"
	default:
		return span(d) + " ago"
	}
}

// short is the beginning of a hash, as much as a person compares.
func short(hash string) string {
	if _, after, ok := strings.Cut(hash, ":"); ok {
		hash = after
	}
	if len(hash) > 10 {
		return hash[:10]
	}
	return hash
}

// maxJSON is as much of an item's data as a page shows.
const maxJSON = 16 << 10

// data shows the bytes of an item: as indented JSON where it is JSON, else as text.
func data(raw []byte) string {
	if raw == nil {
		return ""
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "", "  "); err == nil {
		raw = indented.Bytes()
	}
	text, cut := string(raw), ""
	if len(text) > maxJSON {
		end := maxJSON
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text, cut = text[:end], "\n… and "+count(int64(len(raw)-end))+" bytes more, which the ledger has"
	}
	return clean(text) + cut
}

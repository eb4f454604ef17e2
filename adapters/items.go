package adapters

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxIDBytes is the longest ID that is used. A longer one is no identity that a
// ledger should carry, and its entry is owed like one without an ID.
const MaxIDBytes = 4096

// anyArray names the only array at the top level, whatever it is called.
const anyArray Path = "*"

// The formats of a creation time.
const (
	formatRFC3339   = "rfc3339"
	formatUnix      = "unix"
	formatUnixMilli = "unix_ms"
	formatHTTPDate  = "http_date"
)

// entry is one element of a page before it is decoded.
type entry struct {
	raw     value
	id      string
	number  bool // the ID, or its last part, is a number
	problem string
	created time.Time
}

// reader reads entries; it holds what the contract's paths come to.
type reader struct {
	contract *Contract
	id       [][]step
	created  []step
}

func newReader(c *Contract) (reader, error) {
	r := reader{contract: c}
	for _, p := range c.Items.ID {
		steps, err := p.steps()
		if err != nil {
			return reader{}, fmt.Errorf("adapters: items.id: path %q %w", p, err)
		}
		r.id = append(r.id, steps)
	}
	var err error
	r.created, err = c.Items.CreatedAt.steps()
	if err != nil {
		return reader{}, fmt.Errorf("adapters: items.created_at: path %q %w", c.Items.CreatedAt, err)
	}
	return r, nil
}

// lookedAt is how many levels below its top a page is looked up in: down to its
// entries, and to what is read of each.
func (c *Contract) lookedAt() int {
	depth := func(p Path) int {
		steps, err := p.steps()
		if err != nil {
			return 0
		}
		return len(steps)
	}
	inEntry := depth(c.Items.CreatedAt)
	for _, p := range c.Items.ID {
		inEntry = max(inEntry, depth(p))
	}
	for _, s := range c.Items.Skip {
		inEntry = max(inEntry, depth(s.At))
	}
	return depth(c.Items.At) + 1 + inEntry
}

// read returns the entry at the given place of a page, and whether the contract
// says that it is to be left out.
func (r reader) read(v value, place int) (e entry, skip bool) {
	e.raw = v
	if r.skips(v) {
		return e, true
	}
	if v.kind() == kindNull && r.contract.Items.SkipNull {
		return e, true
	}
	parts := make([]string, 0, 4)
	for i, steps := range r.id {
		text, number, problem := r.part(v, i, steps)
		e.number = number
		if problem != "" {
			if r.contract.Items.SkipNull && insideNull(v, steps) {
				return e, true
			}
			e.problem = fmt.Sprintf("entry %d: %s", place, problem)
			return e, false
		}
		parts = append(parts, text)
	}
	id := join(parts)
	if len(id) > MaxIDBytes {
		e.problem = fmt.Sprintf("entry %d: the ID has %d bytes, and at most %d are used", place, len(id), MaxIDBytes)
		return e, false
	}
	e.id = id
	if r.contract.Items.CreatedAt != "" {
		e.created = readTime(v.walk(r.created), r.contract.Items.CreatedFormat)
	}
	return e, false
}

// skips reports whether an entry is none of the list's own items.
func (r reader) skips(v value) bool {
	return slices.ContainsFunc(r.contract.Items.Skip, func(s Skip) bool {
		found := v.at(s.At)
		return found.kind() != kindAbsent && slices.Contains(s.Is, found.plainText())
	})
}

func (r reader) part(v value, i int, steps []step) (text string, number bool, problem string) {
	name := string(r.contract.Items.ID[i])
	if name == "" {
		name = "the entry itself"
	}
	found := v.walk(steps)
	switch found.kind() {
	case kindText, kindNumber:
		if len(found.raw) > 8*MaxIDBytes {
			return "", false, fmt.Sprintf("the ID at %s has %d bytes, and at most %d are used", name, len(found.raw), MaxIDBytes)
		}
		text, err := found.exactText()
		switch {
		case err != nil:
			return "", false, fmt.Sprintf("the ID at %s %v", name, err)
		case text == "":
			return "", false, fmt.Sprintf("the ID at %s is the empty string", name)
		}
		return text, found.kind() == kindNumber, ""
	case kindAbsent, kindNull, kindBool, kindArray, kindObject:
	}
	return "", false, fmt.Sprintf("the ID at %s %s", name, notThere(found))
}

// tellApart keeps the ID 7 and the ID "7" of one page from being taken for one:
// the later of the two cannot be used.
func tellApart(entries []entry) {
	numbers := 0
	for _, e := range entries {
		if e.number {
			numbers++
		}
	}
	if numbers == 0 || numbers == len(entries) {
		return
	}
	first := make(map[string]int, len(entries))
	for i := range entries {
		e := &entries[i]
		if e.id == "" {
			continue
		}
		if before, seen := first[e.id]; !seen {
			first[e.id] = i
		} else if entries[before].number != e.number {
			e.problem = fmt.Sprintf("the ID %s is a number in one entry of this page and a string in another", quoted(e.id))
			e.id = ""
		}
	}
}

// insideNull reports whether something above the end of the path is null.
func insideNull(v value, steps []step) bool {
	return len(steps) > 0 && v.walk(steps[:len(steps)-1]).kind() == kindNull
}

// join makes one ID of its parts so that no two different lists of parts meet:
// the separator does not occur unescaped inside a part.
func join(parts []string) string {
	if len(parts) == 1 {
		return parts[0]
	}
	escape := strings.NewReplacer("%", "%25", "/", "%2F")
	for i := range parts {
		parts[i] = escape.Replace(parts[i])
	}
	return strings.Join(parts, "/")
}

// readTime reads a creation time; the zero time stands for one that is missing or
// cannot be read.
func readTime(v value, format string) time.Time {
	text := v.plainText()
	var t time.Time
	var err error
	switch {
	case text == "" || v.kind() == kindBool:
		return time.Time{}
	case format == "" || format == formatRFC3339:
		t, err = time.Parse(time.RFC3339Nano, text)
	case format == formatHTTPDate:
		t, err = http.ParseTime(text)
	case format == formatUnix:
		t, err = readEpoch(text, time.Second)
	case format == formatUnixMilli:
		t, err = readEpoch(text, time.Millisecond)
	default:
		t, err = time.Parse(strings.TrimPrefix(format, "layout:"), text)
	}
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

func readEpoch(text string, unit time.Duration) (time.Time, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n < math.MaxInt64/1000 && n > math.MinInt64/1000 {
		if unit == time.Second {
			return time.Unix(n, 0), nil
		}
		return time.UnixMilli(n), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return time.Time{}, err
	}
	seconds, fraction := math.Modf(f * unit.Seconds())
	if math.IsNaN(seconds) || math.Abs(seconds) > 1<<40 {
		return time.Time{}, fmt.Errorf("%s is no time", text)
	}
	return time.Unix(int64(seconds), int64(fraction*1e9)), nil
}

// writeTime writes a bound of a window. A format of whole units loses the
// fraction, as the times that it is compared with do.
func writeTime(t time.Time, format string) string {
	t = t.UTC()
	switch format {
	case formatUnix:
		return strconv.FormatInt(t.Unix(), 10)
	case formatUnixMilli:
		return strconv.FormatInt(t.UnixMilli(), 10)
	case formatHTTPDate:
		return t.Format(http.TimeFormat)
	case "", formatRFC3339:
		return t.Format(time.RFC3339Nano)
	}
	return t.Format(strings.TrimPrefix(format, "layout:"))
}

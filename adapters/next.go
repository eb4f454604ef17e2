package adapters

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/everypage-go/everypage/pager"
)

// nextCursor is what one answer said about the next cursor.
type nextCursor struct {
	found   bool
	cursor  pager.Cursor
	counted bool // by us, as a page number or an offset
	derived bool // by us, from the last item; the API gave no cursor
	// what names the value where it is not plainly a cursor: absent, null, empty,
	// zero or false. It is empty where the value is a cursor or cannot be used.
	what     string
	evidence string
}

// source is what the next cursor may be read from.
type source struct {
	header http.Header
	base   *url.URL // the address that answered
	body   value
	at     pager.Cursor
	last   *entry // the last entry of the page, nil where there is none
	items  int
	as     string // how the cursor is carried, or a part of it
}

// next finds the next cursor of a page.
func (c *Contract) next(s source) nextCursor {
	s.as = c.Request.Cursor.As
	switch {
	case len(c.Next.Parts) > 0:
		return c.joined(s)
	case len(c.Next.Or) > 0:
		return c.either(s)
	}
	return c.read(s, c.Next.From)
}

// read finds a cursor, or a part of one, in one place.
func (c *Contract) read(s source, from Place) nextCursor {
	where, name := from.split()
	switch where {
	case "body":
		return c.fromValue(s, name, s.body.at(Path(name)))
	case "header":
		return c.fromHeader(s, name)
	case "link":
		return fromLink(s, name)
	case "last_id":
		switch {
		case s.last == nil:
			return nextCursor{what: whenAbsent, evidence: "the page has no last item to go on from"}
		case s.last.id == "":
			return nextCursor{evidence: "the last item has no ID to go on from"}
		}
		return nextCursor{found: true, derived: true, cursor: pager.At(s.last.id), evidence: "last ID " + quoted(s.last.id)}
	case "last":
		if s.last == nil {
			return nextCursor{what: whenAbsent, evidence: "the page has no last item to go on from"}
		}
		next := c.fromValue(s, "last item's "+name, s.last.raw.at(Path(name)))
		next.derived = true
		return next
	case "counter":
		return c.counted(s)
	}
	return nextCursor{what: whenAbsent, evidence: "the contract has no next cursor"}
}

func (c *Contract) fromValue(s source, name string, v value) nextCursor {
	none := func(what string) nextCursor {
		return nextCursor{what: what, evidence: name + " " + notThere(v)}
	}
	if s.as == asJSON {
		return c.fromJSON(name, v)
	}
	switch v.kind() {
	case kindAbsent:
		return none(whenAbsent)
	case kindNull:
		return none(whenNull)
	case kindBool:
		if v.isTrue() {
			return none("")
		}
		return none(whenFalse)
	case kindNumber:
		if isZero(v) && !slices.Contains(c.Next.Cursors, whenZero) {
			return none(whenZero)
		}
	case kindText:
		blank := c.isXML() && strings.TrimSpace(v.plainText()) == "" // an element over two lines
		if (len(v.raw) == 2 || blank) && !slices.Contains(c.Next.Cursors, whenEmpty) {
			return nextCursor{what: whenEmpty, evidence: name + ` is the empty string`}
		}
	case kindArray, kindObject:
		return none("")
	}
	text, err := v.exactText()
	if err != nil {
		return nextCursor{evidence: name + " " + err.Error() + ", so it cannot go back as it came"}
	}
	return c.token(s, name, text)
}

// fromJSON keeps the cursor as the text of its JSON value.
func (c *Contract) fromJSON(name string, v value) nextCursor {
	none := func(what string) nextCursor {
		return nextCursor{what: what, evidence: name + " " + notThere(v)}
	}
	switch k := v.kind(); {
	case k == kindAbsent:
		return none(whenAbsent)
	case k == kindNull:
		return none(whenNull)
	case k == kindBool && !v.isTrue():
		return none(whenFalse)
	case k == kindNumber && isZero(v) && !slices.Contains(c.Next.Cursors, whenZero):
		return none(whenZero)
	case k == kindText && len(v.raw) == 2 && !slices.Contains(c.Next.Cursors, whenEmpty),
		k == kindArray && len(v.elements()) == 0,
		k == kindObject && v.isEmptyObject():
		return nextCursor{what: whenEmpty, evidence: name + " is empty"}
	}
	return nextCursor{found: true, cursor: pager.At(string(v.raw)), evidence: name + " is set"}
}

func (c *Contract) fromHeader(s source, name string) nextCursor {
	values := s.header.Values(name)
	switch {
	case len(values) == 0:
		return nextCursor{what: whenAbsent, evidence: name + " is absent"}
	case values[0] == "" && !slices.Contains(c.Next.Cursors, whenEmpty):
		return nextCursor{what: whenEmpty, evidence: name + " is empty"}
	}
	return c.token(s, name, values[0])
}

// token makes a cursor of a text; where the cursor is an address, it is resolved
// against the one that answered.
func (c *Contract) token(s source, name, text string) nextCursor {
	if c.Request.Cursor.In != inURL {
		return nextCursor{found: true, cursor: pager.At(text), evidence: name + " is set"}
	}
	target, err := resolve(s.base, text)
	if err != nil {
		return nextCursor{evidence: name + " is no URL"}
	}
	return nextCursor{found: true, cursor: pager.At(target), evidence: name + " is set"}
}

// resolve returns the absolute form of a reference. One that is absolute stays
// as it is, byte for byte, but for a fragment, which is never sent.
func resolve(base *url.URL, reference string) (string, error) {
	u, err := url.Parse(reference)
	if err != nil {
		return "", err
	}
	if u.IsAbs() {
		text, _, _ := strings.Cut(reference, "#")
		return text, nil
	}
	u = base.ResolveReference(u)
	u.Fragment, u.RawFragment = "", ""
	return u.String(), nil
}

func fromLink(s source, rel string) nextCursor {
	links, err := parseLinks(s.header.Values("Link"))
	var targets []string
	for _, l := range links {
		target, ok := l.leadsTo(rel, s.base)
		if ok && !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	switch {
	case len(targets) > 1:
		return nextCursor{evidence: fmt.Sprintf("Link names %d different targets with rel=%s", len(targets), rel)}
	case len(targets) == 1 && targets[0] == "":
		return nextCursor{evidence: fmt.Sprintf("the target of Link rel=%s is no URL", rel)}
	case len(targets) == 1:
		return nextCursor{found: true, cursor: pager.At(targets[0]), evidence: "Link rel=" + rel}
	case err != nil:
		return nextCursor{evidence: "the Link header is malformed: " + err.Error()}
	}
	return nextCursor{what: whenAbsent, evidence: "no Link with rel=" + rel}
}

// counted makes the next cursor of a walk by page number or offset.
func (c *Contract) counted(s source) nextCursor {
	position, ok := c.position(s.at)
	if !ok {
		return nextCursor{evidence: "the cursor of this page is no number"}
	}
	step := int64(1)
	if c.Next.From == fromOffset {
		step = int64(s.items) // by what arrived: a server may give less than was asked for
	}
	next := strconv.FormatInt(position+step, 10)
	return nextCursor{found: true, counted: true, cursor: pager.At(next), evidence: fmt.Sprintf("counted on to %s", next)}
}

// position returns the number that a counted cursor holds.
func (c *Contract) position(at pager.Cursor) (int64, bool) {
	text, set := at.Token()
	if !set {
		text = c.firstToken()
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 0 && n < 1<<62
}

// firstToken returns what the first request carries, where it carries something.
func (c *Contract) firstToken() string {
	switch {
	case c.Request.Cursor.First != nil:
		return *c.Request.Cursor.First
	case c.Next.From == fromPage:
		return "1"
	case c.Next.From == fromOffset:
		return "0"
	}
	return ""
}

func isZero(v value) bool {
	f, err := strconv.ParseFloat(string(v.raw), 64)
	return err == nil && f == 0
}

func (v value) isEmptyObject() bool {
	empty := true
	v.members(func(_, _ value) { empty = false })
	return empty
}

func quoted(text string) string { return strconv.Quote(clean(text, 80)) }

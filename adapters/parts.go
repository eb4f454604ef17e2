package adapters

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/everypage-go/everypage/pager"
)

// Part is one value of a cursor that is made of several. The cursor is a JSON
// array of them, in the contract's order; it is one opaque string to everybody
// else.
type Part struct {
	// From is body:PATH, header:NAME, last_id or last:PATH.
	From Place `json:"from" yaml:"from"`
	// In is query:NAME, header:NAME or body:PATH.
	In Place `json:"in" yaml:"in"`
	// As is string, or json for any JSON value; see [CursorRule].
	As string `json:"as,omitempty" yaml:"as,omitempty"`
	// IfAbsent says what a page does that has no such value: omit sends none, keep
	// sends the value of the cursor before. Defaults to there being no cursor.
	IfAbsent string `json:"if_absent,omitempty" yaml:"if_absent,omitempty"`
}

// The values of Part.IfAbsent.
const (
	absentOmits = "omit"
	absentKeeps = "keep"
)

// noPart stands in a cursor for a part that is not sent. No part that is sent
// reads so, since null is never a cursor.
const noPart = "null"

// either finds the next cursor in one of several places.
func (c *Contract) either(s source) nextCursor {
	best := c.read(s, c.Next.From)
	for _, place := range c.Next.Or {
		next := c.read(s, place)
		switch {
		case next.found && best.found && !next.derived && !best.derived && next.cursor != best.cursor:
			return nextCursor{evidence: fmt.Sprintf("%s and %s hold different cursors", c.Next.From, place)}
		case best.found:
		case next.found:
			best = next
		case best.what == whenAbsent && next.what == whenAbsent:
			best.evidence += ", " + next.evidence
		case best.what == whenAbsent, best.what == "" && next.what != whenAbsent:
			best = next
		}
	}
	return best
}

// joined makes one cursor of its parts.
func (c *Contract) joined(s source) nextCursor {
	var before []value
	if token, set := s.at.Token(); set {
		before, _ = splitParts(token, len(c.Next.Parts)) // it was read before the request was made
	}
	texts := make([]string, len(c.Next.Parts))
	next := nextCursor{found: true, evidence: "every part of the cursor is set"}
	var missing nextCursor
	gone, set := 0, 0
	for i, part := range c.Next.Parts {
		s.as = part.As
		one := c.read(s, part.From)
		next.derived = next.derived || one.derived
		switch {
		case one.found:
			text, err := one.part(part.As)
			if err != nil {
				return nextCursor{evidence: fmt.Sprintf("%s %v", part.From, err)}
			}
			texts[i] = text
			if part.IfAbsent == "" {
				set++
			}
		case one.what != "" && part.IfAbsent == absentOmits:
			texts[i] = noPart
		case one.what != "" && part.IfAbsent == absentKeeps:
			texts[i] = noPart
			if before != nil {
				texts[i] = string(before[i].raw)
			}
		default:
			if gone++; gone == 1 {
				missing = one
			} else if missing.what != one.what {
				missing.what = ""
			}
		}
	}
	switch {
	case gone > 0 && set > 0:
		return nextCursor{evidence: missing.evidence + ", and another part of the cursor is set"}
	case gone > 0:
		return missing
	}
	next.cursor = pager.At("[" + strings.Join(texts, ",") + "]")
	return next
}

// part returns a part as the JSON that stands for it in a cursor.
func (n nextCursor) part(as string) (string, error) {
	token, _ := n.cursor.Token()
	if as == asJSON {
		return token, nil
	}
	if !utf8.ValidString(token) {
		return "", fmt.Errorf("is not valid UTF-8, so it cannot go back as it came")
	}
	text, err := encode(token)
	return string(text), err
}

// splitParts reads a cursor that joined made.
func splitParts(token string, want int) ([]value, error) {
	v, err := parseJSON([]byte(token))
	if err != nil || v.kind() != kindArray {
		return nil, fmt.Errorf("the cursor is not made of parts, as the contract's are")
	}
	parts := v.elements()
	if len(parts) != want {
		return nil, fmt.Errorf("the cursor has %d parts, and the contract's have %d", len(parts), want)
	}
	return parts, nil
}

// putParts puts the parts of a cursor where they go.
func (c *Contract) putParts(put func(Place, any) error, token string) error {
	values, err := splitParts(token, len(c.Next.Parts))
	if err != nil {
		return err
	}
	for i, part := range c.Next.Parts {
		var x any = json.RawMessage(values[i].raw)
		switch {
		case values[i].kind() == kindNull:
			continue
		case part.As != asJSON:
			x = values[i].plainText()
		}
		if err := put(part.In, x); err != nil {
			return err
		}
	}
	return nil
}

// putMembers makes a parameter of each member of a cursor.
func putMembers(put func(Place, any) error, token string) error {
	v, err := parseJSON([]byte(token))
	if err != nil || v.kind() != kindObject {
		return fmt.Errorf("the cursor is no JSON object, as the contract's are")
	}
	v.members(func(name, member value) {
		switch member.kind() {
		case kindText, kindNumber, kindBool:
			if putErr := put(Place("query:"+name.plainText()), member.plainText()); err == nil {
				err = putErr
			}
		case kindAbsent, kindNull, kindArray, kindObject:
			if err == nil {
				err = fmt.Errorf("the cursor's member %s %s, which is no parameter", quoted(name.plainText()), notThere(member))
			}
		}
	})
	return err
}

package adapters

import (
	"encoding/binary"
	"math"
)

// outline says where the values of a JSON text stand, down to some depth, so that
// a page's members and entries are found without reading its text again.
type outline struct {
	text  []byte
	nodes []node // in the order of the text; a value stands before what it holds
}

// node is one value of an outline: a range of the text.
type node struct {
	name, nameEnd int32 // of a member's name, with its quotes
	start, end    int32
	after         int32 // index of the first node that is not inside this one
	kept          bool  // what it holds is in the outline
}

// at returns the value at a node.
func (o *outline) at(i int32) value {
	n := &o.nodes[i]
	return value{raw: o.text[n.start:n.end], outline: o, node: i}
}

// name returns the name of the member at a node.
func (o *outline) name(i int32) value {
	n := &o.nodes[i]
	return value{raw: o.text[n.name:n.nameEnd]}
}

// scanner reads a JSON text once: it checks what encoding/json checks, and makes
// the outline. What it is not sure of it refuses, for encoding/json to judge.
type scanner struct {
	text   []byte
	nodes  []node
	levels int // how deep the outline goes; 0 is no outline
}

// scanDepth is how deep the scanner goes into a text; encoding/json goes to 10,000.
const scanDepth = 9_000

// An outline has room for one value in bytesPerNode bytes of the text: one with
// more is dropped, so that an answer of tiny values takes no memory beyond the
// size of its text.
const bytesPerNode = 16

// scan checks a text without space around it. It reports false for one that
// encoding/json has to judge. The outline is nil where none was asked for, or
// where it would be too large.
func scan(text []byte, levels int) (o *outline, ok bool) {
	if len(text) > math.MaxInt32 {
		return nil, false
	}
	s := scanner{text: text, levels: levels}
	if levels > 0 {
		s.nodes = make([]node, 1, len(text)/(4*bytesPerNode)+8)
	}
	end := s.value(0, 0)
	if end != len(text) {
		return nil, false
	}
	if s.levels == 0 {
		return nil, true
	}
	s.nodes[0] = node{end: int32(end), after: int32(len(s.nodes)), kept: true} //nolint:gosec // the text is not longer
	return &outline{text: text, nodes: s.nodes}, true
}

// failed is where a scan that refuses its text ends.
const failed = -1

// value returns the index after the value at i.
func (s *scanner) value(i, depth int) int {
	if i >= len(s.text) {
		return failed
	}
	switch s.text[i] {
	case '"':
		return s.string(i)
	case '{':
		return s.object(i, depth)
	case '[':
		return s.array(i, depth)
	case 't':
		return s.literal(i, "true")
	case 'f':
		return s.literal(i, "false")
	case 'n':
		return s.literal(i, "null")
	}
	return s.number(i)
}

func (s *scanner) object(i, depth int) int {
	if depth == scanDepth {
		return failed
	}
	if i = s.space(i + 1); s.is(i, '}') {
		return i + 1
	}
	for {
		name := i
		if !s.is(i, '"') {
			return failed
		}
		if i = s.string(i); i == failed {
			return failed
		}
		nameEnd := i
		if i = s.space(i); !s.is(i, ':') {
			return failed
		}
		i = s.space(i + 1)
		if i = s.inside(node{name: int32(name), nameEnd: int32(nameEnd), start: int32(i)}, depth); i == failed { //nolint:gosec // within the text, which is shorter
			return failed
		}
		switch i = s.space(i); {
		case s.is(i, ','):
			i = s.space(i + 1)
		case s.is(i, '}'):
			return i + 1
		default:
			return failed
		}
	}
}

func (s *scanner) array(i, depth int) int {
	if depth == scanDepth {
		return failed
	}
	if i = s.space(i + 1); s.is(i, ']') {
		return i + 1
	}
	for {
		if i = s.inside(node{start: int32(i)}, depth); i == failed { //nolint:gosec // within the text, which is shorter
			return failed
		}
		switch i = s.space(i); {
		case s.is(i, ','):
			i = s.space(i + 1)
		case s.is(i, ']'):
			return i + 1
		default:
			return failed
		}
	}
}

// inside reads a value that stands in another one of the given depth.
func (s *scanner) inside(n node, depth int) int {
	if depth >= s.levels {
		return s.value(int(n.start), depth+1)
	}
	at := len(s.nodes)
	if at > len(s.text)/bytesPerNode+8 {
		s.levels, s.nodes = 0, nil // too many values for an outline
		return s.value(int(n.start), depth+1)
	}
	n.kept = depth+1 < s.levels
	s.nodes = append(s.nodes, n)
	end := s.value(int(n.start), depth+1)
	if s.levels > 0 && end != failed {
		s.nodes[at].end, s.nodes[at].after = int32(end), int32(len(s.nodes)) //nolint:gosec // within the text, which is shorter
	}
	return end
}

func (s *scanner) is(i int, c byte) bool { return i < len(s.text) && s.text[i] == c }

// space returns the index of the next byte that is no white space.
func (s *scanner) space(i int) int {
	for i < len(s.text) && s.text[i] <= ' ' && isSpace(s.text[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (s *scanner) literal(i int, word string) int {
	if len(s.text)-i < len(word) || string(s.text[i:i+len(word)]) != word {
		return failed
	}
	return i + len(word)
}

func (s *scanner) number(i int) int {
	if s.is(i, '-') {
		i++
	}
	switch {
	case s.is(i, '0'):
		i++
	case s.digit(i):
		i = s.digits(i)
	default:
		return failed
	}
	if s.is(i, '.') {
		if i++; !s.digit(i) {
			return failed
		}
		i = s.digits(i)
	}
	if s.is(i, 'e') || s.is(i, 'E') {
		if i++; s.is(i, '+') || s.is(i, '-') {
			i++
		}
		if !s.digit(i) {
			return failed
		}
		i = s.digits(i)
	}
	return i
}

func (s *scanner) digit(i int) bool { return i < len(s.text) && s.text[i]-'0' <= 9 }

func (s *scanner) digits(i int) int {
	for s.digit(i) {
		i++
	}
	return i
}

// string returns the index after the string whose quote stands at i. Like
// encoding/json it takes bytes that are no UTF-8.
func (s *scanner) string(i int) int {
	for i++; ; {
		i = special(s.text, i)
		if i >= len(s.text) {
			return failed
		}
		switch s.text[i] {
		case '"':
			return i + 1
		case '\\':
			if i = s.escape(i + 1); i == failed {
				return failed
			}
		default: // a control character
			return failed
		}
	}
}

// escape returns the index after what follows a backslash.
func (s *scanner) escape(i int) int {
	if i >= len(s.text) {
		return failed
	}
	switch s.text[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if len(s.text)-i < 5 {
			return failed
		}
		for _, c := range s.text[i+1 : i+5] {
			if lower := c | 0x20; c-'0' > 9 && lower-'a' > 5 {
				return failed
			}
		}
		return i + 5
	}
	return failed
}

// special returns the index of the first byte from i on that means something in
// a string: a quote, a backslash, a control character. It looks at 8 bytes at
// a time; the length of the text if there is none.
func special(text []byte, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		quote := w ^ ones*'"'
		slash := w ^ ones*'\\'
		// A byte's high bit is set where it is below 0x20, a quote or a backslash,
		// and may be set wrongly only behind one that is.
		if found := ((w - ones*0x20) | (quote - ones) | (slash - ones)) & highs &^ w; found != 0 {
			break
		}
	}
	for i < len(text) && text[i] >= ' ' && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}

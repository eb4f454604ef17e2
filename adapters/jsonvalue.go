package adapters

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// kind is what a JSON value is. A member that is not there is a kind of its own,
// since absent, null, "", 0 and false mean five different things.
type kind uint8

const (
	kindAbsent kind = iota
	kindNull
	kindBool
	kindNumber
	kindText
	kindArray
	kindObject
)

// String names the kind for a person.
func (k kind) String() string {
	switch k {
	case kindAbsent:
		return "absent"
	case kindNull:
		return "null"
	case kindBool:
		return "a boolean"
	case kindNumber:
		return "a number"
	case kindText:
		return "a string"
	case kindArray:
		return "an array"
	case kindObject:
		return "an object"
	}
	return "invalid"
}

// value is one value inside a JSON text that is known to be valid. It is a part
// of the text itself: numbers keep every digit, and an item stays as it was sent.
// The zero value is absent.
type value struct {
	raw []byte
	// outline, where there is one, knows what the value holds; node is the value's
	// own place in it.
	outline *outline
	node    int32
}

// parseJSON checks the text once, so that everything after it can trust the
// syntax. Nesting deeper than encoding/json allows (10,000) is an error.
func parseJSON(text []byte) (value, error) { return parseOutlined(text, 0) }

// parseOutlined is parseJSON for a text in which much will be looked up, down to
// the given number of levels below its top.
func parseOutlined(text []byte, levels int) (value, error) {
	trimmed := bytes.Trim(text, " \t\r\n")
	if o, ok := scan(trimmed, levels); ok {
		return value{raw: trimmed, outline: o}, nil
	}
	if err := json.Unmarshal(text, &checked{}); err != nil {
		return value{}, err
	}
	return value{raw: trimmed}, nil
}

// checked makes encoding/json check a text without copying it.
type checked struct{}

// UnmarshalJSON accepts what was checked.
func (*checked) UnmarshalJSON([]byte) error { return nil }

func (v value) kind() kind {
	if len(v.raw) == 0 {
		return kindAbsent
	}
	switch v.raw[0] {
	case 'n':
		return kindNull
	case 't', 'f':
		return kindBool
	case '"':
		return kindText
	case '[':
		return kindArray
	case '{':
		return kindObject
	}
	return kindNumber
}

// isTrue reports whether v is the JSON value true.
func (v value) isTrue() bool { return string(v.raw) == "true" }

// members calls visit for each member of an object, in order.
func (v value) members(visit func(name, member value)) {
	if v.kind() != kindObject {
		return
	}
	if o := v.outline; o != nil && o.nodes[v.node].kept {
		for i := v.node + 1; i < o.nodes[v.node].after; i = o.nodes[i].after {
			visit(o.name(i), o.at(i))
		}
		return
	}
	for i := skipSpace(v.raw, 1); v.raw[i] != '}'; {
		end := skipValue(v.raw, i)
		name := value{raw: v.raw[i:end]}
		i = skipSpace(v.raw, skipSpace(v.raw, end)+1) // over the colon
		end = skipValue(v.raw, i)
		visit(name, value{raw: v.raw[i:end]})
		if i = skipSpace(v.raw, end); v.raw[i] == ',' {
			i = skipSpace(v.raw, i+1)
		}
	}
}

// member returns the named member; of several it is the last, as it is for
// encoding/json, so that a path and a decoded item see the same value.
func (v value) member(name string) value {
	var found value
	if o := v.outline; o != nil && o.nodes[v.node].kept && v.kind() == kindObject {
		for i := v.node + 1; i < o.nodes[v.node].after; i = o.nodes[i].after {
			if o.name(i).spells(name) {
				found = o.at(i)
			}
		}
		return found
	}
	v.members(func(n, m value) {
		if n.spells(name) {
			found = m
		}
	})
	return found
}

// spells reports whether a string is the given text, without a copy where it
// holds no escape.
func (v value) spells(text string) bool {
	if bytes.IndexByte(v.raw, '\\') < 0 {
		return string(v.raw[1:len(v.raw)-1]) == text
	}
	return v.plainText() == text
}

// elements returns the elements of an array.
func (v value) elements() []value {
	if v.kind() != kindArray {
		return nil
	}
	var all []value
	if o := v.outline; o != nil && o.nodes[v.node].kept {
		for i := v.node + 1; i < o.nodes[v.node].after; i = o.nodes[i].after {
			all = append(all, o.at(i))
		}
		return all
	}
	for i := skipSpace(v.raw, 1); v.raw[i] != ']'; {
		end := skipValue(v.raw, i)
		all = append(all, value{raw: v.raw[i:end]})
		if i = skipSpace(v.raw, end); v.raw[i] == ',' {
			i = skipSpace(v.raw, i+1)
		}
	}
	return all
}

// plainText returns a string as encoding/json reads it, a number or a boolean as
// it stands, and "" for everything else.
func (v value) plainText() string {
	switch v.kind() {
	case kindText:
		if bytes.IndexByte(v.raw, '\\') < 0 && utf8.Valid(v.raw) {
			return string(v.raw[1 : len(v.raw)-1])
		}
		var s string
		if err := json.Unmarshal(v.raw, &s); err != nil {
			return ""
		}
		return s
	case kindNumber, kindBool:
		return string(v.raw)
	case kindAbsent, kindNull, kindArray, kindObject:
	}
	return ""
}

// exactText returns the text of a string or the digits of a number. Text that
// has no exact form in UTF-8 is an error: replacing what is broken would make two
// different values equal.
func (v value) exactText() (string, error) {
	switch v.kind() {
	case kindNumber:
		return string(v.raw), nil
	case kindText:
		if !utf8.Valid(v.raw) {
			return "", errors.New("is not valid UTF-8")
		}
		if hasLoneSurrogate(v.raw) {
			return "", errors.New("holds half of a surrogate pair")
		}
		return v.plainText(), nil
	case kindAbsent, kindNull, kindBool, kindArray, kindObject:
	}
	return "", fmt.Errorf("is %s", v.kind())
}

// hasLoneSurrogate looks for an escape such as \ud800 without its other half.
func hasLoneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++
		if raw[i] != 'u' {
			continue
		}
		first := escapedRune(raw, i+1)
		i += 4
		if !utf16.IsSurrogate(first) {
			continue
		}
		if i+6 >= len(raw) || raw[i+1] != '\\' || raw[i+2] != 'u' ||
			utf16.DecodeRune(first, escapedRune(raw, i+3)) == utf8.RuneError {
			return true
		}
		i += 6
	}
	return false
}

func escapedRune(raw []byte, at int) rune {
	n, err := strconv.ParseUint(string(raw[at:at+4]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// integer returns a whole number that fits 64 bits.
func (v value) integer() (int64, bool) {
	if v.kind() != kindNumber && v.kind() != kindText {
		return 0, false
	}
	n, err := strconv.ParseInt(v.plainText(), 10, 64)
	return n, err == nil
}

func skipSpace(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return i
}

// skipValue returns the index after the value that begins at i. It does not
// recurse, so depth costs nothing.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		for depth := 0; ; i++ {
			switch b[i] {
			case '"':
				i = skipString(b, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	for i < len(b) && bytes.IndexByte([]byte(",]} \t\r\n"), b[i]) < 0 {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; ; i += 2 { // over a backslash and what it takes
		if i = special(b, i); b[i] == '"' {
			return i + 1
		}
	}
}

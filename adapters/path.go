package adapters

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Path names a place inside a JSON body: member names separated by dots. The
// empty path is the body itself. A backslash takes the next character literally,
// as in "@odata\.nextLink". After a name, [0] takes an element of an array, [-1]
// the last one, and [relation=next] the first element whose member has that
// value. Where a rule may look at several values, [*] takes every element of an
// array, and a member name * every member of an object.
type Path string

type step struct {
	name  string // of a member
	index int    // of an element, where elem is set
	elem  bool
	every bool   // all members, or all elements
	key   string // selects the first element with this member …
	equal string // … of this value
}

// steps parses the path.
func (p Path) steps() ([]step, error) {
	var all []step
	var name strings.Builder
	text := string(p)
	pending := text != "" // a name is being read
	literal := false      // a part of the name was escaped
	flush := func() error {
		if !pending {
			return nil
		}
		if name.Len() == 0 {
			return errors.New("has an empty member name")
		}
		s := step{name: name.String()}
		if s.name == "*" && !literal {
			s = step{every: true}
		}
		all = append(all, s)
		name.Reset()
		pending, literal = false, false
		return nil
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i == len(text) {
				return nil, errors.New("ends in a backslash")
			}
			name.WriteByte(text[i])
			literal = true
		case '.':
			if err := flush(); err != nil {
				return nil, err
			}
			pending = true
		case '[':
			pending = pending && i > 0
			if err := flush(); err != nil {
				return nil, err
			}
			inside, _, ok := strings.Cut(text[i+1:], "]")
			if !ok {
				return nil, errors.New("has a [ without its ]")
			}
			i += len(inside) + 1
			s, err := selector(inside)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
			if i+1 < len(text) && text[i+1] != '.' && text[i+1] != '[' {
				return nil, errors.New("needs a dot after ]")
			}
		default:
			name.WriteByte(text[i])
		}
	}
	return all, flush()
}

func selector(inside string) (step, error) {
	if inside == "*" {
		return step{elem: true, every: true}, nil
	}
	if key, equal, ok := strings.Cut(inside, "="); ok && key != "" {
		return step{elem: true, key: key, equal: equal}, nil
	}
	n, err := strconv.Atoi(inside)
	if err != nil {
		return step{}, fmt.Errorf("has [%s], which is neither a number nor name=value", inside)
	}
	return step{elem: true, index: n}, nil
}

// at returns the value at p. What lies below a null is null, and below anything
// else that has no such member it is absent.
func (v value) at(p Path) value {
	steps, err := p.steps()
	if err != nil {
		return value{}
	}
	return v.walk(steps)
}

// walk is at with a path that was parsed before.
func (v value) walk(steps []step) value {
	for _, s := range steps {
		if s.every {
			return value{}
		}
		switch v.kind() {
		case kindNull:
			return v
		case kindObject:
			if s.elem {
				return value{}
			}
			v = v.member(s.name)
		case kindArray:
			v = v.element(s)
		case kindText:
			if s.elem || s.name != textName {
				return value{}
			} // an element of XML that is its own text
		case kindAbsent, kindBool, kindNumber:
			return value{}
		}
	}
	return v
}

// textName is the member that holds the text of an element of XML.
const textName = "#text"

// wild reports whether a path may lead to several values.
func wild(steps []step) bool {
	return slices.ContainsFunc(steps, func(s step) bool { return s.every })
}

// all returns every value that a path leads to. What is not there is left out,
// but for an element of an array: there is an absent value in its place.
func (v value) all(steps []step) []value {
	for i, s := range steps {
		if !s.every {
			continue
		}
		var found []value
		visit := func(e value) { found = append(found, e.all(steps[i+1:])...) }
		holder := v.walk(steps[:i])
		if s.elem {
			for _, e := range holder.elements() {
				before := len(found)
				if visit(e); len(found) == before {
					found = append(found, value{}) // an element that lacks it is one all the same
				}
			}
		} else {
			holder.members(func(_, m value) { visit(m) })
		}
		return found
	}
	if found := v.walk(steps); found.kind() != kindAbsent {
		return []value{found}
	}
	return nil
}

func (v value) element(s step) value {
	if !s.elem {
		return value{}
	}
	all := v.elements()
	if s.key != "" {
		for _, e := range all {
			if e.kind() == kindObject && e.member(s.key).plainText() == s.equal {
				return e
			}
		}
		return value{}
	}
	i := s.index
	if i < 0 {
		i += len(all)
	}
	if i < 0 || i >= len(all) {
		return value{}
	}
	return all[i]
}

// first returns the name of the top-level member that p starts at, or "".
func (p Path) first() string {
	steps, err := p.steps()
	if err != nil || len(steps) == 0 {
		return ""
	}
	return steps[0].name
}

// set puts x at p inside a tree of maps, making the maps on the way.
func (p Path) set(tree map[string]any, x any) error {
	steps, err := p.steps()
	if err != nil {
		return fmt.Errorf("path %q %w", p, err)
	}
	for i, s := range steps {
		if s.elem || s.every {
			return fmt.Errorf("path %q: an element of an array cannot be set", p)
		}
		if i == len(steps)-1 {
			tree[s.name] = x
			return nil
		}
		next, ok := tree[s.name].(map[string]any)
		if !ok {
			if old, there := tree[s.name]; there && old != nil {
				return fmt.Errorf("path %q: %q is no object", p, s.name)
			}
			next = map[string]any{}
			tree[s.name] = next
		}
		tree = next
	}
	return fmt.Errorf("path %q names no member", p)
}

package adapters

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// array finds the items of a page. On an answer that is no list page it says why.
func (c *Contract) array(body value) (items []value, problem string) {
	name := string(c.Items.At)
	steps, err := c.Items.At.steps()
	if err == nil && c.Items.At != anyArray && wild(steps) {
		return c.collected(body, steps)
	}
	v := body.at(c.Items.At)
	if c.Items.At == anyArray {
		var several bool
		if name, v, several = c.onlyArray(body); several {
			return nil, "it has several arrays at the top level, so the contract must name the one that holds the items"
		}
	}
	if name == "" {
		name = "the body"
	}
	switch k := v.kind(); {
	case k == kindArray:
		return v.elements(), ""
	case k == kindNull && c.emptyWhen(whenNull):
		return nil, ""
	case k == kindAbsent && c.emptyWhen(whenAbsent):
		// What holds the array has to be absent with it: with other members it is an
		// answer of another kind, or the contract names the wrong one.
		if top := body.member(c.Items.At.first()); len(steps) > 1 && top.kind() != kindAbsent && !top.isEmptyObject() {
			return nil, fmt.Sprintf("%s is there without the array %s", c.Items.At.first(), name)
		}
		if stranger := c.stranger(body); stranger != "" {
			return nil, fmt.Sprintf("it has no items, and a member %s that the contract does not know", quoted(stranger))
		}
		return nil, ""
	case c.Items.At == anyArray:
		return nil, "it has no array of items at the top level"
	default:
		return nil, fmt.Sprintf("%s %s, where the array of items should be", name, notThere(v))
	}
}

// collected finds items that stand in several places.
func (c *Contract) collected(body value, steps []step) (items []value, problem string) {
	first := slices.IndexFunc(steps, func(s step) bool { return s.every })
	switch holder := body.walk(steps[:first]); {
	case holder.kind() == kindNull && c.emptyWhen(whenNull):
		return nil, ""
	case holder.kind() == kindAbsent && c.emptyWhen(whenAbsent):
		if stranger := c.stranger(body); stranger != "" {
			return nil, fmt.Sprintf("it has no items, and a member %s that the contract does not know", quoted(stranger))
		}
		return nil, ""
	case steps[first].elem && holder.kind() != kindArray, !steps[first].elem && holder.kind() != kindObject:
		return nil, fmt.Sprintf("what %s looks into %s", c.Items.At, notThere(holder))
	}
	last := first // the last *
	for i, s := range steps {
		if s.every {
			last = i
		}
	}
	arrays, beside := 0, kindAbsent
	for _, v := range body.all(steps) {
		switch k := v.kind(); {
		case k == kindArray:
			arrays++
			items = append(items, v.elements()...)
		case steps[last].elem:
			items = append(items, v) // an item itself, or what is left of one
		case k == kindNull:
		case last == len(steps)-1: // a member beside the arrays
			beside = k
		default:
			return nil, fmt.Sprintf("%s %s, where the array of items should be", c.Items.At, notThere(v))
		}
	}
	if arrays == 0 && beside != kindAbsent && first == last { // another answer of the same API has members there too
		return nil, fmt.Sprintf("%s finds %s and no array of items", c.Items.At, beside)
	}
	return items, ""
}

func (c *Contract) emptyWhen(what string) bool {
	return slices.Contains(c.Items.EmptyWhen, what)
}

// onlyArray returns the only top-level array that is not known for something else.
func (c *Contract) onlyArray(body value) (name string, found value, several bool) {
	known := c.members()
	body.members(func(n, m value) {
		if m.kind() != kindArray || known[n.plainText()] {
			return
		}
		several = several || found.kind() != kindAbsent
		name, found = n.plainText(), m
	})
	return name, found, several
}

// stranger returns a top-level member that the contract does not name. An answer
// without items that has one may be anything, such as an error.
func (c *Contract) stranger(body value) string {
	if body.kind() != kindObject {
		return body.kind().String()
	}
	known := c.members()
	stranger := ""
	body.members(func(n, _ value) {
		if name := n.plainText(); stranger == "" && !known[name] && (!c.isXML() || !strings.HasPrefix(name, "@")) {
			stranger = name
		}
	})
	return stranger
}

// members returns the names of the top-level members that the contract knows.
func (c *Contract) members() map[string]bool {
	known := map[string]bool{}
	for _, name := range c.Items.Beside {
		known[name] = true
	}
	paths := []Path{c.End.At, c.Page.Size}
	for _, rules := range [][]EndRule{c.End.All, c.End.Any} {
		for i := range rules {
			paths = append(paths, rules[i].At)
		}
	}
	paths = append(paths, c.Page.Required...)
	paths = slices.AppendSeq(paths, maps.Keys(c.Page.Equals))
	places := append([]Place{c.Next.From, c.Page.Total}, c.Next.Or...)
	for _, part := range c.Next.Parts {
		places = append(places, part.From)
	}
	for _, place := range places {
		if where, name := place.split(); where == "body" {
			paths = append(paths, Path(name))
		}
	}
	for _, veto := range c.Vetoes {
		paths = append(paths, veto.At)
	}
	if c.Items.At != anyArray {
		paths = append(paths, c.Items.At)
	}
	for _, p := range paths {
		known[p.first()] = true
	}
	delete(known, "")
	return known
}

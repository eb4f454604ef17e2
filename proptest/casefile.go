package proptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// scenario is a case as it is played: a file, or one of its variants.
type scenario struct {
	file    string
	variant string // what is different, empty for the case itself
	setup   setup
	pages   []exchange
	events  []*event
	wanted  expected
}

// name returns the case's name, which is its file's.
func (s *scenario) name() string { return strings.TrimSuffix(path.Base(s.file), ".json") }

// readFolder reads every case of a folder, in the order of the names.
func readFolder(folder fs.FS) ([][]*scenario, error) {
	names, err := fs.Glob(folder, "*.json")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("proptest: the folder has no case: no file that ends in .json")
	}
	var all [][]*scenario
	var problems []error
	for _, name := range names {
		raw, err := fs.ReadFile(folder, name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		scenarios, err := readCase(name, raw)
		if err != nil {
			problems = append(problems, err)
		}
		all = append(all, scenarios)
	}
	return all, errors.Join(problems...)
}

// readCase reads a case and makes its variants.
func readCase(file string, raw []byte) ([]*scenario, error) {
	first, groups, err := readScenario(file, raw)
	if err != nil {
		return nil, err
	}
	all := []*scenario{first}
	for _, g := range groups {
		for i, value := range g.with {
			s, err := g.make(file, raw, i, value)
			if err != nil {
				return nil, err
			}
			s.variant = fmt.Sprintf("%s = %s", g.replace, shortJSON(value))
			all = append(all, s)
		}
	}
	return all, nil
}

// variants are copies of a case in which one value is another one.
type variants struct {
	path     string // where they stand in the file
	replace  string
	with     []json.RawMessage
	same     *bool
	expected []json.RawMessage // one for all, or one for each
}

func (r *caseReader) variants(into *[]variants) func(string, json.RawMessage) {
	one := func(at string, raw json.RawMessage) {
		g := variants{path: at}
		r.object(at, raw, fields{
			"replace": &g.replace, "with": &g.with, "same_expected": &g.same,
			"expected": func(at string, raw json.RawMessage) {
				if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
					r.list(at, raw, func(_ string, raw json.RawMessage) { g.expected = append(g.expected, raw) })
					return
				}
				g.expected = []json.RawMessage{raw}
			},
			"why": nil, "note": nil, "comment": nil,
		})
		switch {
		case g.replace == "" || len(g.with) == 0:
			r.fail(at, "needs replace, a path, and with, an array of values")
		case g.same != nil && *g.same && len(g.expected) > 0:
			r.fail(at, "says same_expected, and gives expected")
		case (g.same == nil || !*g.same) && len(g.expected) == 0:
			r.fail(at, "needs same_expected: true, or expected with the fields that change")
		case len(g.expected) > 1 && len(g.expected) != len(g.with):
			r.fail(at+".expected", "has %d elements for %d values", len(g.expected), len(g.with))
		}
		*into = append(*into, g)
	}
	return func(at string, raw json.RawMessage) {
		if strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
			r.list(at, raw, one)
		} else if !isNull(raw) {
			one(at, raw)
		}
	}
}

// make returns the case with the i-th value in its place.
func (g *variants) make(file string, raw []byte, i int, value json.RawMessage) (*scenario, error) {
	problem := func(field string, err error) error {
		return &FieldError{File: file, Field: join(g.path, field), Problem: err.Error()}
	}
	tree, err := parseTree(raw)
	if err != nil {
		return nil, problem("", err)
	}
	put, err := parseTree(value)
	if err != nil {
		return nil, problem("with", err)
	}
	if err := replace(tree, g.replace, put); err != nil {
		return nil, problem("replace", err)
	}
	if len(g.expected) > 0 {
		changed := map[string]json.RawMessage{}
		if err := json.Unmarshal(g.expected[min(i, len(g.expected)-1)], &changed); err != nil {
			return nil, problem("expected", err)
		}
		for name, raw := range changed {
			value, err := parseTree(raw)
			if err == nil {
				err = replaceAt(tree, []pathStep{{name: "expected"}, {name: name}}, value)
			}
			if err != nil {
				return nil, problem("expected", err)
			}
		}
	}
	text, err := writeTree(tree)
	if err != nil {
		return nil, problem("", err)
	}
	s, _, err := readScenario(file, text)
	if err != nil {
		return nil, fmt.Errorf("with %s = %s: %w", g.replace, shortJSON(value), err)
	}
	return s, nil
}

// readScenario reads one case without its variants.
func readScenario(file string, raw []byte) (*scenario, []variants, error) {
	r := &caseReader{file: file}
	s := &scenario{file: file}
	var groups []variants
	if !json.Valid(raw) {
		var whole json.RawMessage
		return nil, nil, &FieldError{File: file, Problem: fmt.Sprint("is no JSON: ", json.Unmarshal(raw, &whole))}
	}
	r.object("", raw, fields{
		"id": nil, "slug": nil, "title": nil, "debatable": nil, "kind": nil, "covers": nil, "source": nil, "source_url": nil,
		"also_reported": nil, "summary": nil, "fidelity": nil, "api_family": nil, "note": nil, "comment": nil,
		"setup": func(at string, raw json.RawMessage) { r.setup(at, raw, &s.setup) },
		"pages": func(at string, raw json.RawMessage) {
			r.list(at, raw, func(at string, raw json.RawMessage) { s.pages = append(s.pages, r.exchange(at, raw, len(s.pages)+1)) })
		},
		"events": func(at string, raw json.RawMessage) {
			r.list(at, raw, func(at string, raw json.RawMessage) { s.events = append(s.events, r.event(at, raw)) })
		},
		"variants": r.variants(&groups),
		"expected": func(at string, raw json.RawMessage) { r.expected(at, raw, &s.wanted) },
	})
	if s.setup.endpoint == "" && len(r.problems) == 0 {
		r.fail("setup", "is missing")
	}
	if s.wanted.status == "" && len(r.problems) == 0 {
		r.fail("expected.status", "is missing")
	}
	return s, groups, r.err()
}

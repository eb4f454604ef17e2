package adapters

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Parse reads a contract from YAML or JSON and validates it. A key that it does
// not know, a value of the wrong kind, and everything that [Contract.Validate]
// finds are joined [*FieldError]s that name line and key. A text that is no YAML
// is an error that names the line.
func Parse(data []byte) (Contract, error) {
	var c Contract
	err := yaml.Load(data, &c, yaml.WithKnownFields())
	var root yaml.Node
	if nodeErr := yaml.Load(data, &root); nodeErr != nil {
		return Contract{}, fmt.Errorf("adapters: read the contract: %w", nodeErr)
	}
	if wrong, ok := errors.AsType[*yaml.LoadErrors](err); ok {
		return Contract{}, misfits(c.Name, wrong, &root)
	}
	if err != nil {
		return Contract{}, fmt.Errorf("adapters: read the contract: %w", err)
	}
	if err := c.Validate(); err != nil {
		locate(err, &root)
		return Contract{}, err
	}
	return c, nil
}

// misfits turns what does not fit a contract's fields into field errors.
func misfits(name string, wrong *yaml.LoadErrors, root *yaml.Node) error {
	problems := make([]error, 0, len(wrong.Errors))
	for _, e := range wrong.Errors {
		problem := &FieldError{Contract: name, Field: keyAt(root, "", e.Mark.Line, e.Mark.Column), Line: e.Mark.Line, Problem: e.Message}
		switch {
		case strings.Contains(e.Message, "not found in type"):
			problem.Problem = "is no key that a contract has here"
		case problem.Field == "":
			problem.Field = "document"
		}
		problems = append(problems, problem)
	}
	return errors.Join(problems...)
}

// keyAt returns the path of the key that stands at a position, or whose value
// does.
func keyAt(node *yaml.Node, path string, line, column int) string {
	is := func(n *yaml.Node) bool { return n.Line == line && n.Column == column }
	inside := func(n *yaml.Node, key string) string { // a mapping stands where its first key does
		found := keyAt(n, key, line, column)
		if found == "" && is(n) {
			found = key
		}
		return found
	}
	for i, n := range node.Content {
		key := path
		switch {
		case node.Kind == yaml.SequenceNode:
			key = fmt.Sprintf("%s[%d]", path, i)
		case node.Kind == yaml.MappingNode && i%2 == 0:
			if is(n) {
				return strings.TrimPrefix(path+"."+n.Value, ".")
			}
			continue
		case node.Kind == yaml.MappingNode:
			key = strings.TrimPrefix(path+"."+node.Content[i-1].Value, ".")
		}
		if found := inside(n, key); found != "" {
			return found
		}
	}
	return ""
}

// locate gives each problem the line where its field, or what should hold it,
// stands.
func locate(err error, root *yaml.Node) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return
	}
	for _, problem := range joined.Unwrap() {
		if field, ok := errors.AsType[*FieldError](problem); ok {
			field.Line = lineOf(root, field.Field)
		}
	}
}

func lineOf(node *yaml.Node, field string) int {
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	line := node.Line
	for name := range strings.SplitSeq(strings.ReplaceAll(field, "[", ".["), ".") {
		at := -1
		if number, ok := strings.CutPrefix(name, "["); ok {
			if i, err := strconv.Atoi(strings.TrimSuffix(number, "]")); err == nil && node.Kind == yaml.SequenceNode && i < len(node.Content) {
				at, line = i, node.Content[i].Line
			}
		} else if node.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(node.Content); i += 2 {
				if node.Content[i].Value == name {
					at, line = i+1, node.Content[i].Line
				}
			}
		}
		if at < 0 {
			return line
		}
		if node = node.Content[at]; node.Kind == yaml.ScalarNode {
			line = node.Line
		}
	}
	return line
}

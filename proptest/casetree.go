package proptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// parseTree reads JSON into maps, slices and numbers that keep every digit.
func parseTree(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is something after the value")
	}
	return tree, nil
}

// writeTree is the opposite of parseTree; no character is escaped needlessly.
func writeTree(tree any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

const (
	repeatName  = "$repeat"
	repeatLimit = 64 << 20 // bytes
)

// expand replaces {"$repeat": {"text", "times"}} by the text that it stands for.
func expand(tree any) (any, error) {
	var err error
	switch x := tree.(type) {
	case map[string]any:
		if r, ok := x[repeatName]; ok {
			return repeated(x, r)
		}
		for name := range x {
			if x[name], err = expand(x[name]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range x {
			if x[i], err = expand(x[i]); err != nil {
				return nil, err
			}
		}
	}
	return tree, nil
}

func repeated(whole map[string]any, what any) (string, error) {
	r, _ := what.(map[string]any)
	text, isText := r["text"].(string)
	number, isNumber := r["times"].(json.Number)
	if len(whole) != 1 || len(r) != 2 || !isText || !isNumber {
		return "", errors.New(`$repeat needs "text" and "times", and nothing beside it`)
	}
	times, err := strconv.Atoi(number.String())
	if err != nil || times < 0 || len(text)*times > repeatLimit {
		return "", fmt.Errorf("$repeat of %s times is too much", number)
	}
	return strings.Repeat(text, times), nil
}

// expandRaw is expand on the text of a value. A text without $repeat stays as it
// is, byte for byte.
func expandRaw(raw json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(raw, []byte(repeatName)) {
		return raw, nil
	}
	tree, err := parseTree(raw)
	if err != nil {
		return nil, err
	}
	if tree, err = expand(tree); err != nil {
		return nil, err
	}
	return writeTree(tree)
}

// replace puts value at a path such as pages[0].response.body.meta.next. A name
// with dots of its own is found where the object has it; a backslash takes the
// next character literally. The last name may be new.
func replace(tree any, path string, value any) error {
	steps, err := pathSteps(path)
	if err != nil {
		return err
	}
	if len(steps) == 0 {
		return errors.New("the path is empty")
	}
	return replaceAt(tree, steps, value)
}

// pathStep is a name, or the number of an element.
type pathStep struct {
	name  string
	index int
	elem  bool
}

func replaceAt(tree any, steps []pathStep, value any) error {
	if len(steps) == 0 {
		return errors.New("the path ends too early")
	}
	step := steps[0]
	if step.elem {
		elements, ok := tree.([]any)
		if !ok || step.index >= len(elements) {
			return fmt.Errorf("there is no element %d", step.index)
		}
		if len(steps) == 1 {
			elements[step.index] = value
			return nil
		}
		return replaceAt(elements[step.index], steps[1:], value)
	}
	members, ok := tree.(map[string]any)
	if !ok {
		return fmt.Errorf("there is no object with a member %q", step.name)
	}
	name, used := memberName(members, steps)
	if used == len(steps) {
		members[name] = value
		return nil
	}
	inner, there := members[name]
	if !there {
		return fmt.Errorf("there is no member %q", name)
	}
	return replaceAt(inner, steps[used:], value)
}

// memberName returns the longest member that the next steps spell.
func memberName(members map[string]any, steps []pathStep) (name string, used int) {
	var spelled []string
	for i, step := range steps {
		if step.elem {
			break
		}
		spelled = append(spelled, step.name)
		whole := strings.Join(spelled, ".")
		if _, there := members[whole]; there || i == 0 {
			name, used = whole, i+1
		}
	}
	return name, used
}

func pathSteps(path string) ([]pathStep, error) {
	var steps []pathStep
	var name strings.Builder
	open := false
	flush := func() {
		if open {
			steps = append(steps, pathStep{name: name.String()})
		}
		name.Reset()
		open = false
	}
	for i := 0; i < len(path); i++ {
		switch c := path[i]; c {
		case '.':
			flush()
		case '[':
			flush()
			inside, _, closed := strings.Cut(path[i+1:], "]")
			index, err := strconv.Atoi(inside)
			if !closed || err != nil || index < 0 {
				return nil, fmt.Errorf("path %q: [ needs a number and ]", path)
			}
			steps = append(steps, pathStep{index: index, elem: true})
			i += len(inside) + 1
		case '\\':
			if i++; i == len(path) {
				return nil, fmt.Errorf("path %q ends in a backslash", path)
			}
			name.WriteByte(path[i])
			open = true
		default:
			name.WriteByte(c)
			open = true
		}
	}
	flush()
	return steps, nil
}

func listed(words []string) string { return strings.Join(words, ", ") }

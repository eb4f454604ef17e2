package adapters

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	// xmlDepth and xmlNodes bound what an answer in XML may cost: its nesting, and
	// its elements and attributes together.
	xmlDepth = 100
	xmlNodes = 1 << 19
)

// element is an element of XML, an attribute, or an element's text.
type element struct {
	name     string
	text     strings.Builder
	children []*element // attributes first
	isText   bool       // an attribute: nothing but text
}

// parseXML reads XML as the JSON that stands for it. It reads no document type
// and no entity but XML's own five. A text that is known to be UTF-8 may say
// otherwise of itself (RFC 7303: the Content-Type goes before).
func parseXML(text []byte, rule *XMLRule, known bool) (root string, body value, err error) {
	tree, err := readXML(text, known)
	if err != nil {
		return "", value{}, err
	}
	types := newXMLTypes(rule)
	var b bytes.Buffer
	if err := tree.write(&b, types, true); err != nil {
		return "", value{}, err
	}
	body, err = parseJSON(b.Bytes())
	return tree.name, body, err
}

// xmlError is what is wrong with XML beyond its syntax.
type xmlError string

func (e xmlError) Error() string { return string(e) }

func readXML(text []byte, known bool) (*element, error) {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		if known {
			return in, nil
		}
		plain, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		plain, err = toUTF8(plain, charset)
		return bytes.NewReader(plain), err
	}
	var root *element
	var open []*element
	nodes := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.Directive:
			return nil, xmlError("it has a document type, which is not read")
		case xml.StartElement:
			e := &element{name: t.Name.Local}
			for _, a := range t.Attr {
				if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
					continue
				}
				attribute := &element{name: "@" + a.Name.Local, isText: true}
				attribute.text.WriteString(a.Value)
				e.children = append(e.children, attribute)
			}
			switch nodes += 1 + len(t.Attr); {
			case nodes > xmlNodes:
				return nil, xmlError(fmt.Sprintf("it has more than %d elements", xmlNodes))
			case len(open) == xmlDepth:
				return nil, xmlError(fmt.Sprintf("it is nested deeper than %d elements", xmlDepth))
			case len(open) > 0:
				parent := open[len(open)-1]
				parent.children = append(parent.children, e)
			case root != nil:
				return nil, xmlError("it has several root elements")
			default:
				root = e
			}
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text.Write(t)
			} else if len(bytes.TrimSpace(t)) > 0 {
				return nil, xmlError("it has text outside its root element")
			}
		}
	}
	if root == nil {
		return nil, xmlError("it has no root element")
	}
	return root, nil
}

// write writes an element as JSON.
func (e *element) write(b *bytes.Buffer, types *xmlTypes, root bool) error {
	if e.isText || len(e.children) == 0 && !root {
		return writeXMLText(b, e.text.String(), types)
	}
	groups := map[string][]*element{}
	var names []string
	nested := false
	for _, child := range e.children {
		if len(groups[child.name]) == 0 {
			names = append(names, child.name)
		}
		groups[child.name] = append(groups[child.name], child)
		nested = nested || !child.isText
	}
	b.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeXMLMember(b, name, groups[name], types.child(name)); err != nil {
			return err
		}
	}
	// Between elements, white space is the layout of the document.
	text := e.text.String()
	if nested || root {
		text = strings.TrimSpace(text)
	}
	if text != "" || !nested && !root {
		if len(names) > 0 {
			b.WriteByte(',')
		}
		own := *types
		if inner := types.child(textName); inner.number || inner.boolean {
			own = *inner
		}
		b.WriteString(`"` + textName + `":`)
		if err := writeXMLText(b, text, &own); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func writeXMLMember(b *bytes.Buffer, name string, group []*element, types *xmlTypes) error {
	if err := writeXMLText(b, name, &xmlTypes{}); err != nil {
		return err
	}
	b.WriteByte(':')
	several := types.array || len(group) > 1
	if several {
		b.WriteByte('[')
	}
	for i, e := range group {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.write(b, types, false); err != nil {
			return err
		}
	}
	if several {
		b.WriteByte(']')
	}
	return nil
}

// writeXMLText writes a text as the number or the boolean that it is declared to
// be, else as a string.
func writeXMLText(b *bytes.Buffer, text string, types *xmlTypes) error {
	trimmed := strings.TrimSpace(text)
	switch {
	case types.boolean && (trimmed == "true" || trimmed == "false"),
		types.number && isNumber(trimmed):
		b.WriteString(trimmed)
		return nil
	}
	quoted, err := encode(text)
	if err != nil {
		return err
	}
	b.Write(quoted)
	return nil
}

func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid([]byte(text))
}

// xmlTypes is what the contract declares of an element and of those inside it.
type xmlTypes struct {
	array, number, boolean bool
	inside                 map[string]*xmlTypes
}

func newXMLTypes(rule *XMLRule) *xmlTypes {
	top := &xmlTypes{}
	declare := func(paths []Path, set func(*xmlTypes)) {
		for _, p := range paths {
			steps, err := p.steps()
			if err != nil { // Validate has said so
				continue
			}
			at := top
			for _, s := range steps {
				if at.inside == nil {
					at.inside = map[string]*xmlTypes{}
				}
				if at.inside[s.name] == nil {
					at.inside[s.name] = &xmlTypes{}
				}
				at = at.inside[s.name]
			}
			set(at)
		}
	}
	if rule != nil {
		declare(rule.Arrays, func(t *xmlTypes) { t.array = true })
		declare(rule.Numbers, func(t *xmlTypes) { t.number = true })
		declare(rule.Booleans, func(t *xmlTypes) { t.boolean = true })
	}
	return top
}

func (t *xmlTypes) child(name string) *xmlTypes {
	if inner := t.inside[name]; inner != nil {
		return inner
	}
	return &xmlTypes{}
}

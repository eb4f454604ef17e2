package adapters_test

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// generator makes a schema of a struct and of those inside it.
type generator struct {
	comments map[string]string
	defs     object
	used     map[string]bool
}

// words returns, by field, what JSON Schema can say of its text beyond its kind.
func words() map[string]object {
	enum := func(texts ...string) object { return object{"enum": texts} }
	place := func(kinds string, alone ...string) object {
		return object{"pattern": "^(" + strings.Join(append([]string{"(" + kinds + "):.+"}, alone...), "|") + ")$"}
	}
	const emptied, carried = "^(absent|null)$", "^(string|json)$"
	codes := make([]string, 0, len(adapters.ErrorCodes()))
	for _, code := range adapters.ErrorCodes() {
		codes = append(codes, string(code))
	}
	method := enum("GET", "POST")
	times := object{"pattern": "^(rfc3339|unix|unix_ms|http_date|layout:.+)$"}
	return map[string]object{
		"Contract.Name":          {"minLength": 1},
		"Contract.Format":        enum("json", "xml"),
		"Contract.Style":         enum(string(pager.StyleCursor), string(pager.StyleOffset), string(pager.StylePage)),
		"Contract.Order":         enum(string(pager.OrderUnstable), string(pager.OrderStable), string(pager.OrderStableAscending)),
		"Contract.RepeatLimit":   {"minimum": 0},
		"Contract.BodyLimit":     {"minimum": 0},
		"Request.Method":         method,
		"Follow.Method":          method,
		"Size.In":                place("query|header|body"),
		"Size.Default":           {"minimum": 0},
		"Size.Max":               {"minimum": 0},
		"CursorRule.In":          place("query|header|body", "url"),
		"CursorRule.As":          {"pattern": carried},
		"Window.From":            place("query|body"),
		"Window.To":              place("query|body"),
		"Window.Format":          times,
		"PageRule.Total":         place("body|header"),
		"Items.EmptyWhen":        {"pattern": emptied},
		"Items.ID":               {"minItems": 1},
		"Items.CreatedFormat":    times,
		"Next.From":              place("body|header|link|last", "last_id", "counter:page", "counter:offset"),
		"Next.Or":                place("body|header|last", "last_id"),
		"Next.Cursors":           enum("empty", "zero"),
		"Part.From":              place("body|header|last", "last_id"),
		"Part.In":                place("query|header|body"),
		"Part.As":                {"pattern": carried},
		"Part.IfAbsent":          enum("omit", "keep"),
		"EndRule.Rule":           enum(adapters.EndRules()...),
		"EndRule.When":           enum("absent", "null", "empty", "zero", "false"),
		"EndRule.Status":         {"minimum": 200, "maximum": 599},
		"EndRule.AfterPage":      {"minimum": 0},
		"EndRule.EmptyErrors":    {"minLength": 1},
		"ErrorRules.Codes":       enum(codes...),
		"ErrorRules.Types":       enum(codes...),
		"ErrorRules.WaitSeconds": {"minimum": 0},
		"ErrorRule.Means":        enum(codes...),
	}
}

// required are the fields that every document has, by their type.
func required(name string) []string {
	return map[string][]string{
		"Contract":  {"name", "items", "end"},
		"XMLRule":   {"root"},
		"Items":     {"id"},
		"Skip":      {"at", "is"},
		"Part":      {"from", "in"},
		"ErrorRule": {"means"},
	}[name]
}

func (g *generator) object(of reflect.Type) object {
	properties := object{}
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		key := of.Name() + "." + field.Name
		property := g.kind(field.Type)
		if limits, ok := words()[key]; ok {
			g.used[key] = true
			g.narrow(property, limits)
		}
		if comment := g.comments[key]; comment != "" {
			property["description"] = comment
		}
		properties[name] = property
	}
	made := object{"type": "object", "additionalProperties": false, "properties": properties}
	if needed := required(of.Name()); needed != nil {
		made["required"] = needed
	}
	if of.Name() == "EndRule" {
		made["oneOf"] = []object{{"required": []string{"rule"}}, {"required": []string{"all"}}, {"required": []string{"any"}}}
	}
	return made
}

// narrow puts limits where they belong: on the list itself, or on each text in it.
func (g *generator) narrow(property, limits object) {
	target := property
	for _, inside := range []string{"items", "additionalProperties"} {
		if inner, ok := property[inside].(object); ok && limits["minItems"] == nil {
			target = inner
		}
	}
	maps.Copy(target, limits)
}

func (g *generator) kind(of reflect.Type) object {
	switch of.Kind() { //nolint:exhaustive // a contract holds few kinds, and any other is told
	case reflect.Pointer:
		return g.kind(of.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Slice:
		return object{"type": "array", "items": g.kind(of.Elem())}
	case reflect.Map:
		if of.Elem().Kind() == reflect.Interface {
			return object{"type": "object"}
		}
		return object{"type": "object", "additionalProperties": g.kind(of.Elem())}
	case reflect.Struct:
		if _, known := g.defs[of.Name()]; !known {
			g.defs[of.Name()] = nil // it may hold itself
			g.defs[of.Name()] = g.object(of)
		}
		return object{"$ref": "#/$defs/" + of.Name()}
	default:
		panic(fmt.Sprintf("a contract holds a %s, which the schema cannot say yet", of))
	}
}

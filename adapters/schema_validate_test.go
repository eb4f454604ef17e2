package adapters_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// validator checks a value against the keywords that the contract's schema uses,
// and fails the test on any other: a library for the whole of JSON Schema would
// come into the module that users depend on.
type validator struct {
	*testing.T
	defs     object
	problems []string
}

func (v *validator) fail(at, format string, args ...any) {
	v.problems = append(v.problems, at+" "+fmt.Sprintf(format, args...))
}

func (v *validator) check(at string, schema object, value any) {
	v.Helper()
	for keyword, want := range schema {
		switch keyword {
		case "$schema", "$id", "$defs", "title", "description":
		case "$ref":
			name := strings.TrimPrefix(want.(string), "#/$defs/")
			v.check(at, v.defs[name].(object), value)
		case "type":
			if got := kindOf(value); got != want {
				v.fail(at, "is %s, and not %s", got, want)
			}
		case "enum":
			if !slices.Contains(want.([]any), value) {
				v.fail(at, "is %v, which is none of %v", value, want)
			}
		case "pattern":
			if text, ok := value.(string); ok && !regexp.MustCompile(want.(string)).MatchString(text) {
				v.fail(at, "is %q, which does not match %s", text, want)
			}
		case "minLength":
			if text, ok := value.(string); ok && float64(len(text)) < want.(float64) {
				v.fail(at, "is too short")
			}
		case "minItems":
			if list, ok := value.([]any); ok && float64(len(list)) < want.(float64) {
				v.fail(at, "has too few entries")
			}
		case "minimum", "maximum":
			if n, ok := value.(float64); ok && (keyword == "minimum" && n < want.(float64) || keyword == "maximum" && n > want.(float64)) {
				v.fail(at, "is %v, against a %s of %v", n, keyword, want)
			}
		case "required", "properties", "additionalProperties":
			v.members(at, keyword, schema, value)
		case "items":
			list, _ := value.([]any)
			for i, inner := range list {
				v.check(fmt.Sprintf("%s[%d]", at, i), want.(object), inner)
			}
		case "oneOf":
			v.oneOf(at, want.([]any), value)
		default:
			v.Fatalf("the schema uses %s, which this test does not know", keyword)
		}
	}
}

func (v *validator) oneOf(at string, schemas []any, value any) {
	v.Helper()
	fit := 0
	for _, schema := range schemas {
		inner := validator{T: v.T, defs: v.defs}
		if inner.check(at, schema.(object), value); len(inner.problems) == 0 {
			fit++
		}
	}
	if fit != 1 {
		v.fail(at, "fits %d of %d forms, and not one", fit, len(schemas))
	}
}

// members checks what one keyword says of an object.
func (v *validator) members(at, keyword string, schema object, value any) {
	v.Helper()
	members, ok := value.(object)
	if !ok {
		return
	}
	known, _ := schema["properties"].(object)
	switch want := schema[keyword].(type) {
	case []any:
		for _, name := range want {
			if _, there := members[name.(string)]; !there {
				v.fail(at, "has no %s", name)
			}
		}
	case bool:
		for name := range members {
			if _, named := known[name]; !named && !want {
				v.fail(at, "has a member %s", name)
			}
		}
	case object:
		for name, member := range members {
			inner, named := known[name].(object)
			switch {
			case keyword == "additionalProperties" && !named:
				v.check(at+"."+name, want, member)
			case keyword == "properties" && named:
				v.check(at+"."+name, inner, member)
			}
		}
	}
}

func kindOf(value any) string {
	switch x := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if x == float64(int64(x)) {
			return "integer"
		}
		return "number"
	case json.Number:
		return "number"
	case []any:
		return "array"
	case object:
		return "object"
	}
	return fmt.Sprintf("a %T", value)
}

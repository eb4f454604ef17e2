package adapters_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/everypage-go/everypage/adapters"
)

const schemaFile = "contract.schema.json"

// object is a part of a JSON document.
type object = map[string]any

// TestSchemaIsTheStruct asks that the shipped schema is what the fields, their
// yaml names, their comments and their words make: go test ./adapters -update.
func TestSchemaIsTheStruct(t *testing.T) {
	g := generator{comments: fieldComments(t), defs: object{}, used: map[string]bool{}}
	root := g.object(reflect.TypeFor[adapters.Contract]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "https://github.com/everypage-go/everypage/adapters/" + schemaFile
	root["title"] = "everypage contract"
	root["$defs"] = g.defs
	for field := range words() {
		if !g.used[field] {
			t.Errorf("words are listed for %s, which is no field", field)
		}
	}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(root); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, want.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(adapters.Schema(), want.Bytes()) {
		t.Errorf("%s is not that of the code. If that is meant, go test ./adapters -update", schemaFile)
	}
}

// TestSchemaTakesEveryContract validates the documents of the library's contracts.
func TestSchemaTakesEveryContract(t *testing.T) {
	for _, c := range adapters.Builtin() {
		document, err := c.Document()
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range checkDocument(t, document) {
			t.Errorf("%s: %s", c.Name, problem)
		}
	}
}

// TestSchemaAgreesWithParse asks that schema and loader take and refuse the same
// documents, as far as one field is concerned.
func TestSchemaAgreesWithParse(t *testing.T) {
	const whole = `name: own
request: {cursor: {in: "query:cursor"}, size: {in: "query:limit", max: 100}}
page: {total: "body:total"}
items: {at: data, id: [id]}
next: {from: "body:next"}
end: {rule: cursor, when: [absent, "null"]}
errors: {rules: [{status: [400], means: cursor_expired}], codes: {slow: rate_limited}}
vetoes: [{at: partial}]
`
	for _, c := range []struct{ name, old, new string }{
		{"whole", "", ""},
		{"no name", "name: own\n", ""},
		{"no items", "items: {at: data, id: [id]}\n", ""},
		{"no end", "end: {rule: cursor, when: [absent, \"null\"]}\n", ""},
		{"no id", "at: data, id: [id]", "at: data"},
		{"no end rule", "rule: cursor, ", ""},
		{"rule and any", "rule: cursor", "any: [{rule: empty_page}, {rule: total_reached}], rule: cursor"},
		{"unknown key", "name: own", "name: own\nend_rule: x"},
		{"unknown nested key", "max: 100", "maximum: 100"},
		{"unknown rule", "rule: cursor", "rule: whenever"},
		{"unknown value", "[absent, ", "[gone, "},
		{"unknown code", "means: cursor_expired", "means: gone"},
		{"unknown code by name", "slow: rate_limited", "slow: slow"},
		{"unknown place", "query:cursor", "cookie:cursor"},
		{"place without name", "body:next", "body:"},
		{"unknown format", "name: own", "name: own\nformat: csv"},
		{"a list for a text", "name: own", "name: [own]"},
		{"a text for a number", "max: 100", "max: many"},
		{"a text for a list", "id: [id]", "id: {a: b}"},
		{"a negative limit", "name: own", "name: own\nbody_limit: -1"},
		{"no means", "status: [400], means: cursor_expired", "status: [400]"},
	} {
		document := []byte(strings.Replace(whole, c.old, c.new, 1))
		_, err := adapters.Parse(document)
		problems := checkDocument(t, document)
		if (err == nil) != (len(problems) == 0) || (err == nil) != (c.old == "") {
			t.Errorf("%s: Parse says %v, and the schema %q", c.name, err, problems)
		}
		if _, known := errors.AsType[*adapters.FieldError](err); err != nil && !known {
			t.Errorf("%s: %v is no field error", c.name, err)
		}
	}
}

func checkDocument(t *testing.T, document []byte) []string {
	t.Helper()
	var decoded any
	if err := yaml.Load(document, &decoded); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(decoded) // in the schema's own kinds
	if err != nil {
		t.Fatal(err)
	}
	var value any
	root := object{}
	if err := errors.Join(json.Unmarshal(text, &value), json.Unmarshal(adapters.Schema(), &root)); err != nil {
		t.Fatal(err)
	}
	v := validator{T: t, defs: root["$defs"].(object)}
	v.check("", root, value)
	return v.problems
}

// fieldComments returns what stands above each field: a comment covers the fields
// that follow it without a blank line and without one of their own.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	comments := map[string]string{}
	set := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			declared, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			last, line := "", -1
			for _, field := range declared.Fields.List {
				switch {
				case field.Doc != nil:
					last = field.Doc.Text()
				case set.Position(field.Pos()).Line != line+1:
					last = ""
				}
				line = set.Position(field.End()).Line
				for _, ident := range field.Names {
					comments[spec.Name.Name+"."+ident.Name] = plain(last)
				}
			}
			return true
		})
	}
	return comments
}

// plain is a comment without the marks of its links, in one line.
func plain(comment string) string {
	comment = regexp.MustCompile(`\[(\*?[A-Z][A-Za-z.]*)\]`).ReplaceAllString(comment, "$1")
	return strings.Join(strings.Fields(comment), " ")
}

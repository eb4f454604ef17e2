package examples_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGuideLinks follows every link of the guide: its file exists, the heading
// that it names does, and so does what stands in code marks, such as
// [`Contract.AllowedHosts`](../adapters/contract.go).
func TestGuideLinks(t *testing.T) {
	const guide = "../docs/writing-an-adapter.md"
	text := read(t, guide)
	links := regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1)
	if len(links) < 50 {
		t.Fatalf("the guide has %d links; are they read as they should be?", len(links))
	}
	for _, link := range links {
		target, heading, _ := strings.Cut(link[2], "#")
		if strings.Contains(target, "://") {
			t.Errorf("%s leads out of the repository", link[0])
			continue
		}
		path := guide
		if target != "" {
			path = filepath.Join(filepath.Dir(guide), target)
		}
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s: %v", link[0], err)
			continue
		}
		if heading != "" && !headings(read(t, path))[heading] {
			t.Errorf("%s has no heading %q", path, heading)
		}
		if filepath.Ext(path) != ".go" {
			continue
		}
		declared := declarations(t, path)
		for _, name := range regexp.MustCompile("`([A-Za-z.]+)`").FindAllStringSubmatch(link[1], -1) {
			if !declared[name[1]] {
				t.Errorf("%s: the file declares no %s", link[0], name[1])
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// headings are those of a Markdown text, as links name them.
func headings(text string) map[string]bool {
	all := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(line[1]), "")
		all[strings.ReplaceAll(plain, " ", "-")] = true
	}
	return all
}

// declarations are the names that a file declares at its top level, and the fields
// and methods of its types as Type.Field.
func declarations(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			all[decl.Name.Name] = true
			if decl.Recv != nil {
				all[receiver(decl.Recv.List[0].Type)+"."+decl.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				addSpec(all, spec)
			}
		}
	}
	return all
}

func addSpec(all map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			all[name.Name] = true
		}
	case *ast.TypeSpec:
		all[spec.Name.Name] = true
		if fields, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range fields.Fields.List {
				for _, name := range field.Names {
					all[spec.Name.Name+"."+name.Name] = true
				}
			}
		}
	}
}

// receiver is the name of a method's type, without its star and its parameters.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}

package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSnippets finds every Go snippet of the documents in a Go file of the
// repository, line by line and without its indentation. A line of "…" stands for
// any number of lines.
func TestSnippets(t *testing.T) {
	files := goFiles(t)
	found := 0
	for _, path := range documents(t) {
		for _, b := range blocks(t, path) {
			if b.language != "go" {
				continue
			}
			found++
			where := ""
			for name, lines := range files {
				if contains(lines, significant(b.text)) {
					where = name
					break
				}
			}
			if where == "" {
				t.Errorf("%s:%d: no Go file holds this snippet:\n%s", path, b.line, b.text)
			}
		}
	}
	if found < 2 {
		t.Errorf("%d snippets were found; are the documents read as they should be?", found)
	}
}

// significant returns the lines of a text without indentation and empty lines.
func significant(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// contains reports whether the wanted lines follow each other.
func contains(lines, want []string) bool {
	for at := range lines {
		if begins(lines[at:], want) {
			return true
		}
	}
	return false
}

func begins(lines, want []string) bool {
	for i, line := range want {
		if line == "…" {
			return contains(lines[i:], want[i+1:])
		}
		if i >= len(lines) || lines[i] != line {
			return false
		}
	}
	return true
}

// goFiles returns the lines of every Go file that is compiled by some test or
// build of the repository.
func goFiles(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "dist"):
			return fs.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files[path] = significant(string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// root is the repository's folder.
const root = ".."

// documents are the texts that are held to the code, by their path from root.
func documents(t *testing.T) []string {
	t.Helper()
	paths := []string{"README.md"}
	for _, pattern := range []string{"README.*.md", "docs/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			path, err := filepath.Rel(root, path)
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, filepath.ToSlash(path))
		}
	}
	return paths
}

// block is a fenced part of a document.
type block struct {
	language string
	line     int // of the fence, from 1
	text     string
	// notRun is why its commands are not run, from a comment on the line before:
	// <!-- not run: why -->
	notRun string
}

// blocks returns the fenced parts of a document.
func blocks(t *testing.T, path string) []block {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	var open *block
	before := ""
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open != nil:
			all = append(all, *open)
			open = nil
		case fence:
			open = &block{language: language, line: number}
			if why, ok := strings.CutPrefix(strings.TrimSpace(before), "<!-- not run: "); ok {
				open.notRun = strings.TrimSuffix(why, " -->")
			}
		case open != nil:
			open.text += line
		}
		before = line
	}
	if open != nil {
		t.Fatalf("%s:%d: the block is not closed", path, open.line)
	}
	return all
}

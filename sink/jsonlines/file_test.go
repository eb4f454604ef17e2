package jsonlines

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/store"
)

func TestAppendFromManyGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	f := mustOpen(t, path, ledger{}, Options{JournalLimit: 2000})
	var wait sync.WaitGroup
	for i := range 300 {
		for range 2 { // the same key twice at a time has one line, too
			wait.Go(func() {
				if err := f.Append(line(strconv.Itoa(i))); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wait.Wait()
	die(t, f)
	f = mustOpen(t, path, ledger{}, Options{})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for text := range strings.Lines(string(data)) {
		if seen[text] || !strings.HasSuffix(text, "\"}\n") {
			t.Errorf("line %q", text)
		}
		seen[text] = true
	}
	if len(seen) != 300 {
		t.Errorf("%d lines, want 300", len(seen))
	}
}

func TestWhatIsNoJSONIsHeld(t *testing.T) {
	f := mustOpen(t, filepath.Join(t.TempDir(), "out.jsonl"), ledger{}, Options{})
	defer func() { _ = f.Close() }() // nothing was written
	var permanent *everypage.PermanentError
	for _, text := range []string{"", "{", "{} {}", strings.Repeat("[", 100_000)} {
		if err := f.Append(Line{Key: "key", JSON: []byte(text)}); !errors.As(err, &permanent) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// A disk that fails pauses the run; nothing that it may have half written is lost
// or doubled.
func TestADiskThatFails(t *testing.T) {
	for name, breakIt := range map[string]func(f *File) error{
		"the journal": func(f *File) error { return f.journal.Close() },
		"the file":    func(f *File) error { return f.out.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out.jsonl")
			f := mustOpen(t, path, ledger{}, Options{})
			mustAppend(t, f, "a")
			if err := breakIt(f); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				var pause *everypage.PauseRunError
				if err := f.Append(line("b")); !errors.As(err, &pause) || !errors.Is(err, ErrFailed) {
					t.Fatalf("got %v", err)
				}
			}
			if err := f.Close(); !errors.Is(err, ErrFailed) {
				t.Errorf("Close: %v", err)
			}
			f = mustOpen(t, path, ledger{}, Options{})
			mustAppend(t, f, "a", "b", "c")
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			wantLines(t, path, "a b c")
		})
	}
}

func TestOneWriterAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	f := mustOpen(t, path, ledger{}, Options{})
	if _, err := Open(t.Context(), path, ledger{}, Options{Job: "j"}); !errors.Is(err, ErrInUse) {
		t.Errorf("a second one: %v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err == nil {
		if _, err := Open(t.Context(), link, ledger{}, Options{Job: "j"}); !errors.Is(err, ErrInUse) {
			t.Errorf("a second one by another name: %v", err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if err := f.Append(line("a")); err == nil {
		t.Error("a closed file takes a line")
	}
	f = mustOpen(t, path, ledger{}, Options{})
	die(t, f)
}

func TestANewFileForAnOpenRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	begun := ledger{done: map[string]bool{"a": true}}
	if _, err := Open(t.Context(), path, begun, Options{Job: "j"}); !errors.Is(err, ErrElsewhere) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it was made")
	}
	f := mustOpen(t, path, begun, Options{NewFile: true})
	die(t, f)
	f = mustOpen(t, filepath.Join(t.TempDir(), "out.jsonl"), begun, Options{RunID: "another"})
	die(t, f)
}

// What is told by a file's length and last line is refused, and no more is
// promised: an edit further up that keeps the length stays as it is.
func TestWhichEditsAreNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(text string) string
		want error
	}{
		"the last line":                {func(text string) string { return strings.Replace(text, `"c"`, `"x"`, 1) }, ErrChanged},
		"a line further up, shortened": {func(text string) string { return strings.Replace(text, `"b"`, `""`, 1) }, ErrChanged},
		"a line further up, as long":   {func(text string) string { return strings.Replace(text, `"b"`, `"x"`, 1) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out.jsonl")
			f := mustOpen(t, path, ledger{}, Options{})
			mustAppend(t, f, "a", "b", "c")
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			edited := c.edit(string(data))
			if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err = Open(t.Context(), path, ledger{}, Options{Job: "j"})
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if err == nil {
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != edited {
				t.Errorf("the file is %q, %v", after, err)
			}
		})
	}
}

var _ store.Reader = ledger{}

func TestHandlerWritesTheRawItem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	f := mustOpen(t, path, ledger{}, Options{})
	item := everypage.Item[struct{}]{ID: "a", Key: line("a").Key, RunID: "r", Raw: []byte("{\"id\" :\n\"a\"}")}
	if err := Handler[struct{}](f)(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	die(t, f)
	wantLines(t, path, "a")
}

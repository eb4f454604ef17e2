package jsonlines

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// ledger is one run r of a job j, some of whose items are done.
type ledger struct {
	store.Reader
	done map[string]bool
}

func (l ledger) run() store.Run {
	return store.Run{Scope: "r", Receipt: state.Receipt{RunID: "r", Job: "j", Action: "write", Status: state.Paused, ProcessedUnique: int64(len(l.done))}}
}

func (l ledger) Run(_ context.Context, runID string) (store.Run, error) {
	if runID != "r" {
		return store.Run{}, store.ErrNotFound
	}
	return l.run(), nil
}

func (l ledger) Runs(context.Context, store.RunFilter) iter.Seq2[store.Run, error] {
	return func(yield func(store.Run, error) bool) { yield(l.run(), nil) }
}

func (l ledger) Items(_ context.Context, scope string, ids []string) ([]store.Item, error) {
	items := make([]store.Item, len(ids))
	for i, id := range ids {
		items[i] = store.Item{Scope: scope, ID: id, State: store.StatePending}
		if l.done[id] {
			items[i].State = store.StateDone
		}
	}
	return items, nil
}

func line(id string) Line {
	return Line{Key: everypage.Key("r", id, "write"), RunID: "r", ItemID: id, JSON: []byte(`{ "id": "` + id + `" }`)}
}

func mustOpen(t *testing.T, path string, l ledger, options Options) *File {
	t.Helper()
	options.Job = "j"
	f, err := Open(t.Context(), path, l, options)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustAppend(t *testing.T, f *File, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := f.Append(line(id)); err != nil {
			t.Fatal(err)
		}
	}
}

// die lets go of a file as a killed process does.
func die(t *testing.T, f *File) {
	t.Helper()
	if err := errors.Join(closeAll(f.out, f.journal), f.lock.Unlock()); err != nil {
		t.Fatal(err)
	}
	f.lock = nil
}

func wantLines(t *testing.T, path, ids string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for id := range strings.FieldsSeq(ids) {
		want.WriteString(`{"id":"` + id + `"}` + "\n")
	}
	if string(data) != want.String() {
		t.Errorf("the file is %q, want %q", data, want.String())
	}
}

// change replaces what is in a file.
func change(t *testing.T, path string, how func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, how(data), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What a crash can leave is brought into line: a line is there once, in whole,
// and nothing that somebody else wrote is touched.
func TestWhatACrashLeaves(t *testing.T) {
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:len(b)-n] } }
	for _, c := range []struct {
		name    string
		file    func([]byte) []byte
		journal func([]byte) []byte
		want    error  // that Open's wraps, if one fits
		says    string // by Open's error; empty where all is well
	}{
		{name: "a kill after the lines"},
		{name: "a kill inside the last line", file: cut(4)},
		{name: "a kill before the last line", file: cut(len(`{"id":"d"}`) + 1)},
		{name: "a power cut before any line of the file was kept", file: cut(2 * (len(`{"id":"d"}`) + 1))},
		{name: "a power cut that left zeros", file: func(b []byte) []byte { copy(b[len(b)-15:], make([]byte, 15)); return b }},
		{name: "a kill inside a write to the journal", file: cut(len(`{"id":"d"}`) + 1), journal: cut(3)},
		{name: "a power cut that left zeros in the journal", file: cut(len(`{"id":"d"}`) + 1), journal: func(b []byte) []byte { copy(b[len(b)-5:], make([]byte, 5)); return b }},
		{name: "something appended", file: func(b []byte) []byte { return append(b, "{}\n"...) }, want: ErrChanged, says: "something was appended"},
		{name: "synced lines cut away", file: func([]byte) []byte { return nil }, want: ErrChanged, says: "it was cut or replaced"},
		{name: "a synced line edited", file: func(b []byte) []byte { return bytes.Replace(b, []byte(`"b"`), []byte(`"x"`), 1) }, want: ErrChanged, says: "its last synced line"},
		{name: "a later line edited", file: func(b []byte) []byte { return bytes.Replace(b, []byte(`"c"`), []byte(`"x"`), 1) }, want: ErrChanged, says: "its last lines"},
		{name: "a damaged journal", journal: func(b []byte) []byte { b[12]++; return b }, says: "its journal is damaged"},
		{name: "a flipped bit in the journal's middle", journal: func(b []byte) []byte { b[len(b)-100]++; return b }, want: ErrChanged, says: "something was appended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out.jsonl")
			f := mustOpen(t, path, ledger{}, Options{})
			mustAppend(t, f, "a", "b")
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			f = mustOpen(t, path, ledger{}, Options{}) // a and b are synced now
			mustAppend(t, f, "c", "d")
			die(t, f)
			if c.file != nil {
				change(t, path, c.file)
			}
			if c.journal != nil {
				change(t, journalPath(path+Suffix), c.journal)
			}
			before, _ := os.ReadFile(path)
			f, err := Open(t.Context(), path, ledger{}, Options{Job: "j"})
			if c.says != "" {
				var refused *FileError
				if !errors.As(err, &refused) || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("got %v, want %v", err, c.want)
				}
				if after, _ := os.ReadFile(path); !bytes.Equal(after, before) {
					t.Errorf("the file was changed to %q", after)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			mustAppend(t, f, "a", "b", "c", "d", "e") // all of them are handled again
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			wantLines(t, path, "a b c d e")
		})
	}
}

// A process may die again and again, with or without a line in between.
func TestManyCrashes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	ids := []string{"a", "b", "c", "d", "e", "f"}
	for i := range ids {
		for range 2 {
			f := mustOpen(t, path, ledger{}, Options{JournalLimit: int64(1 + i*100)})
			mustAppend(t, f, ids[:i+1]...)
			die(t, f)
		}
	}
	wantLines(t, path, "a b c d e f")
}

// What the ledger knows as done is forgotten, by what it says while the file is
// open and by what it holds when the file is opened.
func TestKeysAreForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	f := mustOpen(t, path, ledger{}, Options{})
	mustAppend(t, f, "a", "b", "c")
	f.Observer().Settled(state.Receipt{Action: "write"}, store.Item{Scope: "r", ID: "a", State: store.StateDone})
	f.Observer().Settled(state.Receipt{Action: "write"}, store.Item{Scope: "r", ID: "b", State: store.StateHeld})
	confirm := func(f *File, want string) {
		t.Helper()
		var got string
		for _, id := range []string{"a", "b", "c"} {
			if happened, err := f.Confirm(t.Context(), line(id).Key); err != nil {
				t.Fatal(err)
			} else if happened {
				got += id
			}
		}
		if got != want {
			t.Errorf("it knows the lines of %q, want %q", got, want)
		}
	}
	confirm(f, "bc")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f = mustOpen(t, path, ledger{done: map[string]bool{"c": true}}, Options{})
	confirm(f, "b")
	die(t, f)
}

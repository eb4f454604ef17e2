package pebblestore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// everything lists what a folder holds.
func everything(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestMustExist(t *testing.T) {
	opts := &pebblestore.Options{MustExist: true}
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, dir string)
		says    string
	}{
		{"none", func(t *testing.T, _ string) { t.Helper() }, "there is no ledger"},
		{"empty", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/x", "")
			_ = os.Remove(dir + "/x")
		}, "there is no ledger"},
		{"half made", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/everypage.begun", "")
		}, "there is no ledger"},
		{"something else", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/thesis.txt", "x")
		}, `there is no ledger: the folder holds "thesis.txt"`},
		{"a file", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir, "x")
		}, "there is no ledger: it is a file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "ledger")
			c.prepare(t, dir)
			before := everything(t, parent)
			_, err := pebblestore.Open(dir, opts)
			wantError(t, err, store.ErrNotFound)
			if detail := wantDetail(t, err, store.ErrNotFound); !strings.Contains(err.Error(), c.says) || !strings.Contains(detail.Hint, "path") {
				t.Errorf("got %v with the hint %q, want %q and a hint at the path", err, detail.Hint, c.says)
			}
			wantIDs(t, "the folder", everything(t, parent), before...)
		})
	}
	t.Run("a damaged one", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "ledger")
		write(t, dir+"/everypage.ledger", "")
		_, err := pebblestore.Open(dir, opts)
		wantError(t, err, store.ErrCorrupt)
		if errors.Is(err, store.ErrNotFound) {
			t.Errorf("a damaged ledger is taken for none: %v", err)
		}
	})
	t.Run("a ledger", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "ledger")
		makeLedger(t, dir, nil, 2)
		if err := verify(t.Context(), open(t, dir, opts), map[string]int{"r0": 2}); err != nil {
			t.Error(err)
		}
	})
	t.Run("the mirror of none", func(t *testing.T) {
		for _, err := range pebblestore.Mirror(t.Context(), filepath.Join(t.TempDir(), "ledger")) {
			wantError(t, err, store.ErrNotFound)
			wantError(t, err, fs.ErrNotExist)
			return
		}
		t.Error("no error")
	})
}

package faultfs_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/internal/faultfs"
)

// Each change asks, by its name and the file's, also one of a recycled file.
func TestEachChangeAsks(t *testing.T) {
	fs := faultfs.New(vfs.NewMem())
	var asked []string
	fs.Set(func(op, name string) error { asked = append(asked, op+" "+name); return nil })
	file, err := fs.Create("a", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write([]byte("x"))
	if err := errors.Join(err, file.Sync(), file.SyncData(), file.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := fs.ReuseForWrite("a", "b", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = again.Write([]byte("y"))
	dir, opened := fs.OpenDir("")
	if err := errors.Join(err, again.Close(), opened, dir.Sync(), dir.Close(), fs.Rename("b", "c"), fs.Remove("c")); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"create a", "write a", "sync a", "sync a", "reuse b", "write b", "opendir .", "sync .", "rename c", "remove c",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	broken := errors.New("broken")
	fs.Set(func(string, string) error { return broken })
	if _, err := fs.Create("d", vfs.WriteCategoryUnspecified); !errors.Is(err, broken) {
		t.Errorf("a fault gave %v", err)
	}
	fs.Set(nil)
	if err := fs.MkdirAll("e", 0o700); err != nil {
		t.Errorf("a healed disk gave %v", err)
	}
}

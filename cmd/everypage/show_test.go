package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/everypage-go/everypage/store"
)

// The mirror answers where the ledger cannot be opened, and never for one that is
// damaged: its receipt would hide that.
func TestWhenTheMirrorAnswers(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{store.ErrLocked, "is in use"},
		{&fs.PathError{Op: "open", Path: "LOCK", Err: syscall.EACCES}, "cannot be written by this user"},
		{&fs.PathError{Op: "open", Path: "LOCK", Err: syscall.EROFS}, "cannot be written by this user"},
		{store.ErrCorrupt, ""},
		{store.ErrVersion, ""},
		{store.ErrNotFound, ""},
		{errors.New("another"), ""},
	} {
		err := c.err
		if err != nil {
			err = &store.Error{Op: "open", Path: "ledger", Err: fmt.Errorf("lock the database: %w", c.err)}
		}
		if got := mirrorInstead(err); got != c.want {
			t.Errorf("%v: %q, want %q", err, got, c.want)
		}
	}
}

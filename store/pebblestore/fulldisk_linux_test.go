package pebblestore_test

import (
	"errors"
	"math"
	"os"
	"syscall"
	"testing"

	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// TestRealFullDisk fills a real file system, opens the ledger on it in vain, and
// makes room.
func TestRealFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("skipped: a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	path := dir + "/ledger"
	opts := &pebblestore.Options{NoMirror: true}
	s, err := pebblestore.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	w := walk(s, "r", 4, 300)
	w.group.Wait()
	if err := errors.Join(w.errs...); err != nil {
		t.Fatal(err)
	}
	// Whatever room is left goes to another file; what is in the log must become
	// a table when the ledger is opened.
	filler := dir + "/filler"
	fill(t, filler)
	more := walk(s, "more", 4, math.MaxInt)
	soon(t, "a commit", more.group.Wait)
	for _, err := range more.errs {
		wantError(t, err, store.ErrFailed)
	}
	soon(t, "close", func() { wantError(t, s.Close(), store.ErrFailed) })
	for _, room := range []int64{0, 8 << 10, 64 << 10} {
		if err := os.Truncate(filler, size(t, filler)-room); err != nil {
			t.Fatal(err)
		}
		soon(t, "open", func() {
			s, err := pebblestore.Open(path, opts)
			if err == nil {
				t.Errorf("the ledger opens with %d bytes of room", room)
				_ = s.Close()
				return
			}
			wantError(t, err, store.ErrFailed)
			wantError(t, err, syscall.ENOSPC)
		})
		fill(t, filler)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	again := reopen(t, path, opts)
	if err := errors.Join(verify(t.Context(), again, w.counts()), verify(t.Context(), again, more.counts())); err != nil {
		t.Error(err)
	}
	commit(t, again, beginChange(newRun("job", "after")))
}

func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

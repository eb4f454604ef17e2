package pebblestore_test

import (
	"errors"
	"iter"
	"testing"

	"github.com/everypage-go/everypage/store"
)

// An error tells a person where it happened, beside what kind it is. The rest of
// what a store has to keep is asked by proptest.TestStore.
func TestErrorsSayWhere(t *testing.T) {
	s := openMem(t)
	commit(t, s, beginChange(newRun("job", "r")))
	wantError(t, s.Commit(t.Context(), beginChange(newRun("job", "r"))), store.ErrExists)
	wantError(t, s.Commit(t.Context(), store.Change{Run: newRun("job", "other")}), store.ErrNotFound)
	_, err := s.Run(t.Context(), "nowhere")
	wantError(t, err, store.ErrNotFound)
	release, err := s.Hold(t.Context(), "job")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	_, err = s.Hold(t.Context(), "job")
	wantError(t, err, store.ErrHeld)
}

// A scan that a close interrupts says so, and does not pass for a whole one.
func TestCloseInterruptsAScan(t *testing.T) {
	s := openMem(t)
	commit(t, s, beginChange(newRun("job", "r")), beginChange(newRun("job", "r2")))
	next, stop := iter.Pull2(s.Runs(t.Context(), store.RunFilter{}))
	defer stop()
	if _, err, ok := next(); err != nil || !ok {
		t.Fatalf("first run: %v, %v", err, ok)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err, _ := next(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v, want store.ErrClosed", err)
	}
}

package pebblestore

import (
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// While somebody waits for an open or a close, what works in between does not
// stretch the wait; while commits go on, it does.
func TestPatienceWithTables(t *testing.T) {
	d := newDisk(vfs.NewMem())
	failures := func(n int, want int64) {
		t.Helper()
		for range n {
			if err := d.tableFailed(syscall.ENOSPC); err == nil || d.hasFailed() {
				t.Fatalf("after %d failures: %v, the disk failed: %v", d.tableErrors.Load(), err, d.hasFailed())
			}
		}
		if got := d.tableErrors.Load(); got != want {
			t.Fatalf("%d failures count, want %d", got, want)
		}
	}
	failures(2, 2)
	d.tablesWork()
	failures(2, 4) // one less than the patience of an open
	d.setPatience(tablePatience)
	failures(6, 6)
	d.tablesWork()
	failures(3, 3)
	d.setPatience(waitedPatience)
	failures(1, 1)
	d.tablesWork()
	failures(3, 4)
	go func() { _ = d.tableFailed(syscall.ENOSPC) }() // it does not return
	<-d.failed
}

// A flush or a compaction that works ends a row of failures.
func TestWhatEndsARowOfFailures(t *testing.T) {
	s := openInMemory(t)
	listener := s.listener()
	for _, c := range []struct {
		name string
		ends func(err error)
	}{
		{"flush", func(err error) { listener.FlushEnd(pebble.FlushInfo{Err: err}) }},
		{"compaction", func(err error) { listener.CompactionEnd(pebble.CompactionInfo{Err: err}) }},
	} {
		s.disk.tableErrors.Store(7)
		c.ends(syscall.ENOSPC)
		if got := s.disk.tableErrors.Load(); got != 7 {
			t.Errorf("after a %s that failed %d failures count, want 7", c.name, got)
		}
		c.ends(nil)
		if got := s.disk.tableErrors.Load(); got != 0 {
			t.Errorf("after a %s that worked %d failures count, want none", c.name, got)
		}
	}
}

func TestBackoff(t *testing.T) {
	var b backoff
	var due []int64
	for range 20 {
		if times, now := b.next(); now {
			due = append(due, times)
		}
	}
	if len(due) != 5 || due[4] != 16 {
		t.Errorf("due are the times %v, want 1 2 4 8 16", due)
	}
	b.reset()
	if times, now := b.next(); times != 1 || !now {
		t.Errorf("after a reset: time %d, due %v", times, now)
	}
}

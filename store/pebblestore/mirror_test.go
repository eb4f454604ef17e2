package pebblestore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// mirrored reads the mirror as "run status pages" by job.
func mirrored(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := make(map[string]string)
	for r, err := range pebblestore.Mirror(t.Context(), dir) {
		if err != nil {
			t.Fatalf("mirror: %v", err)
		}
		got[r.Job] = fmt.Sprint(r.RunID, " ", r.Status, " ", r.Pages)
	}
	return got
}

// eventually waits for a job's mirrored receipt.
func eventually(t *testing.T, dir, job, want string) {
	t.Helper()
	got := ""
	for range 2000 {
		if got = mirrored(t, dir)[job]; got == want {
			return
		}
		pause(5 * time.Millisecond)
	}
	t.Fatalf("the receipt of %q is %q, want %q", job, got, want)
}

func TestMirrorFollowsTransitionsAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, &pebblestore.Options{MirrorInterval: time.Hour})
	run := newRun("job", "r1")
	commit(t, s, beginChange(run))
	eventually(t, dir, "job", "r1 running 0") // while the ledger is locked

	run.Receipt.Pages = 1
	note := []state.Transition{{Event: state.EventNote}}
	commit(t, s, store.Change{Run: run}, store.Change{Run: run, Events: note})
	pause(50 * time.Millisecond)
	if got := mirrored(t, dir)["job"]; got != "r1 running 0" {
		t.Errorf("a change that is no transition was mirrored at once: %q", got)
	}

	run.Receipt.Pages, run.Receipt.Status = 2, state.Paused
	commit(t, s, store.Change{Run: run, Events: []state.Transition{{Event: state.EventPause}}})
	eventually(t, dir, "job", "r1 paused 2")

	commit(t, s, beginChange(newRun("job", "r2")), beginChange(newRun("another", "r3")))
	eventually(t, dir, "job", "r2 running 0")
	eventually(t, dir, "another", "r3 running 0")
	commit(t, s, store.Change{Run: run, Events: []state.Transition{{Event: state.EventSupersede}}})
	pause(50 * time.Millisecond)
	if got := mirrored(t, dir)["job"]; got != "r2 running 0" {
		t.Errorf("an older run took the newest one's place: %q", got)
	}
}

func TestMirrorFollowsProgressOnceAnInterval(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, &pebblestore.Options{MirrorInterval: 20 * time.Millisecond})
	run := newRun("job", "r")
	commit(t, s, beginChange(run))
	for n := range 3 {
		run.Receipt.Pages = n + 1
		commit(t, s, store.Change{Run: run})
		eventually(t, dir, "job", fmt.Sprint("r running ", n+1))
	}
}

func TestMirrorIsWholeAfterClose(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, &pebblestore.Options{MirrorInterval: time.Hour})
	run := newRun("job", "r")
	commit(t, s, beginChange(run))
	run.Receipt.Pages = 7
	commit(t, s, store.Change{Run: run})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := mirrored(t, dir)["job"]; got != "r running 7" {
		t.Errorf("after close the receipt is %q", got)
	}
	if left, _ := filepath.Glob(dir + "/receipts/*.tmp"); len(left) > 0 {
		t.Errorf("unfinished files are left: %v", left)
	}
}

func TestMirrorIsRedacted(t *testing.T) {
	dir := t.TempDir()
	run := newRun("job", "r")
	run.Receipt.Endpoint = "https://user:hunter2@api.example/list?api_key=hunter3"
	run.Receipt.CursorOut = pager.At("https://api.example/list?token=hunter4")
	s := open(t, dir, nil)
	commit(t, s, beginChange(run))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(dir + "/receipts/job.yaml")
	if err != nil || strings.Contains(string(text), "hunter") {
		t.Errorf("the mirror has a credential: %v\n%s", err, text)
	}
}

func TestMirrorNamesOfJobs(t *testing.T) {
	jobs := []string{
		"", "a", "A", "%41", "a/b", "a\\b", "..", ".", ".hidden", "con", "con.x", "com1", "COM1", "nul.yaml",
		"a b", "ä", "a\u0308", "\x00", "a.yaml", "a.yaml.tmp", "%", strings.Repeat("x", 300), strings.Repeat("x", 301), strings.Repeat("/", 90),
	}
	dir := t.TempDir()
	s := open(t, dir, nil)
	for i, job := range jobs {
		commit(t, s, beginChange(newRun(job, fmt.Sprint("r", i))))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got := mirrored(t, dir)
	for i, job := range jobs {
		if want := fmt.Sprint("r", i, " running 0"); got[job] != want {
			t.Errorf("the receipt of job %q is %q, want %q", job, got[job], want)
		}
	}
	entries, err := os.ReadDir(dir + "/receipts")
	if err != nil || len(entries) != len(jobs) {
		t.Errorf("%d files for %d jobs, %v", len(entries), len(jobs), err)
	}
	folded := make(map[string]bool)
	for _, entry := range entries {
		name := strings.ToLower(entry.Name())
		if folded[name] || len(name) > 255 || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\:*?"<>| `) {
			t.Errorf("%q is no name for every file system", entry.Name())
		}
		folded[name] = true
	}
}

func TestNoMirror(t *testing.T) {
	dir := t.TempDir()
	makeLedger(t, dir, &pebblestore.Options{NoMirror: true}, 1)
	if _, err := os.Stat(dir + "/receipts"); err == nil {
		t.Error("the mirror was written although it is off")
	}
	if got := mirrored(t, dir); len(got) > 0 {
		t.Errorf("the mirror has %v", got)
	}
	makeLedger(t, dir+"/memory", &pebblestore.Options{FS: vfs.NewMem()}, 1)
	if _, err := os.Stat(dir + "/memory"); err == nil {
		t.Error("a ledger in memory was mirrored to the disk")
	}
}

func TestMirrorThatCannotBeRead(t *testing.T) {
	first := func(dir string) error {
		for _, err := range pebblestore.Mirror(t.Context(), dir) {
			return err
		}
		return nil
	}
	dir := t.TempDir()
	if err := first(dir + "/nowhere"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no ledger: %v", err)
	}
	makeLedger(t, dir, nil, 1)
	write(t, dir+"/receipts/job.yaml", "{")
	wantError(t, first(dir), store.ErrCorrupt)
	write(t, dir+"/everypage.ledger", `{"ledger":"everypage","format":2}`)
	wantError(t, first(dir), store.ErrVersion)
}

// A mirror that cannot be written is no reason to stop.
func TestMirrorThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, &pebblestore.Options{MirrorInterval: 10 * time.Millisecond})
	write(t, dir+"/receipts", "a file where the folder should be")
	run := newRun("job", "r")
	commit(t, s, beginChange(run))
	pause(30 * time.Millisecond)
	if err := os.Remove(dir + "/receipts"); err != nil {
		t.Fatal(err)
	}
	eventually(t, dir, "job", "r running 0")
}

package pebblestore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/internal/faultfs"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// makeLedger makes a ledger with some steps and closes it.
func makeLedger(t *testing.T, dir string, opts *pebblestore.Options, steps int) {
	t.Helper()
	s, err := pebblestore.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	run := newRun("job", "r0")
	commit(t, s, beginChange(run))
	for n := range steps {
		commit(t, s, pageStep(run, n))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFoldersThatAreNoLedger(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, dir string)
		want    error  // nil: no sentinel fits
		says    string // part of the text
		hint    string // part of the hint
	}{
		{"a file", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir, "x")
		}, nil, "is a file", ""},
		{"something else", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/thesis.txt", "x")
		}, nil, `holds "thesis.txt"`, ""},
		{"a database without a marker", func(t *testing.T, dir string) {
			t.Helper()
			makeLedger(t, dir, nil, 1)
			if err := os.Remove(dir + "/everypage.ledger"); err != nil {
				t.Fatal(err)
			}
		}, nil, "no ledger", ""},
		{"a newer ledger", func(t *testing.T, dir string) {
			t.Helper()
			makeLedger(t, dir, nil, 1)
			write(t, dir+"/everypage.ledger", `{"ledger":"everypage","format":2,"a new field":1}`)
		}, store.ErrVersion, "its format is 2, this build reads up to 1", "newer version"},
		{"a newer database", func(t *testing.T, dir string) {
			t.Helper()
			makeLedger(t, dir, nil, 1)
			write(t, dir+"/db/marker.format-version.000099.250", "")
		}, store.ErrVersion, "its database has format 250", "newer version"},
		{"an empty marker", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/everypage.ledger", "")
		}, store.ErrCorrupt, "everypage.ledger", "backup"},
		{"another program's marker", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/everypage.ledger", `{"ledger":"x","format":1}`)
		}, store.ErrCorrupt, "", "backup"},
		{"a marker and no database", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/everypage.ledger", `{"ledger":"everypage","format":1}`)
		}, store.ErrCorrupt, "", "backup"},
		{"a marker and an empty database", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/everypage.ledger", `{"ledger":"everypage","format":1}`)
			if err := os.Mkdir(dir+"/db", 0o755); err != nil {
				t.Fatal(err)
			}
		}, store.ErrCorrupt, "", "backup"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ledger")
			c.prepare(t, dir)
			s, err := pebblestore.Open(dir, nil)
			if err == nil {
				_ = s.Close()
				t.Fatal("it was opened")
			}
			detail := new(store.Error)
			if !errors.As(err, &detail) || detail.Op != "open" || detail.Path != dir {
				t.Fatalf("error %#v is no *store.Error of open with the path", err)
			}
			if c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || !strings.Contains(detail.Hint, c.hint) {
				t.Errorf("got %v, want %v with %q and a hint with %q", err, c.want, c.says, c.hint)
			}
			if _, err := os.Stat(dir + "/everypage.begun"); err == nil {
				t.Error("a refused folder was written to")
			}
		})
	}
	_, err := pebblestore.Open("", nil)
	if err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Errorf("no folder at all: %v", err)
	}
	_, err = pebblestore.Open(t.TempDir(), &pebblestore.Options{CacheSize: -1, MemTableSize: 1, MirrorInterval: -1})
	for _, field := range []string{"CacheSize", "MemTableSize", "MirrorInterval"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("bad options: %v does not name %s", err, field)
		}
	}
}

func TestFoldersThatMayBecomeALedger(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, dir string)
	}{
		{"none", func(t *testing.T, _ string) { t.Helper() }},
		{"empty", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/x", "")
			_ = os.Remove(dir + "/x")
		}},
		{"the root of a disk", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/lost+found/x", "")
		}},
		{"half made", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/everypage.begun", "")
			write(t, dir+"/db/MANIFEST-000001", "half")
			write(t, dir+"/db/000002.log", "half")
		}},
		{"half made, with a name for a file that is not there", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/everypage.begun", "")
			write(t, dir+"/db/marker.manifest.000001.MANIFEST-000001", "")
		}},
		{"half made by a newer build", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/everypage.begun", "")
			write(t, dir+"/db/marker.format-version.000099.250", "")
		}},
		{"made, and not marked", func(t *testing.T, dir string) {
			t.Helper()
			s, err := pebblestore.Open(dir, nil)
			if err == nil {
				err = s.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir+"/everypage.begun", "")
			if err := os.Remove(dir + "/everypage.ledger"); err != nil {
				t.Fatal(err)
			}
		}},
		{"half marked", func(t *testing.T, dir string) {
			t.Helper()
			write(t, dir+"/everypage.begun", "")
			write(t, dir+"/everypage.ledger.tmp", "{")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a", "ledger")
			c.prepare(t, dir)
			makeLedger(t, dir, nil, 2)
			s := open(t, dir, nil)
			if err := verify(t.Context(), s, map[string]int{"r0": 2}); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(dir + "/everypage.begun"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the note of a beginning is still there: %v", err)
			}
		})
	}
}

func TestReadOnlyFolder(t *testing.T) {
	t.Run("by its mode", func(t *testing.T) {
		if runtime.GOOS == "windows" || os.Geteuid() == 0 {
			t.Skip("skipped: the mode of a folder does not bind this user")
		}
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		_, err := pebblestore.Open(dir, nil)
		wantError(t, err, fs.ErrPermission)
	})
	for _, cause := range []error{syscall.EROFS, syscall.EACCES} {
		t.Run(cause.Error(), func(t *testing.T) {
			disk := faultfs.New(vfs.NewMem())
			disk.Set(func(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: cause} })
			_, err := pebblestore.Open("ledger", &pebblestore.Options{FS: disk})
			if detail := wantDetail(t, err, cause); !strings.Contains(detail.Hint, "let this user write") {
				t.Errorf("the hint is %q", detail.Hint)
			}
		})
	}
}

func TestNewerLedgerIsLeftAlone(t *testing.T) {
	mem := vfs.NewMem()
	makeLedger(t, "ledger", &pebblestore.Options{FS: mem}, 1)
	file, err := mem.Create("ledger/everypage.ledger", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write([]byte(`{"ledger":"everypage","format":9}`)); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	disk := faultfs.New(mem)
	disk.Set(func(op, name string) error {
		t.Errorf("%s of %s", op, name)
		return nil
	})
	_, err = pebblestore.Open("ledger", &pebblestore.Options{FS: disk})
	wantError(t, err, store.ErrVersion)
}

// The version of Pebble's files is written down, so it must not change by
// accident.
func TestDatabaseFormat(t *testing.T) {
	mem := vfs.NewMem()
	makeLedger(t, "ledger", &pebblestore.Options{FS: mem}, 1)
	desc, err := pebble.Peek("ledger/db", mem)
	if err != nil || desc.FormatMajorVersion != 24 {
		t.Errorf("the database has format %d, %v, want 24", desc.FormatMajorVersion, err)
	}
}

// TestFlippedBits damages one byte of one file at a time. What comes out is a
// clear error or the whole truth, and never a shorter one.
func TestFlippedBits(t *testing.T) {
	const steps = 400
	base := filepath.Join(t.TempDir(), "ledger")
	opts := &pebblestore.Options{NoMirror: true, MemTableSize: 64 << 10}
	makeLedger(t, base, opts, steps)
	files, err := filepath.Glob(base + "/db/*")
	if err != nil {
		t.Fatal(err)
	}
	damaged, cases := 0, 0
	for _, file := range files {
		name := filepath.Base(file)
		var places []float64
		switch {
		case isTable(name):
			places = []float64{0, 0.3, 0.6, 0.9, 0.999}
		case isManifest(name):
			places = []float64{0, 0.2, 0.5, 0.8}
		case isLog(name):
			places = []float64{0, 0.5, 0.999}
		}
		for _, place := range places {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) == 0 {
				continue
			}
			at := int(place * float64(len(data)))
			dir := filepath.Join(t.TempDir(), "ledger")
			if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
				t.Fatal(err)
			}
			data[at] ^= 0x10
			if err := os.WriteFile(filepath.Join(dir, "db", name), data, 0o600); err != nil {
				t.Fatal(err)
			}
			cases++
			if err := readAll(t, dir, opts, steps); err != nil {
				damaged++
				if !errors.Is(err, store.ErrCorrupt) {
					t.Errorf("byte %d of %d of %s: %v, want store.ErrCorrupt", at, len(data), name, err)
				}
			}
		}
	}
	t.Logf("%d of %d damages were noticed, the others did no harm", damaged, cases)
	if damaged < cases/2 {
		t.Errorf("only %d of %d damages were noticed", damaged, cases)
	}
}

// TestFlippedBitsInALog damages the log that a crash leaves behind. All but its
// last blocks are told from an end; a ledger that lost the last ones is still one
// that was there a moment before.
func TestFlippedBitsInALog(t *testing.T) {
	const steps, block = 500, 32 << 10
	mem := vfs.NewCrashableMem()
	opts := func(fs vfs.FS) *pebblestore.Options {
		return &pebblestore.Options{FS: fs, MemTableSize: 8 << 20}
	}
	s := open(t, "ledger", opts(mem))
	run := newRun("job", "r0")
	commit(t, s, beginChange(run))
	for n := range steps {
		commit(t, s, pageStep(run, n))
	}
	size := flip(t, crash(mem, 0, 1), -1)
	for at := 0; at < size; at += size / 20 {
		image := crash(mem, 0, 1)
		flip(t, image, at)
		damaged, err := pebblestore.Open("ledger", opts(image))
		if err != nil {
			wantError(t, err, store.ErrCorrupt)
			continue
		}
		got, err := wholeSteps(t.Context(), damaged, "r0")
		if err := errors.Join(err, damaged.Close()); err != nil {
			t.Errorf("byte %d of %d: %v", at, size, err)
		}
		if got < steps && at < size-2*block {
			t.Errorf("byte %d of %d: %d of %d steps are there, and no error", at, size, got, steps)
		}
	}
}

// flip changes a byte of the largest log and returns the log's size.
func flip(t *testing.T, mem *vfs.MemFS, at int) (size int) {
	t.Helper()
	names, err := mem.List("ledger/db")
	if err != nil {
		t.Fatal(err)
	}
	path := ""
	for _, name := range names {
		if info, err := mem.Stat("ledger/db/" + name); err == nil && isLog(name) && int(info.Size()) > size {
			path, size = "ledger/db/"+name, int(info.Size())
		}
	}
	if at < 0 {
		return size
	}
	file, err := mem.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	_, readErr := file.ReadAt(b, int64(at))
	b[0] ^= 0x10
	_, writeErr := file.WriteAt(b, int64(at))
	if err := errors.Join(readErr, writeErr, file.Sync(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return size
}

func readAll(t *testing.T, dir string, opts *pebblestore.Options, steps int) error {
	t.Helper()
	s, err := pebblestore.Open(dir, opts)
	if err != nil {
		return err
	}
	readErr := verify(t.Context(), s, map[string]int{"r0": steps})
	commitErr := s.Commit(t.Context(), beginChange(newRun("job", "after")))
	if errors.Is(readErr, store.ErrCorrupt) && commitErr == nil {
		t.Logf("%s: damage was read, and commits go on", dir)
	}
	return errors.Join(readErr, commitErr, s.Close())
}

func TestMissingFiles(t *testing.T) {
	base := filepath.Join(t.TempDir(), "ledger")
	opts := &pebblestore.Options{NoMirror: true, MemTableSize: 64 << 10}
	makeLedger(t, base, opts, 200)
	for _, pattern := range []string{"*.sst", "MANIFEST-*", "marker.manifest.*", "marker.format-version.*"} {
		dir := filepath.Join(t.TempDir(), "ledger")
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "db", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		if err := readAll(t, dir, opts, 200); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("without %s: %v, want store.ErrCorrupt", pattern, err)
		}
	}
}

package pebblestore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/internal/faultfs"
	"github.com/everypage-go/everypage/internal/tier"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// damage is one thing that happens to one file of a folder.
type damage struct {
	file string // its path
	what string
	do   func(data []byte) []byte // nil: the file is deleted
}

func (d damage) String() string { return d.file + " " + d.what }

// damages lists what can happen to the files of a folder: each is deleted, cut at
// several lengths, and has single bits flipped, as many as asked for, by seed.
func damages(t *testing.T, fs vfs.FS, dir string, flips int, seed uint64) []damage {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	var all []damage
	for _, path := range filesOf(t, fs, dir) {
		size := len(contentOf(t, fs, path))
		all = append(all, damage{path, "is deleted", nil})
		var cuts []int
		for _, length := range []int{0, size / 4, size / 2, size - 200, size - 20, size - 1, random.IntN(size + 1)} {
			if length >= 0 && length < size && !slices.Contains(cuts, length) {
				cuts = append(cuts, length)
			}
		}
		for _, length := range cuts {
			all = append(all, damage{path, fmt.Sprintf("is cut to %d of %d bytes", length, size), func(data []byte) []byte { return data[:length] }})
		}
		for range min(flips, 8*size) {
			bit := random.IntN(8 * size)
			all = append(all, damage{path, fmt.Sprintf("has bit %d of %d flipped", bit, 8*size), func(data []byte) []byte {
				data[bit/8] ^= 1 << (bit % 8)
				return data
			}})
		}
	}
	return all
}

// filesOf returns the files below a folder, without the lock.
func filesOf(t *testing.T, fs vfs.FS, dir string) []string {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	var files []string
	for _, name := range names {
		path := fs.PathJoin(dir, name)
		info, err := fs.Stat(path)
		switch {
		case err != nil:
			t.Fatal(err)
		case info.IsDir():
			files = append(files, filesOf(t, fs, path)...)
		case name != "LOCK":
			files = append(files, path)
		}
	}
	return files
}

func contentOf(t *testing.T, fs vfs.FS, path string) []byte {
	t.Helper()
	file, err := fs.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	return data
}

func replace(t *testing.T, fs vfs.FS, path string, data []byte) {
	t.Helper()
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// done does the damage to a copy of the folder.
func (d damage) done(t *testing.T, fs vfs.FS, dir string) vfs.FS {
	t.Helper()
	left := vfs.NewMem()
	if _, err := vfs.Clone(fs, left, dir, dir, vfs.CloneSync); err != nil {
		t.Fatal(err)
	}
	if d.do == nil {
		if err := left.Remove(d.file); err != nil {
			t.Fatal(err)
		}
		return left
	}
	replace(t, left, d.file, d.do(contentOf(t, fs, d.file)))
	return left
}

// silent opens a damaged ledger and returns an error if it tells less than it
// was told, or something else, without saying so.
func silent(ctx context.Context, fs vfs.FS, runID string, steps int) (noticed string, err error) {
	s, err := pebblestore.Open("ledger", small(fs))
	if err != nil {
		detail := new(store.Error)
		if !errors.As(err, &detail) {
			return "", fmt.Errorf("open gave %w, which is no *store.Error", err)
		}
		return "when it is opened", nil
	}
	got, err := wholeSteps(ctx, s, runID)
	closed := s.Close()
	switch {
	case errors.Is(err, store.ErrCorrupt):
		return "when it is read", nil
	case err != nil:
		return "", fmt.Errorf("nothing says that it is damaged: %w", err)
	case got != steps:
		return "", fmt.Errorf("nothing says that it is damaged: %d of %d steps are there", got, steps)
	}
	return "", closed // all is there: the damage hit nothing that counts
}

// damagedSteps is how many steps the ledgers have that are damaged.
const damagedSteps = 60

// toDamage makes the file system of a ledger with so many steps of run r0.
func toDamage(t *testing.T, how string) vfs.FS {
	t.Helper()
	mem := vfs.NewCrashableMem()
	disk := faultfs.New(mem)
	s, err := pebblestore.Open("ledger", small(disk))
	if err != nil {
		t.Fatal(err)
	}
	if how == "killed with several logs" { // no table takes over from them
		disk.Set(func(op, name string) error {
			if op == "create" && isTable(name) {
				return syscall.ENOSPC
			}
			return nil
		})
	}
	run := newRun("job", "r0")
	commit(t, s, beginChange(run))
	for n := range damagedSteps {
		commit(t, s, pageStep(run, n))
	}
	left := crash(mem, 100, 1)
	disk.Set(nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if how == "closed" {
		return mem
	}
	return left
}

// TestDamageIsNeverSilent damages one file of a ledger that was closed, and of one
// whose process was killed: it has everything that was committed, or says that it
// is damaged. A failure names the file, and what was done to it.
func TestDamageIsNeverSilent(t *testing.T) {
	for _, how := range []string{"closed", "killed", "killed with several logs"} {
		t.Run(how, func(t *testing.T) {
			fs := toDamage(t, how)
			counts := make(map[string]int)
			for seed := range uint64(tier.Checks(1, 2, 20)) {
				for _, d := range damages(t, fs, "ledger", tier.Checks(6, 12, 100), seed) {
					noticed, err := silent(t.Context(), d.done(t, fs, "ledger"), "r0", damagedSteps)
					if err != nil {
						t.Errorf("%v: %v", d, err)
					}
					counts[noticed]++
				}
			}
			t.Logf("noticed when it is opened %d times, when it is read %d times; %d times it hit nothing that counts",
				counts["when it is opened"], counts["when it is read"], counts[""])
			if counts["when it is opened"] == 0 {
				t.Error("nothing was noticed")
			}
		})
	}
}

// A person without a backup may go on with what is left, and is not asked again.
func TestALossThatIsAccepted(t *testing.T) {
	left := toDamage(t, "killed")
	for _, path := range filesOf(t, left, "ledger/db") {
		if strings.HasSuffix(path, ".log") {
			if err := left.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err := pebblestore.Open("ledger", small(left))
	wantError(t, err, store.ErrCorrupt)
	accepting := small(left)
	accepting.AcceptLoss = true
	s, err := pebblestore.Open("ledger", accepting)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		reopenedAfterLoss(t, left)
	}
}

func reopenedAfterLoss(t *testing.T, fs vfs.FS) {
	t.Helper()
	s, err := pebblestore.Open("ledger", small(fs))
	if err != nil {
		t.Fatalf("the loss was accepted: %v", err)
	}
	run := newRun("job", fmt.Sprint("after-", rand.Uint64()))
	commit(t, s, beginChange(run), pageStep(run, 0))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestTheEndOfALogIsMissed cuts the log of a killed process at every record, and
// takes it away: Pebble itself sees a shorter ledger.
func TestTheEndOfALogIsMissed(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s := reopen(t, "ledger", &pebblestore.Options{FS: mem})
	run := newRun("job", "r0")
	commit(t, s, beginChange(run))
	for n := range 10 {
		commit(t, s, pageStep(run, n))
	}
	fs := crash(mem, 100, 1)
	missed := 0
	for _, path := range filesOf(t, fs, "ledger/db") {
		if !strings.HasSuffix(path, ".log") {
			continue
		}
		size := len(contentOf(t, fs, path))
		stride := max(1, size/tier.Checks(40, 200, 2000))
		for length := 0; length < size; length += stride {
			cut := damage{path, fmt.Sprintf("is cut to %d bytes", length), func(data []byte) []byte { return data[:length] }}
			left := cut.done(t, fs, "ledger")
			noticed, err := silent(t.Context(), left, "r0", 10)
			if err != nil {
				t.Errorf("%v: %v", cut, err)
			}
			if noticed == "" {
				continue // behind the last record
			}
			missed++
			if _, err := pebblestore.Open("ledger", small(left)); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%v: the second open gave %v: what is lost stays lost", cut, err)
			}
		}
	}
	if missed == 0 {
		t.Error("no cut was missed: is there a log?")
	}
}

// A ledger that an older build made has no witness; it gains one.
func TestALedgerWithoutWitnessGainsOne(t *testing.T) {
	fs := vfs.NewMem()
	makeMem(t, fs, 3)
	marker := contentOf(t, fs, "ledger/everypage.ledger")
	older := strings.Replace(string(marker), `,"witness":true`, "", 1)
	if older == string(marker) {
		t.Fatalf("the marker is %s", marker)
	}
	replace(t, fs, "ledger/everypage.ledger", []byte(older))
	if err := fs.Remove("ledger/everypage.witness"); err != nil {
		t.Fatal(err)
	}
	s, err := pebblestore.Open("ledger", small(fs))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(verify(t.Context(), s, map[string]int{"r0": 3}), s.Close()); err != nil {
		t.Fatal(err)
	}
	if text := string(contentOf(t, fs, "ledger/everypage.witness")); !strings.Contains(text, "commits 4") {
		t.Errorf("the witness says %q", text)
	}
}

// makeMem makes a ledger with so many steps of a run, and closes it.
func makeMem(t *testing.T, fs vfs.FS, steps int) {
	t.Helper()
	s, err := pebblestore.Open("ledger", small(fs))
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

//go:build unix

package pebblestore_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/everypage-go/everypage/store/pebblestore"
)

func wantModes(t *testing.T, dir string, want map[string]fs.FileMode) {
	t.Helper()
	for name, mode := range want {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != mode {
			t.Errorf("%s has mode %o, want %o", name, got, mode)
		}
	}
}

// A ledger holds URLs with credentials: what is made is for its owner only, and
// what is there is left as it is.
func TestLedgerIsForItsOwner(t *testing.T) {
	t.Run("new", func(t *testing.T) {
		dir := t.TempDir()
		makeLedger(t, dir+"/way/ledger", nil, 1)
		if err := os.Mkdir(dir+"/like any other", 0o755); err != nil {
			t.Fatal(err)
		}
		other, err := os.Stat(dir + "/like any other") // the user's mask may narrow it
		if err != nil {
			t.Fatal(err)
		}
		wantModes(t, dir, map[string]fs.FileMode{
			"way":                          other.Mode().Perm(),
			"way/ledger":                   0o700,
			"way/ledger/db":                0o700,
			"way/ledger/receipts":          0o700,
			"way/ledger/receipts/job.yaml": 0o600,
			"way/ledger/everypage.ledger":  0o600,
		})
	})
	t.Run("in an open folder", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		makeLedger(t, dir, nil, 1)
		wantModes(t, dir, map[string]fs.FileMode{".": 0o755, "db": 0o700, "receipts": 0o700, "everypage.ledger": 0o600})
	})
	t.Run("of an older build", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "ledger")
		makeLedger(t, dir, nil, 1)
		for _, name := range []string{".", "db", "receipts"} {
			if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s, err := pebblestore.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		commit(t, s, beginChange(newRun("job", "r1")))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wantModes(t, dir, map[string]fs.FileMode{".": 0o755, "db": 0o755, "receipts": 0o755})
	})
}

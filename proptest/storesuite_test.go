package proptest

import (
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// onDisk is a ledger in a folder.
type onDisk struct{ dir string }

func (p onDisk) Open() (store.Store, error) {
	return pebblestore.Open(filepath.Join(p.dir, "ledger"), &pebblestore.Options{NoMirror: true})
}

func (onDisk) Durable() {}

// inMemory is a ledger on a file system that loses at a crash what was not synced.
type inMemory struct {
	mu   sync.Mutex
	fs   *vfs.MemFS
	lazy bool // its logs are never synced
}

func (p *inMemory) Open() (store.Store, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var fs vfs.FS = p.fs
	if p.lazy {
		fs = unsynced{fs}
	}
	return pebblestore.Open("ledger", &pebblestore.Options{FS: fs})
}

func (*inMemory) Durable() {}

func (p *inMemory) Crash() {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := 50
	if p.lazy {
		kept = 0
	}
	p.fs = p.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: kept, RNG: rand.New(rand.NewPCG(1, 2))}) // it has to repeat
}

// plain is a ledger of plain values.
type plain struct{}

func (plain) Open() (store.Store, error) { return newMemory(newRecords()), nil }

func TestStore_Pebble(t *testing.T) {
	t.Run("on disk", func(t *testing.T) { TestStore(t, func(dir string) StorePlace { return onDisk{dir} }) })
	t.Run("in memory", func(t *testing.T) {
		TestStore(t, func(string) StorePlace { return &inMemory{fs: vfs.NewCrashableMem()} })
	})
}

func TestStore_Plain(t *testing.T) {
	TestStore(t, func(string) StorePlace { return plain{} })
}

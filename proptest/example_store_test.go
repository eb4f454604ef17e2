package proptest_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/proptest"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// place is where a store of somebody's own keeps its ledger.
type place struct{ fs vfs.FS }

func (p place) Open() (store.Store, error) {
	return pebblestore.Open("ledger", &pebblestore.Options{FS: p.fs})
}

func (place) Durable() {}

// A test that puts a store through every rule is this function, in a file of the
// store's package.
func ExampleTestStore() {
	_ = func(t *testing.T) {
		t.Helper()
		proptest.TestStore(t, func(string) proptest.StorePlace { return place{vfs.NewMem()} })
	}
	// Output:
}

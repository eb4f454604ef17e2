// Package rows has the families that are measured, one file for each.
package rows

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/postgres"
	"github.com/everypage-go/everypage/bench/workload"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// Setup says where the families work, and how long their lists are.
type Setup struct {
	// Dir is a folder on the disk that is measured.
	Dir string
	// Items is the length of the lists of the quick families.
	Items int
	// Postgres is started by the first family that needs it.
	Postgres *postgres.Shared
}

// folder calls work with a new folder that is removed afterwards.
func (s Setup) folder(work func(dir string) error) (err error) {
	dir, err := os.MkdirTemp(s.Dir, "everypage-bench-")
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.RemoveAll(dir); err == nil {
			err = removed
		}
	}()
	runtime.GC() // what was left by the turn before is not this one's
	return work(dir)
}

// engine walks a list with the engine and its default ledger. The clock runs from
// the call of Run until it returns; opening and closing the ledger are no part.
func (s Setup) engine(ctx context.Context, walk workload.Walk) (measure.Sample, error) {
	return s.engineWith(ctx, walk, nil)
}

func (s Setup) engineWith(ctx context.Context, walk workload.Walk, opts *pebblestore.Options) (sample measure.Sample, err error) {
	err = s.folder(func(dir string) error {
		ledger, err := pebblestore.Open(filepath.Join(dir, "ledger"), opts)
		if err != nil {
			return err
		}
		stop := start(walk.Items)
		receipt, err := everypage.Run(ctx, ledger, walk.Job())
		sample = stop()
		if closed := ledger.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
		if receipt.ProcessedUnique != int64(walk.Items) {
			return fmt.Errorf("%d of %d items were processed", receipt.ProcessedUnique, walk.Items)
		}
		return nil
	})
	return sample, err
}

package crash

import (
	"context"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/bench/workload"
)

// CheckLying is Check on a disk whose logs are never synced.
func CheckLying(ctx context.Context, walk workload.Walk, seed uint64) error {
	return check(ctx, walk, seed, func(inner vfs.FS) vfs.FS { return lying{inner} })
}

type lying struct{ vfs.FS }

func (f lying) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return f.lie(name, file, err)
}

func (f lying) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(oldname, newname, c)
	return f.lie(newname, file, err)
}

func (f lying) lie(name string, file vfs.File, err error) (vfs.File, error) {
	if err != nil || !isLog(name) {
		return file, err
	}
	return unsynced{file}, nil
}

type unsynced struct{ vfs.File }

func (unsynced) Sync() error                { return nil }
func (unsynced) SyncData() error            { return nil }
func (unsynced) SyncTo(int64) (bool, error) { return true, nil }

package crash

import "github.com/cockroachdb/pebble/v2/vfs"

// syncs is a file system that calls before before each sync of a file or folder.
type syncs struct {
	vfs.FS
	before func()
}

func (f syncs) wrap(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return synced{File: file, before: f.before}, nil
}

func (f syncs) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.wrap(f.FS.Create(name, c))
}

func (f syncs) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.wrap(f.FS.OpenReadWrite(name, c, opts...))
}

func (f syncs) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.wrap(f.FS.ReuseForWrite(oldname, newname, c))
}

func (f syncs) OpenDir(name string) (vfs.File, error) { return f.wrap(f.FS.OpenDir(name)) }

func (f syncs) Unwrap() vfs.FS { return f.FS }

type synced struct {
	vfs.File
	before func()
}

func (f synced) Sync() error {
	f.before()
	return f.File.Sync()
}

func (f synced) SyncData() error {
	f.before()
	return f.File.SyncData()
}

func (f synced) SyncTo(length int64) (bool, error) {
	f.before()
	return f.File.SyncTo(length)
}

package crash

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Syncs returns a file system that calls before, with the file's or folder's
// name, ahead of each sync.
func Syncs(inner vfs.FS, before func(name string)) vfs.FS { return syncs{FS: inner, before: before} }

// Logs makes Syncs call before for Pebble's logs alone.
func Logs(before func()) func(name string) {
	return func(name string) {
		if isLog(name) {
			before()
		}
	}
}

func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

type syncs struct {
	vfs.FS
	before func(name string)
}

func (f syncs) wrap(name string, file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return synced{File: file, before: func() { f.before(name) }}, nil
}

func (f syncs) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return f.wrap(name, file, err)
}

func (f syncs) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.OpenReadWrite(name, c, opts...)
	return f.wrap(name, file, err)
}

func (f syncs) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(oldname, newname, c)
	return f.wrap(newname, file, err)
}

func (f syncs) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	return f.wrap(name, file, err)
}

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

package pebblestore_test

import (
	"os"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// faultFS asks before each change to the file system whether it fails. Pebble's
// own errorfs lets recycled logs escape.
type faultFS struct {
	vfs.FS
	hook *atomic.Pointer[faultHook]
	// wholeNames hands whole paths to the hook, and not their last part alone.
	wholeNames bool
}

// faultHook returns the error that an operation on a file gives, or nil.
type faultHook func(op, name string) error

func newFaultFS(inner vfs.FS) *faultFS {
	return &faultFS{FS: inner, hook: new(atomic.Pointer[faultHook])}
}

// set installs a hook; nil heals the disk.
func (f *faultFS) set(hook faultHook) {
	if hook == nil {
		f.hook.Store(nil)
		return
	}
	f.hook.Store(&hook)
}

func (f *faultFS) ask(op, name string) error {
	if hook := f.hook.Load(); hook != nil {
		if !f.wholeNames {
			name = f.PathBase(name)
		}
		return (*hook)(op, name)
	}
	return nil
}

func (f *faultFS) wrap(op, name string, act func() (vfs.File, error)) (vfs.File, error) {
	if err := f.ask(op, name); err != nil {
		return nil, err
	}
	file, err := act()
	if err != nil {
		return nil, err
	}
	return &faultFile{File: file, fs: f, name: name}, nil
}

func (f *faultFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.wrap("create", name, func() (vfs.File, error) { return f.FS.Create(name, c) })
}

func (f *faultFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.wrap("open", name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, c, opts...) })
}

func (f *faultFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.wrap("reuse", newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, c) })
}

func (f *faultFS) OpenDir(name string) (vfs.File, error) {
	return f.wrap("opendir", name, func() (vfs.File, error) { return f.FS.OpenDir(name) })
}

func (f *faultFS) MkdirAll(name string, perm os.FileMode) error {
	if err := f.ask("mkdir", name); err != nil {
		return err
	}
	return f.FS.MkdirAll(name, perm)
}

func (f *faultFS) Rename(oldname, newname string) error {
	if err := f.ask("rename", newname); err != nil {
		return err
	}
	return f.FS.Rename(oldname, newname)
}

func (f *faultFS) Link(oldname, newname string) error {
	if err := f.ask("link", newname); err != nil {
		return err
	}
	return f.FS.Link(oldname, newname)
}

func (f *faultFS) Remove(name string) error {
	if err := f.ask("remove", name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f *faultFS) Unwrap() vfs.FS { return f.FS }

type faultFile struct {
	vfs.File
	fs   *faultFS
	name string
}

func (f *faultFile) Write(p []byte) (int, error) {
	if err := f.fs.ask("write", f.name); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f *faultFile) WriteAt(p []byte, offset int64) (int, error) {
	if err := f.fs.ask("write", f.name); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, offset)
}

func (f *faultFile) Sync() error {
	if err := f.fs.ask("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultFile) SyncData() error {
	if err := f.fs.ask("sync", f.name); err != nil {
		return err
	}
	return f.File.SyncData()
}

func (f *faultFile) SyncTo(length int64) (bool, error) {
	if err := f.fs.ask("sync", f.name); err != nil {
		return false, err
	}
	return f.File.SyncTo(length)
}

// Package faultfs is a file system for tests of a ledger: it asks before each change
// whether that fails. Pebble's own errorfs lets recycled logs escape.
package faultfs

import (
	"os"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS asks before each change to the file system below whether it fails.
type FS struct {
	vfs.FS
	hook *atomic.Pointer[Hook]
	// WholeNames hands whole paths to the hook, and not their last part alone.
	WholeNames bool
}

// Hook returns the error that an operation on a file gives, or nil. It is called
// before the operation, from any goroutine.
type Hook func(op, name string) error

// New returns a file system without faults.
func New(inner vfs.FS) *FS {
	return &FS{FS: inner, hook: new(atomic.Pointer[Hook])}
}

// Set installs a hook; nil heals the disk.
func (f *FS) Set(hook Hook) {
	if hook == nil {
		f.hook.Store(nil)
		return
	}
	f.hook.Store(&hook)
}

func (f *FS) ask(op, name string) error {
	if hook := f.hook.Load(); hook != nil {
		if !f.WholeNames {
			name = f.PathBase(name)
		}
		return (*hook)(op, name)
	}
	return nil
}

func (f *FS) wrap(op, name string, act func() (vfs.File, error)) (vfs.File, error) {
	if err := f.ask(op, name); err != nil {
		return nil, err
	}
	inner, err := act()
	if err != nil {
		return nil, err
	}
	return &file{File: inner, fs: f, name: name}, nil
}

// Create creates a file: "create".
func (f *FS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.wrap("create", name, func() (vfs.File, error) { return f.FS.Create(name, c) })
}

// OpenReadWrite opens a file to change it: "open".
func (f *FS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.wrap("open", name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, c, opts...) })
}

// ReuseForWrite recycles a file: "reuse".
func (f *FS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.wrap("reuse", newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, c) })
}

// OpenDir opens a folder: "opendir".
func (f *FS) OpenDir(name string) (vfs.File, error) {
	return f.wrap("opendir", name, func() (vfs.File, error) { return f.FS.OpenDir(name) })
}

// MkdirAll makes a folder: "mkdir".
func (f *FS) MkdirAll(name string, perm os.FileMode) error {
	if err := f.ask("mkdir", name); err != nil {
		return err
	}
	return f.FS.MkdirAll(name, perm)
}

// Rename renames a file: "rename".
func (f *FS) Rename(oldname, newname string) error {
	if err := f.ask("rename", newname); err != nil {
		return err
	}
	return f.FS.Rename(oldname, newname)
}

// Link makes a hard link: "link".
func (f *FS) Link(oldname, newname string) error {
	if err := f.ask("link", newname); err != nil {
		return err
	}
	return f.FS.Link(oldname, newname)
}

// Remove deletes a file: "remove".
func (f *FS) Remove(name string) error {
	if err := f.ask("remove", name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

// Unwrap returns the file system below.
func (f *FS) Unwrap() vfs.FS { return f.FS }

type file struct {
	vfs.File
	fs   *FS
	name string
}

// Write writes: "write".
func (f *file) Write(p []byte) (int, error) {
	if err := f.fs.ask("write", f.name); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

// WriteAt writes: "write".
func (f *file) WriteAt(p []byte, offset int64) (int, error) {
	if err := f.fs.ask("write", f.name); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, offset)
}

// Sync syncs: "sync".
func (f *file) Sync() error {
	if err := f.fs.ask("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

// SyncData syncs: "sync".
func (f *file) SyncData() error {
	if err := f.fs.ask("sync", f.name); err != nil {
		return err
	}
	return f.File.SyncData()
}

// SyncTo syncs: "sync".
func (f *file) SyncTo(length int64) (bool, error) {
	if err := f.fs.ask("sync", f.name); err != nil {
		return false, err
	}
	return f.File.SyncTo(length)
}

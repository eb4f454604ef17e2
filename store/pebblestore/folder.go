package pebblestore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/store"
)

// ledgerFormat is the version of the ledger's layout: its folder and its keys.
// Records have versions of their own.
const ledgerFormat = 1

// The names in a ledger's folder.
const (
	markerName   = "everypage.ledger"
	markerTemp   = "everypage.ledger.tmp"
	begunName    = "everypage.begun" // the ledger is being made; nothing was committed
	databaseName = "db"
	receiptsName = "receipts"
	lockName     = "LOCK" // Pebble's, within the database's folder
)

func databasePath(fsys vfs.FS, dir string) string { return fsys.PathJoin(dir, databaseName) }

// marker is what the marker file says.
type marker struct {
	Ledger    string    `json:"ledger"` // always "everypage"
	Format    int       `json:"format"`
	CreatedAt time.Time `json:"created_at"`
	// Witness says that the folder has a witness since it was made.
	Witness bool `json:"witness,omitempty"`
}

// folderState is what a look at a folder found.
type folderState int

const (
	folderFresh   folderState = iota // no ledger yet, and nothing else
	folderReady                      // a ledger of a version that this build reads
	folderForeign                    // something else, and no ledger
)

// folder is a folder that may hold a ledger.
type folder struct {
	fs     vfs.FS
	path   string
	onDisk bool // fs is the disk
}

// What a ledger holds is for its owner only: the next URLs in it may contain
// credentials. Folders on the way to it are made like any other.
const (
	ownerFolder = 0o700
	ownerFile   = 0o600
	wayFolder   = 0o755
)

// look tells what the folder holds, before anything in it is touched. Anything
// but nothing and a ledger that this build reads is an error.
func (f folder) look() (folderState, error) {
	info, err := f.fs.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return folderFresh, nil
	case err != nil:
		return folderFresh, fmt.Errorf("look at the folder: %w", err)
	case !info.IsDir():
		return folderForeign, errors.New("it is a file, and a ledger is a folder")
	}
	names, err := f.fs.List(f.path)
	if err != nil {
		return folderFresh, fmt.Errorf("list the folder: %w", err)
	}
	switch {
	case slices.Contains(names, markerName):
		return folderReady, f.readable()
	case slices.Contains(names, begunName):
		return folderFresh, nil
	}
	for _, name := range names {
		if !isForeignButHarmless(name) {
			return folderForeign, fmt.Errorf("the folder holds %q and no ledger: a new ledger wants an empty folder", name)
		}
	}
	return folderFresh, nil
}

// isForeignButHarmless knows what systems put into folders by themselves.
func isForeignButHarmless(name string) bool {
	return name == "lost+found" || name == ".DS_Store" || name == markerTemp
}

// readable checks the versions of the ledger and of its database.
func (f folder) readable() error {
	data, err := readFile(f.fs, f.fs.PathJoin(f.path, markerName))
	if err != nil {
		return fmt.Errorf("read the marker: %w", err)
	}
	var m marker
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("%w: %s cannot be read: %w", store.ErrCorrupt, markerName, err)
	}
	switch {
	case m.Ledger != "everypage" || m.Format < 1:
		return fmt.Errorf("%w: %s does not say what it should", store.ErrCorrupt, markerName)
	case m.Format > ledgerFormat:
		return fmt.Errorf("%w: its format is %d, this build reads up to %d", store.ErrVersion, m.Format, ledgerFormat)
	}
	names, err := f.fs.List(databasePath(f.fs, f.path))
	if err != nil {
		return fmt.Errorf("%w: its database cannot be listed: %w", store.ErrCorrupt, err)
	}
	for _, name := range names {
		if v := databaseVersion(name); v > uint64(pebble.FormatNewest) {
			return fmt.Errorf("%w: its database has format %d, this build reads up to %d", store.ErrVersion, v, uint64(pebble.FormatNewest))
		}
	}
	return nil
}

// witnessed reports whether the marker says that there is a witness.
func (f folder) witnessed() bool {
	var m marker
	data, err := readFile(f.fs, f.fs.PathJoin(f.path, markerName))
	return err == nil && json.Unmarshal(data, &m) == nil && m.Witness
}

// databaseVersion reads the version from the name of Pebble's marker file, such
// as marker.format-version.000012.024. It is 0 for every other file.
func databaseVersion(name string) uint64 {
	rest, ok := strings.CutPrefix(name, "marker.format-version.")
	if !ok {
		return 0
	}
	_, version, _ := strings.Cut(rest, ".")
	v, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// begin says that a ledger is being made here. A process that dies before finish
// leaves a folder that the next one makes anew.
func (f folder) begin() error {
	parents := f.parentsOfNew()
	if len(parents) > 1 {
		if err := f.fs.MkdirAll(parents[0], wayFolder); err != nil {
			return fmt.Errorf("make the folder above: %w", err)
		}
	}
	if err := f.fs.MkdirAll(f.path, ownerFolder); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	file, err := f.fs.Create(f.fs.PathJoin(f.path, begunName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("write in the folder: %w", err)
	}
	if err := errors.Join(file.Sync(), file.Close(), f.sync()); err != nil {
		return fmt.Errorf("write in the folder: %w", err)
	}
	// The folder's own name has to last as well, and those above it.
	for _, parent := range parents {
		if err := syncFolder(f.fs, parent); err != nil {
			return fmt.Errorf("sync the folder above: %w", err)
		}
	}
	return nil
}

// parentsOfNew returns the folders that gain a name when the path is made.
func (f folder) parentsOfNew() []string {
	var parents []string
	for path := f.path; ; {
		if _, err := f.fs.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return parents
		}
		parent := f.fs.PathDir(path)
		if parent == path {
			return parents
		}
		parents = append(parents, parent)
		path = parent
	}
}

// acquire takes the lock. It returns an error that wraps store.ErrLocked if
// somebody else has it.
func (f folder) acquire(disk *disk) (*pebble.Lock, error) {
	path := databasePath(f.fs, f.path)
	if err := f.fs.MkdirAll(path, ownerFolder); err != nil {
		return nil, fmt.Errorf("make the database's folder: %w", err)
	}
	lock, err := pebble.LockDirectory(path, disk)
	if err == nil {
		return lock, nil
	}
	if isLocked(err) {
		return nil, fmt.Errorf("%w: %w", store.ErrLocked, err)
	}
	return nil, fmt.Errorf("lock the database: %w", err)
}

// isLocked tells a lock that somebody else has from one that cannot be had at
// all. The file systems report the first without a path; a lock of this very
// process comes without a system error.
func isLocked(err error) bool {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return false
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return true
	}
	if runtime.GOOS == "windows" {
		return errno == 32 || errno == 33 // sharing violation, lock violation
	}
	return errno == syscall.EAGAIN || errno == syscall.EACCES
}

// clear removes what an attempt to make the ledger left. The caller has the lock.
func (f folder) clear() error {
	path := databasePath(f.fs, f.path)
	if err := f.clearWitness(); err != nil {
		return err
	}
	names, err := f.fs.List(path)
	if err != nil {
		return fmt.Errorf("list the database: %w", err)
	}
	for _, name := range names {
		if name == lockName {
			continue
		}
		if err := f.fs.RemoveAll(f.fs.PathJoin(path, name)); err != nil {
			return fmt.Errorf("clear an unfinished database: %w", err)
		}
	}
	return nil
}

// clearWitness removes the witness of a ledger in which nothing was committed.
func (f folder) clearWitness() error {
	if data, err := readFile(f.fs, f.fs.PathJoin(f.path, witnessName)); err == nil {
		if commits, _, err := parseWitness(data); err == nil && commits > 0 {
			return fmt.Errorf("%w: %s is missing, and %s knows of %d commits", store.ErrCorrupt, markerName, witnessName, commits)
		}
	}
	if err := f.fs.Remove(f.fs.PathJoin(f.path, witnessName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clear an unfinished ledger: %w", err)
	}
	return nil
}

// finish writes the marker: from now on the folder is a ledger.
func (f folder) finish(now time.Time) error {
	data, err := json.Marshal(marker{Ledger: "everypage", Format: ledgerFormat, CreatedAt: now.UTC(), Witness: true})
	if err != nil {
		return fmt.Errorf("write the marker: %w", err)
	}
	temp := f.fs.PathJoin(f.path, markerTemp)
	file, err := f.fs.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("write the marker: %w", err)
	}
	if f.onDisk { // the file system of Pebble knows no modes
		err = os.Chmod(temp, ownerFile)
	}
	if err == nil {
		_, err = file.Write(append(data, '\n'))
	}
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the marker: %w", err)
	}
	if err := f.fs.Rename(temp, f.fs.PathJoin(f.path, markerName)); err != nil {
		return fmt.Errorf("write the marker: %w", err)
	}
	if err := f.sync(); err != nil {
		return fmt.Errorf("write the marker: %w", err)
	}
	return nil
}

// tidy removes the note that a ledger is being made, where one is left. The marker
// counts more; but should it be lost one day, the note must not come back.
func (f folder) tidy() {
	if err := f.fs.Remove(f.fs.PathJoin(f.path, begunName)); err == nil {
		_ = f.sync() // if it fails, the next open tries again
	}
}

func (f folder) sync() error { return syncFolder(f.fs, f.path) }

// syncFolder makes the names in a folder durable.
func syncFolder(fsys vfs.FS, path string) error {
	dir, err := fsys.OpenDir(path)
	if err != nil {
		return fmt.Errorf("open a folder to sync it: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func readFile(fsys vfs.FS, path string) (data []byte, err error) {
	file, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(file)
}

// realPath follows symbolic links, so that one folder has one name: the lock
// tells the holders within a process apart by name.
func realPath(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no folder was given")
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the folder: %w", err)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return path, nil
	}
	return resolved, err
}

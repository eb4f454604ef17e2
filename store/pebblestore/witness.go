package pebblestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/store"
)

// A database whose log or manifest lost its end opens as if what stood there had
// never been: the newest records are gone, or, where a manifest forgot a table,
// those in the middle. The witness notices. It is a file beside the database that
// says how many commits were made, and which manifest and logs hold them:
//
//   - Each commit carries its number in its own batch. The witness is written
//     after that batch is durable, so it never says more than is there. It is
//     synced when a run becomes complete and when the ledger is closed; in between
//     the system keeps it, so that it survives a killed process, and maybe not a
//     crash of the machine.
//   - The manifest's length and checksum are synced after each sync of the
//     manifest; the names of the logs after they are durable and before they go, and
//     the length of those that no longer grow.
//
// What it cannot notice: that the last commits before a crash of the machine are
// missing, where the disk forgot what it had synced and the witness was not synced
// after them; and a folder that was put back to an earlier day as a whole.
type witness struct {
	database string   // the path of the database's folder
	file     vfs.File // of the store's disk
	closer   *folderLock

	commits atomic.Uint64

	mu      sync.Mutex // guards what follows
	files   witnessFiles
	pending []uint64 // logs whose names are not durable yet
}

// witnessName is the file's name in the ledger's folder.
const witnessName = "everypage.witness"

// witnessFiles are the files that hold the records.
type witnessFiles struct {
	generation uint64
	manifest   uint64 // its number; 0: not known
	length     int64  // how much of it is durable
	sum        uint32 // CRC-32C over that
	logs       []witnessLog
}

// witnessLog is a log that holds records which may be in no table.
type witnessLog struct {
	number uint64
	length int64 // of one that is closed; 0 while it grows
}

// The file has four lines of the same length: two for the commits and two for the
// files, written in turn, so that a write that was cut short leaves the one before.
const (
	witnessLine = 256
	witnessLogs = 10 // as many as a line has room for; a database has two or three
)

// keyCommits is the key of the number of the newest commit.
const keyCommits = 'w'

func commitsKey() []byte { return []byte{keyCommits} }

func castagnoli(sum uint32, data []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), data)
}

// sealLine returns a line with its checksum.
func sealLine(text string) []byte {
	line := fmt.Appendf(make([]byte, 0, witnessLine), "%08x %s", castagnoli(0, []byte(text)), text)
	for len(line) < witnessLine-1 {
		line = append(line, ' ')
	}
	return append(line, '\n')
}

func commitsLine(commits uint64) string { return "commits " + strconv.FormatUint(commits, 10) }

func (f *witnessFiles) line() string {
	text := fmt.Appendf(nil, "files %d manifest %d %d %08x logs", f.generation, f.manifest, f.length, f.sum)
	for _, log := range f.logs[max(0, len(f.logs)-witnessLogs):] {
		text = fmt.Appendf(text, " %d:%d", log.number, log.length)
	}
	return string(text)
}

// parseWitness returns the newest that whole lines say.
func parseWitness(data []byte) (commits uint64, files witnessFiles, err error) {
	var counted, listed bool
	for ; len(data) >= witnessLine; data = data[witnessLine:] {
		line := string(data[:witnessLine])
		if len(line) < 9 || string(sealLine(strings.TrimRight(line[9:], " \n"))) != line {
			continue // never written, cut short, or damaged
		}
		fields := strings.Fields(line[9:])
		switch {
		case len(fields) == 2 && fields[0] == "commits":
			if n, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
				commits, counted = max(commits, n), true
			}
		case len(fields) >= 7 && fields[0] == "files":
			if f, err := parseFiles(fields); err == nil && (!listed || f.generation > files.generation) {
				files, listed = f, true
			}
		}
	}
	if !counted || !listed {
		return 0, witnessFiles{}, fmt.Errorf("%w: the file %s cannot be read, without which nobody can tell whether all records are there", store.ErrCorrupt, witnessName)
	}
	return commits, files, nil
}

func parseFiles(fields []string) (f witnessFiles, err error) {
	number := func(text string) uint64 {
		n, failed := strconv.ParseUint(text, 10, 63)
		err = errors.Join(err, failed)
		return n
	}
	f.generation, f.manifest, f.length = number(fields[1]), number(fields[3]), int64(number(fields[4])) //nolint:gosec // 63 bits
	sum, failed := strconv.ParseUint(fields[5], 16, 32)
	f.sum, err = uint32(sum), errors.Join(err, failed)
	for _, text := range fields[7:] {
		log, length, _ := strings.Cut(text, ":")
		f.logs = append(f.logs, witnessLog{number: number(log), length: int64(number(length))}) //nolint:gosec // 63 bits
	}
	return f, err
}

// openWitness compares the witness with the files of the database, before Pebble
// changes any, and opens it for writing. must says that there has to be one: an
// older build made none. It returns how many commits there have to be.
func (s *Store) openWitness(folder folder, must bool) (said uint64, err error) {
	path := folder.fs.PathJoin(folder.path, witnessName)
	data, err := readFile(folder.fs, path)
	isNew := errors.Is(err, fs.ErrNotExist)
	switch {
	case isNew && must && !s.options.AcceptLoss:
		return 0, fmt.Errorf("%w: the file %s is missing, without which nobody can tell whether all records are there", store.ErrCorrupt, witnessName)
	case err != nil && !isNew:
		return 0, fmt.Errorf("read %s: %w", witnessName, err)
	}
	var files witnessFiles
	if !isNew {
		said, files, err = parseWitness(data)
		if err == nil {
			err = files.check(folder.fs, databasePath(folder.fs, folder.path))
		}
		if err != nil {
			said, files = 0, witnessFiles{}
		}
		if err = s.loss(err); err != nil {
			return 0, err
		}
	}
	w := &s.witness
	w.database, w.files = databasePath(folder.fs, folder.path), files
	return said, s.onDisk(func() error { return w.open(s.disk, folder, path, said) })
}

// loss says what becomes of a loss that was noticed: the caller may have said that
// it is accepted.
func (s *Store) loss(err error) error {
	if err == nil || !s.options.AcceptLoss || !errors.Is(err, store.ErrCorrupt) {
		return err
	}
	s.options.Logger.Warn("records are missing, and that is accepted", "path", s.dir, "loss", err)
	return nil
}

// check compares what was written down about the files with what is there.
func (f *witnessFiles) check(fsys vfs.FS, database string) error {
	for _, log := range f.logs {
		name := fmt.Sprintf("%06d.log", log.number)
		info, err := fsys.Stat(fsys.PathJoin(database, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: the database's log %s is missing", store.ErrCorrupt, name)
		case err != nil:
			return fmt.Errorf("look at the database's log %s: %w", name, err)
		case info.Size() < log.length:
			return fmt.Errorf("%w: the database's log %s has %d bytes, and %d were written", store.ErrCorrupt, name, info.Size(), log.length)
		}
	}
	if f.manifest == 0 {
		return nil
	}
	name := fmt.Sprintf("MANIFEST-%06d", f.manifest)
	data, err := readFile(fsys, fsys.PathJoin(database, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: the database's %s is missing", store.ErrCorrupt, name)
	case err != nil:
		return fmt.Errorf("read the database's %s: %w", name, err)
	case int64(len(data)) < f.length:
		return fmt.Errorf("%w: the database's %s has %d bytes, and %d were written", store.ErrCorrupt, name, len(data), f.length)
	case castagnoli(0, data[:f.length]) != f.sum:
		return fmt.Errorf("%w: the database's %s is not what was written", store.ErrCorrupt, name)
	}
	return nil
}

// open opens the file for writing, with what it says written anew.
func (w *witness) open(disk *disk, folder folder, path string, commits uint64) error {
	if _, err := disk.Stat(path); errors.Is(err, fs.ErrNotExist) {
		file, err := disk.Create(path, vfs.WriteCategoryUnspecified)
		if err == nil {
			err = file.Close()
		}
		if err != nil {
			return err
		}
	}
	file, err := disk.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	w.file, w.closer = file, &folderLock{closer: file}
	if folder.onDisk {
		if err := os.Chmod(path, ownerFile); err != nil {
			return err
		}
	}
	w.files.generation++
	if err := errors.Join(w.goBack(commits), w.writeFiles(), syncFolder(disk, folder.path)); err != nil {
		return err
	}
	disk.witness.Store(w)
	return nil
}

// note writes down that so many commits are durable.
func (w *witness) note(commits uint64) error {
	_, err := w.file.WriteAt(sealLine(commitsLine(commits)), int64(commits%2)*witnessLine)
	w.commits.Store(commits)
	return err
}

// attested writes the witness of a copy, which has so many commits at least; which
// files hold them is written down when the copy is opened.
func (f folder) attested(commits uint64) error {
	file, err := f.fs.Create(f.fs.PathJoin(f.path, witnessName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("write the witness: %w", err)
	}
	text := slices.Concat(sealLine(commitsLine(commits)), sealLine(commitsLine(commits)), sealLine((&witnessFiles{}).line()))
	_, err = file.Write(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the witness: %w", err)
	}
	return nil
}

// goBack writes down that so many commits are wanted and no more, whatever it said
// before.
func (w *witness) goBack(commits uint64) error {
	_, err := w.file.WriteAt(sealLine(commitsLine(commits)), int64((commits+1)%2)*witnessLine)
	return errors.Join(err, w.note(commits))
}

// writeFiles makes durable what is known of the files.
func (w *witness) writeFiles() error {
	_, err := w.file.WriteAt(sealLine(w.files.line()), int64(2+w.files.generation%2)*witnessLine)
	if err != nil {
		return err
	}
	return w.file.Sync()
}

// change makes a change of what is known of the files durable.
func (w *witness) change(edit func(*witnessFiles)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	edit(&w.files)
	w.files.generation++
	return w.writeFiles()
}

// manifestSynced notes how much of the manifest is durable.
func (w *witness) manifestSynced(number uint64, length int64, sum uint32) error {
	return w.change(func(f *witnessFiles) { f.manifest, f.length, f.sum = number, length, sum })
}

// logMade notes a log that is there once its folder is synced.
func (w *witness) logMade(number uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, number)
}

// unsyncedLogs returns the logs that a sync of the folder makes durable.
func (w *witness) unsyncedLogs() []uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.pending)
}

// logsSynced notes that logs are there.
func (w *witness) logsSynced(logs []uint64) error {
	if len(logs) == 0 {
		return nil
	}
	return w.change(func(f *witnessFiles) {
		for _, log := range logs {
			f.logs = append(f.logs, witnessLog{number: log})
		}
		w.pending = slices.DeleteFunc(w.pending, func(log uint64) bool { return slices.Contains(logs, log) })
	})
}

// logClosed notes how long a log is in the end. That becomes durable together with
// the log that follows: until then the number of commits tells.
func (w *witness) logClosed(number uint64, length int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.files.logs {
		if w.files.logs[i].number == number {
			w.files.logs[i].length = length
		}
	}
}

// logGoes notes that a log may be gone from now on.
func (w *witness) logGoes(number uint64) error {
	w.mu.Lock()
	w.pending = slices.DeleteFunc(w.pending, func(log uint64) bool { return log == number })
	is := func(log witnessLog) bool { return log.number == number }
	known := slices.ContainsFunc(w.files.logs, is)
	w.mu.Unlock()
	if !known {
		return nil
	}
	return w.change(func(f *witnessFiles) { f.logs = slices.DeleteFunc(f.logs, is) })
}

// close makes the witness durable. Where all records are in tables the logs are no
// longer wanted. Only the closing goroutine calls it.
func (w *witness) close(inTables bool) error {
	if w.file == nil {
		return nil
	}
	err := w.change(func(f *witnessFiles) {
		if inTables {
			f.logs = nil
		}
	})
	return errors.Join(err, w.closer.Close())
}

// abandon lets the file of a failed store go. Nothing writes to it any more.
func (w *witness) abandon() {
	if w.closer != nil {
		_ = w.closer.Close() // the folder was given up; there is nobody to tell
	}
}

// compareCommits compares what the witness said with what is in the database.
func (s *Store) compareCommits(said uint64) error {
	var recorded uint64
	err := s.get(commitsKey(), func(value []byte) error {
		n, length := binary.Uvarint(value)
		if length <= 0 {
			return fmt.Errorf("%w: the number of commits cannot be read", store.ErrCorrupt)
		}
		recorded = n
		return nil
	})
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound): // none was made yet
		return err
	case recorded < said:
		if err := s.loss(&lostEndError{made: said, there: recorded}); err != nil {
			return err
		}
	}
	if recorded == said {
		return nil
	}
	return s.onDisk(func() error { return s.witness.goBack(recorded) })
}

// count puts the number of the next commit into its batch.
func (s *Store) count(batch *pebble.Batch) (commits uint64, err error) {
	commits = s.witness.commits.Load() + 1
	return commits, batch.Set(commitsKey(), binary.AppendUvarint(nil, commits), nil)
}

// onDisk does something to the folder in a goroutine of its own, which the disk
// may park.
func (s *Store) onDisk(act func() error) error {
	done := make(chan error, 1)
	go func() { done <- act() }()
	select {
	case err := <-done:
		return err
	case <-s.disk.failed:
		return s.failure()
	}
}

// lostEndError says that commits are missing which were made.
type lostEndError struct{ made, there uint64 }

func (e *lostEndError) Error() string {
	return fmt.Sprintf("its newest records are missing: %d commits were made, and the database holds the first %d", e.made, e.there)
}

func (e *lostEndError) Unwrap() error { return store.ErrCorrupt }

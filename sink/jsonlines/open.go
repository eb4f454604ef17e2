package jsonlines

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

const defaultJournalLimit = 4 << 20

// Open opens a file for a job, makes it if there is none, and brings it into line
// with what the ledger knows. ledger is where the job's runs are.
//
// A file that cannot be used gives a [*FileError], and is left as it is.
func Open(ctx context.Context, path string, ledger store.Reader, options Options) (*File, error) {
	if options.JournalLimit == 0 {
		options.JournalLimit = defaultJournalLimit
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // one file has one journal
	}
	f := &File{path: path, folder: path + Suffix, options: options, marks: make(map[string]*mark)}
	if err := f.open(ctx, ledger); err != nil {
		err = errors.Join(err, closeAll(f.journal, f.out))
		if f.lock != nil {
			err = errors.Join(err, f.lock.Unlock())
		}
		if _, ok := errors.AsType[*FileError](err); !ok {
			err = &FileError{Path: path, Err: err}
		}
		return nil, err
	}
	return f, nil
}

func (f *File) open(ctx context.Context, ledger store.Reader) error {
	size, err := f.look()
	if err != nil {
		return err
	}
	if err := f.hold(); err != nil {
		return err
	}
	point, lines, err := readJournal(journalPath(f.folder))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if size > 0 {
			return f.refuse(ErrForeign, fmt.Sprintf("it holds %d bytes, and no journal is beside it", size), "choose a file that does not exist yet, or put the folder "+filepath.Base(f.folder)+" back")
		}
		if err := f.mayBegin(ctx, ledger); err != nil {
			return err
		}
		point = checkpoint{Format: journalFormat, Job: f.options.Job}
	case err != nil:
		return err
	case point.Job != f.options.Job:
		return f.refuse(ErrForeign, fmt.Sprintf("job %q writes it", point.Job), "choose another file for this job")
	}
	f.point = point
	if err := f.adopt(ctx, ledger, lines); err != nil {
		return err
	}
	f.out, err = os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // the file that the caller named
	if err != nil {
		return err
	}
	if err := f.reconcile(lines); err != nil {
		return err
	}
	syncFolder(filepath.Dir(f.path))
	return f.restart()
}

func (f *File) refuse(kind error, why, hint string) error {
	return &FileError{Path: f.path, Err: fmt.Errorf("%w: %s", kind, why), Hint: hint}
}

// look returns the size of the file, 0 where there is none.
func (f *File) look() (int64, error) {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(f.path)); err != nil {
			return 0, fmt.Errorf("its folder: %w", err)
		}
		return 0, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, errors.New("it is no regular file, and could not be brought into line after a kill")
	}
	return info.Size(), nil
}

// hold takes the file for this process. The lock ends with the process.
func (f *File) hold() error {
	if err := os.MkdirAll(f.folder, 0o755); err != nil { //nolint:gosec // as readable as the file itself
		return err
	}
	lock := flock.New(filepath.Join(f.folder, "lock"))
	locked, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock it: %w", err)
	}
	if !locked {
		return f.refuse(ErrInUse, "its lock is taken", "wait until that one ends, or choose another file")
	}
	f.lock = lock
	return nil
}

// mayBegin refuses a new file for an open run that has lines elsewhere.
func (f *File) mayBegin(ctx context.Context, ledger store.Reader) error {
	if f.options.NewFile {
		return nil
	}
	lineage := ""
	if f.options.RunID != "" {
		pinned, err := ledger.Run(ctx, f.options.RunID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look for the run: %w", err)
		}
		lineage = pinned.Lineage // a superseded run answers with its successor
	}
	for run, err := range ledger.Runs(ctx, store.RunFilter{Job: f.options.Job}) {
		if err != nil {
			return fmt.Errorf("look for an open run: %w", err)
		}
		r := run.Receipt
		if r.Status == state.Complete || r.SupersededBy != "" || lineage != "" && run.Lineage != lineage {
			continue
		}
		has, err := hasLines(ctx, ledger, run)
		if err != nil {
			return err
		}
		if has {
			return f.refuse(ErrElsewhere, "run "+r.RunID+" has done items whose lines are not in it", "name the file that the run was begun with, or say that a new one will do")
		}
	}
	return nil
}

// hasLines reports whether a run or one of its predecessors has done anything.
func hasLines(ctx context.Context, ledger store.Reader, run store.Run) (bool, error) {
	for run.Receipt.ProcessedUnique == 0 {
		if run.Receipt.Supersedes == "" {
			return false, nil
		}
		var err error
		if run, err = ledger.Run(ctx, run.Receipt.Supersedes); err != nil {
			return false, fmt.Errorf("look up the run's predecessor: %w", err)
		}
	}
	return true, nil
}

// adopt takes over the keys of lines whose items the ledger does not know as done.
func (f *File) adopt(ctx context.Context, ledger store.Reader, lines []entry) error {
	marks := f.point.Unconfirmed
	if marks == nil {
		marks = make(map[string]*mark)
	}
	for _, e := range lines {
		marks[e.Key] = &mark{RunID: e.RunID, ItemID: e.ItemID}
		f.point.RunID = e.RunID
	}
	if f.point.RunID == "" {
		return nil
	}
	if _, err := ledger.Run(ctx, f.point.RunID); errors.Is(err, store.ErrNotFound) {
		return f.refuse(ErrForeign, "run "+f.point.RunID+" wrote it, and this ledger has no such run", "name the ledger that the file was written with, or choose another file")
	} else if err != nil {
		return err
	}
	byRun := make(map[string][]string) // keys
	for key, m := range marks {
		byRun[m.RunID] = append(byRun[m.RunID], key)
	}
	for runID, keys := range byRun {
		run, err := ledger.Run(ctx, runID)
		if err != nil {
			return fmt.Errorf("look up run %s: %w", runID, err)
		}
		ids := make([]string, len(keys))
		for i, key := range keys {
			ids[i] = marks[key].ItemID
		}
		items, err := ledger.Items(ctx, run.Scope, ids)
		if err != nil {
			return fmt.Errorf("look up the items of run %s: %w", runID, err)
		}
		for i, item := range items {
			done := item.State == store.StateDone && everypage.Key(run.Scope, item.ID, run.Receipt.Action) == keys[i]
			if !done {
				f.marks[keys[i]] = marks[keys[i]]
			}
		}
	}
	return nil
}

// reconcile checks that the file is what the journal says, and writes the lines
// behind the checkpoint once more.
func (f *File) reconcile(lines []entry) error {
	info, err := f.out.Stat()
	if err != nil {
		return err
	}
	var behind []byte
	for _, e := range lines {
		behind = append(behind, e.text...)
	}
	const hint = "restore the file as it was, or choose another one"
	size := info.Size()
	switch {
	case size < f.point.Size:
		return f.refuse(ErrChanged, fmt.Sprintf("it has %d bytes, and %d were written: it was cut or replaced", size, f.point.Size), hint)
	case size > f.point.Size+int64(len(behind)):
		return f.refuse(ErrChanged, fmt.Sprintf("it has %d bytes, and %d were written: something was appended", size, f.point.Size+int64(len(behind))), hint)
	}
	last, err := f.read(f.point.Size-int64(f.point.LastLength), f.point.Size)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(last); f.point.LastLength > 0 && !bytes.Equal(sum[:], f.point.LastHash) {
		return f.refuse(ErrChanged, "its last synced line is not what was written", hint)
	}
	found, err := f.read(f.point.Size, size)
	if err != nil {
		return err
	}
	if !startOf(behind, found) {
		return f.refuse(ErrChanged, "its last lines are not what was written", hint)
	}
	if _, err := f.out.WriteAt(behind, f.point.Size); err != nil {
		return f.broken("write to it", err)
	}
	for _, e := range lines {
		f.point.follow(&batch{lines: e.text, last: e.text, runID: e.RunID})
	}
	return nil
}

func (f *File) read(from, to int64) ([]byte, error) {
	data := make([]byte, to-from)
	_, err := f.out.ReadAt(data, from)
	if errors.Is(err, io.EOF) && to == from {
		err = nil
	}
	return data, err
}

// startOf reports whether found is the start of what was written. A crash of the
// machine may leave zeros where the rest was to be.
func startOf(written, found []byte) bool {
	for i, c := range found {
		if c != written[i] {
			return len(bytes.Trim(found[i:], "\x00")) == 0
		}
	}
	return true
}

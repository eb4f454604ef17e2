package pebblestore

import (
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// part is what a file is to the witness.
type part struct {
	kind   partKind
	number uint64
	length int64
	sum    uint32
}

type partKind int

const (
	partOther partKind = iota
	partManifest
	partLog
	partFolder // the database's own
)

// add counts what is written to a manifest or a log: at its end, always.
func (p *part) add(data []byte) {
	p.length += int64(len(data))
	if p.kind == partManifest {
		p.sum = castagnoli(p.sum, data)
	}
}

// watch returns a file whose changes the disk sees.
func (d *disk) watch(file vfs.File, name string) *diskFile {
	f := &diskFile{File: file, disk: d, name: name}
	w := d.witness.Load()
	switch {
	case w == nil:
	case name == w.database:
		f.part.kind = partFolder
	case d.PathDir(name) == w.database:
		if number, ok := numberOf(d.PathBase(name), "MANIFEST-", ""); ok {
			f.part.kind, f.part.number = partManifest, number
		} else if number, ok := numberOf(d.PathBase(name), "", ".log"); ok {
			f.part.kind, f.part.number = partLog, number
		}
	}
	return f
}

// numberOf reads the number in the name of a file of Pebble's.
func numberOf(base, before, after string) (uint64, bool) {
	rest, ok := strings.CutPrefix(base, before)
	if !ok {
		return 0, false
	}
	if rest, ok = strings.CutSuffix(rest, after); !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(rest, 10, 63)
	return number, err == nil
}

// logOf returns the witness and the number of one of the database's logs.
func (d *disk) logOf(name string) (w *witness, number uint64, ok bool) {
	if w = d.witness.Load(); w == nil || d.PathDir(name) != w.database {
		return nil, 0, false
	}
	number, ok = numberOf(d.PathBase(name), "", ".log")
	return w, number, ok
}

func (d *disk) logMade(name string) {
	if w, number, ok := d.logOf(name); ok {
		w.logMade(number)
	}
}

// logGoes lets the witness forget a log before it goes.
func (d *disk) logGoes(name string) {
	if w, number, ok := d.logOf(name); ok {
		_ = w.logGoes(number) // an error of the witness fails the disk, and parks
	}
}

// synced is what a sync that is under way makes durable.
type synced struct {
	part part
	logs []uint64
}

func (d *disk) beforeSync(f *diskFile) synced {
	s := synced{part: f.part}
	if w := d.witness.Load(); w != nil && f.part.kind == partFolder {
		s.logs = w.unsyncedLogs()
	}
	return s
}

// attest lets the witness say what a sync has made durable.
func (d *disk) attest(s synced) {
	w := d.witness.Load()
	if w == nil {
		return
	}
	switch s.part.kind { // an error of the witness fails the disk, and parks
	case partManifest:
		_ = w.manifestSynced(s.part.number, s.part.length, s.part.sum)
	case partFolder:
		_ = w.logsSynced(s.logs)
	case partLog, partOther:
	}
}

// Close closes the file; a log that is closed grows no more.
func (f *diskFile) Close() error {
	err := f.File.Close()
	if w := f.disk.witness.Load(); w != nil && f.part.kind == partLog {
		w.logClosed(f.part.number, f.part.length)
	}
	return err
}

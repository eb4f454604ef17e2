package pebblestore

import (
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options tune a store. A nil *Options is valid.
type Options struct {
	// FS is where the folder lives. With another FS than the disk there is no
	// mirror of the receipts. Defaults to the disk.
	FS vfs.FS
	// Logger is told what goes wrong beside a call, and at debug level what
	// Pebble does. Defaults to none.
	Logger *slog.Logger
	// Now is the clock for the instants that the store itself writes down.
	// Defaults to time.Now.
	Now func() time.Time
	// MustExist keeps Open from making a ledger: where there is none, it returns
	// an error that wraps store.ErrNotFound and leaves the folder as it is. It is
	// for commands that only read, so that a mistyped path is noticed. Defaults
	// to false.
	MustExist bool
	// AcceptLoss opens a ledger of which records are missing that were confirmed,
	// for a person who has no backup: what they recorded is not known any more, so
	// that its items are called again, with the same keys, and the ledger says
	// nothing of the loss from then on. Damage that is still there stays an error.
	// Keep a copy of the folder. Defaults to false.
	AcceptLoss bool
	// NoMirror leaves the folder receipts alone. Defaults to false.
	NoMirror bool
	// MirrorInterval is the least time between two writes of one job's mirrored
	// receipt while its status stays the same. Defaults to one second.
	MirrorInterval time.Duration
	// Random is where the salt of the keys of long IDs comes from, once for each
	// scope. Defaults to crypto/rand.Reader.
	Random io.Reader
	// CacheSize is the memory for what was read, in bytes; the memory for what was
	// written counts against it. It holds the filters that make looking an absent ID
	// up cheap, 1.25 bytes an item: with less than 24 MiB, long lists of IDs in random
	// order are walked more slowly. Defaults to 32 MiB.
	CacheSize int64
	// MemTableSize is the memory for what was written and is not yet in a table,
	// in bytes; a process holds up to twice as much. Defaults to 4 MiB.
	MemTableSize uint64
}

// Validate reports everything that is wrong with the options.
func (o *Options) Validate() error {
	if o == nil {
		return nil
	}
	var problems []error
	if o.MirrorInterval < 0 {
		problems = append(problems, errors.New("MirrorInterval is negative"))
	}
	if o.CacheSize < 0 {
		problems = append(problems, errors.New("CacheSize is negative"))
	}
	if o.MemTableSize != 0 && o.MemTableSize < 64<<10 || o.MemTableSize > 1<<30 {
		problems = append(problems, errors.New("MemTableSize is not between 64 KiB and 1 GiB"))
	}
	return errors.Join(problems...)
}

// withDefaults returns a copy in which every field is set.
func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.FS == nil {
		out.FS = vfs.Default
	} else {
		out.NoMirror = true
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	if out.Now == nil {
		out.Now = time.Now //nolint:forbidigo // the default clock
	}
	if out.Random == nil {
		out.Random = rand.Reader
	}
	if out.MirrorInterval == 0 {
		out.MirrorInterval = time.Second
	}
	if out.CacheSize == 0 {
		out.CacheSize = 32 << 20
	}
	if out.MemTableSize == 0 {
		out.MemTableSize = 4 << 20
	}
	return out
}

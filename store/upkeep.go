package store

import (
	"context"
	"errors"
	"time"
)

// Backuper is a Store that can copy itself while it is in use.
type Backuper interface {
	// Backup copies the ledger, as of some instant during the call, into a folder
	// that does not exist yet. Commits go on meanwhile. A failure of that folder's
	// disk leaves the ledger as it is, and no half copy that opens.
	Backup(ctx context.Context, dir string) error
}

// Pruner is a Store that can remove runs.
type Pruner interface {
	// Prune removes runs with everything that belongs to them, in one step. It
	// returns an error that wraps ErrNotFound if one is not there, and ErrOpen if
	// one is neither complete nor superseded; then nothing is removed. A run with
	// the ID of a removed one cannot begin: that is ErrExists.
	Prune(ctx context.Context, removal Removal) error
}

// Removal says what is removed.
type Removal struct {
	// RunIDs are the runs, with their pages, conflicts and transitions.
	RunIDs []string
	// Scopes are the scopes whose items are removed. No other run may have one.
	Scopes []string
	// By is who asked for it, and At when; they stay in the ledger.
	By string
	At time.Time
}

// ErrOpen says that a run is neither complete nor superseded.
var ErrOpen = errors.New("the run is open")

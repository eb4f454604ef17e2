package store

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// Store keeps a ledger. Its methods may be called from several goroutines.
type Store interface {
	Reader

	// Commit applies a change as a whole and returns when it is durable. It
	// returns an error that wraps ErrExists if change.Begin is set and the run is
	// there already, and one that wraps ErrNotFound if it is not set and the run is
	// not there, or the run of change.Also is not; nothing is applied then. Any other
	// error leaves open whether the change was applied; the caller must stop and, if
	// at all, go on from what it reads anew. That the context was cancelled keeps
	// nothing from being applied: an outcome has to be recorded although its caller
	// is gone.
	Commit(ctx context.Context, change Change) error

	// Hold makes the caller the only one that works on a job, until release is
	// called or the process ends. It returns an error that wraps ErrHeld, at
	// once, if somebody else does.
	Hold(ctx context.Context, job string) (release func(), err error)

	// Close releases the ledger. It waits for commits that are under way.
	Close() error
}

// Reader reads a ledger. What it returns is as of some instant during the call;
// sequences yield at most one error and then stop. A record that cannot be read
// gives an error that wraps ErrCorrupt, one of a newer version ErrVersion.
type Reader interface {
	// Run returns a run, or an error that wraps ErrNotFound.
	Run(ctx context.Context, runID string) (Run, error)

	// Runs returns runs, the newest first.
	Runs(ctx context.Context, filter RunFilter) iter.Seq2[Run, error]

	// Items looks up items of a scope by ID. The answer has one element for each
	// ID, in the same order; an item that was never recorded has StateUnknown.
	Items(ctx context.Context, scope string, ids []string) ([]Item, error)

	// Held returns the items of a scope whose state is Held, in the order of
	// their IDs.
	Held(ctx context.Context, scope string) iter.Seq2[Item, error]

	// Pages returns the page revisions of a run with an index of at least from,
	// by index and then by revision.
	Pages(ctx context.Context, runID string, from int) iter.Seq2[Page, error]

	// PageAt returns the index of the page that the run has read at a cursor,
	// and whether there is one. The start cursor counts like any other.
	PageAt(ctx context.Context, runID string, cursor pager.Cursor) (index int, found bool, err error)

	// Conflicts returns a run's conflicts in the order in which they were seen.
	Conflicts(ctx context.Context, runID string) iter.Seq2[Conflict, error]

	// Events returns a run's transitions in order.
	Events(ctx context.Context, runID string) iter.Seq2[state.Transition, error]
}

// Change is one atomic step of a ledger: the run as it is afterwards, with the
// counters of its receipt, and the records that those counters count.
type Change struct {
	// Run is the run as it is from now on.
	Run Run
	// Begin says that the run must not exist yet.
	Begin bool
	// Page is a new revision of a page, if there is one.
	Page *Page
	// Items replace the items of the same scope and ID.
	Items []Item
	// Conflicts replace the conflicts of the same number.
	Conflicts []Conflict
	// Events are appended.
	Events []state.Transition
	// Also is another run that changes in the same step, such as the one that is
	// superseded, with its events.
	Also *Also
}

// Also is a second run of a change.
type Also struct {
	Run    Run
	Events []state.Transition
}

// RunFilter chooses runs. Its zero value chooses all.
type RunFilter struct {
	Job    string       // empty: every job
	Status state.Status // empty: every status
}

// The errors that a Store returns, to be tested with errors.Is.
var (
	ErrNotFound = errors.New("not in the ledger")
	ErrExists   = errors.New("already in the ledger")
	ErrHeld     = errors.New("held by another runner")
	ErrLocked   = errors.New("the ledger is in use")
	ErrCorrupt  = errors.New("the ledger is damaged")
	ErrVersion  = errors.New("the ledger was written by a newer version")
	ErrClosed   = errors.New("the ledger is closed")
	ErrFailed   = errors.New("the ledger's disk failed")
)

// Error is a failure of a store, with what a person can do about it.
type Error struct {
	Op   string // what was being done, such as "open"
	Path string // where, such as the ledger's folder; may be empty
	Err  error  // wraps one of the errors above where one fits
	Hint string // what to do next; may be empty
}

func (e *Error) Error() string {
	text := "everypage: ledger: " + e.Op
	if e.Path != "" {
		text += " " + e.Path
	}
	text = fmt.Sprintf("%s: %v", text, e.Err)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

package store

import (
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// Run is one pass of a job over its list, as the ledger keeps it.
type Run struct {
	// Receipt is the run's summary, with every byte of its cursors and URLs.
	Receipt state.Receipt `json:"receipt"`
	// Scope is where the run's items live: the ID of the first run of its
	// lineage, or the job for items that are done once a job.
	Scope string `json:"scope"`
	// Lineage is the ID of the first run of the run's lineage.
	Lineage string `json:"lineage"`
	// Definition is what cannot change inside a run. It is nil for a successor
	// that no caller has run yet.
	Definition *Definition `json:"definition,omitempty"`
	// Active says that a runner works on the run; where nobody holds the job, that
	// runner died.
	Active bool `json:"active,omitempty"`
	// Died says that an earlier runner died, and that what it may have called is not
	// yet marked as in doubt: its last page is still to be read again.
	Died bool `json:"died,omitempty"`
	// DeadlineSpent says that the run has paused once for its deadline.
	DeadlineSpent bool `json:"deadline_spent,omitempty"`
	// Fetching is the index of a page whose fetch was begun, for lists that
	// cannot be read twice; -1 where none was.
	Fetching int `json:"fetching"`
	// Careful is the index of a page that a process died on: its items are called
	// one at a time, each with an intent. -1 where there is none.
	Careful int `json:"careful"`
	// ConflictSeq counts the run's conflicts.
	ConflictSeq int `json:"conflict_seq"`
	// Stalled says that the newest page shows the same IDs as the one before it.
	Stalled bool `json:"stalled,omitempty"`
	// Repeats counts cursors in a row that came back without progress.
	Repeats int `json:"repeats,omitempty"`
}

// Definition is what a run does. A resume with another one is refused.
type Definition struct {
	Endpoint         string      `json:"endpoint"`
	Filter           string      `json:"filter"`
	Order            string      `json:"order"`
	PageSize         int         `json:"page_size"`
	Action           string      `json:"action"`
	Contract         string      `json:"contract"`
	Cutoff           string      `json:"cutoff"`
	Once             string      `json:"once"`
	AtMostOnce       bool        `json:"at_most_once"`
	OrderClass       pager.Order `json:"order_class"`
	Style            pager.Style `json:"style"`
	UnstableAccepted bool        `json:"unstable_accepted"`
	// ContractDocument is the text of the contract that the run was begun under.
	// It is no part of the comparison: a run finishes under its own.
	ContractDocument []byte `json:"contract_document,omitempty"`
}

// ItemState is where an item stands. The zero value is an item that was never
// recorded.
type ItemState uint8

// The states of an item. All but Pending are settled.
const (
	StateUnknown  ItemState = iota
	StatePending            // recorded, and owed
	StateDone               // its success is confirmed
	StateHeld               // waits for a person
	StateDeferred           // later than the cutoff; belongs to the next run
	StateDropped            // vanished and dropped, or written off by a person
)

// String returns the state's name.
func (s ItemState) String() string {
	switch s {
	case StateUnknown:
		return "unknown"
	case StatePending:
		return "pending"
	case StateDone:
		return "done"
	case StateHeld:
		return "held"
	case StateDeferred:
		return "deferred"
	case StateDropped:
		return "dropped"
	}
	return "invalid"
}

// Item is an item as the ledger keeps it.
type Item struct {
	Scope string
	ID    string
	State ItemState
	// RunID, Page and Ordinal tell where it was met last: the run, the index of
	// the page, and the place on it when it was first recorded there.
	RunID   string
	Page    int
	Ordinal int
	// SettledBy is the run that settled it, for StateDone and StateDropped.
	SettledBy string
	// Attempts counts the calls that count against the limit.
	Attempts int
	// Intent says that a call was begun and its outcome is not known. DoubtSince
	// is when the first call began whose effect is not known; zero where none is.
	Intent     bool
	DoubtSince time.Time
	// Released says that a person wants a held item tried again.
	Released bool
	// Code and Detail say why it is held, or what its last call failed with.
	Code   pager.Code
	Detail string
	// Payload is the item as it came, for items that may be called without their
	// page: held ones, and all of a list that cannot be read twice.
	Payload []byte
	// UpdatedAt is when the item was last settled or called.
	UpdatedAt time.Time
}

// Page is one revision of a page record.
type Page struct {
	RunID    string
	Index    int // counted from 0
	Revision int // counted from 0; a page that is read again gets another one
	At       time.Time
	Cursor   pager.Cursor
	Next     pager.Cursor
	End      pager.End
	Evidence string
	IDs      []string // of every entry that has one, in order
	Hash     string   // over IDs
	// Unidentified are the places of entries without a usable ID, and Problems
	// says why, one for each.
	Unidentified []int
	Problems     []string
	Skipped      int
	Vetoes       []string
	Total        *int64
	Status       int
	RequestID    string
	// Digest is the chain up to and with this record.
	Digest string
}

// Conflict is one ID that was seen where it should not have been.
type Conflict struct {
	RunID string `json:"run_id"`
	Seq   int    `json:"seq"` // counted from 0
	ID    string `json:"id"`
	// FirstPage is where the ID was recorded, Page where it was seen again. They
	// are equal for two copies in one answer that differ.
	FirstPage int       `json:"first_page"`
	Page      int       `json:"page"`
	At        time.Time `json:"at"`
	// Payload is the copy that was not handled.
	Payload []byte `json:"payload,omitempty"`
	// AcceptedBy and Note are a person's word that the conflict may stand.
	AcceptedBy string    `json:"accepted_by,omitempty"`
	Note       string    `json:"note,omitempty"`
	AcceptedAt time.Time `json:"accepted_at,omitzero"`
}

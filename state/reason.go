package state

import "github.com/everypage-go/everypage/pager"

// Reason says why a run is paused or needs review.
type Reason struct {
	Code   pager.Code `json:"code" yaml:"code"`
	Detail string     `json:"detail,omitempty" yaml:"detail,omitempty"`
	// Answer is what the API or the sink said, if one of them is the reason.
	pager.Answer `yaml:",inline"`
	// PageIndex is the page at which it happened, counted from 0.
	PageIndex int `json:"page_index" yaml:"page_index"`
}

// ReasonOf returns the reason that a fault gives.
func ReasonOf(f *pager.Fault, pageIndex int) Reason {
	detail := f.Detail
	if f.Err != nil {
		if detail != "" {
			detail += ": "
		}
		detail += f.Err.Error()
	}
	return Reason{Code: f.Code, Detail: detail, Answer: f.Answer, PageIndex: pageIndex}
}

// The codes of what can stop a run beside a fault of its pager.
const (
	CodeCancelled      pager.Code = "cancelled"       // the caller's context ended
	CodeDeadlinePassed pager.Code = "deadline_passed" // the job's deadline passed
	CodeSinkLimited    pager.Code = "sink_limited"    // the handler asked for a pause

	CodeItemsHeld        pager.Code = "items_held"         // items wait in the hold queue
	CodeItemsPending     pager.Code = "items_pending"      // items are not settled
	CodeEntriesWithoutID pager.Code = "entries_without_id" // entries that cannot be told apart
	CodeConflictsOpen    pager.Code = "conflicts_open"     // the same ID on two pages
	CodeEndNotObserved   pager.Code = "end_not_observed"   // the API has not said that the list ended
	CodeEndVetoed        pager.Code = "end_vetoed"         // the end came, and something says that the list is not whole
	CodeListShifted      pager.Code = "list_shifted"       // the list moved under an offset walk
	CodeCursorRepeated   pager.Code = "cursor_repeated"    // a cursor that this run has read before
	CodeNoProgress       pager.Code = "no_progress"        // a page that is the one before it once more
	CodeCursorLost       pager.Code = "cursor_lost"        // a page of a list that cannot be read twice was not recorded
	CodeSequenceStopped  pager.Code = "sequence_stopped"   // the pager just stopped
	CodeSuperseded       pager.Code = "superseded"         // a person asked for a new run
)

// NoteTotalChanged is the code of a note: the API reported another size of the
// list than before, and the walk is of a kind that this does not harm.
const NoteTotalChanged pager.Code = "total_changed"

// The codes of why one item is held.
const (
	HoldAttempts    pager.Code = "attempts_exhausted"    // it failed as often as the job allows
	HoldPermanent   pager.Code = "permanent"             // the handler said that it cannot succeed
	HoldInDoubt     pager.Code = "in_doubt"              // nobody knows whether the effect happened
	HoldPoison      pager.Code = "poison"                // the process died with it as often as the job allows
	HoldVanished    pager.Code = "vanished"              // it was recorded, and the list no longer has it
	HoldCreatedAt   pager.Code = "created_at_unreadable" // its time cannot be compared with the cutoff
	HoldPayload     pager.Code = "payload_unreadable"    // its stored bytes do not decode
	HoldKeyMismatch pager.Code = "key_reused"            // the sink knows its key with another body
	// WrittenOff is no hold: a person accepted that the item is not done.
	WrittenOff pager.Code = "written_off"
)

// Remedy is what a person can do about a reason.
type Remedy string

const (
	// Reopen lets the run go on: held items are retried, a cause is mended.
	Reopen Remedy = "reopen"
	// Accept takes conflicts or held items as they are, by name and with a note.
	Accept Remedy = "accept"
	// Supersede starts a new run of the same lineage from the top of the list.
	Supersede Remedy = "supersede"
	// RunAgain asks again, at or after the instant in resume_at.
	RunAgain Remedy = "run_again"
)

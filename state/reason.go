package state

import (
	"slices"

	"github.com/everypage-go/everypage/pager"
)

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

// Explanation is what a reason code means and what can be done.
type Explanation struct {
	Code     pager.Code
	Meaning  string
	Remedies []Remedy
	// NeedsInstant marks a pause that ends by itself only if the API said when.
	NeedsInstant bool
}

// Allows reports whether r is one of the remedies.
func (e Explanation) Allows(r Remedy) bool { return slices.Contains(e.Remedies, r) }

// Explanations returns every reason of a run with its remedies, pauses first.
func Explanations() []Explanation {
	pause := []Remedy{RunAgain}
	again := []Remedy{Reopen, Supersede}
	afresh := []Remedy{Supersede}
	return []Explanation{
		{Code: pager.CodeRateLimited, Meaning: "The API limits the rate of requests.", Remedies: pause},
		{Code: pager.CodeQuotaExhausted, Meaning: "A quota of the API is used up until the instant given.", Remedies: pause, NeedsInstant: true},
		{Code: pager.CodeServerError, Meaning: "The API failed in a way that may pass.", Remedies: pause},
		{Code: pager.CodeTransport, Meaning: "The connection failed or the answer was cut short.", Remedies: pause},
		{Code: CodeCancelled, Meaning: "The caller stopped the run.", Remedies: pause},
		{Code: CodeDeadlinePassed, Meaning: "The job's deadline passed while the run was under way.", Remedies: pause},
		{Code: CodeSinkLimited, Meaning: "The handler's own API asked for a pause.", Remedies: pause},

		{Code: pager.CodeUnauthorized, Meaning: "The API does not accept the credentials.", Remedies: again},
		{Code: pager.CodeRequestRefused, Meaning: "The API refused the request.", Remedies: again},
		{Code: pager.CodeNotAList, Meaning: "The answer is not a list page as the contract describes it.", Remedies: again},
		{Code: pager.CodeBodyTooLarge, Meaning: "The answer is longer than the limit set for it.", Remedies: again},
		{Code: pager.CodeCrossOrigin, Meaning: "The next page would be read from another origin.", Remedies: again},
		{Code: pager.CodePagerFailed, Meaning: "The pager failed and did not say what to do.", Remedies: again},
		{Code: CodeSequenceStopped, Meaning: "The pager stopped without an end, an error or a next page.", Remedies: again},
		{Code: CodeItemsHeld, Meaning: "Items wait in the hold queue.", Remedies: []Remedy{Reopen, Accept, Supersede}},
		{Code: CodeConflictsOpen, Meaning: "The same ID was seen on two pages, so the list moved.", Remedies: []Remedy{Accept, Reopen, Supersede}},
		{Code: CodeItemsPending, Meaning: "Items are not settled yet.", Remedies: again},

		{Code: pager.CodeCursorExpired, Meaning: "The API no longer knows the cursor.", Remedies: afresh},
		{Code: pager.CodeCursorMissing, Meaning: "More follows, and the page does not say where.", Remedies: afresh},
		{Code: pager.CodeEndUnknown, Meaning: "The page has neither an end nor a next cursor.", Remedies: afresh},
		{Code: CodeCursorRepeated, Meaning: "The next cursor is one that this run has read before.", Remedies: afresh},
		{Code: CodeNoProgress, Meaning: "The next page shows just what the page before it did, so counting on leads nowhere.", Remedies: afresh},
		{Code: CodeCursorLost, Meaning: "A page of a list that cannot be read twice was fetched and not recorded.", Remedies: afresh},
		{Code: CodeEntriesWithoutID, Meaning: "Entries have no usable ID, so they cannot be handled exactly once.", Remedies: afresh},
		{Code: CodeEndVetoed, Meaning: "The end came, and the API also said that the list is not whole.", Remedies: afresh},
		{Code: CodeEndNotObserved, Meaning: "The API has not said that the list ended.", Remedies: afresh},
		{Code: CodeListShifted, Meaning: "The list moved under a walk by offset or page number.", Remedies: afresh},
		{Code: CodeSuperseded, Meaning: "A person asked for a new run of the same lineage.", Remedies: afresh},
	}
}

// Explain returns what is known about a code. An unknown code, from a newer
// version or a custom pager, can be reopened or superseded.
func Explain(code pager.Code) Explanation {
	for _, e := range Explanations() {
		if e.Code == code {
			return e
		}
	}
	return Explanation{Code: code, Meaning: "A reason of a custom pager.", Remedies: []Remedy{Reopen, Supersede}}
}

package state

import (
	"slices"

	"github.com/everypage-go/everypage/pager"
)

// Explanation is what a code means to a person, and what can be done.
type Explanation struct {
	Code pager.Code
	// Meaning says in one sentence what happened, and Advice what to do about it.
	Meaning string
	Advice  string
	// Remedies are what can be done, the gentlest first.
	Remedies []Remedy
	// NeedsInstant marks a pause that ends by itself only if the API said when.
	NeedsInstant bool
}

// Allows reports whether r is one of the remedies.
func (e Explanation) Allows(r Remedy) bool { return slices.Contains(e.Remedies, r) }

// Explain returns what is known about the reason of a run. An unknown code, from a
// newer version or a custom pager, can be reopened or superseded.
func Explain(code pager.Code) Explanation {
	for _, e := range Explanations() {
		if e.Code == code {
			return e
		}
	}
	return Explanation{
		Code: code, Meaning: "A reason of a custom pager.",
		Advice:   "Read the reason's detail and the pager's own documentation; retry once the cause is mended, or supersede.",
		Remedies: []Remedy{Reopen, Supersede},
	}
}

// ExplainHold returns what is known about why an item is held.
func ExplainHold(code pager.Code) Explanation {
	for _, e := range HoldExplanations() {
		if e.Code == code {
			return e
		}
	}
	return Explanation{
		Code: code, Meaning: "A reason that the handler gave.",
		Advice:   "Read the item's detail. Retry it once the cause is mended, or accept it to write it off.",
		Remedies: []Remedy{Reopen, Accept, Supersede},
	}
}

// Explanations returns every reason of a run with its remedies, pauses first.
func Explanations() []Explanation {
	return slices.Concat(pauses(), mendable(), final())
}

// pauses are the reasons of interruptions, after which a run goes on by itself.
func pauses() []Explanation {
	again := []Remedy{RunAgain}
	return []Explanation{
		{
			Code: pager.CodeRateLimited, Remedies: again,
			Meaning: "The API limits the rate of requests.",
			Advice:  "Run the job again at or after resume_at. If it happens often, ask for larger pages or set the contract's pacing.",
		},
		{
			Code: pager.CodeQuotaExhausted, Remedies: again, NeedsInstant: true,
			Meaning: "A quota of the API is used up until the instant given.",
			Advice:  "Run the job again at or after resume_at. Where no instant was given, look up when the quota is restored and run it by force then.",
		},
		{
			Code: pager.CodeServerError, Remedies: again,
			Meaning: "The API failed in a way that may pass.",
			Advice:  "Run the job again at or after resume_at. If it lasts, give the API's people the request ID of the reason.",
		},
		{
			Code: pager.CodeTransport, Remedies: again,
			Meaning: "The connection failed or the answer was cut short.",
			Advice:  "Run the job again at or after resume_at. If it lasts, check name resolution, the proxy and the time-out from this machine.",
		},
		{
			Code: CodeCancelled, Remedies: again,
			Meaning: "The caller stopped the run.",
			Advice:  "Run the job again; it goes on where it was.",
		},
		{
			Code: CodeDeadlinePassed, Remedies: again,
			Meaning: "The job's deadline passed while the run was under way.",
			Advice:  "Run the job again to finish late; the receipt says by how much. If it happens often, give the job more time or more concurrency.",
		},
		{
			Code: CodeSinkLimited, Remedies: again,
			Meaning: "The handler's own API asked for a pause.",
			Advice:  "Run the job again at or after resume_at. If it happens often, lower the concurrency.",
		},
	}
}

// mendable are the reasons that can be mended inside the run.
func mendable() []Explanation {
	again := []Remedy{Reopen, Supersede}
	return []Explanation{
		{
			Code: pager.CodeUnauthorized, Remedies: again,
			Meaning: "The API does not accept the credentials.",
			Advice:  "Renew the credentials or their scope, then retry and run the job again.",
		},
		{
			Code: pager.CodeRequestRefused, Remedies: again,
			Meaning: "The API refused the request.",
			Advice:  "Read what the API said. If the job's filter or address is wrong, supersede with the right one; if it was the API, retry.",
		},
		{
			Code: pager.CodeNotAList, Remedies: again,
			Meaning: "The answer is not a list page as the contract describes it.",
			Advice:  "Look at the answer: a login page or an error that came with status 200, or another contract. Mend it and retry; if the contract was wrong, supersede with the right one.",
		},
		{
			Code: pager.CodeBodyTooLarge, Remedies: again,
			Meaning: "The answer is longer than the limit set for it.",
			Advice:  "Raise the client's limit and retry, or supersede with smaller pages.",
		},
		{
			Code: pager.CodeCrossOrigin, Remedies: again,
			Meaning: "The next page would be read from another origin.",
			Advice:  "Find out why the API names another host. If it is its own, allow the host in the contract and retry; no credential was sent there.",
		},
		{
			Code: pager.CodePagerFailed, Remedies: again,
			Meaning: "The pager failed and did not say what to do.",
			Advice:  "Read the detail and mend the pager, then retry. A pager that returns a Fault says itself whether to pause.",
		},
		{
			Code: CodeSequenceStopped, Remedies: again,
			Meaning: "The pager stopped without an end, an error or a next page.",
			Advice:  "Mend the pager: it has to yield a page that says how the list goes on, or an error. Then retry.",
		},
		{
			Code: CodeItemsHeld, Remedies: []Remedy{Reopen, Accept, Supersede},
			Meaning: "Items wait in the hold queue.",
			Advice:  "Look at each held item and why it is held. Mend the cause and retry them, or accept by name those that may stay undone.",
		},
		{
			Code: CodeConflictsOpen, Remedies: []Remedy{Accept, Reopen, Supersede},
			Meaning: "The same ID was seen on two pages, so the list moved.",
			Advice:  "Compare the two copies of each conflict; the first one was handled. Accept them if that is right. If the list moved under the walk, supersede to read it anew.",
		},
		{
			Code: CodeItemsPending, Remedies: again,
			Meaning: "Items are not settled yet.",
			Advice:  "Retry and run the job again, so that they are handled.",
		},
	}
}

// final are the reasons after which only a new listing helps.
func final() []Explanation {
	afresh := []Remedy{Supersede}
	return []Explanation{
		{
			Code: pager.CodeCursorExpired, Remedies: afresh,
			Meaning: "The API no longer knows the cursor.",
			Advice:  "Supersede: a new run lists from the start, and what is done stays done. If it happens often, run the job without long breaks, or allow some with Options.SupersedeLost.",
		},
		{
			Code: pager.CodeCursorMissing, Remedies: afresh,
			Meaning: "More follows, and the page does not say where.",
			Advice:  "Check the contract's next cursor against the API's documentation; then supersede.",
		},
		{
			Code: pager.CodeEndUnknown, Remedies: afresh,
			Meaning: "The page has neither an end nor a next cursor.",
			Advice:  "Check the contract's end against the API's documentation; then supersede.",
		},
		{
			Code: CodeCursorRepeated, Remedies: afresh,
			Meaning: "The next cursor is one that this run has read before.",
			Advice:  "The API sends the walk in a circle. Report it to the API's people, then supersede; if the API documents repeats, the contract can allow some.",
		},
		{
			Code: CodeNoProgress, Remedies: afresh,
			Meaning: "The next page shows just what the page before it did, so counting on leads nowhere.",
			Advice:  "The API ignores the page number or the offset, or stops at a cap. Check the request's parameters and the API's limit; then supersede.",
		},
		{
			Code: CodeCursorLost, Remedies: afresh,
			Meaning: "A page of a list that cannot be read twice was fetched and not recorded.",
			Advice:  "Supersede: a new run opens the list anew, and what is done stays done.",
		},
		{
			Code: CodeEntriesWithoutID, Remedies: afresh,
			Meaning: "Entries have no usable ID, so they cannot be handled exactly once.",
			Advice:  "The detail names the first of them. Name the right ID in the contract, or have the source mended; then supersede.",
		},
		{
			Code: CodeEndVetoed, Remedies: afresh,
			Meaning: "The end came, and the API also said that the list is not whole.",
			Advice:  "The receipt's vetoes say what the API said. Narrow the filter below a cap, or wait until every part can be reached; then supersede.",
		},
		{
			Code: CodeEndNotObserved, Remedies: afresh,
			Meaning: "The API has not said that the list ended.",
			Advice:  "Check the contract's end against the API's documentation; then supersede.",
		},
		{
			Code: CodeListShifted, Remedies: afresh,
			Meaning: "The list moved under a walk by offset or page number.",
			Advice:  "Items may have been missed. Supersede to read the list anew, at a quieter hour; better, walk by cursor or in a stable order under a cutoff.",
		},
		{
			Code: CodeSuperseded, Remedies: afresh,
			Meaning: "A person asked for a new run of the same lineage.",
			Advice:  "Nothing: the run that superseded this one goes on in its place.",
		},
	}
}

// HoldExplanations returns every reason for which an item is held, and what it
// means that one was written off.
func HoldExplanations() []Explanation {
	usual := []Remedy{Reopen, Accept, Supersede}
	return []Explanation{
		{
			Code: HoldAttempts, Remedies: usual,
			Meaning: "It failed as often as the job allows.",
			Advice:  "Read its last error. Mend the cause and retry: it gets fresh attempts under its old key.",
		},
		{
			Code: HoldPermanent, Remedies: usual,
			Meaning: "The handler said that it cannot succeed.",
			Advice:  "Mend what the handler names and retry, or accept it to write it off.",
		},
		{
			Code: HoldInDoubt, Remedies: usual,
			Meaning: "Nobody knows whether its effect happened.",
			Advice:  "Look in the other system for the effect of its key. If it is there, accept the item; if it is not, retry it by name.",
		},
		{
			Code: HoldPoison, Remedies: usual,
			Meaning: "The process died with it as often as the job allows.",
			Advice:  "Find out what in this item ends the process, mend the handler, and retry it.",
		},
		{
			Code: HoldVanished, Remedies: []Remedy{Accept, Supersede},
			Meaning: "It was recorded, and the list no longer has it.",
			Advice:  "If it was deleted at its source, accept it. If it should be there, supersede to list anew. Jobs can drop such items by themselves (DropVanished).",
		},
		{
			Code: HoldCreatedAt, Remedies: usual,
			Meaning: "Its time cannot be compared with the cutoff.",
			Advice:  "Find out what its time should be. Retry it to handle it in this run, or accept it to leave it out.",
		},
		{
			Code: HoldPayload, Remedies: usual,
			Meaning: "Its stored bytes do not decode.",
			Advice:  "Mend the job's type or its Decode and retry, or accept it to write it off.",
		},
		{
			Code: HoldKeyMismatch, Remedies: usual,
			Meaning: "The sink knows its key with another body.",
			Advice:  "The item changed after a call whose effect may have happened. Look in the other system: accept if what is there will do, or retry it by name.",
		},
		{
			Code: WrittenOff, Remedies: nil,
			Meaning: "A person accepted that it is not done.",
			Advice:  "Nothing: its number stands in the receipt's written_off.",
		},
	}
}

package everypage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// Verification is what Verify found out about a run. Its JSON names are kept.
type Verification struct {
	RunID  string       `json:"run_id"`
	Job    string       `json:"job"`
	Status state.Status `json:"status"`
	// Pages and Revisions count the page records, Items the items of the run.
	Pages     int   `json:"pages"`
	Revisions int   `json:"revisions"`
	Items     int64 `json:"items"`
	// Digest is the chain over the page records as it was followed.
	Digest string `json:"digest"`
	// Findings are what does not add up, in the order in which it was met; at most
	// MaxFindings of them. Found is how many there are.
	Findings []Finding `json:"findings"`
	Found    int       `json:"found"`
	// TakenOver says that a later run of the scope has taken over items that it
	// met, so that the counters of this one cannot be recounted any more. The page
	// records, their chain and the transitions were checked nevertheless.
	TakenOver bool `json:"items_taken_over,omitempty"`
}

// MaxFindings is how many findings a verification lists.
const MaxFindings = 100

// FindingKind says what does not add up. The texts are kept.
type FindingKind string

// The kinds of a finding.
const (
	FindingUnreadable FindingKind = "unreadable" // a record is damaged
	FindingPage       FindingKind = "page"       // page records do not follow on each other
	FindingDigest     FindingKind = "digest"     // the chain over the page records breaks
	FindingItem       FindingKind = "item"       // a recorded ID has no item
	FindingCounter    FindingKind = "counter"    // the receipt counts something else
	FindingReceipt    FindingKind = "receipt"    // the receipt and the newest records differ
	FindingEvent      FindingKind = "event"      // the transitions do not lead to the status
	FindingConflict   FindingKind = "conflict"   // conflicts are missing
	FindingComplete   FindingKind = "complete"   // complete, and something is owed
)

// Finding is one thing that does not add up.
type Finding struct {
	Kind FindingKind `json:"kind"`
	// Where is the place, such as "page 3" or a counter's name.
	Where string `json:"where"`
	// Recorded is what the ledger says, and Found what its records give.
	Recorded string `json:"recorded,omitempty"`
	Found    string `json:"found,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

// String says the finding as a sentence.
func (f Finding) String() string {
	text := f.Where
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	if f.Recorded != "" || f.Found != "" {
		text += fmt.Sprintf(": recorded %s, found %s", orNothing(f.Recorded), orNothing(f.Found))
	}
	return text
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// VerificationError says that the records of a run do not add up. It wraps
// store.ErrCorrupt.
type VerificationError struct{ Verification *Verification }

func (e *VerificationError) Error() string {
	v := e.Verification
	text := fmt.Sprintf("everypage: run %s does not add up: %s", v.RunID, v.Findings[0])
	if v.Found > 1 {
		text += fmt.Sprintf(" (and %d more)", v.Found-1)
	}
	return text
}

// Unwrap returns store.ErrCorrupt.
func (e *VerificationError) Unwrap() error { return store.ErrCorrupt }

// Verify recounts a run from its records, follows the digest chain over its page
// records, and names what differs from the receipt. It reads every page record and
// every item of the run once or twice; a run that is at work meanwhile may show
// findings that are none.
//
// The error is nil if and only if everything adds up; otherwise it is a
// [*VerificationError] beside the report, or the ledger's error, such as one that
// wraps store.ErrNotFound, with no report. It can be trusted against damage and
// mistakes, not against somebody who can write the ledger: the chain has no key.
func Verify(ctx context.Context, ledger store.Reader, runID string) (*Verification, error) {
	run, err := ledger.Run(ctx, runID)
	if err != nil {
		return nil, fmt.Errorf("everypage: verify run %s: %w", runID, err)
	}
	v := &verifier{ledger: ledger, run: run, report: &Verification{
		RunID: runID, Job: run.Receipt.Job, Status: run.Receipt.Status, Findings: []Finding{},
	}}
	for _, check := range []func(context.Context) error{v.takenOver, v.pages, v.counters, v.conflicts, v.events, v.complete} {
		err := check(ctx)
		switch {
		case errors.Is(err, store.ErrCorrupt) && ctx.Err() == nil:
			v.find(Finding{Kind: FindingUnreadable, Where: "run " + runID, Detail: err.Error()})
		case err != nil:
			return nil, fmt.Errorf("everypage: verify run %s: %w", runID, err)
		}
	}
	if v.report.Found > 0 {
		return v.report, &VerificationError{Verification: v.report}
	}
	return v.report, nil
}

// verifier is one verification under way.
type verifier struct {
	ledger store.Reader
	run    store.Run
	report *Verification
	// chainOnly leaves the items and the cursors alone.
	chainOnly bool
}

func (v *verifier) find(f Finding) {
	v.report.Found++
	if len(v.report.Findings) < MaxFindings {
		v.report.Findings = append(v.report.Findings, f)
	}
}

// same adds a finding where a value of the receipt is not what it should be.
func (v *verifier) same(kind FindingKind, where, recorded, found string) {
	if recorded != found {
		v.find(Finding{Kind: kind, Where: where, Recorded: recorded, Found: found})
	}
}

// takenOver finds out whether a later run has the same scope.
func (v *verifier) takenOver(ctx context.Context) error {
	for later, err := range v.ledger.Runs(ctx, store.RunFilter{Job: v.run.Receipt.Job}) {
		switch {
		case err != nil:
			return err
		case later.Receipt.RunID == v.run.Receipt.RunID:
			return nil
		case later.Scope == v.run.Scope:
			v.report.TakenOver = true
			return nil
		}
	}
	v.find(Finding{Kind: FindingReceipt, Where: "run " + v.report.RunID, Detail: "it is not in the list of its job's runs"})
	return nil
}

// pages follows the chain over the page records.
func (v *verifier) pages(ctx context.Context) error {
	last := store.Page{Index: -1}
	for page, err := range v.ledger.Pages(ctx, v.run.Receipt.RunID, 0) {
		if err != nil {
			return err
		}
		if err := v.page(ctx, last, page); err != nil {
			return err
		}
		last = page
		v.report.Digest = page.Digest
		v.report.Revisions++
	}
	v.report.Pages = last.Index + 1
	r := &v.run.Receipt
	v.same(FindingReceipt, "pages", strconv.Itoa(r.Pages), strconv.Itoa(v.report.Pages))
	v.same(FindingReceipt, "digest", r.Digest, v.report.Digest)
	if last.Index < 0 {
		return nil
	}
	v.same(FindingReceipt, "page_index", strconv.Itoa(r.PageIndex), strconv.Itoa(last.Index))
	v.same(FindingReceipt, "cursor_in", r.CursorIn.String(), last.Cursor.String())
	v.same(FindingReceipt, "cursor_out", r.CursorOut.String(), last.Next.String())
	v.same(FindingReceipt, "fetched_ids_hash", r.FetchedIDsHash, last.Hash)
	observed := last.End == pager.EndLast && len(r.Vetoes) == 0
	v.same(FindingReceipt, "terminal_observed", strconv.FormatBool(r.TerminalObserved), strconv.FormatBool(observed))
	return nil
}

// page checks one page record against the one before it.
func (v *verifier) page(ctx context.Context, last, page store.Page) error {
	where := fmt.Sprintf("page %d, revision %d", page.Index, page.Revision)
	again := page.Index == last.Index && page.Revision == last.Revision+1
	follows := page.Index == last.Index+1 && page.Revision == 0
	if !again && !follows {
		v.find(Finding{Kind: FindingPage, Where: where, Detail: fmt.Sprintf("it follows on page %d, revision %d", last.Index, last.Revision)})
	}
	switch {
	case again:
		v.same(FindingPage, where+", cursor", page.Cursor.String(), last.Cursor.String())
	case follows && last.Index >= 0:
		v.same(FindingPage, where+", cursor", page.Cursor.String(), last.Next.String())
	}
	v.same(FindingDigest, where+", hash of its IDs", page.Hash, hashIDs(page.IDs))
	v.same(FindingDigest, where+", digest", page.Digest, chain(last.Digest, page))
	for _, veto := range page.Vetoes {
		if !slices.Contains(v.run.Receipt.Vetoes, veto) {
			v.find(Finding{Kind: FindingReceipt, Where: "vetoes", Detail: where + " has a veto that the receipt has not", Found: veto})
		}
	}
	if v.chainOnly {
		return nil
	}
	_, found, err := v.ledger.PageAt(ctx, page.RunID, page.Cursor)
	if err != nil {
		return err
	}
	if !found {
		v.find(Finding{Kind: FindingPage, Where: where, Detail: "its cursor is not among those that the run has read"})
	}
	return v.items(ctx, where, page)
}

// items checks that every ID of a page has an item.
func (v *verifier) items(ctx context.Context, where string, page store.Page) error {
	items, err := v.ledger.Items(ctx, v.run.Scope, page.IDs)
	if err != nil {
		return err
	}
	for _, item := range items {
		if item.State == store.StateUnknown {
			v.find(Finding{Kind: FindingItem, Where: where, Detail: fmt.Sprintf("its item %q is not in the ledger", item.ID)})
		}
	}
	return nil
}

// counters compares the receipt with a recount.
func (v *verifier) counters(ctx context.Context) error {
	for _, err := range Items(ctx, v.ledger, v.run.Receipt.RunID) {
		if err != nil {
			return err
		}
		v.report.Items++
	}
	if v.report.TakenOver {
		return nil
	}
	counted, err := Recount(ctx, v.ledger, v.run.Receipt.RunID)
	if err != nil {
		return err
	}
	for _, c := range counters(&v.run.Receipt, counted) {
		v.same(FindingCounter, c.name, strconv.FormatInt(c.recorded, 10), strconv.FormatInt(c.found, 10))
	}
	return nil
}

// counter is a counter of a receipt and what it should be.
type counter struct {
	name            string
	recorded, found int64
}

// counters lists the counters that Recount counts, by their names in the receipt.
func counters(recorded, counted *state.Receipt) []counter {
	return []counter{
		{"processed_unique", recorded.ProcessedUnique, counted.ProcessedUnique},
		{"pending_count", recorded.PendingCount, counted.PendingCount},
		{"held_count", recorded.HeldCount, counted.HeldCount},
		{"inherited", recorded.Inherited, counted.Inherited},
		{"deferred_count", recorded.DeferredCount, counted.DeferredCount},
		{"vanished_count", recorded.VanishedCount, counted.VanishedCount},
		{"written_off", recorded.WrittenOff, counted.WrittenOff},
		{"entries_without_id", recorded.EntriesWithoutID, counted.EntriesWithoutID},
		{"duplicate_conflicts", recorded.DuplicateConflicts, counted.DuplicateConflicts},
		{"conflicts_accepted", recorded.ConflictsAccepted, counted.ConflictsAccepted},
	}
}

// conflicts checks that none is missing.
func (v *verifier) conflicts(ctx context.Context) error {
	next := 0
	for c, err := range v.ledger.Conflicts(ctx, v.run.Receipt.RunID) {
		if err != nil {
			return err
		}
		if c.Seq != next {
			v.find(Finding{Kind: FindingConflict, Where: fmt.Sprintf("conflict %d", next), Detail: fmt.Sprintf("the next one is number %d", c.Seq)})
		}
		next = c.Seq + 1
	}
	v.same(FindingConflict, "number of conflicts", strconv.Itoa(v.run.ConflictSeq), strconv.Itoa(next))
	return nil
}

// events checks that the transitions lead to the run's status.
func (v *verifier) events(ctx context.Context) error {
	n := 0
	var at state.Status
	for event, err := range v.ledger.Events(ctx, v.run.Receipt.RunID) {
		if err != nil {
			return err
		}
		where := fmt.Sprintf("event %d, %s", n, event.Event)
		if n > 0 {
			v.same(FindingEvent, where+", from", string(event.From), string(at))
		} else {
			v.same(FindingEvent, where, string(event.Event), string(state.EventBegin))
		}
		if event.To == state.Complete && event.Event != state.EventFinish && event.Event != state.EventNote {
			v.find(Finding{Kind: FindingEvent, Where: where, Detail: "only finish makes a run complete"})
		}
		at = event.To
		n++
	}
	v.same(FindingEvent, "status", string(v.run.Receipt.Status), string(at))
	return nil
}

// complete checks what a complete run vouches for.
func (v *verifier) complete(context.Context) error {
	r := &v.run.Receipt
	if r.Status != state.Complete {
		return nil
	}
	if err := r.MayFinish(); err != nil {
		v.find(Finding{Kind: FindingComplete, Where: "status", Detail: err.Error()})
	}
	if r.FinishedAt.IsZero() {
		v.find(Finding{Kind: FindingComplete, Where: "finished_at", Detail: "it is missing"})
	}
	return nil
}

package state

import (
	"fmt"
	"strings"
	"time"

	"github.com/everypage-go/everypage/pager"
)

// SchemaVersion is the version of the receipt's names.
const SchemaVersion = 1

// Receipt is the durable summary of a run. The first fourteen names and
// complete_when are those of the article that describes it; the others follow.
type Receipt struct {
	RunID              string       `json:"run_id" yaml:"run_id"`
	Endpoint           string       `json:"endpoint" yaml:"endpoint"`
	Filter             string       `json:"filter" yaml:"filter"`
	Order              string       `json:"order" yaml:"order"`
	PageSize           int          `json:"page_size" yaml:"page_size"`
	CursorIn           pager.Cursor `json:"cursor_in" yaml:"cursor_in"`
	CursorOut          pager.Cursor `json:"cursor_out" yaml:"cursor_out"`
	PageIndex          int          `json:"page_index" yaml:"page_index"` // counted from 0
	FetchedIDsHash     string       `json:"fetched_ids_hash" yaml:"fetched_ids_hash"`
	ProcessedUnique    int64        `json:"processed_unique" yaml:"processed_unique"`
	PendingCount       int64        `json:"pending_count" yaml:"pending_count"` // held items and entries without ID included
	DuplicateConflicts int64        `json:"duplicate_conflicts" yaml:"duplicate_conflicts"`
	TerminalObserved   bool         `json:"terminal_observed" yaml:"terminal_observed"`
	Status             Status       `json:"status" yaml:"status"`
	CompleteWhen       []string     `json:"complete_when" yaml:"complete_when"`

	SchemaVersion int    `json:"schema_version" yaml:"schema_version"`
	Job           string `json:"job" yaml:"job"`
	Action        string `json:"action" yaml:"action"`
	Contract      string `json:"contract" yaml:"contract"`
	// OrderClass is the class of order for which completeness is vouched, and
	// UnstableAccepted the caller's word that a class below stable will do.
	OrderClass       pager.Order `json:"order_class,omitempty" yaml:"order_class,omitempty"`
	UnstableAccepted bool        `json:"unstable_accepted,omitempty" yaml:"unstable_accepted,omitempty"`
	// BoundedFeed says that the list is the first few of something, by contract,
	// and that complete means no more than that.
	BoundedFeed bool `json:"bounded_feed,omitempty" yaml:"bounded_feed,omitempty"`

	WindowFrom time.Time `json:"window_from,omitzero" yaml:"window_from,omitempty"` // inclusive
	CutoffAt   time.Time `json:"cutoff_at,omitzero" yaml:"cutoff_at,omitempty"`     // inclusive
	DeadlineAt time.Time `json:"deadline_at,omitzero" yaml:"deadline_at,omitempty"`
	LateBy     Duration  `json:"late_by,omitempty" yaml:"late_by,omitempty"`
	StartedAt  time.Time `json:"started_at,omitzero" yaml:"started_at,omitempty"`
	UpdatedAt  time.Time `json:"updated_at,omitzero" yaml:"updated_at,omitempty"`
	FinishedAt time.Time `json:"finished_at,omitzero" yaml:"finished_at,omitempty"`

	Pages             int   `json:"pages" yaml:"pages"`
	HeldCount         int64 `json:"held_count" yaml:"held_count"`
	Inherited         int64 `json:"inherited" yaml:"inherited"`
	DeferredCount     int64 `json:"deferred_count" yaml:"deferred_count"`
	VanishedCount     int64 `json:"vanished_count" yaml:"vanished_count"`                             // dropped, as the job says
	WrittenOff        int64 `json:"written_off" yaml:"written_off"`                                   // held items that a person accepted
	EntriesWithoutID  int64 `json:"entries_without_id,omitempty" yaml:"entries_without_id,omitempty"` // part of pending_count
	EntriesSkipped    int64 `json:"entries_skipped,omitempty" yaml:"entries_skipped,omitempty"`       // as the contract says
	ConflictsAccepted int64 `json:"conflicts_accepted" yaml:"conflicts_accepted"`
	InPageDuplicates  int64 `json:"in_page_duplicates" yaml:"in_page_duplicates"`
	Attempts          int64 `json:"attempts" yaml:"attempts"` // handler calls that counted

	ResumeAt       time.Time      `json:"resume_at,omitzero" yaml:"resume_at,omitempty"`
	BlockedBy      []pager.Code   `json:"blocked_by,omitempty" yaml:"blocked_by,omitempty"`
	Reason         *Reason        `json:"reason,omitempty" yaml:"reason,omitempty"`
	EndEvidence    string         `json:"end_evidence,omitempty" yaml:"end_evidence,omitempty"`
	Vetoes         []string       `json:"vetoes,omitempty" yaml:"vetoes,omitempty"`
	Contradictions []pager.Code   `json:"contradictions,omitempty" yaml:"contradictions,omitempty"` // of the walk
	ReportedTotal  *ReportedTotal `json:"reported_total,omitempty" yaml:"reported_total,omitempty"`
	// LastRequestID is the API's name for the newest recorded answer.
	LastRequestID string `json:"last_request_id,omitempty" yaml:"last_request_id,omitempty"`
	Supersedes    string `json:"supersedes,omitempty" yaml:"supersedes,omitempty"`
	SupersededBy  string `json:"superseded_by,omitempty" yaml:"superseded_by,omitempty"`
	// Digest is a chain over the page records, so that a receipt can be verified
	// against its ledger.
	Digest string `json:"digest" yaml:"digest"`
}

// ReportedTotal is the size of the list as the API reported it.
type ReportedTotal struct {
	First int64 `json:"first" yaml:"first"`
	Last  int64 `json:"last" yaml:"last"`
}

// CompleteWhen returns the three conditions of the completion rule.
func CompleteWhen() []string {
	return []string{"terminal_observed == true", "pending_count == 0", "duplicate_conflicts == 0"}
}

// MayFinish is the guard of finish: it returns nil if the run may be complete.
// The three lines of complete_when are necessary; what else blocks is a
// contradiction of the walk.
func (r *Receipt) MayFinish() error {
	blocks := r.Blocks()
	if len(blocks) == 0 {
		return nil
	}
	words := make([]string, len(blocks))
	for i, code := range blocks {
		words[i] = string(code)
	}
	return fmt.Errorf("blocked by %s", strings.Join(words, ", "))
}

// Blocks returns everything that stands between the run and complete, the most
// telling first.
func (r *Receipt) Blocks() []pager.Code {
	var codes []pager.Code
	codes = append(codes, r.Contradictions...)
	switch {
	case r.TerminalObserved:
	case len(r.Vetoes) > 0:
		codes = append(codes, CodeEndVetoed)
	default:
		codes = append(codes, CodeEndNotObserved)
	}
	if r.DuplicateConflicts > 0 {
		codes = append(codes, CodeConflictsOpen)
	}
	if r.HeldCount > 0 {
		codes = append(codes, CodeItemsHeld)
	}
	if r.EntriesWithoutID > 0 {
		codes = append(codes, CodeEntriesWithoutID)
	}
	if r.PendingCount > r.HeldCount+r.EntriesWithoutID {
		codes = append(codes, CodeItemsPending)
	}
	return codes
}

// reviewCodes returns every code that a person who reopens the run has to answer.
func (r *Receipt) reviewCodes() []pager.Code {
	var codes []pager.Code
	if r.Reason != nil {
		codes = append(codes, r.Reason.Code)
	}
	codes = append(codes, r.Contradictions...)
	if len(r.Vetoes) > 0 {
		codes = append(codes, CodeEndVetoed)
	}
	if r.EntriesWithoutID > 0 {
		codes = append(codes, CodeEntriesWithoutID)
	}
	return codes
}

// Duration is a span of time that is written as text, such as "1m30s".
type Duration time.Duration

// String returns the span as text.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the span as text.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Duration) UnmarshalText(text []byte) error {
	span, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("state: a duration reads like 1m30s: %w", err)
	}
	*d = Duration(span)
	return nil
}

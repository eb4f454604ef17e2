package store

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/everypage-go/everypage/state"
)

const progressVersion byte = 1

// AppendProgress appends the record of a run's progress to dst: of those fields
// that change from page to page. A store may keep the run's record as it was at
// some earlier step, and the progress of the newest beside it, as long as SameBase
// says that the two runs have the same rest.
func AppendProgress(dst []byte, run *Run) []byte {
	dst = append(dst, progressVersion)
	r := &run.Receipt
	var flags byte
	if r.TerminalObserved {
		flags |= 1
	}
	if run.Stalled {
		flags |= 2
	}
	if r.ReportedTotal != nil {
		flags |= 4
	}
	dst = append(dst, flags)
	for _, number := range progressCounts(r) {
		dst = binary.AppendVarint(dst, *number)
	}
	for _, number := range progressPlaces(run) {
		dst = binary.AppendVarint(dst, int64(*number))
	}
	if r.ReportedTotal != nil {
		dst = binary.AppendVarint(dst, r.ReportedTotal.First)
		dst = binary.AppendVarint(dst, r.ReportedTotal.Last)
	}
	dst = binary.AppendVarint(dst, int64(r.LateBy))
	dst = appendTime(dst, r.UpdatedAt)
	dst = AppendCursor(dst, r.CursorIn)
	dst = AppendCursor(dst, r.CursorOut)
	dst = appendString(dst, r.EndEvidence)
	dst = appendString(dst, r.LastRequestID)
	dst = appendSum(dst, r.FetchedIDsHash)
	return appendSum(dst, r.Digest)
}

// DecodeProgress sets in a run what AppendProgress wrote of it. It returns an error
// that wraps ErrVersion or ErrCorrupt.
func DecodeProgress(record []byte, run *Run) error {
	d, err := openRecord("progress", record, progressVersion)
	if err != nil {
		return err
	}
	r := &run.Receipt
	flags := d.byte()
	if flags > 7 {
		d.fail("a flag that does not exist")
	}
	r.TerminalObserved, run.Stalled, r.ReportedTotal = flags&1 != 0, flags&2 != 0, nil
	for _, number := range progressCounts(r) {
		*number = d.varint()
	}
	for _, number := range progressPlaces(run) {
		*number = d.int()
	}
	if flags&4 != 0 {
		r.ReportedTotal = &state.ReportedTotal{First: d.varint(), Last: d.varint()}
	}
	r.LateBy = state.Duration(d.varint())
	r.UpdatedAt = d.time()
	r.CursorIn, r.CursorOut = d.cursor(), d.cursor()
	r.EndEvidence, r.LastRequestID = d.string(), d.string()
	r.FetchedIDsHash, r.Digest = d.sum(), d.sum()
	return d.close()
}

// progressCounts are the counters of a receipt. The order is part of the format.
func progressCounts(r *state.Receipt) [13]*int64 {
	return [13]*int64{
		&r.ProcessedUnique, &r.PendingCount, &r.DuplicateConflicts, &r.HeldCount, &r.Inherited, &r.DeferredCount, &r.VanishedCount,
		&r.WrittenOff, &r.EntriesWithoutID, &r.EntriesSkipped, &r.ConflictsAccepted, &r.InPageDuplicates, &r.Attempts,
	}
}

// progressPlaces are the places of a run. The order is part of the format.
func progressPlaces(run *Run) [6]*int {
	return [6]*int{&run.Receipt.PageIndex, &run.Receipt.Pages, &run.Fetching, &run.Careful, &run.ConflictSeq, &run.Repeats}
}

// SameBase reports whether two runs are equal in all that their progress does not
// say.
func SameBase(a, b *Run) bool {
	x, y := &a.Receipt, &b.Receipt
	return a.Scope == b.Scope && a.Lineage == b.Lineage && a.Active == b.Active && a.Died == b.Died && a.DeadlineSpent == b.DeadlineSpent &&
		sameDefinition(a.Definition, b.Definition) &&
		x.RunID == y.RunID && x.Endpoint == y.Endpoint && x.Filter == y.Filter && x.Order == y.Order && x.PageSize == y.PageSize &&
		x.Status == y.Status && slices.Equal(x.CompleteWhen, y.CompleteWhen) && (x.CompleteWhen == nil) == (y.CompleteWhen == nil) &&
		x.SchemaVersion == y.SchemaVersion && x.Job == y.Job && x.Action == y.Action && x.Contract == y.Contract &&
		x.OrderClass == y.OrderClass && x.UnstableAccepted == y.UnstableAccepted && x.BoundedFeed == y.BoundedFeed &&
		x.WindowFrom.Equal(y.WindowFrom) && x.CutoffAt.Equal(y.CutoffAt) && x.DeadlineAt.Equal(y.DeadlineAt) &&
		x.StartedAt.Equal(y.StartedAt) && x.FinishedAt.Equal(y.FinishedAt) && x.ResumeAt.Equal(y.ResumeAt) &&
		slices.Equal(x.BlockedBy, y.BlockedBy) && sameReason(x.Reason, y.Reason) &&
		slices.Equal(x.Vetoes, y.Vetoes) && slices.Equal(x.Contradictions, y.Contradictions) &&
		x.Supersedes == y.Supersedes && x.SupersededBy == y.SupersededBy
}

func sameDefinition(a, b *Definition) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Endpoint == b.Endpoint && a.Filter == b.Filter && a.Order == b.Order && a.PageSize == b.PageSize &&
		a.Action == b.Action && a.Contract == b.Contract && a.Cutoff == b.Cutoff && a.Once == b.Once &&
		a.AtMostOnce == b.AtMostOnce && a.OrderClass == b.OrderClass && a.Style == b.Style &&
		a.UnstableAccepted == b.UnstableAccepted && bytes.Equal(a.ContractDocument, b.ContractDocument)
}

func sameReason(a, b *state.Reason) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := &a.Answer, &b.Answer
	return a.Code == b.Code && a.Detail == b.Detail && a.PageIndex == b.PageIndex &&
		x.HTTPStatus == y.HTTPStatus && x.Error == y.Error && x.ErrorDescription == y.ErrorDescription && x.Type == y.Type &&
		slices.Equal(x.Details, y.Details) && x.RequestID == y.RequestID && x.Bucket == y.Bucket && x.Hint == y.Hint &&
		x.AgentInstruction == y.AgentInstruction
}

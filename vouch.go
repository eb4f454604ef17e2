package everypage

import (
	"context"
	"fmt"

	"github.com/everypage-go/everypage/store"
)

// vouch checks, before a run that an earlier process began is complete, that its
// page records are all there and follow on each other: what complete rests on may
// have been written long ago. A whole recount is Verify's.
func (r *runner[T]) vouch(ctx context.Context) error {
	if !r.resumed {
		return nil // this process has written every one of them
	}
	run := r.book.current()
	v := &verifier{ledger: r.ledger, run: *run, chainOnly: true, report: &Verification{RunID: run.Receipt.RunID}}
	if err := v.pages(ctx); err != nil {
		return fmt.Errorf("everypage: run %s: follow its page records: %w", run.Receipt.RunID, err)
	}
	if v.report.Found > 0 {
		return &VerificationError{Verification: v.report}
	}
	return nil
}

// newestPage checks that the record from which the walk goes on is the one that
// the receipt speaks of.
func newestPage(run store.Run, page store.Page) error {
	r := &run.Receipt
	if page.RunID == r.RunID && page.Index == r.Pages-1 && page.Digest == r.Digest && page.Hash == hashIDs(page.IDs) {
		return nil
	}
	v := &Verification{RunID: r.RunID, Job: r.Job, Status: r.Status, Found: 1, Findings: []Finding{{
		Kind: FindingDigest, Where: fmt.Sprintf("page %d", r.Pages-1), Recorded: r.Digest, Found: page.Digest,
		Detail: "its record is not the one that the receipt speaks of",
	}}}
	return &VerificationError{Verification: v}
}

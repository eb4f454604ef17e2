package everypage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// The waits between two requests for a page where the API does not say.
const (
	fetchBackoffInitial = time.Second
	fetchBackoffMax     = 5 * time.Minute
)

// position is where the walk stands: the page that is read next.
type position struct {
	cursor pager.Cursor
	index  int
	again  bool // the page was recorded already and is read again
	ended  bool // there is no next page
}

// walk is the story of a run: from where it stands it records a page, handles
// its items until all are settled, moves to the next, and finishes at the end.
func (r *runner[T]) walk(ctx context.Context) error {
	if err := r.handleReleased(ctx); err != nil {
		return err
	}
	at, err := r.position(ctx)
	if err != nil {
		return err
	}
	if !at.ended {
		if err := r.walkFrom(ctx, at); err != nil {
			return err
		}
	}
	return r.finish(ctx)
}

// walkFrom walks from a position to the end of the list.
func (r *runner[T]) walkFrom(ctx context.Context, at position) error {
	if err := r.mayFetch(ctx, at); err != nil {
		return err
	}
	for page, err := range r.pages(ctx, at.cursor) {
		if err != nil {
			return r.interrupted(ctx, err, at.index)
		}
		recorded, tasks, err := r.record(ctx, at, page)
		if err != nil {
			return err
		}
		if err := r.handle(ctx, tasks, r.book.current().Careful == at.index); err != nil {
			return err
		}
		r.crashed = false
		if at, err = r.next(ctx, recorded); err != nil || at.ended {
			return err
		}
		if err := r.mayFetch(ctx, at); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return r.cancelled(ctx, at.index)
	}
	return review(state.Reason{
		Code: state.CodeSequenceStopped, PageIndex: at.index,
		Detail: "the pager stopped without saying that the list ended",
	})
}

// position returns where the run stands. A page with unsettled items is read
// again, or, where it cannot be, handled from what was stored of it.
func (r *runner[T]) position(ctx context.Context) (position, error) {
	run := r.book.current()
	last := run.Receipt.Pages - 1
	if r.list.NotReplayable && run.Fetching > 0 && run.Fetching > last {
		return position{}, review(state.Reason{
			Code: state.CodeCursorLost, PageIndex: run.Fetching,
			Detail: "the page was fetched and not recorded, and its cursor cannot be used again",
		})
	}
	if last < 0 {
		return position{}, nil
	}
	page, err := r.lastRevision(ctx, last)
	if err == nil {
		err = newestPage(*run, page)
	}
	if err != nil {
		return position{}, err
	}
	if unsettled(&run.Receipt) > 0 {
		if !r.list.NotReplayable {
			return position{cursor: page.Cursor, index: last, again: true}, nil
		}
		if err := r.handleStored(ctx, page); err != nil {
			return position{}, err
		}
	}
	return r.next(ctx, page)
}

// unsettled returns the number of items that are neither done, held nor deferred.
func unsettled(r *state.Receipt) int64 { return r.PendingCount - r.HeldCount - r.EntriesWithoutID }

// lastRevision returns the newest record of a page.
func (r *runner[T]) lastRevision(ctx context.Context, index int) (page store.Page, err error) {
	for page, err = range r.ledger.Pages(ctx, r.book.current().Receipt.RunID, index) {
		if err != nil {
			return store.Page{}, fmt.Errorf("everypage: read page %d: %w", index, err)
		}
	}
	return page, nil
}

// next says what follows a settled page: the end, another page, or a person. No
// request is made to find out.
func (r *runner[T]) next(ctx context.Context, page store.Page) (position, error) {
	if page.End == pager.EndLast {
		return position{index: page.Index, ended: true}, nil
	}
	if page.Next.IsStart() {
		return position{}, review(state.ReasonOf(pager.MissingCursor(page.End, page.Evidence), page.Index))
	}
	before, found, err := r.seenAt(ctx, page.RunID, page.Next)
	if err != nil {
		return position{}, err
	}
	if found && r.book.current().Repeats >= r.list.RepeatLimit {
		return position{}, review(state.Reason{
			Code: state.CodeCursorRepeated, PageIndex: page.Index,
			Detail: fmt.Sprintf("page %d names the cursor that page %d was read at", page.Index, before),
		})
	}
	// A cursor that does not move shows above; a number always moves.
	if r.list.Style != pager.StyleCursor && r.book.current().Stalled {
		return position{}, review(state.Reason{
			Code: state.CodeNoProgress, PageIndex: page.Index,
			Detail: fmt.Sprintf("page %d shows the same IDs as page %d, in the same order, and says that more follows", page.Index, page.Index-1),
		})
	}
	return position{cursor: page.Next, index: page.Index + 1}, nil
}

// pages returns the pages from a cursor on, read ahead where that is safe: never
// past a page that the walk may not go on from.
func (r *runner[T]) pages(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[T], error] {
	if !r.job.Options.ReadAhead || r.list.NotReplayable || r.list.Style != pager.StyleCursor || r.list.RepeatLimit > 0 {
		return r.pager.Pages(ctx, from)
	}
	return r.pagesAhead(ctx, from)
}

// mayFetch looks before a page is fetched whether the run should stop instead,
// and records the fetch of a page that cannot be fetched twice.
func (r *runner[T]) mayFetch(ctx context.Context, at position) error {
	if err := r.mayGoOn(ctx, at.index); err != nil {
		return err
	}
	if !r.list.NotReplayable {
		return nil
	}
	return r.book.commit(ctx, func(s step) error {
		s.run.Fetching = at.index
		return nil
	})
}

// mayGoOn returns why the run must not do another step: the ledger failed, or it
// should stop.
func (r *runner[T]) mayGoOn(ctx context.Context, index int) error {
	if s := r.due(ctx, index); s != nil {
		return s
	}
	return r.book.failure()
}

// due returns why the run should stop now: its caller is gone, or its deadline
// passes.
func (r *runner[T]) due(ctx context.Context, index int) *stop {
	if ctx.Err() != nil {
		return r.cancelled(ctx, index)
	}
	run := r.book.current()
	at := run.Receipt.DeadlineAt
	if at.IsZero() || run.DeadlineSpent || !r.clock.Now().After(at) {
		return nil
	}
	return &stop{event: state.EventPause, reason: state.Reason{
		Code: state.CodeDeadlinePassed, PageIndex: index,
		Detail: "the deadline was " + at.Format(time.RFC3339),
	}}
}

// interrupted says what a failed fetch means for the run.
func (r *runner[T]) interrupted(ctx context.Context, err error, index int) error {
	if ctx.Err() != nil {
		return r.cancelled(ctx, index)
	}
	fault := faultOf(err)
	s := &stop{event: state.EventReview, reason: state.ReasonOf(fault, index), cause: err}
	if fault.Verdict != pager.Pause {
		return s
	}
	s.event = state.EventPause
	s.refused = fault.Code == pager.CodeRateLimited || fault.Code == pager.CodeQuotaExhausted
	s.until = r.resumeAt(fault.Code, fault.Until)
	return s
}

// resumeAt returns when a pause may end: the given instant, or the engine's own
// where there is none and polling is allowed.
func (r *runner[T]) resumeAt(code pager.Code, given time.Time) time.Time {
	failures := int(r.failures.Add(1))
	now := r.clock.Now()
	switch last := time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC); {
	case given.After(last): // later than a receipt can say
		return last
	case given.After(now):
		return given.UTC()
	case given.IsZero() && state.Explain(code).NeedsInstant:
		return time.Time{}
	case !given.IsZero(): // at once, unless that was said before and did not help
		failures--
	}
	return now.Add(interval(Backoff{Initial: fetchBackoffInitial, Max: fetchBackoffMax}, failures))
}

// interval returns the wait after a number of failures; none after none.
func interval(b Backoff, failures int) time.Duration {
	policy := backoff.ExponentialBackOff{
		InitialInterval: b.Initial, MaxInterval: b.Max,
		Multiplier: backoff.DefaultMultiplier, // the jitter is ours: see worker.callLater
	}
	policy.Reset()
	var d time.Duration
	for range min(failures, maxBackoffSteps) {
		d = policy.NextBackOff()
	}
	return d
}

// maxBackoffSteps is where every backoff has long reached its maximum.
const maxBackoffSteps = 100

// faultOf returns the fault in an error. An error that says nothing about itself
// needs review, unless it is plainly one of transport.
func faultOf(err error) *pager.Fault {
	if fault, ok := errors.AsType[*pager.Fault](err); ok {
		return fault
	}
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) {
		return &pager.Fault{Verdict: pager.Pause, Code: pager.CodeTransport, Err: err}
	}
	return &pager.Fault{Code: pager.CodePagerFailed, Err: err}
}

// cancelled is the pause of a run whose caller is gone.
func (r *runner[T]) cancelled(ctx context.Context, index int) *stop {
	cause := context.Cause(ctx)
	return &stop{event: state.EventPause, cause: cause, reason: state.Reason{
		Code: state.CodeCancelled, Detail: cause.Error(), PageIndex: index,
	}}
}

func review(reason state.Reason) *stop { return &stop{event: state.EventReview, reason: reason} }

// finish completes the run if the guard lets it, else hands it to a person. What
// predecessors of the lineage owe, and this run did not meet, counts too.
func (r *runner[T]) finish(ctx context.Context) error {
	if r.job.DropVanished {
		if err := r.dropVanished(ctx); err != nil {
			return err
		}
	}
	why, err := r.whyBlocked(ctx)
	if err == nil {
		err = r.vouch(ctx)
	}
	if err != nil {
		return err
	}
	return r.book.commit(ctx, func(s step) error {
		if blocks := s.run.Receipt.Blocks(); len(blocks) > 0 {
			return review(state.Reason{Code: blocks[0], Detail: why, PageIndex: s.run.Receipt.PageIndex})
		}
		s.run.Active = false
		return s.fire(ctx, state.Change{Event: state.EventFinish})
	})
}

// whyBlocked says to a person what keeps the run from being complete.
func (r *runner[T]) whyBlocked(ctx context.Context) (string, error) {
	if err := r.book.flush(ctx); err != nil {
		return "", err
	}
	receipt := r.book.receipt()
	var parts []string
	part := func(n int64, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	if len(receipt.Vetoes) > 0 {
		parts = append(parts, "the API said "+strings.Join(receipt.Vetoes, ", "))
	}
	if t := receipt.ReportedTotal; len(receipt.Contradictions) > 0 && t != nil {
		parts = append(parts, fmt.Sprintf("the reported total went from %d to %d", t.First, t.Last))
	}
	part(receipt.DuplicateConflicts, "conflict is open", "conflicts are open")
	part(receipt.HeldCount, "item is held", "items are held")
	if receipt.EntriesWithoutID > 0 {
		part(receipt.EntriesWithoutID, "entry has no usable ID", "entries have no usable ID")
		for page, err := range r.ledger.Pages(ctx, receipt.RunID, 0) {
			if err != nil {
				return "", fmt.Errorf("everypage: look for entries without ID: %w", err)
			}
			if len(page.Problems) > 0 {
				parts = append(parts, fmt.Sprintf("the first: page %d: %s", page.Index, page.Problems[0]))
				break
			}
		}
	}
	return strings.Join(parts, "; "), nil
}

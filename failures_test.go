package everypage_test

import (
	"errors"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// The five failures of the article that the receipt comes from. Each row is a
// list of tickets behind an API that pages by 3 over HTTP, a CRM behind another
// that gets one note a ticket, and a ledger on disk; each says what happens, what
// the receipt says then, and what it says after somebody did something about it.
func TestFailures(t *testing.T) {
	for _, row := range []failureRow{
		{
			name:  "7 items, 3 a page: 3 pages, 7 unique, the end observed",
			first: failureWant{status: state.Complete, pages: 3, unique: 7, end: "pagination.has_more=false", read: "1 2 3", notes: "A B C D E F G"},
		},
		{
			name:  "a stop after 2 items of page 2: the same page is read again, and no note is made twice",
			when:  failureCancelAfter("E"),
			first: failureWant{status: state.Paused, reason: state.CodeCancelled, pages: 2, unique: 5, pending: 1, read: "1 2", notes: "A B C D E"},
			then:  failureRunAgain,
			last:  failureWant{status: state.Complete, pages: 3, unique: 7, end: "pagination.has_more=false", read: "1 2 2 3", notes: "A B C D E F G"},
		},
		{
			name: "the same, and the process is killed between the note for E and its record",
			when: failureKill("after E"),
			// E's key comes a second time, and the CRM answers with the first note.
			last: failureWant{status: state.Complete, pages: 3, unique: 7, end: "pagination.has_more=false", read: "1 2 2 3", notes: "A B C D E F G", replays: 1},
		},
		{
			name: "the same, and the process is killed when the record of E is on disk",
			when: failureKill("recorded E"),
			last: failureWant{status: state.Complete, pages: 3, unique: 7, end: "pagination.has_more=false", read: "1 2 2 3", notes: "A B C D E F G"},
		},
		{
			name:  "an 8th item while the run is under way: not in this run, in the next",
			job:   failureOnceAJobUntilTheCutoff,
			when:  failureNewTicketOnPage2("H"),
			first: failureWant{status: state.Complete, pages: 3, unique: 7, deferred: 1, end: "pagination.has_more=false", read: "1 2 3", notes: "A B C D E F G"},
			then:  failureRunAgain,
			last:  failureWant{status: state.Complete, pages: 3, unique: 1, inherited: 7, end: "pagination.has_more=false", read: "1 2 3 1 2 3", notes: "A B C D E F G H"},
		},
		{
			name:  "the same ID on another page: one note, a conflict, not complete until a person accepts it",
			when:  failureSameIDOnPage2("B"),
			first: failureWant{status: state.NeedsReview, reason: state.CodeConflictsOpen, pages: 3, unique: 7, conflicts: 1, end: "pagination.has_more=false", read: "1 2 3", notes: "A B C D E F G"},
			then:  failureAccept,
			last:  failureWant{status: state.Complete, pages: 3, unique: 7, accepted: 1, end: "pagination.has_more=false", read: "1 2 3", notes: "A B C D E F G"},
		},
		{
			name:  "has_more=true without a cursor: not complete, and no request is made to find out",
			when:  failureOnPage2(simapi.MoreWithoutCursor()),
			first: failureWant{status: state.NeedsReview, reason: pager.CodeCursorMissing, pages: 2, unique: 6, read: "1 2", notes: "A B C D E F"},
			then:  failureRunAgain,
			last:  failureWant{status: state.NeedsReview, reason: pager.CodeCursorMissing, pages: 2, unique: 6, read: "1 2", notes: "A B C D E F"},
		},
	} {
		row.run(t)
	}
}

// What the end of a list is, differs by API; each row walks the 7 tickets by
// another contract.
func TestFailuresOfOtherContracts(t *testing.T) {
	for _, row := range []failureRow{
		{
			name: "a top-N feed: one page by contract, and the receipt says that it is no whole list",
			api:  simapi.KeysetFeed, contract: "keyset-feed",
			first: failureWant{status: state.Complete, pages: 1, unique: 3, bounded: true, end: "bounded feed, one page by contract", read: "1", notes: "A B C"},
		},
		{
			name: "a catalogue's page without next_cursor and has_more: no feed, but no list page either",
			api:  simapi.KeysetFeed, contract: "keyset-catalogue",
			first: failureWant{status: state.NeedsReview, reason: pager.CodeNotAList, read: "1"},
		},
		{
			name: "AIP-158: a short page, an empty one and {} are pages; a missing token is the end",
			api:  simapi.GoogleAIP158, contract: "google-aip158",
			server: simapi.ServerOptions{PageSizes: map[int]int{1: 2, 2: 0}, TrailingPage: true},
			first:  failureWant{status: state.Complete, pages: 5, unique: 7, end: "nextPageToken is absent", read: "1 2 3 4 5", notes: "A B C D E F G"},
		},
		{
			name: "Stripe: after the last ID until has_more=false",
			api:  simapi.StripeV1, contract: "stripe-v1",
			first: failureWant{status: state.Complete, pages: 3, unique: 7, end: "has_more=false", read: "1 2 3", notes: "A B C D E F G"},
		},
		{
			name: "GitHub: by the Link header until it has no next",
			api:  simapi.GitHubREST, contract: "github-rest",
			first: failureWant{status: state.Complete, pages: 3, unique: 7, end: "no Link with rel=next", read: "1 2 3", notes: "A B C D E F G"},
		},
	} {
		row.run(t)
	}
}

func failureRunAgain(w *failureWorld) (*state.Receipt, error) {
	w.clock.advance(time.Hour)
	return w.run(w.t.Context())
}

// failureAccept is a person's decision, which needs a name and a note.
func failureAccept(w *failureWorld) (*state.Receipt, error) {
	runID := w.receipt.RunID
	for _, unsigned := range []everypage.Decision{{Note: "the ticket moved"}, {By: "Ann"}} {
		unsigned.Clock = w.clock
		if _, err := everypage.Accept(w.t.Context(), w.ledger, runID, unsigned); err == nil {
			w.t.Errorf("%+v was carried out; it lacks a name or a note", unsigned)
		}
	}
	receipt, err := everypage.Accept(w.t.Context(), w.ledger, runID, everypage.Decision{By: "Ann", Note: "the ticket moved while we read", Clock: w.clock})
	if err != nil {
		return receipt, err
	}
	for c, err := range w.ledger.Conflicts(w.t.Context(), runID) {
		if err != nil || c.ID != "B" || c.FirstPage != 0 || c.Page != 1 || c.AcceptedBy != "Ann" || c.Note == "" {
			w.t.Errorf("the conflict is %+v (%v)", c, err)
		}
	}
	return receipt, nil
}

func failureOnceAJobUntilTheCutoff(j *everypage.Job[failureTicket]) {
	j.Once, j.Cutoff = everypage.OnceAJob, everypage.ClientCutoff
}

func failureNewTicketOnPage2(id string) func(*failureWorld) (*state.Receipt, error) {
	return func(w *failureWorld) (*state.Receipt, error) {
		created := w.clock.Now().Add(time.Minute)
		w.server.Script().At(2, simapi.Fault{Before: func() { w.server.List().Append(simapi.Tickets(created, id)...) }})
		return w.run(w.t.Context())
	}
}

func failureSameIDOnPage2(id string) func(*failureWorld) (*state.Receipt, error) {
	return func(w *failureWorld) (*state.Receipt, error) {
		if !w.server.List().Duplicate(id, 5) {
			return nil, errors.New("there is no such ticket")
		}
		return w.run(w.t.Context())
	}
}

func failureOnPage2(fault simapi.Fault) func(*failureWorld) (*state.Receipt, error) {
	return func(w *failureWorld) (*state.Receipt, error) {
		w.server.Script().At(2, fault)
		return w.run(w.t.Context())
	}
}

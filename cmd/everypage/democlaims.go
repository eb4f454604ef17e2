package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/state"
)

// claim is something that the library promises, and what was seen of it.
type claim struct {
	text  string
	holds bool
	seen  string
}

// claims checks what is promised against what the list and the CRM saw, and the
// ledger says.
func (w *demoWorld) claims(killed, final sight) []claim {
	r := final.receipt
	calls := w.calls()
	return []claim{
		w.oneEffectEach(),
		{
			"every call for E had the same key", len(calls["E"]) > 1 && len(unique(calls["E"])) == 1,
			fmt.Sprintf("%d calls, key %s", len(calls["E"]), strings.Join(unique(calls["E"]), " and ")),
		},
		w.confirmedOnce(killed),
		w.pageReadAgain(final),
		{
			"the receipt of the killed run was not complete", killed.receipt.Status != state.Complete && !killed.receipt.TerminalObserved,
			fmt.Sprintf("status %s, terminal_observed %t", killed.receipt.Status, killed.receipt.TerminalObserved),
		},
		{"seven tickets were processed, each once", r.ProcessedUnique == 7 && r.Inherited == 0, fmt.Sprintf("processed_unique %d", r.ProcessedUnique)},
		{"the end was observed, and not inferred", r.TerminalObserved && strings.Contains(r.EndEvidence, "has_more"), fmt.Sprintf("%s on page %d of %d", r.EndEvidence, r.PageIndex+1, r.Pages)},
		{"there were three pages", r.Pages == 3, fmt.Sprintf("pages %d", r.Pages)},
		{
			"the run is complete, and nothing is owed", r.Status == state.Complete && r.PendingCount == 0 && r.DuplicateConflicts == 0,
			fmt.Sprintf("status %s, pending_count %d, duplicate_conflicts %d", r.Status, r.PendingCount, r.DuplicateConflicts),
		},
		recounted(killed, final),
	}
}

// calls returns the keys that the CRM was called with, by ticket.
func (w *demoWorld) calls() map[string][]string {
	calls := make(map[string][]string)
	for _, request := range w.crm.Log().Requests() {
		if request.Method == http.MethodPost {
			ticket := ticketOf(request)
			calls[ticket] = append(calls[ticket], request.Header.Get("Idempotency-Key"))
		}
	}
	return calls
}

func unique(texts []string) []string {
	sorted := slices.Sorted(slices.Values(texts))
	return slices.Compact(sorted)
}

func (w *demoWorld) oneEffectEach() claim {
	effects := w.crm.EffectsByTicket()
	holds := len(effects) == 7
	var seen []string
	for _, ticket := range slices.Sorted(maps.Keys(effects)) {
		holds = holds && effects[ticket] == 1
		seen = append(seen, fmt.Sprintf("%s %d", ticket, effects[ticket]))
	}
	return claim{"the CRM has one note for each ticket", holds, strings.Join(seen, ", ")}
}

// confirmedOnce checks that what the ledger knew as done at the kill was not
// called again.
func (w *demoWorld) confirmedOnce(killed sight) claim {
	var again, done []string
	for ticket, is := range killed.done {
		if is {
			done = append(done, ticket)
		}
	}
	slices.Sort(done)
	for _, request := range w.crm.Log().Requests()[w.before:] {
		if ticket := ticketOf(request); killed.done[ticket] {
			again = append(again, ticket)
		}
	}
	seen := strings.Join(done, " ") + " were"
	if len(again) > 0 {
		seen = strings.Join(again, " ") + " were called again"
	}
	return claim{"no ticket that was recorded as done was called again", len(done) > 0 && len(again) == 0, seen}
}

// pageReadAgain checks that the second process began at the page that the first
// one died on, at the same cursor byte for byte.
func (w *demoWorld) pageReadAgain(final sight) claim {
	requests := w.list.Log().Requests()
	cursors := make([]string, len(requests))
	for i, request := range requests {
		cursors[i] = rawCursor(request)
	}
	var revisions int
	for _, page := range final.pages {
		if page.Index == 1 {
			revisions++
		}
	}
	holds := len(cursors) == 4 && cursors[0] == "" && cursors[1] != "" && cursors[1] == cursors[2] && cursors[3] != cursors[2] && revisions == 2
	return claim{"page 2 was read again at the same cursor, and page 1 was not", holds, fmt.Sprintf("%d requests, %d records of page 2", len(requests), revisions)}
}

// rawCursor returns a request's cursor as it was sent.
func rawCursor(r simapi.Request) string {
	for pair := range strings.SplitSeq(r.RawQuery, "&") {
		if value, ok := strings.CutPrefix(pair, "cursor="); ok {
			return value
		}
	}
	return ""
}

// recounted checks both receipts against a count of the records.
func recounted(killed, final sight) claim {
	same := func(s sight) bool {
		a, b := s.receipt, s.recount
		return a.ProcessedUnique == b.ProcessedUnique && a.PendingCount == b.PendingCount && a.HeldCount == b.HeldCount &&
			a.DuplicateConflicts == b.DuplicateConflicts && a.Pages == b.Pages && a.Digest == b.Digest
	}
	return claim{
		"both receipts agree with a recount of the ledger", same(killed) && same(final),
		fmt.Sprintf("%d done and %d pending after the kill, %d and %d at the end",
			killed.recount.ProcessedUnique, killed.recount.PendingCount, final.recount.ProcessedUnique, final.recount.PendingCount),
	}
}

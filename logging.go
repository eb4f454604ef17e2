package everypage

import (
	"log/slog"
	"sync"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

const (
	// toldOneByOne is how many held items, and how many conflicts, a run logs one
	// by one; after that only the 100th, the 1,000th and so on. The ledger has all.
	toldOneByOne = 20
	// progressEvery is the time between two lines about the progress of a run.
	progressEvery = time.Minute
)

// logging is the observer that tells a logger what a person may have to know:
// transitions, held items, conflicts, waits, and once a minute how far the run is.
// Pages are told at debug level, and single items that succeed not at all, so that
// the log of a million items can still be read. The names of the attributes stay as
// they are; docs/signals.md lists them.
func logging(log *slog.Logger) Observer {
	b := &logbook{log: log}
	return Observer{Page: b.page, Settled: b.settled, Conflict: b.conflict, Transition: b.transition, Wait: b.wait}
}

// logbook is what the log of a run has told already.
type logbook struct {
	log *slog.Logger

	mu        sync.Mutex
	held      int
	conflicts int
	told      time.Time // when the progress was told last
}

func (b *logbook) page(r state.Receipt, p store.Page) {
	b.log.Debug("page recorded", "page_index", p.Index, "revision", p.Revision, "items", len(p.IDs), "end", p.End.String(), "request_id", p.RequestID)
	if b.due(r) {
		b.log.Info("progress", "page_index", p.Index, "processed_unique", r.ProcessedUnique, "pending_count", r.PendingCount, "held_count", r.HeldCount)
	}
}

// due reports whether the progress is to be told, and notes that it is.
func (b *logbook) due(r state.Receipt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told.IsZero() {
		b.told = r.UpdatedAt // what has just begun is told by its transition
	}
	if r.UpdatedAt.Sub(b.told) < progressEvery {
		return false
	}
	b.told = r.UpdatedAt
	return true
}

func (b *logbook) settled(r state.Receipt, i store.Item) {
	if i.State != store.StateHeld || !b.tell(&b.held) {
		return
	}
	b.log.Warn("item held", "item_id", i.ID, "page_index", i.Page, "code", i.Code, "detail", pager.RedactText(i.Detail),
		"attempts", i.Attempts, "held_count", r.HeldCount)
}

func (b *logbook) conflict(r state.Receipt, c store.Conflict) {
	if !b.tell(&b.conflicts) {
		return
	}
	b.log.Warn("conflict recorded", "item_id", c.ID, "first_page", c.FirstPage, "page_index", c.Page, "duplicate_conflicts", r.DuplicateConflicts)
}

// tell counts one more of a kind and reports whether it is told.
func (b *logbook) tell(count *int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	*count++
	n := *count
	if n <= toldOneByOne {
		return true
	}
	for n%10 == 0 {
		n /= 10
	}
	return n == 1
}

func (b *logbook) transition(r state.Receipt, t state.Transition) {
	args := []any{
		"event", t.Event, "from", t.From, "to", t.To,
		"processed_unique", r.ProcessedUnique, "pending_count", r.PendingCount,
		"held_count", r.HeldCount, "duplicate_conflicts", r.DuplicateConflicts,
	}
	if t.Reason.Code != "" {
		args = append(args, "code", t.Reason.Code, "detail", pager.RedactText(t.Reason.Detail))
	}
	if t.Reason.RequestID != "" {
		args = append(args, "request_id", t.Reason.RequestID)
	}
	if t.To == state.NeedsReview {
		b.log.Warn("run changed", args...)
		return
	}
	b.log.Info("run changed", args...)
}

func (b *logbook) wait(_ string, code pager.Code, until time.Time) {
	b.log.Info("waiting in place", "code", code, "until", until)
}

package everypage

import (
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// counts is what outcomes change of the counters of a receipt. Together the first
// six are the recount: each ID of a run is in exactly one of processed_unique,
// inherited, deferred_count, vanished_count, written_off and pending_count.
type counts struct {
	processed, inherited, deferred, vanished, writtenOff, pending int64

	held     int64 // of the pending
	attempts int64
}

// move takes an item's weight from what it was to what it is, for the receipt of
// the given run.
func (c *counts) move(runID string, was, is *store.Item) {
	if was.RunID == runID || was.SettledBy == runID || owed(was.State) {
		// What an earlier run of the lineage still owes counts from the start, and
		// what this run settled of it without meeting it counts already.
		c.weigh(runID, was, -1)
	}
	c.weigh(runID, is, +1)
}

// owed reports whether an item in the state counts as pending.
func owed(s store.ItemState) bool { return s == store.StatePending || s == store.StateHeld }

// weigh adds an item's weight.
func (c *counts) weigh(runID string, item *store.Item, by int64) {
	switch item.State {
	case store.StateUnknown:
	case store.StatePending:
		c.pending += by
	case store.StateHeld:
		c.pending += by
		c.held += by
	case store.StateDone:
		if item.SettledBy == runID {
			c.processed += by
		} else {
			c.inherited += by
		}
	case store.StateDeferred:
		c.deferred += by
	case store.StateDropped:
		if item.Code == state.HoldVanished {
			c.vanished += by
		} else {
			c.writtenOff += by
		}
	}
}

// add adds what other outcomes change.
func (c *counts) add(other counts) {
	c.processed += other.processed
	c.inherited += other.inherited
	c.deferred += other.deferred
	c.vanished += other.vanished
	c.writtenOff += other.writtenOff
	c.pending += other.pending
	c.held += other.held
	c.attempts += other.attempts
}

// addTo changes a receipt's counters.
func (c *counts) addTo(r *state.Receipt) {
	r.ProcessedUnique += c.processed
	r.Inherited += c.inherited
	r.DeferredCount += c.deferred
	r.VanishedCount += c.vanished
	r.WrittenOff += c.writtenOff
	r.PendingCount += c.pending
	r.HeldCount += c.held
	r.Attempts += c.attempts
}

// tally moves an item's weight in a receipt from what it was to what it is.
func tally(r *state.Receipt, was, is *store.Item) {
	var c counts
	c.move(r.RunID, was, is)
	c.addTo(r)
}

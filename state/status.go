package state

// Status is where a run stands. The zero Status is a run that was not begun.
type Status string

const (
	// Running is a run that walks its list, or whose runner is gone.
	Running Status = "running"
	// Paused is a run that was interrupted and goes on at the same place.
	Paused Status = "paused"
	// Complete is a run whose end was observed and that owes nothing. It never
	// changes again.
	Complete Status = "complete"
	// NeedsReview is a run that only a person can let go on.
	NeedsReview Status = "needs_review"
)

// Statuses returns every status.
func Statuses() []Status { return []Status{Running, Paused, Complete, NeedsReview} }

// Event is what changes a status.
type Event string

const (
	// EventBegin records a new run. It is no transition of the machine.
	EventBegin Event = "begin"
	// EventPause interrupts a running run.
	EventPause Event = "pause"
	// EventResume lets a paused run, or one whose runner is gone, go on.
	EventResume Event = "resume"
	// EventFinish completes a run; its guard is the completion rule.
	EventFinish Event = "finish"
	// EventReview hands a run to a person.
	EventReview Event = "review"
	// EventReopen is a person's word that what stood in the way is resolved.
	EventReopen Event = "reopen"
	// EventSupersede marks a run as replaced by a successor. The status stays.
	EventSupersede Event = "supersede"
	// EventNote records something worth knowing. The status stays.
	EventNote Event = "note"
)

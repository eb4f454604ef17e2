// Package state holds what a run is and how it may change: its four statuses,
// the one table of transitions, the reasons with their remedies, and the
// receipt. It does no I/O.
//
// # The machine
//
// A run is running, paused, complete or needs_review. [Fire] is the only place
// that changes a status; it builds a machine (github.com/looplab/fsm) from the
// recorded status, asks the guards, and returns the [Transition] for the ledger.
// [Diagram] draws the table; docs/state-machine.md holds the same drawing.
//
// # Compatibility
//
// Statuses, events, reason codes and the names in a receipt are persisted. They
// are only ever added to; [SchemaVersion] tells which names a receipt may have.
package state

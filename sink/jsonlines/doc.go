// Package jsonlines writes items to a file as JSON lines, each exactly once,
// whatever is killed in between.
//
// # The trouble
//
// An item's line and the record of its outcome are in two files, and no single
// write covers both. A process that dies between them leaves a line whose item is
// not done: the item is handled again, and its line would stand there twice. One
// that dies during a write leaves half a line.
//
// # The scheme
//
// Beside FILE stands the folder FILE.everypage with a journal and a lock. A line
// goes to the journal first, with the item's key, and the journal is synced; then
// it goes to the file, and then the item counts as done. So the journal is never
// behind the file, and the ledger is never ahead of the journal. Items that are
// handled at the same time share one sync.
//
// The journal begins with a checkpoint: how long the file was when it was last
// synced itself, and which of its lines may not be known as done. [Open] checks
// that the file is what the checkpoint says, writes the journal's lines behind
// that point once more, which cuts or completes whatever stood there, and keeps
// their keys. An item whose key is among them is done when it is handled again,
// and nothing is written; the key is the same for every call, so that is certain.
// A key is forgotten once the ledger says that its item is done. Journal and
// memory thus hold little more than what one page of a list holds.
//
// # What is promised
//
//   - Each key has exactly one line, in whole, for each item that the ledger counts
//     as done, after a kill of the process as after a crash of the machine.
//   - A line is the item's JSON in compact form: no byte of a number or a string
//     changes.
//   - Several runs of one job append to one file, one behind the other. With
//     concurrency 1 the lines are in the list's order.
//   - A file of another job or ledger, one that was cut or appended to, one whose
//     last line was edited, and one that another process writes are refused and
//     left as they are. That is told by the file's length and its last line alone:
//     an edit further up that keeps the length is not noticed.
//   - A new file is refused for an open run that has lines elsewhere; see Options.
//
// An item may have its line and yet not be done: one that vanished from its list
// between a kill and the next start keeps the line of what it was.
//
// # Compatibility
//
// The journal has a version. A build reads every version up to its own.
package jsonlines

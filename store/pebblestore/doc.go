// Package pebblestore keeps a ledger in a folder of the local disk, in Pebble.
// It is the default store of everypage.
//
// # The folder
//
//	everypage.ledger   the marker: the version of the ledger's format
//	everypage.witness  how many commits were made, to notice that the newest are missing
//	db/                the records
//	receipts/          a mirror of each job's newest receipt, for people
//
// The folder holds secrets: the URLs of pages are kept as they came, with any
// credentials in them. What Open makes is therefore for its owner only: the
// folder, db and receipts with mode 0700, the marker and the receipts with 0600.
// A folder that is there already keeps its mode, also one that an older build
// made with mode 0755, until its owner changes it. Windows ignores modes; there a
// folder inherits who may read it.
//
// One process at a time has a ledger open; a second one is refused at once. The
// lock belongs to the process and ends with it, so a killed one leaves nothing
// to clear away. On Unix, a process that opens and closes the file db/LOCK itself,
// as one that copies the folder does, releases its own lock: copy a ledger that
// no process has open.
//
// # Durability
//
// A commit that returned nil survives a crash of the machine, and a crash leaves
// a prefix of what was committed. Commits of several goroutines share one sync.
//
// # What an item costs
//
// An item that is recorded and done, with nothing unusual about it, is written once:
// its key, with the place of its page's sheet. The sheet is one small record, which
// is written again as items of the page are done. The IDs stand in the page's record,
// packed; a key holds an ID of up to 16 bytes, or a salted hash of a longer one. An
// item that was held, tried again, in doubt or stored with its bytes has a record of
// its own. Looking an absent ID up takes the tables' filters, which the cache holds:
// see Options.CacheSize.
//
// # When the disk fails
//
// After a write or a sync that failed nobody knows what is on the disk. The
// store then refuses everything with store.ErrFailed, the process goes on, and
// the ledger can be opened again, in this process too, once the disk is well.
// A full disk is no other failure: Open, Close and commits give up within
// seconds, let go of the lock, and say that room is wanted. Nothing that was
// confirmed is lost, and the ledger opens once there is room again.
//
// What waited on the disk at that moment is given up: a few goroutines and the
// memory of the failed store stay behind until the process ends.
//
// # Damage
//
// A flipped bit, a table, a manifest or a log that is missing or cut: what was
// committed is there, or the ledger says store.ErrCorrupt, when it is opened or
// when what is damaged is read. The end of a log is the one place where a database
// cannot tell loss from a crash, so the folder has a witness beside it, which knows
// how many commits were made. It is written with every commit, and synced when a
// run becomes complete and when the ledger is closed. Nothing can notice that the
// folder as a whole was put back to an earlier state; nor that the last commits
// before a crash of the machine are missing, where the witness was not synced
// after them.
//
// # Compatibility
//
// The layout of the records is persisted; the marker's version counts its
// changes. A build reads every version up to its own. Each kind of record has a
// version of its own, too: a build that does not know one says so, and changes
// nothing.
package pebblestore

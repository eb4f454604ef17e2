// Package store says what a ledger keeps and what anything that keeps it must
// promise. The embedded default is in package pebblestore.
//
// # Records
//
// A ledger holds runs (a receipt with what a resume needs), the revisions of
// their pages, items by scope and ID, conflicts, and transitions. Binary records
// begin with a version byte; a reader that does not know the version says so.
//
// # Promises
//
// [Store.Commit] is atomic and durable: when it returns nil, the whole change
// survives a crash of the process and of the machine; when the machine dies
// before that, either the whole change is there or none of it. Changes of one
// run become durable in the order in which they were committed. One holder at a
// time works on a job.
package store

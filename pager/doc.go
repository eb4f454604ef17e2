// Package pager is the vocabulary that everypage and its adapters share: what a
// page of a list API is, at which cursor it was read, and what it said about
// the end of the list.
//
// # Concepts
//
// A [Pager] yields pages, one after the other, as an [iter.Seq2]. A [Cursor] is
// the opaque position at which a page is read; it goes back to the API byte for
// byte. An [End] says whether a page was the last one; its zero value means
// unknown, and unknown is never the end. A [Fault] is an error that says what a
// run has to do about it: pause and go on later, or ask a person.
//
// # Promises
//
// A sequence yields at most one error and then stops. Each call of Pages walks
// afresh. Nothing is fetched before the sequence is ranged over, and leaving the
// loop early leaks nothing.
//
// # Compatibility
//
// The package depends on the standard library only. Reason codes ([Code]) are
// persisted; a code never changes its meaning.
package pager

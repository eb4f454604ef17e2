// Package simapi is the simulated world that the demo, the drill and the tests
// walk: list APIs that speak five pagination contracts, and a CRM that creates
// notes under an Idempotency-Key. Both are plain http.Handlers; [Serve] starts
// one on loopback.
//
// # The list
//
// A [List] is what the API lists, and may be changed while it is walked: items
// come, go, change and appear twice. A [Server] serves it under a [Contract].
// A keyset position survives insertions and deletions; a page number does not,
// as with the real ones.
//
// # Faults
//
// Each handler has a [Script], which says how the request of a given number, the
// next request, or the first one that matches is answered instead, and a [Log]
// of what was asked. One scripted fault is one failed request: a lost connection
// is made in a way that no HTTP client repeats silently.
//
// # What it is not
//
// It is no model of any vendor's product: it speaks as much of the documented
// pagination, errors and idempotency as a client can tell apart. It links no
// test framework, since a binary that runs the demo contains it.
package simapi

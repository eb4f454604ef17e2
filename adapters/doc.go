// Package adapters reads list APIs. One HTTP engine reads them all; what differs
// between APIs is data, a [Contract].
//
// # Concepts
//
// A contract says where an API's answer holds its items and its next cursor,
// and what the one thing is that counts as the end of the list. [List] makes a
// [pager.Pager] of a contract and a URL. A [Client] carries what lists share: the
// HTTP client, the clock, the logger, and what is known of a credential's rate
// limit: a request that an answer has ruled out is not made, but paused for.
// Answers are JSON, or XML that is read as the JSON that stands for it.
// [ErrorRules] reads what an API says about an error and when to go on; the write
// side of a job uses it without a contract.
//
// # Promises
//
// An answer is judged in this order: its status, whether it is a list page at
// all, the declared end, contradictions, vetoes. The end is what the contract
// declares and nothing else. A cursor goes back byte for byte. No request and no
// credential goes to an origin that neither the caller nor the contract named.
// Every failure is a [*pager.Fault] that says whether to pause or to ask a
// person. Every answer is read within a limit and closed.
//
// # Compatibility
//
// A contract's document is stored by the runs that were begun under it. Fields
// are added and never change their meaning, so that every stored document loads.
package adapters

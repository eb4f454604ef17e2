// Package oteleverypage tells OpenTelemetry what a run does: traces of the run, its
// pages and its batches of items, and metrics of all of them.
//
//	receipt, err := oteleverypage.Run(ctx, ledger, job, nil)
//
// is [everypage.Run] with both, by the global providers; [Options] names others.
//
// # Traces
//
// A call of Run is one span, everypage.run. Under it, everypage.page lasts from the
// instant at which a page is durable until the next one is, and under that
// everypage.batch from the first call of a handler until the outcomes of the batch
// are durable: those that shared one commit. A page has at most ten of these; where
// there are more commits, the last one lasts until the page is settled. So the spans
// of a list grow with its pages and not with its items. The handler's
// context carries the span of its page, and the pager's context that of the run, so
// that what they trace themselves, such as HTTP requests, hangs where it belongs.
//
// Transitions, waits, held items and conflicts are events of the spans. A run that
// needs review, and a failure of the ledger, set the status of the span to Error; a
// pause does not.
//
// # Metrics
//
// Each has the attribute everypage.job, and none the run's ID, whose values would
// never end.
//
//	everypage.pages            counter    pages recorded, re-reads included
//	everypage.calls            counter    calls of the handler
//	everypage.items            counter    items settled, by everypage.outcome
//	everypage.conflicts        counter    conflicts recorded
//	everypage.runs             counter    calls of Run that ended, by everypage.status
//	everypage.pending          gauge      pending_count of the receipt
//	everypage.held             gauge      held_count of the receipt
//	everypage.conflicts.open   gauge      duplicate_conflicts of the receipt
//	everypage.wait.duration    counter    seconds of waits in place, by everypage.code
//	everypage.commit.duration  histogram  seconds of a commit, its sync included
//
// The names of spans, attributes and metrics stay as they are.
package oteleverypage

// Package everypage walks every page of a list API, hands every item to a
// handler exactly once, comes back safely after any stop, and reports complete
// only when the API itself said that the list ended and nothing is owed.
//
// # Concepts
//
// A [Job] is what is done again and again: a list, read by a pager, and an action
// on each of its items. A run is one pass of a job over its list. [Run] starts
// one or goes on with the one that is open. What a run did is kept in a ledger
// ([store.Store]; package store/pebblestore is the embedded default), and summed
// up in a receipt ([state.Receipt]) that a person or a program can check.
//
//	ledger, err := pebblestore.Open("ledger", nil)
//	…
//	receipt, err := everypage.Run(ctx, ledger, everypage.Job[Ticket]{
//		Name:   "overdue-tickets",
//		Pager:  tickets, // from adapters.List, or your own
//		Action: "remind",
//		Handle: func(ctx context.Context, item everypage.Item[Ticket]) error {
//			return crm.Remind(ctx, item.Value, item.Key)
//		},
//	})
//
// # Three ways to write a job
//
// [Job.Handle] does the action on one item, [Job.HandleBatch] on several, for an API
// that takes them in bulk, with an outcome for each; and [Each] is for those who
// would rather write a loop:
//
//	for item, err := range everypage.Each(ctx, ledger, job) {
//		if err != nil {
//			return err // the run is paused, or needs review
//		}
//		if err := crm.Remind(ctx, item.Value, item.Key); err != nil {
//			item.Fail(err)
//			continue
//		}
//		item.Done()
//	}
//
// What an error says is the same in all three: a plain one is tried again, and
// [Permanent], [PauseRun] and [NotDone] say otherwise. Nothing but a nil outcome or
// Done makes an item done. All keep what follows.
//
// # What a run promises
//
// The error of [Run] is nil if and only if the receipt says complete: the end of
// the list was observed, nothing is pending and no conflict is open.
//
// A page's cursor and the IDs on it are durable before any of its items is
// handled, and the run does not move to the next page before every item of the
// page is settled: done, held for a person, or deferred past the cutoff. An item
// whose success was confirmed is never handed to the handler again. The same ID
// on another page is handled once, and the conflict is recorded.
//
// No library can know whether an effect in another system happened when the
// process died between the effect and its record. So the promise is: recorded
// once, called again only with the same key. With a handler that honours
// [Item.Key], that is exactly once. For one that does not, [Job.AtMostOnce] puts
// an item in doubt into the hold queue instead of calling it again.
//
// # How a run stops
//
// A rate limit, a failing server, a lost connection or a cancelled context pauses
// a run ([ErrPaused]); it goes on where it was when it is asked for again. What
// contradicts the contract, an expired cursor, items past their attempts or open
// conflicts need a person ([ErrNeedsReview]): [Retry], [Accept] and [Supersede]
// are what that person can do.
//
// # Compatibility
//
// Ledgers, receipts, reason codes and keys written by one version are read by
// every later one.
package everypage

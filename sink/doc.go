// Package sink creates things through an API, once for each item of a job. It is
// a handler: [Sink.Handle] goes into everypage.Job.Handle, and [Sink.Confirm],
// where the API has a lookup, into everypage.Job.Confirm.
//
//	notes, err := sink.New(sink.Config[Ticket]{
//		URL:    "https://crm.example.com/v1/notes",
//		Header: http.Header{"Authorization": {"Bearer " + token}},
//		Body: func(item everypage.Item[Ticket]) (any, error) {
//			return Note{TicketID: item.ID, Text: "overdue"}, nil
//		},
//	})
//
// # What an answer means
//
// Each request carries the item's key. What comes back decides what the run does:
//
//   - 2xx: done, whether it is the first answer or a replay of it.
//   - 429, another sign of a limit, or 503 with an instant: the run pauses, until
//     the instant that the answer gives. The call costs no attempt.
//   - 401, 403, or a redirect: the run needs review with the API's words, since
//     every other item would fail the same way. Nothing is held; once the cause is
//     mended, everypage.Retry lets the run go on.
//     Where a 403 speaks of one item, an entry in the Rules or Codes of
//     Config.Errors with the meaning request_refused holds that item instead.
//   - 422 because the key was used before with another body: the item is held as
//     key_reused. It is never tried again by itself, and never gets another key.
//   - 409 while the API is still at work on the same key, 5xx, 408, 425, a lost
//     connection, a time-out: tried again with the same key.
//   - any other 3xx or 4xx: the item is held, with the API's words.
//
// # Promises
//
// One call of Handle sends one request at most: Go's transport does not repeat it
// silently once it was written, so that every repetition is an attempt in the
// ledger. The body is made once a call. No redirect is followed, so that key and
// credentials stay with the API that they were given for. Every answer is read
// within a limit and closed.
//
// # What it asks of the API
//
// That it honours keys: the same key creates once. For an API that does not, set
// everypage.Job.AtMostOnce; how long an API remembers keys goes into
// everypage.Job.KeyRetention.
package sink

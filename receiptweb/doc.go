// Package receiptweb shows a ledger in a browser: its runs, one run's receipt with
// what stands in the way of complete, its pages, the items that are held, conflicts,
// events and the lineage. A team lead can look and believe; whoever is on call sees
// what happened and what to do.
//
// # Mounting it
//
// [Handler] is an http.Handler like any other, to be mounted in the program that has
// the ledger open, in the way of net/http/pprof:
//
//	mux.Handle("/receipts/", http.StripPrefix("/receipts", receiptweb.Handler(ledger, nil)))
//
// It works under every prefix, since all its links are relative; the prefix must be
// stripped, and the pattern must end in a slash. A ledger is open in one process
// only, so the pages of a live run are shown by the process that runs it. The command
// "everypage serve" shows a ledger that no other process has open.
//
// # Who may see it, and who may act
//
// The handler asks nobody who they are: wrap it in what guards the rest of your
// server. Receipts hold item IDs, errors and held items with their data. Everybody
// who may see the pages may read them all.
//
// Without [Options.Authorize] the pages only read. With it, whoever it lets may retry
// and accept what is held, accept conflicts and supersede a run, by the library's own
// [everypage.Retry], [everypage.Accept] and [everypage.Supersede]. Actions are POST
// requests of the page's own origin (http.CrossOriginProtection), and they carry a
// token that is bound to the run as it was shown: a decision about a run that has
// changed since is refused.
//
// # What it shows
//
// Whatever an API, a handler or a person said is text: it is escaped, its control and
// bidirectional format characters are shown as \uXXXX, and credentials in URLs and
// cursors are left out, as in the command. The pages work without JavaScript; with it
// they follow a live run by server-sent events. Nothing is loaded from elsewhere, and
// the Content-Security-Policy allows neither inline scripts nor inline styles.
//
// # Compatibility
//
// [Handler] and [Options] are the interface. Paths, markup and styles may change.
package receiptweb

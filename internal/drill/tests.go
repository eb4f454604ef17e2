package drill

import (
	"time"

	"github.com/everypage-go/everypage/internal/simapi"
)

// items are the IDs on the list, three a page; added is the one that comes later.
var items = []string{"A", "B", "C", "D", "E", "F", "G"} //nolint:gochecknoglobals // a constant in all but name

const added = "H"

// end is how a program has to end.
type end int

const (
	endDone   end = iota // with 0: the list was walked to its end
	endFailed            // with anything else: the end was never said
	endEither            // both can be right
)

// test is one of the failures.
type test struct {
	name     string
	expected string
	arrange  func(w *world)
	killAt   string // the item whose effect is the program's last
	end      end
}

func tests() []test {
	return []test{
		{
			name: "all-pages", end: endDone,
			expected: "7 items, 3 a page: exit 0; A to G once each",
		},
		{
			name: "kill-on-page-2", end: endDone, killAt: "E",
			expected: "killed after the effect of E, started again: exit 0; A to G once each",
		},
		{
			name: "item-added", end: endDone, arrange: func(w *world) {
				w.list.Script().At(2, simapi.Fault{Before: func() {
					w.list.List().Append(simapi.Tickets(w.options.Now().Add(time.Minute), added)...)
				}})
			},
			expected: "H is added while page 2 is read: exit 0; A to G once each, H once or left to the next run",
		},
		{
			name: "repeated-id", end: endEither, arrange: func(w *world) { w.list.List().Duplicate("B", 5) },
			expected: "B stands on page 2 again: A to G once each, B too, or a refusal",
		},
		{
			name: "lost-cursor", end: endFailed, arrange: loseCursor,
			expected: "page 2 says that more follows, and not where: not exit 0; nothing twice",
		},
		{
			name: "repeated-cursor", end: endFailed, arrange: repeatCursor,
			expected: "the list leads back to page 2 for ever: it stops, not with exit 0; nothing twice",
		},
	}
}

// loseCursor makes the way on be lost behind the first page or the second, as the
// contract has words for it.
func loseCursor(w *world) {
	switch w.options.Contract {
	case simapi.GitHubREST, simapi.GoogleAIP158:
		w.refused.Store(true) // a missing link, or token, is their end: the cursor expires instead
	case simapi.StripeV1, simapi.KeysetCatalogue, simapi.KeysetFeed:
		w.list.Script().Always(simapi.Fault{EditPage: func(p *simapi.Page) {
			if p.Cursor == "" {
				return
			}
			p.HasMore, p.Next = true, ""
			if p.Contract == simapi.StripeV1 {
				p.Items = nil // its cursor is the last item
			}
		}})
	}
}

// repeatCursor makes the second page lead to itself.
func repeatCursor(w *world) {
	all := w.list.List().Items()
	w.list.Script().Always(simapi.Fault{EditPage: func(p *simapi.Page) {
		if p.Cursor == "" || p.Cursor == "1" {
			return
		}
		p.HasMore, p.Next = true, p.Cursor
		if p.Contract == simapi.StripeV1 {
			p.Items = all[pageSize : 2*pageSize]
		}
	}})
}

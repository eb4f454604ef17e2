package pager

import "time"

// End says what a page told about the end of its list. The zero value is
// [EndUnknown], and unknown is never the end.
type End uint8

const (
	// EndUnknown is a page that did not say whether another one follows. With a
	// next cursor the walk goes on; without one the run needs review.
	EndUnknown End = iota
	// EndMore is a page that said that another one follows.
	EndMore
	// EndLast is a page that carried the API's own documented end signal.
	EndLast
)

// String returns the name of e.
func (e End) String() string {
	switch e {
	case EndUnknown:
		return "unknown"
	case EndMore:
		return "more"
	case EndLast:
		return "last"
	}
	return "invalid"
}

// Item is one element of a page, as a pager supplies it.
type Item[T any] struct {
	// ID identifies the item in its list. An empty ID means that the entry has
	// none that could be used; it is owed, and never handled.
	ID string
	// Problem says why ID is empty, and of which entry of the answer, for a person.
	Problem string
	// CreatedAt is compared with a run's cutoff. The zero time means unknown.
	CreatedAt time.Time
	// Value is the decoded item.
	Value T
	// Raw is the item as it came, byte for byte. Where it is nil, the JSON of
	// Value stands for it.
	Raw []byte
}

// Page is one answer of a list API, read at one cursor.
type Page[T any] struct {
	// Cursor is where the page was read: cursor_in.
	Cursor Cursor
	// Next is where the following page is read: cursor_out. The start cursor
	// means that the page named none.
	Next Cursor
	// End is what the page told about the end of the list.
	End End
	// Evidence is the part of the answer that End rests on, such as
	// "has_more=false", for a person.
	Evidence string
	// Items are the page's elements, in the API's order.
	Items []Item[T]
	// Skipped counts entries that the contract says are to be left out.
	Skipped int
	// Vetoes name what forbids calling the list complete although its end came,
	// such as "incomplete_results=true".
	Vetoes []string
	// Bounded marks a feed that holds the first few of a list by contract, and
	// never the whole of it.
	Bounded bool
	// Meta is what else the answer said.
	Meta Meta
}

// Meta is what an answer said beside its items.
type Meta struct {
	// Status is the HTTP status, 0 where there is none.
	Status int
	// RequestID is the API's name for this exchange.
	RequestID string
	// Limit is the state of the caller's rate limit.
	Limit RateLimit
	// Total is the number of items that the API reports for the whole list, nil
	// where it reports none. It is a cross-check, never an end.
	Total *int64
	// Header holds the header fields that matter to a reader.
	Header map[string][]string
}

// RateLimit is the state of a rate limit as an answer told it.
type RateLimit struct {
	// Known reports whether the answer told anything; the other fields count
	// only then.
	Known bool
	// Remaining is the number of requests left until Reset.
	Remaining int64
	// Reset is when the full quota is back; the zero time means unknown.
	Reset time.Time
}

// Style is how a list is walked.
type Style string

const (
	// StyleCursor walks by a token or a link that the API issues.
	StyleCursor Style = "cursor"
	// StyleOffset walks by the number of items already read.
	StyleOffset Style = "offset"
	// StylePage walks by page number.
	StylePage Style = "page"
)

// Order is the class of order that a list is read in. A walk vouches for
// completeness only within the class.
type Order string

const (
	// OrderUnspecified says nothing about the order.
	OrderUnspecified Order = ""
	// OrderUnstable lets items change their place while the list is walked.
	OrderUnstable Order = "unstable"
	// OrderStable keeps every item's place; new items may appear anywhere
	// that was not read yet, or before the start.
	OrderStable Order = "stable"
	// OrderStableAscending is stable, and new items appear at the end.
	OrderStableAscending Order = "stable_ascending"
)

// Description is what a pager knows about its own list. It becomes part of a
// run's definition, which cannot change while the run is open.
type Description struct {
	// Endpoint, Filter, Sort and PageSize tell which list is walked.
	Endpoint string
	Filter   string
	Sort     string
	PageSize int
	// Contract is the name of the contract that reads the answers, and
	// ContractDocument its full text, so that a run can finish under it.
	Contract         string
	ContractDocument []byte
	// Style and Order say how the list is walked. An empty Style is StyleCursor.
	Style Style
	Order Order
	// NotReplayable marks a list whose cursor cannot be read twice, such as a
	// scroll: its items are stored before work.
	NotReplayable bool
	// RepeatLimit is how often in a row a cursor may come back without progress
	// before the run needs review. 0 means never.
	RepeatLimit int
}

// Describer is implemented by pagers that know their own description.
type Describer interface {
	// Describe returns the description; it does no I/O.
	Describe() Description
}

// Rebinder is implemented by pagers that are driven by a contract document. A
// run that was begun under an older document finishes under it.
type Rebinder[T any] interface {
	// Rebind returns a pager for the same list under the given document. It
	// returns an error if the document cannot be read.
	Rebind(document []byte) (Pager[T], error)
}

// LimitForgetter is implemented by pagers that remember a limit and make no request
// while it lasts.
type LimitForgetter interface {
	// ForgetLimits lets the next request be made all the same.
	ForgetLimits()
}

// Windower is implemented by pagers whose API can filter by creation time.
type Windower[T any] interface {
	// Window returns a pager for the items created in [from, to], both
	// inclusive; a zero from means no lower bound. It returns an error if the
	// API has no such filter.
	Window(from, to time.Time) (Pager[T], error)
}

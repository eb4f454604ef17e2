package proptest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/pager"
)

// PagerAPI is a list API for a suite of pagers: the simulated one of [SimulatedAPI],
// or a harness of somebody's own.
type PagerAPI[T any] interface {
	// Pager makes the API hold a list and returns a pager over it. It returns an
	// error that wraps errors.ErrUnsupported for a list that the API cannot hold.
	Pager(list PagerList) (pager.Pager[T], error)
	// Requests is the number of requests that the API has had since.
	Requests() int
	// Fail answers the nth request from now, counted from 1, with a failure. It
	// reports whether the API can.
	Fail(nth int, failure PagerFailure) bool
	// Can declares what the API and its pager can.
	Can() PagerCapabilities
	// Close ends the API.
	Close()
}

// PagerList is what an API is to list.
type PagerList struct {
	// IDs are the IDs of its items, in order, and Created when each was created, one
	// a minute.
	IDs     []string
	Created []time.Time
	// PageSize is the number of items a page, and Sizes that of single pages, by
	// number from 1, where it differs; it may be 0.
	PageSize int
	Sizes    map[int]int
	// EmptyLast announces one more page behind the last item, and that one is empty.
	EmptyLast bool
}

// PagerCapabilities are what not every API has.
type PagerCapabilities struct {
	// StableOrder says that a cursor marks a place: items before it may come and go.
	StableOrder bool
	// Cutoff says that the pager is a pager.Windower.
	Cutoff bool
	// Totals says that a page has the size of the list.
	Totals bool
	// NotReplayable says that a cursor cannot be used twice.
	NotReplayable bool
	// ItemID returns the ID that the pager gives to the item that the list knows by an
	// ID. Nil means the same.
	ItemID func(id string) string
}

// PagerFailure is an answer that is no page.
type PagerFailure string

// The failures.
const (
	FailLimited      PagerFailure = "429 with Retry-After: 7"
	FailServer       PagerFailure = "503"
	FailUnauthorized PagerFailure = "401"
	FailNotFound     PagerFailure = "404"
	FailLost         PagerFailure = "a lost connection"
	FailCut          PagerFailure = "a body that is cut short"
	FailNotAList     PagerFailure = "200 with a login page"
	FailNoCursor     PagerFailure = "that more follows, and names no cursor"
)

// TestPager puts somebody's pager through what the engine relies on. open starts an
// API, which the rule closes; see [SimulatedAPI] for a pager that reads a common
// pagination contract.
//
//	func TestMyPager(t *testing.T) {
//		proptest.TestPager(t, func() (proptest.PagerAPI[Ticket], error) {
//			return proptest.SimulatedAPI("keyset-catalogue", newTicketPager)
//		})
//	}
//
// A failure names the promise that an engine could not keep with such a pager, and
// says what was seen.
func TestPager[T any](t *testing.T, open func() (PagerAPI[T], error)) {
	t.Helper()
	for _, r := range pagerRules[T]() {
		t.Run(r.name, func(t *testing.T) {
			err := r.ask(t.Context(), open)
			var skipped *notAskedError
			switch {
			case errors.As(err, &skipped):
				t.Skip(skipped.why)
			case err != nil:
				t.Error(err)
			}
		})
	}
}

// CheckPager is TestPager for programs that are no test. It returns what every
// broken rule found, or nil.
func CheckPager[T any](ctx context.Context, open func() (PagerAPI[T], error)) error {
	var broken []error
	for _, r := range pagerRules[T]() {
		err := r.ask(ctx, open)
		if _, skipped := errors.AsType[*notAskedError](err); !skipped {
			broken = append(broken, err)
		}
	}
	return errors.Join(broken...)
}

// notAskedError is a rule that an API has nothing for.
type notAskedError struct{ why string }

func (e *notAskedError) Error() string { return "not asked: " + e.why }

// pagerRule is one rule of a pager.
type pagerRule[T any] struct {
	name  string
	check func(t *pagerTrial[T])
}

// pagerTrial is a rule on trial, with its API.
type pagerTrial[T any] struct {
	*trial

	api     PagerAPI[T]
	skipped string
}

func (r pagerRule[T]) ask(ctx context.Context, open func() (PagerAPI[T], error)) error {
	p := &pagerTrial[T]{}
	err := try(ctx, r.name, func(t *trial) {
		p.trial = t
		var err error
		if p.api, err = open(); err != nil {
			t.Fatalf("start the API: %v", err)
		}
		t.Cleanup(p.api.Close)
		r.check(p)
	})
	if p.skipped != "" {
		return &notAskedError{p.skipped}
	}
	return err
}

// pagerRules is every rule there is.
func pagerRules[T any]() []pagerRule[T] {
	return []pagerRule[T]{
		{"end-observed: every item comes once, and the last page alone is the end", ruleWalk[T]},
		{"end-observed: a short page is not the end", ruleShortPage[T]},
		{"end-observed: an empty page is not the end", ruleEmptyPage[T]},
		{"end-observed: a list may end with an empty page", ruleEmptyLast[T]},
		{"end-observed: an empty list has an end", ruleEmptyList[T]},
		{"opaque-cursor: a walk goes on from every cursor", ruleGoesOn[T]},
		{"opaque-cursor: a page says where it was read", ruleCursorIn[T]},
		{"opaque-cursor: more without a cursor is an error", ruleNoCursor[T]},
		{"pause-or-review: a limit pauses until the instant that it gives", ruleLimited[T]},
		{"pause-or-review: what may pass pauses", rulePauses[T]},
		{"pause-or-review: a refusal needs review", ruleRefused[T]},
		{"pause-or-review: an answer that is no list page needs review", ruleNotAList[T]},
		{"pause-or-review: a sequence yields at most one error, and stops", ruleOneError[T]},
		{"pause-or-review: a cancelled context ends the walk", ruleCancelled[T]},
		{"page-settled-before-next: nothing is fetched before it is asked for", ruleLazy[T]},
		{"page-settled-before-next: a walk that is left fetches nothing more", ruleLeft[T]},
		{"nothing-lost: each range walks afresh", ruleAfresh[T]},
		{"nothing-lost: a list of a stable order that changes is met whole", ruleChanging[T]},
		{"nothing-lost: random lists come whole, left and failing at random", ruleRandom[T]},
		{"duplicate-once: an ID that comes twice is handed on twice", ruleDuplicates[T]},
		{"cutoff-closed: a window has both of its bounds", ruleWindow[T]},
		{"cutoff-closed: items have the instant at which they were created", ruleCreated[T]},
		{"a total is the size of the list", ruleTotals[T]},
	}
}

// SimulatedAPI starts a simulated API that speaks a pagination contract, by name:
// "github-rest" (a Link header), "stripe-v1" (the last ID, has_more),
// "google-aip158" (nextPageToken) or "keyset-catalogue" (next_cursor and has_more).
// newPager returns a pager over the list at an address, in pages of a size.
func SimulatedAPI[T any](contract string, newPager func(url string, pageSize int) (pager.Pager[T], error)) (PagerAPI[T], error) {
	for _, known := range simapi.Contracts() {
		if string(known) == contract && known != simapi.KeysetFeed {
			return &simulatedAPI[T]{contract: known, newPager: newPager}, nil
		}
	}
	return nil, errors.New("proptest: there is no simulated API for contract " + contract + ": choose one that SimulatedAPI names")
}

// simulatedAPI is internal/simapi as a harness.
type simulatedAPI[T any] struct {
	contract simapi.Contract
	newPager func(url string, pageSize int) (pager.Pager[T], error)
	server   *simapi.Server
	stop     func()
}

func (a *simulatedAPI[T]) Pager(list PagerList) (pager.Pager[T], error) {
	numbered := a.contract == simapi.GitHubREST
	if byID := a.contract == simapi.StripeV1; (numbered || byID) && (len(list.Sizes) > 0 || list.EmptyLast) {
		return nil, errors.ErrUnsupported
	}
	a.Close()
	items := simapi.Tickets(epoch(), list.IDs...)
	for i, at := range list.Created {
		items[i].CreatedAt = at
	}
	a.server = simapi.NewServer(a.contract, simapi.NewList(items...), &simapi.ServerOptions{
		MaxPageSize: list.PageSize, PageSizes: list.Sizes, TrailingPage: list.EmptyLast,
	})
	base, stop, err := simapi.Serve(a.server)
	if err != nil {
		return nil, err
	}
	a.stop = stop
	return a.newPager(base+a.server.Path(), list.PageSize)
}

func (a *simulatedAPI[T]) Requests() int { return a.server.Log().Len() }

func (a *simulatedAPI[T]) Fail(nth int, failure PagerFailure) bool {
	answer := func(status int, header http.Header, body string) simapi.Fault {
		return simapi.Fault{Status: status, Header: header, Body: body}
	}
	faults := map[PagerFailure]simapi.Fault{
		FailLimited:      answer(http.StatusTooManyRequests, http.Header{"Retry-After": {"7"}}, `{"error":{"message":"slow down"}}`),
		FailServer:       answer(http.StatusServiceUnavailable, nil, `{"error":{"message":"later"}}`),
		FailUnauthorized: answer(http.StatusUnauthorized, nil, `{"error":{"message":"who are you?"}}`),
		FailNotFound:     answer(http.StatusNotFound, nil, `{"error":{"message":"not here"}}`),
		FailLost:         simapi.Lost(),
		FailCut:          simapi.CutBody(20),
		FailNotAList:     answer(http.StatusOK, http.Header{"Content-Type": {"text/html"}}, "<html>sign in</html>"),
	}
	fault, ok := faults[failure]
	if failure == FailNoCursor && a.contract == simapi.KeysetCatalogue { // elsewhere that is how a list ends
		fault, ok = simapi.MoreWithoutCursor(), true
	}
	if ok {
		a.server.Script().At(a.server.Log().Len()+nth, fault)
	}
	return ok
}

func (a *simulatedAPI[T]) Can() PagerCapabilities {
	can := PagerCapabilities{StableOrder: a.contract != simapi.GitHubREST, Cutoff: a.contract == simapi.StripeV1}
	if a.contract == simapi.GoogleAIP158 {
		can.ItemID = func(id string) string { return "tickets/" + id } // a resource's name
	}
	return can
}

func (a *simulatedAPI[T]) Close() {
	if a.stop != nil {
		a.stop()
		a.stop = nil
	}
}

package proptest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/pager"
)

// ChangingAPI is a [PagerAPI] whose list can change while it is walked. An API that
// declares a stable order should be one: its pager is then tried on such a list.
type ChangingAPI interface {
	// Insert puts an item before the one at an index, and Delete takes one away.
	Insert(at int, id string)
	Delete(id string)
}

var _ ChangingAPI = (*simulatedAPI[any])(nil)

func (a *simulatedAPI[T]) Insert(at int, id string) {
	a.server.List().Insert(at, simapi.Tickets(epoch(), id)...)
}

func (a *simulatedAPI[T]) Delete(id string) { a.server.List().Delete(id) }

// ruleNoCursor has a page say that more follows, without a cursor.
func ruleNoCursor[T any](t *pagerTrial[T]) {
	list := listOf(7, 3)
	p := t.pager(list)
	t.fail(2, FailNoCursor)
	w := walkPages(t.ctx, p, pager.Cursor{})
	if len(w.errs) != 1 || len(w.pages) > 2 {
		t.Errorf("the second page said %s, and the walk went on to %d pages and the errors %v, want 2 pages at most and one error", FailNoCursor, len(w.pages), w.errs)
	}
}

// ruleChanging changes a list of a stable order behind the first page and before it.
func ruleChanging[T any](t *pagerTrial[T]) {
	changing, ok := t.api.(ChangingAPI)
	switch {
	case !t.api.Can().StableOrder:
		t.notAsked("the API declares no stable order")
	case !ok:
		t.notAsked("the API is no ChangingAPI")
	}
	list := listOf(9, 3)
	met := map[string]int{}
	for page, err := range t.pager(list).Pages(t.ctx, pager.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		if page.Cursor.IsStart() {
			changing.Insert(0, "new-before")
			changing.Insert(6, "new-behind")
			changing.Delete(list.IDs[0]) // what was read; the last of it may be the cursor
			changing.Delete(list.IDs[1])
		}
		for _, item := range page.Items {
			met[item.ID]++
		}
	}
	for _, id := range t.wanted(list.IDs) {
		if met[id] != 1 {
			t.Errorf("%s was there from the first page to the last and came %d times, want once", id, met[id])
		}
	}
}

// randomWalk is a list, what goes wrong with its requests, and where a walk is left.
type randomWalk struct {
	list     PagerList
	failures map[int]PagerFailure
	leave    []int // after so many pages
}

func drawWalk(t *rapid.T) randomWalk {
	w := randomWalk{list: listOf(rapid.IntRange(0, 12).Draw(t, "items"), rapid.IntRange(1, 5).Draw(t, "page size"))}
	w.failures = map[int]PagerFailure{}
	for range rapid.IntRange(0, 2).Draw(t, "failures") {
		failures := []PagerFailure{FailServer, FailUnauthorized, FailNotFound, FailLost, FailCut, FailNotAList}
		w.failures[rapid.IntRange(1, 6).Draw(t, "request")] = rapid.SampledFrom(failures).Draw(t, "failure")
	}
	w.leave = rapid.SliceOfN(rapid.IntRange(1, 3), 1, 4).Draw(t, "left after")
	return w
}

// ruleRandom walks random lists, leaves them at random pages and lets random requests
// fail; each time the walk goes on from the last cursor.
func ruleRandom[T any](t *pagerTrial[T]) {
	if t.api.Can().NotReplayable {
		t.notAsked("the API's cursors cannot be used twice")
	}
	walks := rapid.Custom(drawWalk)
	for seed := range 25 {
		w := walks.Example(seed)
		p := t.pager(w.list)
		for nth, failure := range w.failures {
			t.api.Fail(nth, failure) // where it cannot, the request is answered
		}
		var ids []string
		at, ended := pager.Cursor{}, false
		for round := 0; !ended && round < mostPages; round++ {
			pages := w.leave[round%len(w.leave)]
			for page, err := range p.Pages(t.ctx, at) {
				if err != nil {
					break
				}
				for _, item := range page.Items {
					ids = append(ids, item.ID)
				}
				at, ended = page.Next, page.End == pager.EndLast
				if pages--; pages == 0 || ended {
					break
				}
			}
		}
		if want := t.wanted(w.list.IDs); !ended || !slices.Equal(ids, want) {
			t.Fatalf("walk %d, of %d items in pages of %d, left after %d pages, with the failures %v: its end %t, got %q, want %q",
				seed, len(w.list.IDs), w.list.PageSize, w.leave, w.failures, ended, ids, want)
		}
	}
}

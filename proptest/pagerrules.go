package proptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/everypage-go/everypage/pager"
)

// listOf returns a list of n items, size a page.
func listOf(n, size int) PagerList {
	list := PagerList{PageSize: size}
	for i := range n {
		list.IDs = append(list.IDs, fmt.Sprintf("item-%03d", i))
		list.Created = append(list.Created, epoch().Add(time.Duration(i)*time.Minute))
	}
	return list
}

// pager returns a pager over a list, or ends the rule as not asked.
func (t *pagerTrial[T]) pager(list PagerList) pager.Pager[T] {
	p, err := t.api.Pager(list)
	if errors.Is(err, errors.ErrUnsupported) {
		t.notAsked("the API cannot hold such a list")
	}
	if err != nil {
		t.Fatalf("make a pager: %v", err)
	}
	return p
}

func (t *pagerTrial[T]) notAsked(why string) {
	t.skipped = why
	t.Fatal("not asked")
}

// fail lets the nth request from now fail, or ends the rule as not asked.
func (t *pagerTrial[T]) fail(nth int, failure PagerFailure) {
	if !t.api.Fail(nth, failure) {
		t.notAsked("the API cannot answer " + string(failure))
	}
}

// walked is what a walk gave.
type walked[T any] struct {
	pages []pager.Page[T]
	errs  []error
}

// wanted returns IDs of a list as the pager gives them.
func (t *pagerTrial[T]) wanted(ids []string) []string {
	name := t.api.Can().ItemID
	if name == nil {
		return ids
	}
	named := make([]string, len(ids))
	for i, id := range ids {
		named[i] = name(id)
	}
	return named
}

func (w walked[T]) ids() []string {
	var ids []string
	for _, p := range w.pages {
		for _, item := range p.Items {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// mostPages ends a walk that does not end by itself.
const mostPages = 200

func walkPages[T any](ctx context.Context, p pager.Pager[T], from pager.Cursor) (w walked[T]) {
	for page, err := range p.Pages(ctx, from) {
		if err != nil {
			w.errs = append(w.errs, err)
		} else {
			w.pages = append(w.pages, page)
		}
		if len(w.pages)+len(w.errs) > mostPages {
			w.errs = append(w.errs, fmt.Errorf("the walk does not end after %d pages", mostPages))
			return w
		}
	}
	return w
}

// whole walks a list and checks that it comes once and ends with its last page.
func (t *pagerTrial[T]) whole(p pager.Pager[T], from pager.Cursor, want []string) walked[T] {
	w := walkPages(t.ctx, p, from)
	if err := errors.Join(w.errs...); err != nil {
		t.Errorf("a walk of %d items from %s failed: %v", len(want), from, err)
	}
	if got, want := w.ids(), t.wanted(want); !slices.Equal(got, want) {
		t.Errorf("a walk from %s gave %q, want %q", from, got, want)
	}
	for i, page := range w.pages {
		last := i == len(w.pages)-1
		switch {
		case last && page.End != pager.EndLast:
			t.Errorf("the last page says %s, want last: complete needs the API's own end signal", page.End)
		case !last && page.End == pager.EndLast:
			t.Errorf("page %d of %d says that it is the last", i, len(w.pages))
		case !last && page.Next.IsStart():
			t.Errorf("page %d of %d has no next cursor", i, len(w.pages))
		case last && page.Evidence == "":
			t.Errorf("the last page has no evidence: name the part of the answer that says so")
		}
	}
	if len(w.pages) == 0 {
		t.Errorf("a walk from %s gave no page; an empty list has one", from)
	}
	return w
}

func ruleWalk[T any](t *pagerTrial[T]) {
	for _, n := range []int{1, 3, 4, 7, 9} {
		list := listOf(n, 3)
		w := t.whole(t.pager(list), pager.Cursor{}, list.IDs)
		if got, want := len(w.pages), (n+2)/3; got > want+1 || got < want {
			t.Errorf("%d items in pages of 3 came on %d pages", n, got)
		}
	}
}

func ruleShortPage[T any](t *pagerTrial[T]) {
	list := listOf(9, 3)
	list.Sizes = map[int]int{1: 1, 3: 2}
	t.whole(t.pager(list), pager.Cursor{}, list.IDs)
}

func ruleEmptyPage[T any](t *pagerTrial[T]) {
	list := listOf(7, 3)
	list.Sizes = map[int]int{2: 0}
	t.whole(t.pager(list), pager.Cursor{}, list.IDs)
}

func ruleEmptyLast[T any](t *pagerTrial[T]) {
	list := listOf(6, 3)
	list.EmptyLast = true
	t.whole(t.pager(list), pager.Cursor{}, list.IDs)
}

func ruleEmptyList[T any](t *pagerTrial[T]) { t.whole(t.pager(listOf(0, 3)), pager.Cursor{}, nil) }

func ruleGoesOn[T any](t *pagerTrial[T]) {
	if t.api.Can().NotReplayable {
		t.notAsked("the API's cursors cannot be used twice")
	}
	list := listOf(10, 3)
	p := t.pager(list)
	first := walkPages(t.ctx, p, pager.Cursor{})
	seen := 0
	for _, page := range first.pages {
		seen += len(page.Items)
		if page.End != pager.EndLast {
			t.whole(p, page.Next, list.IDs[min(seen, len(list.IDs)):])
		}
	}
}

func ruleCursorIn[T any](t *pagerTrial[T]) {
	w := walkPages(t.ctx, t.pager(listOf(7, 3)), pager.Cursor{})
	at := pager.Cursor{}
	for i, page := range w.pages {
		if page.Cursor != at {
			t.Errorf("page %d says that it was read at %s, want %s, the next cursor of the page before", i, page.Cursor, at)
		}
		at = page.Next
	}
}

// faultAt walks a list whose second request fails, and returns what the walk said.
func (t *pagerTrial[T]) faultAt(failure PagerFailure) (w walked[T], fault *pager.Fault) {
	list := listOf(7, 3)
	p := t.pager(list)
	t.fail(2, failure)
	w = walkPages(t.ctx, p, pager.Cursor{})
	for _, page := range w.pages {
		if page.End == pager.EndLast {
			t.Errorf("%s came for the second page, and a page says that it is the last", failure)
		}
	}
	if got := w.ids(); !slices.Equal(got, t.wanted(list.IDs[:min(3, len(got))])) {
		t.Errorf("%s came for the second page, and the walk gave %q", failure, got)
	}
	if len(w.errs) == 0 {
		t.Fatalf("%s came for the second page, and the walk ended without an error", failure)
	}
	if !errors.As(w.errs[0], &fault) {
		t.Fatalf("%s is the error %v, want one that wraps a *pager.Fault and so says what to do", failure, w.errs[0])
	}
	return w, fault
}

func ruleLimited[T any](t *pagerTrial[T]) {
	before := time.Now() //nolint:forbidigo // the pager has its own clock
	_, fault := t.faultAt(FailLimited)
	if fault.Verdict != pager.Pause || fault.Code != pager.CodeRateLimited {
		t.Errorf("%s is %s (verdict %d), want a pause as %s", FailLimited, fault.Code, fault.Verdict, pager.CodeRateLimited)
	}
	if d := fault.Until.Sub(before); d < 5*time.Second || d > 2*time.Minute {
		t.Errorf("%s pauses until %s, which is %s from now", FailLimited, fault.Until, d)
	}
}

func rulePauses[T any](t *pagerTrial[T]) {
	for _, failure := range []PagerFailure{FailServer, FailLost, FailCut} {
		if _, fault := t.faultAt(failure); fault.Verdict != pager.Pause {
			t.Errorf("%s is %s, which needs review; want a pause", failure, fault.Code)
		}
	}
}

func ruleRefused[T any](t *pagerTrial[T]) {
	for _, failure := range []PagerFailure{FailUnauthorized, FailNotFound} {
		if _, fault := t.faultAt(failure); fault.Verdict != pager.Review {
			t.Errorf("%s is %s, which pauses; want a review: asking again does not help", failure, fault.Code)
		}
	}
}

func ruleNotAList[T any](t *pagerTrial[T]) {
	if _, fault := t.faultAt(FailNotAList); fault.Verdict != pager.Review {
		t.Errorf("%s is %s, which pauses; want a review", FailNotAList, fault.Code)
	}
}

func ruleOneError[T any](t *pagerTrial[T]) {
	w, _ := t.faultAt(FailServer)
	if len(w.errs) != 1 || len(w.pages) != 1 {
		t.Errorf("a walk whose second request failed gave %d pages and %d errors, want 1 and 1", len(w.pages), len(w.errs))
	}
}

func ruleCancelled[T any](t *pagerTrial[T]) {
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	var w walked[T]
	for page, err := range t.pager(listOf(9, 3)).Pages(ctx, pager.Cursor{}) {
		if err != nil {
			w.errs = append(w.errs, err)
			continue
		}
		w.pages = append(w.pages, page)
		cancel()
		if len(w.pages) > mostPages {
			break
		}
	}
	if len(w.pages) != 1 || len(w.errs) != 1 || !errors.Is(w.errs[0], context.Canceled) {
		t.Errorf("a walk that was cancelled after its first page gave %d pages and the errors %v, want 1 page and one error that wraps context.Canceled", len(w.pages), w.errs)
	}
}

func ruleLazy[T any](t *pagerTrial[T]) {
	p := t.pager(listOf(9, 3))
	_ = p.Pages(t.ctx, pager.Cursor{})
	if n := t.api.Requests(); n != 0 {
		t.Errorf("%d requests were made before anybody ranged over the sequence", n)
	}
	for _, err := range p.Pages(t.ctx, pager.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n := t.api.Requests(); n != 1 {
			t.Errorf("%d requests were made for the first page, want 1: the next page must not be fetched before this one is settled", n)
		}
		break
	}
}

func ruleLeft[T any](t *pagerTrial[T]) {
	p := t.pager(listOf(9, 3))
	for _, err := range p.Pages(t.ctx, pager.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if n := t.api.Requests(); n != 1 {
		t.Errorf("a walk that was left after its first page made %d requests, want 1", n)
	}
}

func ruleAfresh[T any](t *pagerTrial[T]) {
	if t.api.Can().NotReplayable {
		t.notAsked("the API's cursors cannot be used twice")
	}
	list := listOf(7, 3)
	p := t.pager(list)
	seq := p.Pages(t.ctx, pager.Cursor{})
	for round := range 2 {
		var ids []string
		for page, err := range seq {
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			for _, item := range page.Items {
				ids = append(ids, item.ID)
			}
		}
		if want := t.wanted(list.IDs); !slices.Equal(ids, want) {
			t.Errorf("round %d over the same sequence gave %q, want %q", round, ids, want)
		}
	}
}

func ruleDuplicates[T any](t *pagerTrial[T]) {
	list := listOf(7, 3)
	list.IDs[4] = list.IDs[0] // inside a page, and no page's last: a cursor may be an ID
	w := walkPages(t.ctx, t.pager(list), pager.Cursor{})
	if got, want := w.ids(), t.wanted(list.IDs); !slices.Equal(got, want) {
		t.Errorf("the walk gave %q, want %q: to tell duplicates is the engine's", got, want)
	}
}

func ruleWindow[T any](t *pagerTrial[T]) {
	list := listOf(9, 3)
	p := t.pager(list)
	windower, ok := p.(pager.Windower[T])
	if !t.api.Can().Cutoff {
		t.notAsked("the API has no filter by creation time")
	}
	if !ok {
		t.Fatalf("the API filters by creation time, and %T is no pager.Windower", p)
	}
	within, err := windower.Window(list.Created[2], list.Created[6])
	if err != nil {
		t.Fatal(err)
	}
	t.whole(within, pager.Cursor{}, list.IDs[2:7])
	open, err := windower.Window(time.Time{}, list.Created[3])
	if err != nil {
		t.Fatal(err)
	}
	t.whole(open, pager.Cursor{}, list.IDs[:4])
}

func ruleCreated[T any](t *pagerTrial[T]) {
	list := listOf(4, 3)
	n := 0
	for _, page := range walkPages(t.ctx, t.pager(list), pager.Cursor{}).pages {
		for _, item := range page.Items {
			if !t.api.Can().Cutoff && item.CreatedAt.IsZero() {
				t.notAsked("the pager gives no time of creation")
			}
			if n < len(list.Created) && !item.CreatedAt.Equal(list.Created[n]) {
				t.Errorf("%s says that it was created at %s, want %s", item.ID, item.CreatedAt, list.Created[n])
			}
			n++
		}
	}
}

func ruleTotals[T any](t *pagerTrial[T]) {
	if !t.api.Can().Totals {
		t.notAsked("the API reports no total")
	}
	for i, page := range walkPages(t.ctx, t.pager(listOf(7, 3)), pager.Cursor{}).pages {
		if page.Meta.Total == nil || *page.Meta.Total != 7 {
			t.Errorf("page %d reports the total %v, want 7", i, page.Meta.Total)
		}
	}
}

package pager_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/everypage-go/everypage/pager"
)

// counted counts what an inner list is asked for. In a synctest bubble, a goroutine
// that is left over fails the test, and Wait returns when all are blocked.
func counted(l *numbers) (pager.Pager[int], *atomic.Int64) {
	var n atomic.Int64
	return pager.Func[int](func(ctx context.Context, at pager.Cursor) (pager.Page[int], error) {
		n.Add(1)
		return l.page(ctx, at)
	}), &n
}

// ReadAhead yields what the inner pager does, from any cursor.
func TestReadAhead_YieldsTheSame(t *testing.T) {
	for name, list := range map[string]numbers{
		"one page": {last: 0}, "some": {last: 4}, "an error at once": {last: 4, end: func(_ int, p *pager.Page[int]) { p.Next = pager.Cursor{} }},
		"an error later": {last: 4, fail: 2},
	} {
		for _, follow := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, follow %t", name, follow), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					plain, ahead := list, list
					want, wantErr := walk(t.Context(), pager.Func[int](plain.page), pager.Cursor{}, 0)
					p := pager.ReadAhead(pager.Func[int](ahead.page), func(pager.Page[int]) bool { return follow })
					got, err := walk(t.Context(), p, pager.Cursor{}, 0)
					if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
						t.Errorf("it yields %v, %v, want %v, %v", got, err, want, wantErr)
					}
					if !slices.Equal(ahead.read, plain.read) {
						t.Errorf("it reads at %v, want %v", ahead.read, plain.read)
					}
				})
			})
		}
	}
}

// Nothing is fetched before the first range, and then one page ahead at most.
func TestReadAhead_OneAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, n := counted(&numbers{last: 5})
		sequence := pager.ReadAhead(inner, nil).Pages(t.Context(), pager.Cursor{})
		synctest.Wait()
		if n.Load() != 0 {
			t.Errorf("%d pages were fetched before the first range", n.Load())
		}
		worked := int64(0)
		for _, err := range sequence {
			if err != nil {
				t.Fatal(err)
			}
			worked++
			synctest.Wait() // it has fetched all that it will
			if want := min(worked+1, 6); n.Load() != want {
				t.Errorf("%d pages are fetched while page %d is worked on, want %d", n.Load(), worked, want)
			}
		}
	})
}

// Where follow says no, the next page is fetched only when the caller asks for it.
func TestReadAhead_WaitsForDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, n := counted(&numbers{last: 5})
		var asked []string
		p := pager.ReadAhead(inner, func(page pager.Page[int]) bool {
			asked = append(asked, page.Cursor.String())
			return page.Items[0].Value%2 == 1 // ahead of odd pages only
		})
		worked := int64(0)
		for page, err := range p.Pages(t.Context(), pager.Cursor{}) {
			if err != nil {
				t.Fatal(err)
			}
			worked++
			synctest.Wait()
			want := worked
			if page.Items[0].Value%2 == 1 && page.End != pager.EndLast {
				want++
			}
			if n.Load() != want {
				t.Errorf("%d pages are fetched while page %d is worked on, want %d", n.Load(), worked, want)
			}
		}
		if worked != 6 {
			t.Errorf("%d pages were yielded, want 6", worked)
		}
		if want := []string{"(start)", `"1"`, `"2"`, `"3"`, `"4"`, `"5"`}; !slices.Equal(asked, want) {
			t.Errorf("follow was asked at %v, want %v", asked, want)
		}
	})
}

// Leaving the loop leaks nothing, whether the fetcher has an answer, waits for
// demand or is in the middle of a fetch; its context ends.
func TestReadAhead_BreakLeaksNothing(t *testing.T) {
	for _, follow := range []bool{true, false} {
		for most := 1; most <= 3; most++ {
			synctest.Test(t, func(t *testing.T) {
				l := &numbers{last: 9}
				p := pager.ReadAhead(pager.Func[int](l.page), func(pager.Page[int]) bool { return follow })
				if seen, err := walk(t.Context(), p, pager.Cursor{}, most); err != nil || len(seen) != most {
					t.Errorf("the walk saw %v: %v", seen, err)
				}
				if read := len(l.read); read > most+1 { // the fetcher is gone: no race, no more
					t.Errorf("%d pages were fetched for %d", read, most)
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		ended := false
		p := pager.ReadAhead(pager.Func[int](func(ctx context.Context, at pager.Cursor) (pager.Page[int], error) {
			if at.IsStart() {
				return pager.Page[int]{End: pager.EndMore, Next: pager.At("1")}, nil
			}
			<-ctx.Done() // a fetch that takes for ever
			ended = true
			return pager.Page[int]{}, ctx.Err()
		}), nil)
		if _, err := walk(t.Context(), p, pager.Cursor{}, 1); err != nil {
			t.Fatal(err)
		}
		if !ended {
			t.Error("the fetch is still under way after the loop was left")
		}
	})
}

// A panic in the caller's loop leaks nothing either, and a caller whose context
// ends gets the pager's own answer to that.
func TestReadAhead_PanicAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			if value := recover(); value != "the caller's" {
				t.Errorf("recovered %v", value)
			}
		}()
		for page, err := range pager.ReadAhead(pager.Func[int]((&numbers{last: 3}).page), nil).Pages(t.Context(), pager.Cursor{}) {
			if page.Cursor.IsStart() && err == nil {
				panic("the caller's")
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		pages, failed := 0, error(nil)
		for _, err := range pager.ReadAhead(pager.Func[int]((&numbers{last: 9}).page), func(pager.Page[int]) bool { return false }).Pages(ctx, pager.Cursor{}) {
			if err != nil {
				failed = err
				continue
			}
			pages++
			cancel()
		}
		if pages != 1 || failed != nil && !errors.Is(failed, context.Canceled) {
			t.Errorf("%d pages came, and then %v", pages, failed)
		}
	})
}

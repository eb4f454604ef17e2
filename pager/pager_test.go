package pager_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/everypage-go/everypage/pager"
)

var errBroken = errors.New("broken")

// numbers is a list of pages whose cursor is the page's number.
type numbers struct {
	last int // the number of the last page
	fail int // the page whose fetch fails; 0: none
	read []string
	end  func(n int, page *pager.Page[int])
}

func (l *numbers) page(ctx context.Context, at pager.Cursor) (pager.Page[int], error) {
	if err := ctx.Err(); err != nil {
		return pager.Page[int]{}, err
	}
	l.read = append(l.read, at.String())
	token, _ := at.Token()
	n, _ := strconv.Atoi(token)
	if n == l.fail && n > 0 {
		return pager.Page[int]{}, errBroken
	}
	page := pager.Page[int]{
		Items: []pager.Item[int]{{ID: fmt.Sprint(n, "a"), Value: n}, {ID: fmt.Sprint(n, "b"), Value: n}},
		End:   pager.EndMore, Next: pager.At(strconv.Itoa(n + 1)),
	}
	if n == l.last {
		page.End, page.Next = pager.EndLast, pager.Cursor{}
	}
	if l.end != nil {
		l.end(n, &page)
	}
	return page, nil
}

// walk ranges over a pager, up to a number of pages, and tells what it saw.
func walk(ctx context.Context, p pager.Pager[int], from pager.Cursor, most int) (seen []string, err error) {
	for page, failed := range p.Pages(ctx, from) {
		if err != nil {
			return seen, fmt.Errorf("something came after the error %w", err)
		}
		if failed != nil {
			seen, err = append(seen, "error"), failed
			continue
		}
		seen = append(seen, page.Cursor.String())
		if most--; most == 0 {
			break
		}
	}
	return seen, err
}

// Func loops over the pages: it fetches nothing before it is ranged over, one page
// at a time, from any cursor, and each walk is a walk of its own.
func TestFunc(t *testing.T) {
	l := &numbers{last: 3}
	p := pager.Func[int](l.page)
	sequence := p.Pages(t.Context(), pager.Cursor{})
	if len(l.read) > 0 {
		t.Errorf("%v were read before the first range", l.read)
	}
	for page, err := range sequence {
		if err != nil {
			t.Fatal(err)
		}
		if l.read[len(l.read)-1] != page.Cursor.String() {
			t.Errorf("%v were read while the page at %s is worked on", l.read, page.Cursor)
		}
	}
	for _, err := range sequence { // a second walk
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"(start)", `"1"`, `"2"`, `"3"`, "(start)", `"1"`, `"2"`, `"3"`}; !slices.Equal(l.read, want) {
		t.Errorf("read at %v, want %v", l.read, want)
	}
	seen, err := walk(t.Context(), p, pager.At("2"), 0)
	if err != nil || !slices.Equal(seen, []string{`"2"`, `"3"`}) {
		t.Errorf("a walk from 2 saw %v: %v", seen, err)
	}
	l.read = nil
	if seen, err := walk(t.Context(), p, pager.Cursor{}, 2); err != nil || len(seen) != 2 || len(l.read) != 2 {
		t.Errorf("a walk that was left after two pages saw %v and read %v: %v", seen, l.read, err)
	}
}

// Func yields at most one error, then stops; and refuses what has no next cursor
// and is not the last, since the walk would begin again from the top.
func TestFunc_Errors(t *testing.T) {
	for name, c := range map[string]struct {
		list numbers
		seen []string
		code pager.Code
	}{
		"a fetch": {numbers{last: 3, fail: 1}, []string{"(start)", "error"}, ""},
		"more without a cursor": {
			numbers{last: 3, end: func(_ int, p *pager.Page[int]) { p.Next = pager.Cursor{} }},
			[]string{"(start)", "error"},
			pager.CodeCursorMissing,
		},
		"unknown without a cursor": {
			numbers{last: 3, end: func(_ int, p *pager.Page[int]) { p.Next, p.End = pager.Cursor{}, pager.EndUnknown }},
			[]string{"(start)", "error"},
			pager.CodeEndUnknown,
		},
		"unknown with a cursor": {
			numbers{last: 1, end: func(n int, p *pager.Page[int]) {
				if n == 0 {
					p.End = pager.EndUnknown
				}
			}},
			[]string{"(start)", `"1"`},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen, err := walk(t.Context(), pager.Func[int](c.list.page), pager.Cursor{}, 0)
			if !slices.Equal(seen, c.seen) {
				t.Errorf("the walk saw %v, want %v", seen, c.seen)
			}
			var fault *pager.Fault
			if c.code != "" && (!errors.As(err, &fault) || fault.Code != c.code || fault.Verdict != pager.Review) {
				t.Errorf("have %v, want a review for %s", err, c.code)
			}
			if c.list.fail > 0 && !errors.Is(err, errBroken) {
				t.Errorf("have %v, want the pager's own error", err)
			}
		})
	}
}

// Items are those of all pages, up to the error.
func TestItems(t *testing.T) {
	items := func(l *numbers, most int) (ids []string, err error) {
		for item, failed := range pager.Items(t.Context(), pager.Func[int](l.page)) {
			if failed != nil {
				return ids, failed
			}
			ids = append(ids, item.ID)
			if len(ids) == most {
				break
			}
		}
		return ids, nil
	}
	if ids, err := items(&numbers{last: 1}, 0); err != nil || !slices.Equal(ids, []string{"0a", "0b", "1a", "1b"}) {
		t.Errorf("the items are %v: %v", ids, err)
	}
	if ids, err := items(&numbers{last: 3, fail: 1}, 0); !errors.Is(err, errBroken) || len(ids) != 2 {
		t.Errorf("the items before the error are %v: %v", ids, err)
	}
	l := &numbers{last: 3}
	if ids, err := items(l, 3); err != nil || len(ids) != 3 || len(l.read) != 2 {
		t.Errorf("after %v, %v were read: %v", ids, l.read, err)
	}
}

// A fault says what happened, in the API's words, and unwraps to its cause.
func TestFault(t *testing.T) {
	fault := &pager.Fault{Code: pager.CodeServerError, Detail: "503", Answer: pager.Answer{RequestID: "req-1"}, Err: errBroken}
	if want := "server_error: 503 (request id req-1): broken"; fault.Error() != want {
		t.Errorf("the error is %q, want %q", fault, want)
	}
	if !errors.Is(fmt.Errorf("page 3: %w", fault), errBroken) {
		t.Error("the fault does not unwrap to its cause")
	}
	if zero := (&pager.Fault{}); zero.Verdict != pager.Review {
		t.Error("the zero fault is not a review")
	}
}

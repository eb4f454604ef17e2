package proptest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store"
)

// byCount walks any list by the number of items that were read.
func byCount(good pager.Pager[simTicket], size int) pager.Pager[simTicket] {
	return pager.Func[simTicket](func(ctx context.Context, at pager.Cursor) (page pager.Page[simTicket], err error) {
		token, _ := at.Token()
		count, _ := strconv.Atoi(token)
		var items []pager.Item[simTicket]
		for item, err := range pager.Items(ctx, good) {
			if err != nil {
				return page, err
			}
			items = append(items, item)
		}
		end := min(count+size, len(items))
		page = pager.Page[simTicket]{Items: items[min(count, end):end], End: pager.EndMore, Next: pager.At(strconv.Itoa(end))}
		if end == len(items) {
			page = endOf(page)
		}
		return page, nil
	})
}

// Each of these pagers is right about a list that stays as it is and is read in one
// walk, and is caught by the rule that is named.
func TestBrokenWalks(t *testing.T) {
	missing := func(*pager.Fault) (pager.Page[simTicket], error) { return endOf(pager.Page[simTicket]{}), nil }
	for name, b := range map[string]struct {
		rule   string
		broken func(good pager.Pager[simTicket], size int) pager.Pager[simTicket]
	}{
		"a pager that takes a missing cursor for the end": {"opaque-cursor: more without a cursor", onFault(pager.CodeCursorMissing, missing)},
		"a pager that walks by the number of items":       {"nothing-lost: a list of a stable order that changes", byCount},
		"a pager that sorts each page": {"end-observed: every item comes once", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return each(good, func(page pager.Page[simTicket], err error) (pager.Page[simTicket], error) {
				slices.SortFunc(page.Items, func(a, b pager.Item[simTicket]) int { return strings.Compare(b.ID, a.ID) })
				return page, err
			})
		}},
		"a pager that takes a broken transfer for the end": {"nothing-lost: random lists come whole", onFault(pager.CodeTransport, missing)},
	} {
		t.Run(name, func(t *testing.T) {
			good := contractPager(adapters.KeysetCatalogue())
			err := CheckPager(t.Context(), func() (PagerAPI[simTicket], error) {
				return SimulatedAPI("keyset-catalogue", func(url string, size int) (pager.Pager[simTicket], error) {
					p, err := good(url, size)
					return b.broken(p, size), err
				})
			})
			if !strings.Contains(fmt.Sprint(err), b.rule) {
				t.Fatalf("it is caught by %q, want %q", err, b.rule)
			}
			t.Logf("fault: %s | %s | 1", name, b.rule)
		})
	}
}

// talkative is a store whose sequences go on after their error.
type talkative struct{ store.Store }

func (s talkative) Runs(ctx context.Context, filter store.RunFilter) iter.Seq2[store.Run, error] {
	return func(yield func(store.Run, error) bool) {
		for run, err := range s.Store.Runs(ctx, filter) {
			if !yield(run, err) || err != nil && !yield(run, err) {
				return
			}
		}
	}
}

// talkativePlace opens one.
type talkativePlace struct{}

func (talkativePlace) Open() (store.Store, error) { return talkative{newMemory(newRecords())}, nil }

func TestBrokenSequence(t *testing.T) {
	const rule = "a sequence yields at most one error"
	err := CheckStore(t.Context(), func(string) StorePlace { return talkativePlace{} })
	if !strings.Contains(fmt.Sprint(err), rule) {
		t.Fatalf("it is caught by %q, want %q", err, rule)
	}
	t.Logf("fault: a store whose sequences go on after an error | %s | 1", rule)
}

package proptest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// ticketPages is how a pager of the suite walks.
type ticketPages func(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[simTicket], error]

func (f ticketPages) Pages(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[simTicket], error] {
	return f(ctx, from)
}

// each returns a pager that changes what another one yields.
func each(p pager.Pager[simTicket], change func(page pager.Page[simTicket], err error) (pager.Page[simTicket], error)) pager.Pager[simTicket] {
	return ticketPages(func(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[simTicket], error] {
		return func(yield func(pager.Page[simTicket], error) bool) {
			for page, err := range p.Pages(ctx, from) {
				page, err := change(page, err)
				if !yield(page, err) || err == nil && page.End == pager.EndLast {
					return
				}
			}
		}
	})
}

// brokenPager is a pager that somebody might write, with the property that names
// its fault.
type brokenPager struct {
	name, contract, property string
	// broken makes it of a good one.
	broken func(good pager.Pager[simTicket], pageSize int) pager.Pager[simTicket]
}

func endOf(page pager.Page[simTicket]) pager.Page[simTicket] {
	page.End, page.Next, page.Evidence = pager.EndLast, pager.Cursor{}, "as it seems"
	return page
}

// onFault turns the faults of a code into something else.
func onFault(code pager.Code, instead func(*pager.Fault) (pager.Page[simTicket], error)) func(pager.Pager[simTicket], int) pager.Pager[simTicket] {
	return func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
		return each(good, func(page pager.Page[simTicket], err error) (pager.Page[simTicket], error) {
			if fault, ok := errors.AsType[*pager.Fault](err); ok && fault.Code == code {
				return instead(fault)
			}
			return page, err
		})
	}
}

func brokenPagers() []brokenPager {
	const keyset = "keyset-catalogue"
	takenForTheEnd := func(*pager.Fault) (pager.Page[simTicket], error) { return endOf(pager.Page[simTicket]{}), nil }
	return []brokenPager{
		{"a pager that stops at a short page", keyset, "end-observed", func(good pager.Pager[simTicket], size int) pager.Pager[simTicket] {
			return each(good, func(page pager.Page[simTicket], err error) (pager.Page[simTicket], error) {
				if err == nil && len(page.Items) < size {
					page = endOf(page)
				}
				return page, err
			})
		}},
		{"a pager that stops at an empty page", keyset, "end-observed", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return each(good, func(page pager.Page[simTicket], err error) (pager.Page[simTicket], error) {
				if err == nil && len(page.Items) == 0 {
					page = endOf(page)
				}
				return page, err
			})
		}},
		{"a pager that reads the first page only", keyset, "end-observed", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return each(good, func(page pager.Page[simTicket], err error) (pager.Page[simTicket], error) { return endOf(page), err })
		}},
		{"a pager that ends on 404", keyset, "pause-or-review", onFault(pager.CodeRequestRefused, takenForTheEnd)},
		{"a pager that takes 503 for the end", keyset, "pause-or-review", onFault(pager.CodeServerError, takenForTheEnd)},
		{"a pager that takes a login page for an empty list", keyset, "pause-or-review", onFault(pager.CodeNotAList, takenForTheEnd)},
		{"a pager that asks again after 401", keyset, "pause-or-review", onFault(pager.CodeUnauthorized, func(f *pager.Fault) (pager.Page[simTicket], error) {
			again := *f
			again.Verdict = pager.Pause
			return pager.Page[simTicket]{}, &again
		})},
		{"a pager that forgets when a limit ends", keyset, "pause-or-review", onFault(pager.CodeRateLimited, func(f *pager.Fault) (pager.Page[simTicket], error) {
			again := *f
			again.Until = time.Time{}
			return pager.Page[simTicket]{}, &again
		})},
		{"a pager that loses what kind of error it was", keyset, "pause-or-review", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return each(good, func(page pager.Page[simTicket], err error) (pager.Page[simTicket], error) {
				if err != nil {
					err = errors.New(err.Error())
				}
				return page, err
			})
		}},
		{"a pager that goes on after an error", keyset, "pause-or-review", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return ticketPages(func(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[simTicket], error] {
				return func(yield func(pager.Page[simTicket], error) bool) {
					for failed := true; failed; {
						failed = false
						for page, err := range good.Pages(ctx, from) {
							failed = err != nil && ctx.Err() == nil
							if !yield(page, err) {
								return
							}
							if err == nil {
								from = page.Next
							}
						}
					}
				}
			})
		}},
		{"a pager that begins at the top instead of at its cursor", keyset, "opaque-cursor", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return ticketPages(func(ctx context.Context, _ pager.Cursor) iter.Seq2[pager.Page[simTicket], error] {
				return good.Pages(ctx, pager.Cursor{})
			})
		}},
		{"a pager that escapes its cursors", keyset, "opaque-cursor", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return each(good, func(page pager.Page[simTicket], err error) (pager.Page[simTicket], error) {
				if token, ok := page.Next.Token(); ok {
					page.Next = pager.At(url.QueryEscape(token) + "%3D")
				}
				return page, err
			})
		}},
		{"a pager that does not say where a page was read", keyset, "opaque-cursor", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return each(good, func(page pager.Page[simTicket], err error) (pager.Page[simTicket], error) {
				page.Cursor = pager.Cursor{}
				return page, err
			})
		}},
		{"a pager that fetches in its constructor", keyset, "page-settled-before-next", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return ticketPages(func(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[simTicket], error] {
				next, stop := iter.Pull2(good.Pages(ctx, from))
				page, err, ok := next()
				stop()
				return func(yield func(pager.Page[simTicket], error) bool) {
					if !ok || !yield(page, err) || err != nil || page.End == pager.EndLast {
						return
					}
					good.Pages(ctx, page.Next)(yield)
				}
			})
		}},
		{"a pager that fetches all pages before the first is handled", keyset, "page-settled-before-next", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return ticketPages(func(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[simTicket], error] {
				return func(yield func(pager.Page[simTicket], error) bool) {
					w := walkPages(ctx, good, from)
					for _, page := range w.pages {
						if !yield(page, nil) {
							return
						}
					}
					for _, err := range w.errs {
						yield(pager.Page[simTicket]{}, err)
						return
					}
				}
			})
		}},
		{"a pager that can be ranged over once", keyset, "nothing-lost", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return ticketPages(func(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[simTicket], error] {
				var once sync.Once
				return func(yield func(pager.Page[simTicket], error) bool) {
					once.Do(func() { good.Pages(ctx, from)(yield) })
				}
			})
		}},
		{"a pager that leaves duplicates out", keyset, "duplicate-once", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return ticketPages(func(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[simTicket], error] {
				seen := map[string]bool{}
				return each(good, func(page pager.Page[simTicket], err error) (pager.Page[simTicket], error) {
					var items []pager.Item[simTicket]
					for _, item := range page.Items {
						if !seen[item.ID] {
							items = append(items, item)
						}
						seen[item.ID] = true
					}
					page.Items = items
					return page, err
				}).Pages(ctx, from)
			})
		}},
		{"a pager that leaves out what was created at the bound of its window", "stripe-v1", "cutoff-closed", func(good pager.Pager[simTicket], _ int) pager.Pager[simTicket] {
			return exclusive{good}
		}},
	}
}

// exclusive is a windower whose lower bound is not in.
type exclusive struct{ pager.Pager[simTicket] }

func (e exclusive) Window(from, to time.Time) (pager.Pager[simTicket], error) {
	if !from.IsZero() {
		from = from.Add(time.Second)
	}
	return e.Pager.(pager.Windower[simTicket]).Window(from, to)
}

// Each broken pager is caught by a rule of the property that names it.
func pagerFaults(t *testing.T) (rows []faultRow) {
	t.Helper()
	contracts := map[string]adapters.Contract{"keyset-catalogue": adapters.KeysetCatalogue(), "stripe-v1": adapters.StripeV1()}
	for _, b := range brokenPagers() {
		t.Run(b.name, func(t *testing.T) {
			good := contractPager(contracts[b.contract])
			err := CheckPager(t.Context(), func() (PagerAPI[simTicket], error) {
				return SimulatedAPI(b.contract, func(url string, pageSize int) (pager.Pager[simTicket], error) {
					p, err := good(url, pageSize)
					return b.broken(p, pageSize), err
				})
			})
			caught := fmt.Sprint(err)
			if !strings.Contains(caught, b.property+":") {
				t.Fatalf("it is caught by %q, want a rule of %s", caught, b.property)
			}
			rows = append(rows, faultRow{b.name, b.property, "1"})
		})
	}
	return rows
}

package pager

import (
	"context"
	"iter"
)

// Pager walks a list page by page.
type Pager[T any] interface {
	// Pages returns the pages from the given cursor on. The sequence yields at
	// most one error, with a zero page, and then stops; the error should be or
	// wrap a [*Fault]. It ends after a page whose End is EndLast.
	Pages(ctx context.Context, from Cursor) iter.Seq2[Page[T], error]
}

// Func is a Pager made of a function that reads the page at one cursor.
type Func[T any] func(ctx context.Context, at Cursor) (Page[T], error)

var _ Pager[any] = Func[any](nil)

// Pages calls f for one cursor after the other. It refuses a page that has no
// next cursor and yet is not the last: without that, the walk would start again
// from the top. Cursors that were read before are not noticed here, since only
// a ledger remembers all of them.
func (f Func[T]) Pages(ctx context.Context, from Cursor) iter.Seq2[Page[T], error] {
	return func(yield func(Page[T], error) bool) {
		for at := from; ; {
			page, err := f(ctx, at)
			if err != nil {
				yield(Page[T]{}, err)
				return
			}
			page.Cursor = at
			if !yield(page, nil) || page.End == EndLast {
				return
			}
			if page.Next.IsStart() {
				yield(Page[T]{}, MissingCursor(page.End, page.Evidence))
				return
			}
			at = page.Next
		}
	}
}

// Items returns the items of all pages, one after the other, for callers that
// need no ledger. It promises nothing about a stop; see the everypage package.
func Items[T any](ctx context.Context, p Pager[T]) iter.Seq2[Item[T], error] {
	return func(yield func(Item[T], error) bool) {
		for page, err := range p.Pages(ctx, Cursor{}) {
			if err != nil {
				yield(Item[T]{}, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

package pager

import (
	"context"
	"iter"
)

// ReadAhead returns a Pager that fetches the next page of p while the caller
// works on the one before. It holds one answer or error at most, and drops it
// when the caller leaves the loop.
//
// Before it reads ahead of a page it asks follow, from another goroutine; where
// that says no, the next page is fetched only when the caller asks for it. A nil
// follow always says yes.
func ReadAhead[T any](p Pager[T], follow func(Page[T]) bool) Pager[T] {
	return readAhead[T]{inner: p, follow: follow}
}

type readAhead[T any] struct {
	inner  Pager[T]
	follow func(Page[T]) bool
}

var _ Pager[any] = readAhead[any]{}

type fetched[T any] struct {
	page Page[T]
	err  error
}

func (r readAhead[T]) Pages(ctx context.Context, from Cursor) iter.Seq2[Page[T], error] {
	return func(yield func(Page[T], error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		answers := make(chan fetched[T])
		wanted := make(chan int, 1) // the newest page number that the caller asked for
		defer func() {              // the fetcher is gone before the caller goes on
			cancel()
			for range answers { // drained, so that the fetcher can end
			}
		}()
		go func() {
			defer close(answers)
			r.fetch(ctx, from, answers, wanted)
		}()
		number := 0
		for answer := range answers {
			if !yield(answer.page, answer.err) {
				return
			}
			number++
			select { // the fetcher may not have needed to look
			case <-wanted:
			default:
			}
			wanted <- number
		}
	}
}

// fetch hands the pages of the inner pager over, one at a time.
func (r readAhead[T]) fetch(ctx context.Context, from Cursor, answers chan<- fetched[T], wanted <-chan int) {
	number := 0
	for page, err := range r.inner.Pages(ctx, from) {
		select {
		case answers <- fetched[T]{page, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
		number++
		if r.follow == nil || r.follow(page) {
			continue
		}
		for asked := 0; asked < number; {
			select {
			case asked = <-wanted:
			case <-ctx.Done():
				return
			}
		}
	}
}

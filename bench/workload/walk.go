package workload

import (
	"context"
	"strconv"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
)

// PageSize is the number of items on a page.
const PageSize = 100

// Nothing is an item's value.
type Nothing struct{}

// Walk is one walk over a list.
type Walk struct {
	IDs         IDs
	Items       int
	Concurrency int
	AtMostOnce  bool
	ReadAhead   bool
	// PageTakes is how long a page takes to come.
	PageTakes time.Duration
	// Handle is the handler; nil does nothing.
	Handle func(ctx context.Context, item everypage.Item[Nothing]) error
	// Observer sees the run's steps.
	Observer everypage.Observer
}

// Pager returns the list. A page's cursor is the place of its first item.
func (w Walk) Pager() pager.Pager[Nothing] {
	raw := []byte("{}")
	return pager.Func[Nothing](func(ctx context.Context, at pager.Cursor) (pager.Page[Nothing], error) {
		if w.PageTakes > 0 {
			select {
			case <-time.After(w.PageTakes):
			case <-ctx.Done():
				return pager.Page[Nothing]{}, ctx.Err()
			}
		}
		from := 0
		if token, ok := at.Token(); ok {
			var err error
			if from, err = strconv.Atoi(token); err != nil {
				return pager.Page[Nothing]{}, err
			}
		}
		count := min(PageSize, w.Items-from)
		page := pager.Page[Nothing]{End: pager.EndMore, Items: make([]pager.Item[Nothing], count)}
		for i, id := range w.IDs.Page(from, count) {
			page.Items[i] = pager.Item[Nothing]{ID: id, Raw: raw}
		}
		if from += count; from < w.Items {
			page.Next, page.Evidence = pager.At(strconv.Itoa(from)), "more=true"
		} else {
			page.End, page.Evidence = pager.EndLast, "more=false"
		}
		return page, nil
	})
}

// Job returns the walk as a job.
func (w Walk) Job() everypage.Job[Nothing] {
	handle := w.Handle
	if handle == nil {
		handle = func(context.Context, everypage.Item[Nothing]) error { return nil }
	}
	return everypage.Job[Nothing]{
		Name: "bench", RunID: "bench", Action: "count", Pager: w.Pager(), Handle: handle, AtMostOnce: w.AtMostOnce,
		List:    pager.Description{Endpoint: "bench:" + string(w.IDs), PageSize: PageSize, Order: pager.OrderStable},
		Options: everypage.Options{Concurrency: w.Concurrency, ReadAhead: w.ReadAhead, Observer: w.Observer},
	}
}

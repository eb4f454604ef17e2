package proptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// api is the world's list API in process: its cursors, and what it answered.
type api struct {
	generation int             // cursors of an earlier one have expired
	issued     map[string]spot // what each cursor means
	answers    []answered      // in order
	used       map[string]bool // cursors of a scroll that were read
	scrolls    int             // how many were begun
	quiet      bool            // answers no fault
}

// spot is where a cursor points to.
type spot struct {
	generation int
	after      int64 // the place in the list
	number     int   // offset or page number
	scroll     int   // which one, for a list that cannot be read twice
	window     window
}

// window is the filter by creation time that a listing was begun with.
type window struct{ from, to time.Time }

func (w window) holds(at time.Time) bool {
	return (w.from.IsZero() || !at.Before(w.from)) && (w.to.IsZero() || !at.After(w.to))
}

// answered is a page that the API sent.
type answered struct {
	at, next pager.Cursor
	ids      []string
	last     bool // it carried the end signal of the list
	vetoed   bool
}

// fault is how one request is answered differently.
type fault struct {
	name string
	// instead makes the answer; nil leaves it.
	instead func(ctx context.Context, w *world, l *process) error
	// edit changes the page.
	edit func(w *world, p *pager.Page[raw], at pager.Cursor)
	// stops says that the sequence just stops.
	stops bool
}

// source is the world's API as a pager of one process.
type source struct {
	w      *world
	life   *process
	window window
}

var (
	_ pager.Pager[raw]    = source{}
	_ pager.Windower[raw] = source{}
	_ pager.Describer     = source{}
)

// Describe returns what the API's documents say about the list.
func (s source) Describe() pager.Description {
	l := s.w.shape.List
	return pager.Description{
		Endpoint: "world:///tickets", PageSize: l.Size, Contract: "world", Style: l.Style, Order: l.Order, NotReplayable: l.NotReplayable,
	}
}

// Window returns the list of what was created in a span of time.
func (s source) Window(from, to time.Time) (pager.Pager[raw], error) {
	s.window = window{from, to}
	return s, nil
}

// errStops makes a sequence stop without a word.
var errStops = errors.New("the sequence stops")

// Pages walks the list.
func (s source) Pages(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[raw], error] {
	return func(yield func(pager.Page[raw], error) bool) {
		ahead := pager.Cursor{} // where the page before said that the next one is
		read := pager.Func[raw](func(ctx context.Context, at pager.Cursor) (pager.Page[raw], error) {
			page, err := s.page(ctx, at, ahead)
			ahead = page.Next
			return page, err
		})
		for page, err := range read.Pages(ctx, from) {
			if errors.Is(err, errStops) || !yield(page, err) {
				return
			}
		}
	}
}

// page reads the page at a cursor.
func (s source) page(ctx context.Context, at, ahead pager.Cursor) (pager.Page[raw], error) {
	w, l := s.w, s.life
	w.mu.Lock()
	if ctx.Err() != nil || l.dead {
		w.mu.Unlock()
		return pager.Page[raw]{}, context.Cause(ctx)
	}
	l.requests++
	w.note("request %d at %s", l.requests, at)
	w.judgeRequest(l, at, ahead)
	f := l.faults[l.requests]
	if w.api.quiet {
		f = fault{}
	}
	if f.name != "" {
		w.note("  its answer: %s", f.name)
		w.count("answer: " + f.name)
	}
	l.reach(atRequest)
	w.mu.Unlock()
	l.release()
	if f.instead != nil {
		if err := f.instead(ctx, w, l); err != nil {
			return pager.Page[raw]{}, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil || l.dead {
		return pager.Page[raw]{}, context.Cause(ctx)
	}
	if f.stops {
		l.may(state.CodeSequenceStopped)
		return pager.Page[raw]{}, errStops
	}
	page, err := w.answer(s.window, at)
	if err != nil {
		l.may(faultCode(err))
		w.note("  refused: %v", err)
		return page, err
	}
	if f.edit != nil {
		f.edit(w, &page, at)
	}
	w.remember(l, at, &page)
	l.reach(atAnswer)
	if ctx.Err() != nil || l.dead {
		return pager.Page[raw]{}, context.Cause(ctx)
	}
	return page, nil
}

func faultCode(err error) pager.Code {
	if f, ok := errors.AsType[*pager.Fault](err); ok {
		return f.Code
	}
	return pager.CodePagerFailed
}

// answer makes the page at a cursor from the list as it is now.
func (w *world) answer(filter window, at pager.Cursor) (pager.Page[raw], error) {
	token, _ := at.Token()
	from := spot{generation: w.api.generation, window: filter}
	if at.IsStart() && w.shape.List.NotReplayable {
		w.api.scrolls++
		from.scroll = w.api.scrolls
	}
	if !at.IsStart() {
		var genuine bool
		if from, genuine = w.api.issued[token]; !genuine {
			return pager.Page[raw]{}, &pager.Fault{Code: pager.CodeRequestRefused, Detail: "no such cursor"}
		}
		if w.shape.List.Style == pager.StyleCursor && from.generation != w.api.generation || w.shape.List.NotReplayable && w.api.used[token] {
			return pager.Page[raw]{}, &pager.Fault{Code: pager.CodeCursorExpired, Detail: "the cursor has expired"}
		}
	}
	w.api.used[token] = true
	shape := w.shape.List
	size := min(shape.Size, shape.Most)
	keep := func(i simapi.Item) bool { return from.window.holds(i.CreatedAt) }
	var part simapi.Stretch
	next := from
	switch shape.Style {
	case pager.StyleCursor:
		part, _ = w.list.After(from.after, size, keep)
		next.after = part.Last
		next.number++ // tells two places at the same item apart
	case pager.StyleOffset:
		part = w.list.At(from.number, size, keep)
		next.number += len(part.Items)
	case pager.StylePage:
		part = w.list.At(from.number*size, size, keep)
		next.number++
	}
	more := part.More || shape.Trailing && len(part.Items) > 0
	page := pager.Page[raw]{End: pager.EndLast, Evidence: "has_more=false"}
	if more {
		lastID := ""
		if n := len(part.Items); n > 0 {
			lastID = part.Items[n-1].ID
		}
		page.End, page.Evidence, page.Next = pager.EndMore, "has_more=true", w.issue(next, lastID)
	}
	for _, item := range part.Items {
		page.Items = append(page.Items, asItem(item))
	}
	page.Meta.Status, page.Meta.RequestID = 200, "req-"+strconv.Itoa(len(w.api.answers))
	if shape.Totals {
		total := int64(w.list.At(0, 0, keep).Total)
		page.Meta.Total = &total
	}
	return page, nil
}

// issue returns the cursor of a place: the same one for the same place, with bytes
// in it that a client has to send back as they are.
func (w *world) issue(p spot, lastID string) pager.Cursor {
	if c := w.shape.List.Contract; c != nil {
		token := strconv.Itoa(p.number)
		switch {
		case c.Next.From == "counter:page":
			token = strconv.Itoa(p.number + 1)
		case c.Next.From == "last_id":
			token = lastID
		case c.Next.From != "counter:offset":
			token = fmt.Sprintf("%d.%d.%d.%d/+=%% ü", p.generation, p.scroll, p.after, p.number)
		}
		if c.Request.Cursor.In == "url" {
			token = address + "?at=" + url.QueryEscape(token)
		}
		w.api.issued[token] = p
		return pager.At(token)
	}
	if w.shape.List.Style != pager.StyleCursor {
		token := strconv.Itoa(p.number)
		w.api.issued[token] = p
		return pager.At(token)
	}
	token := fmt.Sprintf("%d.%d.%d.%d/+=%% \xff", p.generation, p.scroll, p.after, p.number)
	w.api.issued[token] = p
	return pager.At(token)
}

// remember keeps what a page said. The caller holds the lock.
func (w *world) remember(l *process, at pager.Cursor, page *pager.Page[raw]) {
	a := answered{at: at, next: page.Next, last: page.End == pager.EndLast, vetoed: len(page.Vetoes) > 0}
	for _, item := range page.Items {
		if item.ID != "" {
			a.ids = append(a.ids, item.ID)
		}
	}
	w.api.answers = append(w.api.answers, a)
	w.note("  answer %v, next %s, end %s", a.ids, a.next, page.End)
	switch {
	case page.End == pager.EndMore && page.Next.IsStart():
		l.may(pager.CodeCursorMissing)
	case page.End == pager.EndUnknown && page.Next.IsStart():
		l.may(pager.CodeEndUnknown)
	}
}

// answered reports whether the API sent what a record says of a page; over HTTP the
// cursors are the adapter's, and the world knows only what they stand for.
func (a *api) answered(p *store.Page, over bool) bool {
	return slices.ContainsFunc(a.answers, func(was answered) bool {
		return (over || was.at == p.Cursor && was.next == p.Next) && was.last == (p.End == pager.EndLast) && slices.Equal(was.ids, p.IDs)
	})
}

// document is an item as the API sends it.
type document struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created_at"`
	Text    string    `json:"text"`
}

func asItem(i simapi.Item) pager.Item[raw] {
	data, err := json.Marshal(document{i.ID, i.CreatedAt, i.Subject})
	if err != nil {
		panic(err) // an ID and a text always encode
	}
	return pager.Item[raw]{ID: i.ID, CreatedAt: i.CreatedAt, Value: data, Raw: data}
}

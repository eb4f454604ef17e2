package everypage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// ticket is the item of the tests.
type ticket struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created_at,omitzero"`
	Text    string    `json:"text,omitempty"`
}

// start is when the tests' clock starts.
func start() time.Time { return time.Date(2026, 3, 5, 10, 0, 0, 0, time.UTC) }

// stepClock is a clock that moves only when somebody waits, and then at once.
type stepClock struct {
	mu  sync.Mutex
	now time.Time
}

var _ everypage.Clock = (*stepClock)(nil)

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stepClock) Timer(d time.Duration) (<-chan time.Time, func() bool) {
	passed := make(chan time.Time, 1)
	passed <- c.advance(d)
	return passed, func() bool { return true }
}

func (c *stepClock) advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// world is a list, its readers, a handler's effects and a ledger.
type world struct {
	t      *testing.T
	clock  *stepClock
	random random
	fs     vfs.FS
	ledger *pebblestore.Store

	mu       sync.Mutex
	list     []ticket
	size     int
	requests []string                                                     // the cursors, in order
	answer   func(n int, at pager.Cursor, page *pager.Page[ticket]) error // changes request n's answer
	calls    []everypage.Item[ticket]
	handle   func(ctx context.Context, item everypage.Item[ticket]) error // nil: success
	effects  map[string]int                                               // by key
}

func newWorld(t *testing.T, size int, ids ...string) *world {
	t.Helper()
	w := &world{t: t, clock: &stepClock{now: start()}, size: size, effects: map[string]int{}, random: random{rand.New(rand.NewPCG(1, 2))}}
	for _, id := range ids {
		w.list = append(w.list, ticket{ID: id, Created: start().Add(-time.Hour)})
	}
	w.open(vfs.NewMem())
	return w
}

// open opens a ledger on a file system; the one before is closed.
func (w *world) open(fs vfs.FS) {
	w.t.Helper()
	if w.ledger != nil {
		w.close()
	}
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: fs, Now: w.clock.Now})
	if err != nil {
		w.t.Fatal(err)
	}
	w.fs, w.ledger = fs, ledger
	w.t.Cleanup(func() { _ = ledger.Close() })
}

func (w *world) close() {
	w.t.Helper()
	if err := w.ledger.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// Pages serves the list by a cursor that is the number of items before it.
func (w *world) Pages(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[ticket], error] {
	return pager.Func[ticket](w.page).Pages(ctx, from)
}

func (w *world) page(ctx context.Context, at pager.Cursor) (pager.Page[ticket], error) {
	if err := ctx.Err(); err != nil {
		return pager.Page[ticket]{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.requests)
	w.requests = append(w.requests, at.String())
	token, _ := at.Token()
	skip := 0
	if token != "" {
		var err error
		if skip, err = strconv.Atoi(token); err != nil {
			return pager.Page[ticket]{}, &pager.Fault{Code: pager.CodeRequestRefused, Detail: "cursor " + token}
		}
	}
	skip = min(skip, len(w.list))
	end := min(skip+w.size, len(w.list))
	page := pager.Page[ticket]{End: pager.EndMore, Next: pager.At(strconv.Itoa(end)), Evidence: "has_more=true"}
	if end == len(w.list) {
		page.End, page.Next, page.Evidence = pager.EndLast, pager.Cursor{}, "has_more=false"
	}
	page.Meta.RequestID = fmt.Sprintf("req-%d", n)
	for _, item := range w.list[skip:end] {
		page.Items = append(page.Items, asItem(item))
	}
	if w.answer != nil {
		if err := w.answer(n, at, &page); err != nil {
			return pager.Page[ticket]{}, err
		}
	}
	return page, nil
}

func asItem(v ticket) pager.Item[ticket] {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return pager.Item[ticket]{ID: v.ID, CreatedAt: v.Created, Value: v, Raw: raw}
}

// job returns the world's job, changed by edit.
func (w *world) job(edit ...func(*everypage.Job[ticket])) everypage.Job[ticket] {
	j := everypage.Job[ticket]{
		Name: "tickets", Pager: w, Action: "remind", Handle: w.handler,
		Options: everypage.Options{Clock: w.clock, Random: w.random},
	}
	for _, change := range edit {
		change(&j)
	}
	return j
}

// random makes a seeded source a reader.
type random struct{ r *rand.Rand }

func (r random) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r.r.Uint32())
	}
	return len(p), nil
}

func (w *world) handler(ctx context.Context, item everypage.Item[ticket]) error {
	w.mu.Lock()
	w.calls = append(w.calls, item)
	handle := w.handle
	w.mu.Unlock()
	if handle != nil {
		if err := handle(ctx, item); err != nil {
			return err
		}
	}
	w.mu.Lock()
	w.effects[item.Key]++
	w.mu.Unlock()
	return nil
}

// run runs the job and checks what must hold after every call of Run.
func (w *world) run(job everypage.Job[ticket]) (*state.Receipt, error) {
	w.t.Helper()
	return w.runContext(w.t.Context(), job)
}

func (w *world) runContext(ctx context.Context, job everypage.Job[ticket]) (*state.Receipt, error) {
	w.t.Helper()
	receipt, err := everypage.Run(ctx, w.ledger, job)
	if complete := receipt != nil && receipt.Status == state.Complete; complete != (err == nil) {
		w.t.Fatalf("err is %v and the receipt says %+v: an error is nil if and only if the run is complete", err, receipt)
	}
	if receipt != nil {
		w.recount(receipt.RunID) //nolint:contextcheck // the context of the run may have ended
	}
	return receipt, err
}

// recount checks the promise nothing-lost: the receipt's counts equal a recount.
func (w *world) recount(runID string) {
	w.t.Helper()
	run, err := w.ledger.Run(w.t.Context(), runID)
	if errors.Is(err, store.ErrNotFound) {
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	counted, err := everypage.Recount(w.t.Context(), w.ledger, runID)
	if err != nil {
		w.t.Fatal(err)
	}
	got, _ := run.Receipt.YAML()
	want, _ := counted.YAML()
	if string(got) != string(want) {
		w.t.Fatalf("nothing-lost: the receipt differs from a recount\nreceipt:\n%s\nrecount:\n%s", got, want)
	}
	if _, err := everypage.Verify(w.t.Context(), w.ledger, runID); err != nil {
		w.t.Fatal(err)
	}
}

// called returns the IDs that the handler was called for, in order.
func (w *world) called() []string {
	var ids []string
	for _, item := range w.calls {
		ids = append(ids, item.ID)
	}
	return ids
}

func (w *world) wantCalls(ids ...string) {
	w.t.Helper()
	if got := w.called(); !slices.Equal(got, ids) {
		w.t.Errorf("the handler was called for %v, want %v", got, ids)
	}
}

func (w *world) wantRequests(cursors ...string) {
	w.t.Helper()
	if !slices.Equal(w.requests, cursors) {
		w.t.Errorf("pages were read at %v, want %v", w.requests, cursors)
	}
}

// wantReview fails unless the run needs review for the given reason.
func wantReview(t *testing.T, receipt *state.Receipt, err error, code pager.Code) {
	t.Helper()
	if !errors.Is(err, everypage.ErrNeedsReview) || receipt.Reason == nil || receipt.Reason.Code != code {
		t.Fatalf("want a review for %s, have %v", code, err)
	}
}

// wantPause fails unless the run is paused for the given reason.
func wantPause(t *testing.T, receipt *state.Receipt, err error, code pager.Code) {
	t.Helper()
	if !errors.Is(err, everypage.ErrPaused) || receipt.Reason == nil || receipt.Reason.Code != code {
		t.Fatalf("want a pause for %s, have %v", code, err)
	}
}

func wantComplete(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("want a complete run, have %v", err)
	}
}

package proptest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// HandlerHarness is a handler on trial, with what it acts on.
type HandlerHarness[T any] struct {
	// Handle is the handler of the job; HandleBatch in its place, if that is what the
	// job has.
	Handle      func(ctx context.Context, item everypage.Item[T]) error
	HandleBatch func(ctx context.Context, items []everypage.Item[T]) []error
	// Items is the list that is walked, at least five items.
	Items []pager.Item[T]
	// Effects counts what has happened in the system that the handler acts on, by
	// item ID. An item that it does not name has none.
	Effects func() (map[string]int, error)
	// Reset makes that system as it was before any effect.
	Reset func() error
	// AtMostOnce is what the job says: a handler that cannot honour keys.
	AtMostOnce bool
	// Confirm is the job's, if it has one.
	Confirm func(ctx context.Context, key string) (bool, error)
}

// TestHandler lets somebody's handler be stopped in random ways, over several
// processes: before a call, during one, between its effect and the record of it, at
// its caller's wish and by crashes that lose what was not synced. Then the run comes
// to its end, and each item must have had its effect once; with AtMostOnce at most
// once, and then the item is held.
//
//	func TestRemind(t *testing.T) {
//		proptest.TestHandler(t, proptest.HandlerHarness[Ticket]{
//			Handle: remind, Items: tickets, Effects: countReminders, Reset: clearReminders,
//		})
//	}
//
// A failure names the item, says how often its effect happened and in which calls,
// and prints how to repeat it.
func TestHandler[T any](t *testing.T, h HandlerHarness[T]) {
	t.Helper()
	if err := h.validate(); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := h.play(drawStops(t)); err != nil {
			t.Fatal(err)
		}
	})
}

func (h HandlerHarness[T]) validate() error {
	var problems []error
	problem := func(wrong bool, text string) {
		if wrong {
			problems = append(problems, errors.New(text))
		}
	}
	problem((h.Handle == nil) == (h.HandleBatch == nil), "set either Handle or HandleBatch")
	problem(len(h.Items) < 5, "give at least five Items: fewer have too few places to stop at")
	problem(h.Effects == nil, "Effects is missing: count what happened in the system that the handler acts on")
	problem(h.Reset == nil, "Reset is missing: make that system as it was before any effect")
	if len(problems) > 0 {
		return fmt.Errorf("proptest: the harness of the handler: %w", errors.Join(problems...))
	}
	return nil
}

// stops is what happens to the processes of one check.
type stops struct {
	pageSize, concurrency int
	lives                 []handlerStop
}

// handlerStop ends a process at the nth call of it.
type handlerStop struct {
	at  int
	how string
}

// How a process ends.
const (
	stopBefore    = "it dies before the call"
	stopAfter     = "it dies after the call, and what was not synced is lost"
	stopAfterKept = "it dies after the call, and what was not synced is kept"
	stopCancelled = "its caller leaves during the call"
	stopLost      = "the call's answer is lost"
)

func drawStops(t *rapid.T) stops {
	s := stops{pageSize: rapid.IntRange(1, 4).Draw(t, "page size"), concurrency: rapid.IntRange(1, 3).Draw(t, "concurrency")}
	for range rapid.IntRange(0, 4).Draw(t, "processes that are stopped") {
		s.lives = append(s.lives, handlerStop{
			at:  rapid.IntRange(0, 5).Draw(t, "at call"),
			how: rapid.SampledFrom([]string{stopBefore, stopAfter, stopAfterKept, stopCancelled, stopLost}).Draw(t, "how"),
		})
	}
	return s
}

// handlerPlay is one check.
type handlerPlay[T any] struct {
	h      HandlerHarness[T]
	stops  stops
	clock  *caseClock
	fs     *vfs.MemFS
	mu     sync.Mutex
	story  []string
	number int
	calls  int
	dead   bool
	left   *vfs.MemFS
	cancel context.CancelFunc
}

// play lets all processes live, the last ones in peace, and judges the effects.
func (h HandlerHarness[T]) play(s stops) error {
	if err := h.Reset(); err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	p := &handlerPlay[T]{h: h, stops: s, clock: &caseClock{now: epoch()}, fs: vfs.NewCrashableMem()}
	for p.number < len(s.lives)+6 {
		receipt, err := p.live()
		switch {
		case err == nil:
			return p.judge(receipt)
		case receipt == nil && !errors.Is(err, everypage.ErrPaused):
			return p.fail("the run ends with %v", err)
		case errors.Is(err, everypage.ErrNeedsReview) && receipt.Reason.Code != state.CodeItemsHeld:
			return p.fail("the run needs review: %v", err)
		case errors.Is(err, everypage.ErrNeedsReview):
			return p.judge(receipt)
		}
	}
	return p.fail("the run does not come to its end")
}

// live is one process.
func (p *handlerPlay[T]) live() (receipt *state.Receipt, err error) {
	p.mu.Lock()
	p.number++
	p.calls, p.dead = 0, false
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.mu.Unlock()
	defer cancel()
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: p.fs, Now: p.clock.Now})
	if err != nil {
		return nil, err
	}
	receipt, err = everypage.Run(ctx, ledger, p.job())
	if closed := ledger.Close(); closed != nil && !p.dead {
		return nil, closed
	}
	if p.dead {
		p.fs = p.left
		return nil, everypage.ErrPaused
	}
	return receipt, err
}

func (p *handlerPlay[T]) job() everypage.Job[T] {
	job := everypage.Job[T]{
		Name: "job", Pager: pager.Func[T](p.page), Action: "act", AtMostOnce: p.h.AtMostOnce, Confirm: p.h.Confirm,
		Options: everypage.Options{Clock: p.clock, Concurrency: p.stops.concurrency, MaxAttempts: 10, WaitUpTo: time.Hour, Force: true},
	}
	if p.h.HandleBatch != nil {
		job.HandleBatch = p.handleBatch
	} else {
		job.Handle = func(ctx context.Context, item everypage.Item[T]) error {
			return p.handleBatch(ctx, []everypage.Item[T]{item})[0]
		}
	}
	return job
}

// page serves the list in pages; the cursor is the number of items before one.
func (p *handlerPlay[T]) page(ctx context.Context, at pager.Cursor) (page pager.Page[T], err error) {
	first := 0
	if token, ok := at.Token(); ok {
		if _, err := fmt.Sscan(token, &first); err != nil {
			return page, err
		}
	}
	end := min(first+p.stops.pageSize, len(p.h.Items))
	page = pager.Page[T]{Items: p.h.Items[first:end], End: pager.EndMore, Next: pager.At(fmt.Sprint(end))}
	if end == len(p.h.Items) {
		page.End, page.Next, page.Evidence = pager.EndLast, pager.Cursor{}, "the end"
	}
	return page, ctx.Err()
}

// handleBatch calls the handler, unless the process is gone, and stops it.
func (p *handlerPlay[T]) handleBatch(ctx context.Context, items []everypage.Item[T]) []error {
	how := p.next(items)
	outcomes := make([]error, len(items))
	fill := func(err error) []error {
		for i := range outcomes {
			outcomes[i] = err
		}
		return outcomes
	}
	switch how {
	case "gone":
		return fill(context.Canceled)
	case stopBefore:
		p.die(0)
		return fill(context.Canceled)
	case stopCancelled:
		p.cancel()
	}
	if p.h.HandleBatch != nil {
		if got := p.h.HandleBatch(ctx, items); got != nil {
			outcomes = got
		}
	} else {
		outcomes[0] = p.h.Handle(ctx, items[0])
	}
	p.note("  it says %v", outcomes)
	switch how {
	case stopAfter:
		p.die(0)
	case stopAfterKept:
		p.die(100)
	case stopLost:
		return fill(errors.New("the answer was lost"))
	}
	return outcomes
}

// next counts a call and says what happens at it.
func (p *handlerPlay[T]) next(items []everypage.Item[T]) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return "gone"
	}
	n := p.calls
	p.calls++
	how := ""
	if p.number <= len(p.stops.lives) && p.stops.lives[p.number-1].at == n {
		how = p.stops.lives[p.number-1].how
	}
	for _, item := range items {
		p.story = append(p.story, fmt.Sprintf("process %d, call %d: %s with key %s, attempt %d; %s", p.number, n, item.ID, item.Key, item.Attempt, how))
	}
	return how
}

// die ends the process; what it still does is lost with it.
func (p *handlerPlay[T]) die(kept int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return
	}
	p.dead = true
	p.left = p.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: kept, RNG: rand.New(rand.NewPCG(1, 2))}) //nolint:gosec // it has to repeat
	p.cancel()
}

func (p *handlerPlay[T]) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.story = append(p.story, fmt.Sprintf(format, args...))
}

// judge compares the effects with what the ledger says.
func (p *handlerPlay[T]) judge(receipt *state.Receipt) error {
	effects, err := p.h.Effects()
	if err != nil {
		return fmt.Errorf("count the effects: %w", err)
	}
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: p.fs, Now: p.clock.Now})
	if err != nil {
		return err
	}
	defer func() { _ = ledger.Close() }()
	var ids []string
	for _, item := range p.h.Items {
		ids = append(ids, item.ID)
	}
	run, err := ledger.Run(context.Background(), receipt.RunID)
	if err != nil {
		return err
	}
	items, err := ledger.Items(context.Background(), run.Scope, ids)
	if err != nil {
		return err
	}
	for _, item := range items {
		switch n := effects[item.ID]; {
		case n > 1 && p.h.AtMostOnce:
			return p.fail("at-most-once: %s had its effect %d times, although no call was made again that might have had it: it happens more than once in one call", item.ID, n)
		case n > 1:
			return p.fail("same-key: %s had its effect %d times: the handler has to pass item.Key on, and the other system to honour it; if it cannot, set AtMostOnce", item.ID, n)
		case n == 0 && item.State == store.StateDone:
			return p.fail("nothing-lost: %s is recorded as done and had no effect: the handler has to return nil only after the effect is certain", item.ID)
		}
	}
	for id := range effects {
		if !slices.Contains(ids, id) {
			return p.fail("nothing-lost: there is an effect of %s, which is no item of the list", id)
		}
	}
	return nil
}

func (p *handlerPlay[T]) fail(format string, args ...any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Errorf("%s\nwhat happened:\n%s", fmt.Sprintf(format, args...), strings.Join(p.story, "\n"))
}

package everypage_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
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

// TestCrash lets a process walk a random list and be stopped in random ways, over
// several lives, and then lets it come to its end in peace. Whatever stopped it:
// every ID is handled, an item whose success was confirmed is never called again,
// every call for an item carries the same key, the receipt equals a recount after
// each life, at-most-once calls nothing twice of which it does not know that it was
// not done, and complete means that the end was observed.
//
// A failure prints the lives as a person can follow them, and rapid the seed to
// repeat it with; with a concurrency above 1, the order of calls may differ. More
// plans: go test -run TestCrash . -rapid.checks=10000.
func TestCrash(t *testing.T) {
	for range 2 { // rounds of 100 plans
		t.Run("round", func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { drawCrashPlan(t).play(t) })
		})
	}
}

// crashPlan is a list, a job and the lives of its process.
type crashPlan struct {
	pages         [][]string // IDs, page by page
	atMostOnce    bool
	notReplayable bool
	rotate        bool // each life meets the items of a page in another order
	way           string
	lives         []life
	padding       string // makes each item longer, so that logs and tables turn over
}

// life is one process, up to what ends it.
type life struct {
	end         string
	at          int // the call, or the fetch, of this life at which that happens
	concurrency int
	ahead       bool
}

// The ways to write a job.
const (
	byItem  = "a handler of one item"
	byBatch = "a handler of batches"
	byLoop  = "a loop"
)

// The ends of a life.
const (
	cancelInCall      = "its caller leaves during a call"
	cancelAtFetch     = "its caller leaves during a fetch"
	crashBeforeEffect = "it dies before the effect, unsynced data lost"
	crashAfterEffect  = "it dies after the effect, unsynced data lost"
	crashBeforeKept   = "it dies before the effect, unsynced data kept"
	crashAfterKept    = "it dies after the effect, unsynced data kept"
	crashAtFetch      = "it dies during a fetch, unsynced data lost"
	handlerFails      = "a call fails"
	handlerNotDone    = "a call is certainly not done"
	handlerPermanent  = "a call fails for good"
	handlerPauses     = "a call asks for a pause"
	fetchPauses       = "a fetch is limited"
	inPeace           = "nothing"
)

func drawCrashPlan(t *rapid.T) *crashPlan {
	p := &crashPlan{
		atMostOnce:    rapid.Bool().Draw(t, "at most once"),
		notReplayable: rapid.Bool().Draw(t, "not replayable"),
		rotate:        rapid.Bool().Draw(t, "rotate"),
		way:           rapid.SampledFrom([]string{byItem, byBatch, byLoop}).Draw(t, "way"),
	}
	duplicates := rapid.Bool().Draw(t, "duplicates")
	n := 0
	for range rapid.IntRange(1, 4).Draw(t, "pages") {
		var ids []string
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			id := string(rune('a' + n))
			if duplicates && n > 0 && rapid.IntRange(0, 3).Draw(t, "copy") == 0 {
				id = string(rune('a' + rapid.IntRange(0, n-1).Draw(t, "of")))
			} else {
				n++
			}
			ids = append(ids, id)
		}
		p.pages = append(p.pages, ids)
	}
	ends := []string{
		cancelInCall, cancelAtFetch, crashBeforeEffect, crashAfterEffect, crashBeforeKept, crashAfterKept, crashAtFetch,
		handlerFails, handlerNotDone, handlerPermanent, handlerPauses, fetchPauses,
	}
	for range rapid.IntRange(1, 4).Draw(t, "lives") {
		p.lives = append(p.lives, life{
			end: rapid.SampledFrom(ends).Draw(t, "end"), at: rapid.IntRange(0, 5).Draw(t, "at"),
			concurrency: rapid.IntRange(1, 4).Draw(t, "concurrency"), ahead: rapid.Bool().Draw(t, "read ahead"),
		})
	}
	return p
}

// ids returns every ID of the list once.
func (p *crashPlan) ids() []string {
	all := slices.Concat(p.pages...)
	slices.Sort(all)
	return slices.Compact(all)
}

// history is what outlives the processes: the sink, and what we know.
type history struct {
	plan   *crashPlan
	clock  *stepClock
	random random
	fs     *vfs.MemFS

	mu        sync.Mutex
	trace     []string
	number    int // of the life
	is        life
	calls     int // of this life
	fetches   int
	dead      bool // the process is gone: nothing that it still does counts
	left      *vfs.MemFS
	cancel    context.CancelFunc
	keys      map[string]string // by ID
	effects   map[string]int    // by ID
	unknown   map[string]int    // calls by ID of which nobody said that they were not done
	confirmed map[string]bool
	endServed bool
	wrong     string // the first promise that was broken
}

func (h *history) note(format string, args ...any) {
	h.trace = append(h.trace, fmt.Sprintf("%d: ", h.number)+fmt.Sprintf(format, args...))
}

func (h *history) broken(format string, args ...any) {
	if h.wrong == "" {
		h.wrong = fmt.Sprintf(format, args...)
	}
}

// die ends the process at this instant. The caller holds the lock, so that what
// the sink has and what the disk has are of the same instant.
func (h *history) die(unsynced int) { h.dieOf(unsynced, 1) }

// dieOf is die, with a seed for what is kept.
func (h *history) dieOf(unsynced int, seed uint64) {
	h.note("the process dies; %d %% of what was not synced is kept", unsynced)
	h.dead, h.left = true, h.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: rand.New(rand.NewPCG(seed, 2))})
	h.cancel()
}

// page serves the page whose number is the cursor.
func (h *history) page(ctx context.Context, at pager.Cursor) (pager.Page[ticket], error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil || h.dead {
		return pager.Page[ticket]{}, context.Canceled
	}
	token, _ := at.Token()
	index, _ := strconv.Atoi(token)
	n := h.fetches
	h.fetches++
	h.note("fetch %d: page %d", n, index)
	if n == h.is.at {
		switch h.is.end {
		case cancelAtFetch:
			h.note("the caller leaves")
			h.cancel()
			return pager.Page[ticket]{}, context.Canceled
		case crashAtFetch:
			h.die(0)
			return pager.Page[ticket]{}, context.Canceled
		case fetchPauses:
			return pager.Page[ticket]{}, &pager.Fault{Verdict: pager.Pause, Code: pager.CodeRateLimited, Until: h.clock.Now().Add(time.Minute)}
		}
	}
	page := pager.Page[ticket]{End: pager.EndMore, Next: pager.At(strconv.Itoa(index + 1)), Evidence: "more"}
	if index == len(h.plan.pages)-1 {
		page.End, page.Next, page.Evidence, h.endServed = pager.EndLast, pager.Cursor{}, "the end", true
	}
	ids := slices.Clone(h.plan.pages[index])
	if h.plan.rotate && len(ids) > 0 {
		by := h.number % len(ids)
		ids = append(ids[by:], ids[:by]...)
	}
	show(&page, ids...)
	page.Evidence += h.plan.padding
	for i := range page.Items {
		if h.plan.padding != "" {
			page.Items[i].Raw = fmt.Appendf(nil, `{"id":%q,"text":%q}`, page.Items[i].ID, h.plan.padding)
		}
	}
	return page, nil
}

// handle is the handler: a sink that has its effect between two instants at which
// the process may die, in this call or in another one that is under way.
func (h *history) handle(_ context.Context, item everypage.Item[ticket]) error {
	end, err := h.call(item)
	if err != nil {
		return err
	}
	for range 3 {
		runtime.Gosched()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead {
		return context.Canceled
	}
	h.effects[item.ID]++
	switch end {
	case crashAfterEffect:
		h.die(0)
	case crashAfterKept:
		h.die(100)
	}
	return nil
}

// call is the first half of the handler, before the effect.
func (h *history) call(item everypage.Item[ticket]) (end string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead {
		return "", context.Canceled
	}
	n := h.calls
	h.calls++
	h.note("call %d: %s of page %d, attempt %d", n, item.ID, item.Page, item.Attempt)
	if key, ok := h.keys[item.ID]; ok && key != item.Key {
		h.broken("same-key: %s was called with %q and then with %q", item.ID, key, item.Key)
	}
	h.keys[item.ID] = item.Key
	if h.confirmed[item.ID] {
		h.broken("confirmed-once: %s was confirmed and is called again", item.ID)
	}
	if h.plan.atMostOnce && h.unknown[item.ID] > 0 {
		h.broken("at-most-once: %s is called again, and nobody said that it was not done", item.ID)
	}
	h.unknown[item.ID]++
	if n == h.is.at {
		end = h.is.end
	}
	switch end {
	case crashBeforeEffect:
		h.die(0)
		err = context.Canceled
	case crashBeforeKept:
		h.die(100)
		err = context.Canceled
	case cancelInCall:
		h.note("the caller leaves")
		h.cancel()
		err = context.Canceled
	case handlerFails:
		h.note("%s fails", item.ID)
		err = errNo
	case handlerNotDone:
		h.note("%s is not done", item.ID)
		h.unknown[item.ID]--
		err = everypage.NotDone(errNo)
	case handlerPermanent:
		h.note("%s fails for good", item.ID)
		h.unknown[item.ID]--
		err = everypage.Permanent(errNo)
	case handlerPauses:
		h.note("%s asks for a pause", item.ID)
		h.unknown[item.ID]--
		err = everypage.PauseRun(h.clock.Now().Add(time.Minute), errNo)
	}
	return end, err
}

func (h *history) settled(_ state.Receipt, item store.Item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.dead && item.State == store.StateDone {
		h.confirmed[item.ID] = true
		h.note("%s is confirmed", item.ID)
	}
}

func (h *history) job() everypage.Job[ticket] {
	return everypage.Job[ticket]{
		Name: "tickets", Pager: pager.Func[ticket](h.page), Action: "remind", Handle: h.handle, AtMostOnce: h.plan.atMostOnce,
		List: pager.Description{NotReplayable: h.plan.notReplayable},
		Options: everypage.Options{
			Clock: h.clock, Random: h.random, Concurrency: h.is.concurrency, ReadAhead: h.is.ahead, Force: true,
			Observer: everypage.Observer{Settled: h.settled},
		},
	}
}

// walk runs the job in the plan's way.
func (h *history) walk(ctx context.Context, ledger *pebblestore.Store) (receipt *state.Receipt, err error) {
	job := h.job()
	switch h.plan.way {
	case byBatch:
		job.Handle, job.HandleBatch, job.Options.BatchSize = nil, h.handleBatch, 3
	case byLoop:
		job.Handle, job.Options.Concurrency = nil, 0
		for item, failed := range everypage.Each(ctx, ledger, job) {
			if err = failed; err != nil {
				break
			}
			if failed := h.handle(ctx, item.Item); failed != nil {
				item.Fail(failed)
			} else {
				item.Done()
			}
		}
		return nil, err
	}
	return everypage.Run(ctx, ledger, job)
}

// handleBatch has the effects of a batch one after the other.
func (h *history) handleBatch(ctx context.Context, items []everypage.Item[ticket]) []error {
	outcomes := make([]error, len(items))
	for i, item := range items {
		outcomes[i] = h.handle(ctx, item)
	}
	return outcomes
}

// open opens the ledger as it is on disk.
func (h *history) open(t failer) *pebblestore.Store {
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: h.fs, Now: h.clock.Now})
	if err != nil {
		h.fail(t, "the ledger does not open after life %d: %v", h.number, err)
	}
	return ledger
}

func (h *history) fail(t failer, format string, args ...any) {
	t.Fatalf("%s\nthe plan: %+v\nthe lives:\n%s", fmt.Sprintf(format, args...), *h.plan, strings.Join(h.trace, "\n"))
}

// live is one life, and what must hold after it.
func (h *history) live(t failer, is life) (receipt *state.Receipt, err error) {
	h.mu.Lock()
	h.number++
	h.is, h.calls, h.fetches, h.dead = is, 0, 0, false
	h.note("a process begins, with %d at a time; what ends it: %s, at %d", is.concurrency, is.end, is.at)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h.cancel = cancel
	h.mu.Unlock()
	ledger := h.open(t)
	receipt, err = h.walk(ctx, ledger)
	if h.dead {
		_ = ledger.Close() // of a process that is gone
		h.fs = h.left
		ledger = h.open(t)
		receipt, err = h.newest(t, ledger), everypage.ErrPaused
	}
	if h.plan.way == byLoop {
		receipt = h.newest(t, ledger)
	}
	h.note("Run says: %v", err)
	if h.wrong != "" {
		h.fail(t, "%s", h.wrong)
	}
	if receipt != nil {
		h.recount(t, ledger, receipt.RunID)
		if complete := receipt.Status == state.Complete; !h.dead && complete != (err == nil) {
			h.fail(t, "the receipt says %s and the error is %v", receipt.Status, err)
		}
	}
	if err := ledger.Close(); err != nil {
		h.fail(t, "close the ledger: %v", err)
	}
	return receipt, err
}

func (h *history) newest(t failer, ledger *pebblestore.Store) *state.Receipt {
	for run, err := range ledger.Runs(context.Background(), store.RunFilter{}) {
		if err != nil {
			h.fail(t, "read the newest run: %v", err)
		}
		return &run.Receipt
	}
	return nil
}

func (h *history) recount(t failer, ledger *pebblestore.Store, runID string) {
	run, err := ledger.Run(context.Background(), runID)
	if errors.Is(err, store.ErrNotFound) {
		return
	}
	counted, failed := everypage.Recount(context.Background(), ledger, runID)
	if err != nil || failed != nil {
		h.fail(t, "recount run %s: %v, %v", runID, err, failed)
	}
	got, _ := run.Receipt.YAML()
	want, _ := counted.YAML()
	if string(got) != string(want) {
		h.fail(t, "nothing-lost: the receipt differs from a recount\nreceipt:\n%s\nrecount:\n%s", got, want)
	}
	if _, err := everypage.Verify(context.Background(), ledger, runID); err != nil {
		h.fail(t, "%v", err)
	}
}

// decide does what a person would: nothing that could repeat what is in doubt.
func (h *history) decide(t failer, receipt *state.Receipt) {
	ledger := h.open(t)
	defer func() { _ = ledger.Close() }()
	var doubted, others []string
	for item, err := range ledger.Held(context.Background(), h.scope(t, ledger, receipt.RunID)) {
		if err != nil {
			h.fail(t, "read the hold queue: %v", err)
		}
		if h.plan.atMostOnce && item.Code == state.HoldInDoubt {
			doubted = append(doubted, item.ID)
		} else {
			others = append(others, item.ID)
		}
	}
	d := everypage.Decision{By: "Ada", Note: "as planned", Clock: h.clock, Random: h.random}
	var err error
	switch code := receipt.Reason.Code; {
	case code == state.CodeCursorLost:
		h.note("a person supersedes it: %s", code)
		_, err = everypage.Supersede(context.Background(), ledger, receipt.RunID, d)
	case len(others) > 0:
		h.note("a person retries %v", others)
		d.Items = others
		_, err = everypage.Retry(context.Background(), ledger, receipt.RunID, d)
	default:
		h.note("a person accepts the conflicts, and writes %v off", doubted)
		if receipt.DuplicateConflicts > 0 {
			_, err = everypage.Accept(context.Background(), ledger, receipt.RunID, d)
		}
		if len(doubted) > 0 {
			d.Items = doubted
			_, failed := everypage.Accept(context.Background(), ledger, receipt.RunID, d)
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		h.fail(t, "a person's act was refused: %v", err)
	}
}

func (h *history) scope(t failer, ledger *pebblestore.Store, runID string) string {
	run, err := ledger.Run(context.Background(), runID)
	if err != nil {
		h.fail(t, "read run %s: %v", runID, err)
	}
	return run.Scope
}

// failer is a test that a history is part of: rapid's, or a plain one.
type failer interface {
	Fatalf(format string, args ...any)
}

func newHistory(p *crashPlan, fs *vfs.MemFS) *history {
	return &history{
		plan: p, clock: &stepClock{now: start()}, random: random{rand.New(rand.NewPCG(1, 2))}, fs: fs,
		keys: map[string]string{}, effects: map[string]int{}, unknown: map[string]int{}, confirmed: map[string]bool{},
	}
}

// play lives all lives and then, in peace, comes to the end.
func (p *crashPlan) play(t failer) {
	newHistory(p, vfs.NewCrashableMem()).toTheEnd(t, p.lives)
}

// toTheEnd lives the given lives, and then some in peace, until the run is
// complete.
func (h *history) toTheEnd(t failer, lives []life) {
	var receipt *state.Receipt
	var err error
	for i := range 20 {
		is := life{end: inPeace, at: -1, concurrency: 2}
		if i < len(lives) {
			is = lives[i]
		}
		receipt, err = h.live(t, is)
		if errors.Is(err, everypage.ErrNeedsReview) {
			h.decide(t, receipt)
			ledger := h.open(t)
			receipt = h.newest(t, ledger)
			_ = ledger.Close()
		}
		if receipt != nil && receipt.Status == state.Complete {
			h.check(t, receipt)
			return
		}
	}
	h.fail(t, "the run does not come to its end: %v", err)
}

// check says what must hold of a complete run.
func (h *history) check(t failer, receipt *state.Receipt) {
	ledger := h.open(t)
	defer func() { _ = ledger.Close() }()
	h.recount(t, ledger, receipt.RunID)
	all := h.plan.ids()
	if !h.endServed || !receipt.TerminalObserved || receipt.PendingCount != 0 || receipt.DuplicateConflicts != 0 {
		h.fail(t, "end-observed: a complete receipt says %+v", *receipt)
	}
	if got := receipt.ProcessedUnique + receipt.Inherited + receipt.WrittenOff; got != int64(len(all)) {
		h.fail(t, "nothing-lost: %d items are accounted for, want %d", got, len(all))
	}
	for _, id := range all {
		switch n := h.effects[id]; {
		case n == 0 && receipt.WrittenOff == 0:
			h.fail(t, "nothing-lost: %s has no effect", id)
		case n > 1 && h.plan.atMostOnce:
			h.fail(t, "at-most-once: %s has %d effects", id, n)
		}
	}
}

package proptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// raw is an item of the world's list as its API sends it.
type raw = json.RawMessage

// world is what outlives the processes that run a job: a list behind an API, a sink
// with its effects, and what is known of both. The ledger's file system crashes at
// the same instant as the process, and the world does not.
type world struct {
	shape  shape
	list   *simapi.List
	api    *api
	sink   *sink
	facts  *facts
	random *rand.Rand // for run IDs and jitter; used under its own lock

	mu      sync.Mutex
	trace   []string
	wrong   string // the first promise that was broken, with what was seen
	lives   int
	life    *process
	counts  map[string]int       // of what happened, for the test of the generator
	ids     int                  // how many were made
	created map[string]time.Time // by ID
	deaths  int                  // of processes
	ledger  ledger
}

// shape is what stays as it is over all runs of a world's job.
type shape struct {
	List         listShape
	AtMostOnce   bool
	DropVanished bool
	Confirm      bool
	KeyRetention time.Duration
	Cutoff       everypage.Cutoff
	Once         everypage.Once
	Incremental  bool
	Deadline     time.Duration
	MaxAttempts  int
	Honours      bool // the sink honours keys
	Form         form
	Pebble       bool // the ledger is the real one
}

// String shows a shape to a person: of a contract, its name.
func (s shape) String() string {
	type plain shape
	p, contract := plain(s), "none"
	if p.List.Contract != nil {
		contract, p.List.Contract = p.List.Contract.Name, nil
	}
	return fmt.Sprintf("contract %s, %+v", contract, p)
}

// form is how a job is written.
type form string

const (
	oneByOne form = "Handle"
	batches  form = "HandleBatch"
	loops    form = "Each"
)

// listShape is how the simulated API shows its list.
type listShape struct {
	Style         pager.Style
	Order         pager.Order
	Size          int  // the page size that is asked for
	Most          int  // what a larger one is clamped to
	Trailing      bool // an empty page ends the list
	Totals        bool
	NotReplayable bool
	Skew          time.Duration // of the server's clock
	// Contract is what the API speaks over HTTP; nil for one in process.
	Contract *adapters.Contract
}

// jobName is the name of the world's job.
const jobName = "tickets"

// action is what the world's job does.
const action = "remind"

// note adds a line to the trace. The caller holds the lock.
func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%d %s  ", w.lives, now().Sub(epoch()).Round(time.Microsecond))+fmt.Sprintf(format, args...))
}

// now is the instant; in a synctest bubble, of its fake time.
func now() time.Time { return everypage.SystemClock{}.Now() }

// epoch is when the time of a synctest bubble begins.
func epoch() time.Time { return time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) }

// broken records that a promise was broken. The caller holds the lock.
func (w *world) broken(promise, format string, args ...any) {
	text := promise + ": " + fmt.Sprintf(format, args...)
	w.note("BROKEN %s", text)
	if w.wrong == "" {
		w.wrong = text
	}
}

// count counts something that happened. The caller holds the lock.
func (w *world) count(what string) { w.counts[what]++ }

// story is the trace as a person reads it.
func (w *world) story() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("the world: %s\nlife, time since the beginning, what happened:\n%s", w.shape, strings.Join(w.trace, "\n"))
}

// Read makes the world's random numbers a reader.
func (w *world) Read(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range p {
		p[i] = byte(w.random.Uint32()) //nolint:gosec // its low bits
	}
	return len(p), nil
}

// moment is a moment in a process's life that something can be planned for.
type moment string

const (
	atRequest    moment = "request"       // it has arrived, and is not answered
	atAnswer     moment = "answer"        // it is on its way back
	beforeCommit moment = "before record" // of a page, outcomes or a status
	afterCommit  moment = "after record"
	atCall       moment = "call"   // of the handler, before the effect
	atEffect     moment = "effect" // it has happened, and the engine does not know
	atSync       moment = "sync"   // of the ledger's log, before it
)

// incident is something that is planned for the n-th time that a life comes to a
// moment.
type incident struct {
	at   moment
	n    int
	what string
	do   func() // with the lock held
}

// process is one process that runs the job, up to what ends it.
type process struct {
	w         *world
	dead      bool // nothing that the process still does counts
	cancelled bool
	manner    manner
	cancel    context.CancelCauseFunc
	reached   map[moment]int
	incidents []incident
	faults    map[int]fault // by request
	outcomes  map[int]fate  // by call
	causes    map[pager.Code]bool
	requests  int
	calls     int
	running   int // calls under way
	failed    bool
	untils    map[pager.Code][]time.Time // the instants that were given with a reason
	later     []func()                   // to be done as soon as the lock is free
	left      *vfs.MemFS                 // what a crash left of the ledger's file system
}

// manner is how one call of Run is made.
type manner struct {
	Concurrency   int
	BatchSize     int
	ReadAhead     bool
	WaitUpTo      time.Duration
	Force         bool
	SupersedeLost int
}

// errGone is why a process's contexts end when it dies.
var errGone = errors.New("the process is gone")

// errLeft is why a process's context ends when its caller leaves.
var errLeftAlone = fmt.Errorf("the caller leaves: %w", context.Canceled)

// reach counts that a life comes to a moment, and lets happen what is planned for
// it. The caller holds the lock.
func (l *process) reach(at moment) {
	if l.dead {
		return
	}
	l.reached[at]++
	for _, i := range l.incidents {
		if i.at == at && i.n == l.reached[at] && !l.dead {
			l.w.note("at %s %d: %s", at, i.n, i.what)
			l.w.count("at " + string(at) + ": " + i.what)
			i.do()
		}
	}
}

// die ends the process at this instant, and what the disk has is what it has now.
// The caller holds the lock.
func (l *process) die(unsynced int) {
	l.dead = true
	l.w.deaths++
	l.left = l.w.ledger.crash(unsynced)
	l.cancel(errGone)
}

// leave ends the process's context. The caller holds the lock.
func (l *process) leave() {
	l.cancelled = true
	l.cancel(errLeftAlone)
}

// may says that a reason for a stop has been given. The caller holds the lock.
func (l *process) may(codes ...pager.Code) {
	for _, code := range codes {
		l.causes[code] = true
	}
}

// until says that a reason came with the instant from which it no longer holds; the
// zero time if it came without. The caller holds the lock.
func (l *process) until(code pager.Code, at time.Time) {
	l.may(code)
	l.untils[code] = append(l.untils[code], at)
}

// release does what was to be done without the lock.
func (l *process) release() {
	l.w.mu.Lock()
	later := l.later
	l.later = nil
	l.w.mu.Unlock()
	for _, do := range later {
		do()
	}
}

// intrude lets a second runner try while the first is at work: it is refused at
// once.
func (w *world) intrude() {
	job := w.job(newProcess(w, manner{Concurrency: 1}))
	job.HandleBatch, job.Options.BatchSize = nil, 0
	job.Handle = func(context.Context, everypage.Item[raw]) error { return errSink }
	before := now()
	_, err := everypage.Run(context.Background(), w.ledger.store, job)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !errors.Is(err, store.ErrHeld) || !now().Equal(before) {
		w.broken("one-runner", "a second runner gets %v", err)
	}
}

// pager is the world's API as a process reads it.
func (w *world) pager(l *process) (pager.Pager[raw], error) {
	s := source{w: w, life: l}
	c := w.shape.List.Contract
	if c == nil {
		return s, nil
	}
	client := &adapters.Client{HTTP: &http.Client{Transport: wire{source: s, contract: *c, ahead: &pager.Cursor{}}}}
	return adapters.List[raw](client, *c, address, &adapters.Options{Order: w.shape.List.Order})
}

// job is the world's job as a life runs it, without its handler.
func (w *world) job(l *process) everypage.Job[raw] {
	s, m := w.shape, l.manner
	list, err := w.pager(l)
	if err != nil {
		w.broken("page-before-work", "there is no pager: %v", err)
	}
	j := everypage.Job[raw]{
		Name: jobName, Pager: list, Action: action,
		Once: s.Once, Cutoff: s.Cutoff, Incremental: s.Incremental, Deadline: s.Deadline, AtMostOnce: s.AtMostOnce,
		AcceptUnstable: s.List.Style != pager.StyleCursor || s.List.Order == pager.OrderUnstable,
		DropVanished:   s.DropVanished, KeyRetention: s.KeyRetention,
		Options: everypage.Options{
			Concurrency: m.Concurrency, MaxAttempts: s.MaxAttempts, WaitUpTo: m.WaitUpTo, ReadAhead: m.ReadAhead,
			Force: m.Force, SupersedeLost: m.SupersedeLost, Random: w,
			Observer: everypage.Observer{Settled: w.settled},
		},
	}
	if s.Confirm {
		j.Confirm = func(_ context.Context, key string) (bool, error) { return w.confirm(l, key) }
	}
	switch s.Form {
	case oneByOne:
		j.Handle = func(ctx context.Context, item everypage.Item[raw]) error { return w.handle(ctx, l, item) }
	case batches:
		j.Options.BatchSize = m.BatchSize
		j.HandleBatch = func(ctx context.Context, items []everypage.Item[raw]) []error {
			outcomes := make([]error, len(items))
			told := false
			defer func() { w.batchEnds(items, told) }()
			for i, item := range items {
				outcomes[i] = w.handle(ctx, l, item)
			}
			told = true
			return outcomes
		}
	case loops:
		j.Options.Concurrency = 0
	}
	return j
}

// run runs the job in a life, and returns the job's newest receipt.
func (w *world) run(ctx context.Context, l *process) error {
	job := w.job(l)
	ledger := watched{Store: w.ledger.store, w: w, life: l}
	if w.shape.Form != loops {
		_, err := everypage.Run(ctx, ledger, job)
		return err
	}
	for item, err := range everypage.Each(ctx, ledger, job) {
		if err != nil {
			return err
		}
		switch err := w.handle(ctx, l, item.Item); {
		case errors.Is(err, errLeaveLoop):
			return errLeaveLoop
		case err != nil:
			item.Fail(err)
		default:
			item.Done()
		}
	}
	return nil
}

// status is where the newest run stands by what is durable. The caller holds the
// lock.
func (w *world) status() (state.Receipt, bool) {
	run, open := w.facts.acked.open(jobName)
	if !open {
		if n := len(w.facts.acked.order); n > 0 {
			return w.facts.acked.runs[w.facts.acked.order[n-1]].Receipt, true
		}
		return state.Receipt{}, false
	}
	return run.Receipt, true
}

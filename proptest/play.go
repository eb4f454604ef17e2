package proptest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// play is a case that is being played: the world that outlives the processes,
// and what was seen of them.
type play struct {
	*scenario
	options  *CaseOptions
	contract adapters.Contract
	clock    *caseClock
	random   zeroes
	net      *network

	mu sync.Mutex
	// fs is the disk of the process that lives.
	fs    *vfs.MemFS
	life  *life
	lives int
	// pinned is the run that the next process asks for by name; empty: none.
	pinned string

	next     int // the exchange of the script that comes next
	served   int // the number (n) of the last one that was served
	required int // served ones that are not optional
	before   int // what next was when the process before began
	idle     int // processes in a row that asked for nothing new
	beyond   int // requests that the script does not have
	redirect string

	calls     map[string]int
	keys      map[string]string
	effects   map[string]map[string]bool // by ID: the keys that had an effect
	recorded  map[string]bool            // IDs on a durable page record
	confirmed map[string]bool            // by run scope and ID
	pauses    []seenPause
	second    *seenSecond

	over     bool // nothing happens any more; what happened is compared
	trace    []string
	problems []problem
}

// seenPause is a pause as the receipt told it.
type seenPause struct {
	after   int
	receipt state.Receipt
}

// seenSecond is what a second process did.
type seenSecond struct {
	requests int
	calls    int
	results  []string // of each way in, refused or not
	refused  bool
}

// life is one process.
type life struct {
	number    int
	ctx       context.Context //nolint:containedctx // of one call of Run, which the script may end from anywhere
	end       context.CancelCauseFunc
	ledger    *pebblestore.Store
	dead      bool // it crashed: nothing that it still does counts
	cancelled bool
	failed    bool // its ledger failed
	crossed   int  // calls and requests that were turned away for that
	left      *vfs.MemFS
	requests  int
	calls     int
	// gate is closed once something is durable that the script waits for. Until
	// then no further item is called and no request is sent.
	gate     chan struct{}
	gateItem string
	unpaged  map[string]bool // IDs of the last page record that are not settled yet
	// unsettled are the items that had their effect and are not recorded yet; idle
	// is closed once there is none.
	unsettled map[string]bool
	idle      chan struct{}
}

// zeroes makes whatever is random as small as it can be, but for run IDs.
type zeroes struct{ r *rand.Rand }

// Read fills p.
func (z zeroes) Read(p []byte) (int, error) {
	if len(p) == 2 { // the jitter of a wait
		clear(p)
		return len(p), nil
	}
	for i := range p {
		p[i] = byte(z.r.Uint32() & 0xff)
	}
	return len(p), nil
}

// playCase plays a scenario and returns what is wrong, or why it cannot be played.
func playCase(ctx context.Context, s *scenario, options *CaseOptions) (*play, error) {
	contract, err := s.setup.describe(s.file)
	if err != nil {
		return nil, err
	}
	p := &play{
		scenario: s, options: options, contract: contract, clock: &caseClock{now: s.setup.now},
		random: zeroes{rand.New(rand.NewPCG(1, 2))}, //nolint:gosec // nothing here is a secret
		fs:     vfs.NewCrashableMem(),
		calls:  map[string]int{}, keys: map[string]string{}, effects: map[string]map[string]bool{},
		recorded: map[string]bool{}, confirmed: map[string]bool{},
	}
	if c := s.setup.cutoff; c != nil && !c.at.IsZero() {
		p.clock.set(c.at) // the cutoff is when the run starts
	}
	if p.net, err = newNetwork(ctx, originsOf(&s.setup), p, p.dialRefused); err != nil {
		return nil, err
	}
	defer p.net.close()
	if err := p.playLives(ctx); err != nil {
		return nil, &FieldError{File: s.file, Problem: err.Error()}
	}
	return p, nil
}

// note adds a line to the trace. The caller holds the lock.
func (p *play) note(format string, args ...any) {
	p.trace = append(p.trace, fmt.Sprintf("[%d] ", p.lives)+fmt.Sprintf(format, args...))
}

// open opens the ledger as it is on the disk.
func (p *play) open() (*pebblestore.Store, error) {
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: p.fs, Now: p.clock.Now})
	if err != nil {
		return nil, fmt.Errorf("the ledger does not open: %w", err)
	}
	return ledger, nil
}

// begin starts a process: a new memory on the old disk.
func (p *play) begin(ctx context.Context) (*life, error) {
	ledger, err := p.open()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lives++
	l := &life{number: p.lives, ledger: ledger, unsettled: map[string]bool{}}
	l.ctx, l.end = context.WithCancelCause(ctx)
	if d := p.setup.deadline; d > 0 {
		due := p.clock.Now().Add(d)
		l.ctx = deadlineContext{l.ctx, due}
		p.clock.deadline(due, func() { l.end(context.DeadlineExceeded) })
	}
	p.life = l
	p.note("a process begins at %s", stamp(p.clock.Now()))
	return l, nil
}

// job describes what a process does, from setup alone.
func (p *play) job(l *life, second bool) (everypage.Job[json.RawMessage], error) {
	s := &p.setup
	job := everypage.Job[json.RawMessage]{
		Name: "case", RunID: p.pinned, Action: "handle", AcceptUnstable: true, AtMostOnce: s.atMostOnce, DropVanished: s.dropVanished,
		Once: everypage.Once(s.once), List: pager.Description{PageSize: s.pageSize, Sort: s.order},
		Handle: func(ctx context.Context, item everypage.Item[json.RawMessage]) error { return p.handle(ctx, l, item) },
		Options: everypage.Options{
			Clock: p.clock, Random: p.random, MaxAttempts: s.maxAttempts, Concurrency: s.concurrency, ReadAhead: s.readAhead,
			// Backoff between calls must not move the case's clock.
			Backoff:  everypage.Backoff{Initial: 1, Max: 1},
			Observer: p.observer(l),
		},
	}
	if second {
		job.Options.Observer = everypage.Observer{}
		job.Handle = func(context.Context, everypage.Item[json.RawMessage]) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.second.calls++
			return nil
		}
	}
	if c := s.cutoff; c != nil {
		job.Cutoff = everypage.Cutoff(c.by)
	}
	var err error
	job.Pager, err = p.options.pager(p.endpoint(l, second))
	return job, err
}

// observer watches what a process makes durable.
func (p *play) observer(l *life) everypage.Observer {
	return everypage.Observer{
		Page:       func(_ state.Receipt, page store.Page) { p.pageRecorded(l, page) },
		Call:       func(_, item string, _ int) { p.beforeCall(l, item) },
		Settled:    func(r state.Receipt, item store.Item) { p.settled(l, r, item) },
		Conflict:   func(_ state.Receipt, c store.Conflict) { p.conflict(l, c) },
		Transition: func(_ state.Receipt, t state.Transition) { p.transition(l, t) },
	}
}

package everypage

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store"
)

// Job is what is done again and again: a list, and an action on each item.
type Job[T any] struct {
	// Name identifies the job in its ledger: 1 to 100 letters, digits, dots,
	// dashes and underscores, the first of them no dot.
	Name string
	// Pager walks the list.
	Pager pager.Pager[T]
	// Action names what is done to each item, such as "send-reminder". It is part
	// of every item's key.
	Action string
	// Handle does the action on one item. nil means that it succeeded; see
	// [Permanent], [PauseRun] and [NotDone] for what else it can say. It is called
	// from several goroutines where Concurrency is above 1.
	//
	// A job has either Handle or HandleBatch; one whose items a loop handles, by
	// [Each], has neither.
	Handle func(ctx context.Context, item Item[T]) error
	// HandleBatch does the action on several items of one page, or of the hold
	// queue, for an API that takes them in bulk. It returns one outcome for each
	// item, in order, of the same kind as those of Handle; nil means that all
	// succeeded. Where it panics or returns another number of outcomes, nobody knows
	// what became of which, and every item of the batch has failed.
	//
	// An item that fails is called again in a batch of those that are due then; what
	// succeeded beside it is done. After a process died in a batch, its items are
	// called one by one, so that the one that kills it is found.
	HandleBatch func(ctx context.Context, items []Item[T]) []error

	// List describes the list, where Pager does not do so itself
	// (pager.Describer). Fields that are set here take precedence.
	List pager.Description

	// RunID names the run. Asked for a run that is complete, Run returns its
	// receipt and calls nothing. Defaults to the job's open run, or a new one.
	RunID string
	// Once says for how long an item is done. Defaults to OnceARun.
	Once Once
	// Cutoff says whether items that are created after the start of a run belong
	// to the next one, and who looks. Defaults to NoCutoff.
	Cutoff Cutoff
	// Incremental makes a run start at the cutoff of the job's last complete run,
	// inclusive. It needs ServerCutoff. Defaults to the whole list each time.
	Incremental bool
	// Deadline is how long after its start a run should be complete. The run
	// during which it passes pauses once; later calls go on, and the receipt says
	// by how much they are late. Defaults to none.
	Deadline time.Duration
	// AtMostOnce makes an intent durable before each call, and holds an item whose
	// outcome is not known instead of calling it again. For handlers that cannot
	// honour keys. Defaults to false: called again with the same key.
	AtMostOnce bool
	// AcceptUnstable is the caller's word that a walk will do in which items can
	// be missed: one by offset or page number, or over an unstable order without a
	// cutoff. It stands in the receipt. Defaults to false: such a job is refused.
	AcceptUnstable bool
	// DropVanished drops items that were recorded and are gone when their page is
	// read again. Their number stands in the receipt. Defaults to false: they are
	// held for a person.
	DropVanished bool
	// KeyRetention is how long the handler's own API remembers keys. A call whose
	// outcome is not known for longer is held, not repeated. Defaults to for ever.
	KeyRetention time.Duration
	// Confirm asks the handler's own API whether the effect of a key happened. It
	// settles doubt without another call. Defaults to none.
	Confirm func(ctx context.Context, key string) (happened bool, err error)
	// Decode and Encode turn an item's stored bytes into a T and back. They are
	// needed where T does not survive JSON. Default to encoding/json.
	Decode func(raw []byte) (T, error)
	Encode func(value T) ([]byte, error)

	// Options say how the job is run; they may change from one call to the next.
	Options Options
}

// Options say how a job is run.
type Options struct {
	// Concurrency is the number of items of a page, or with HandleBatch of batches,
	// that are handled at a time. Defaults to 1.
	Concurrency int
	// BatchSize is the most items that HandleBatch gets at once. A batch never
	// waits for items of another page, so that it can be smaller. Defaults to 100.
	BatchSize int
	// MaxAttempts is how often an item is called before it is held. Defaults to 3.
	MaxAttempts int
	// Backoff is the wait between two calls for one item. Defaults to 500 ms,
	// growing to 30 s.
	Backoff Backoff
	// WaitUpTo is the longest pause that Run waits out in place. Longer ones, and
	// those without an instant, are returned. Defaults to 0: every pause is
	// returned.
	WaitUpTo time.Duration
	// ReadAhead fetches the next page while a page is handled. It has no effect
	// on walks by offset or page number and on lists that cannot be read twice.
	// Defaults to false.
	ReadAhead bool
	// Force goes on with a paused run before its instant. Defaults to false.
	Force bool
	// SupersedeLost is how many runs of one lineage may be superseded without a
	// person because their cursor was lost. Defaults to 0.
	SupersedeLost int
	// Clock is where the time comes from. Defaults to SystemClock.
	Clock Clock
	// Random is where run IDs and the jitter of backoff come from. Defaults to
	// crypto/rand.Reader.
	Random io.Reader
	// Logger hears of every transition, hold and conflict. Defaults to silence.
	Logger *slog.Logger
	// Observer sees every step. Defaults to none.
	Observer Observer
}

// Backoff is the wait between two calls for one item: Initial, then growing by
// half each time up to Max, each with up to half of it more or less.
type Backoff struct {
	Initial time.Duration
	Max     time.Duration
}

// Once says for how long an item is done.
type Once string

const (
	// OnceARun handles an item once in each run and its successors.
	OnceARun Once = "run"
	// OnceAJob handles an item once over all runs of the job.
	OnceAJob Once = "job"
)

// Cutoff says who keeps items that are created later out of a run.
type Cutoff string

const (
	// NoCutoff takes whatever the list shows.
	NoCutoff Cutoff = "none"
	// ClientCutoff compares each item's creation time with the start of the run.
	ClientCutoff Cutoff = "client"
	// ServerCutoff asks the API to filter, by pager.Windower, and looks again.
	ServerCutoff Cutoff = "server"
)

const (
	defaultMaxAttempts    = 3
	defaultBatchSize      = 100
	defaultBackoffInitial = 500 * time.Millisecond
	defaultBackoffMax     = 30 * time.Second
	maxNameLength         = 100
	maxItemIDLength       = 4096 // bytes; a longer ID is no ID
)

// batchSize is the number of items of one call, at most.
func (j Job[T]) batchSize() int {
	switch {
	case j.HandleBatch == nil:
		return 1
	case j.Options.BatchSize == 0:
		return defaultBatchSize
	}
	return j.Options.BatchSize
}

// withDefaults returns the job with every zero value replaced.
func (j Job[T]) withDefaults() Job[T] {
	o := &j.Options
	if o.Concurrency == 0 {
		o.Concurrency = 1
	}
	if o.MaxAttempts == 0 {
		o.MaxAttempts = defaultMaxAttempts
	}
	if o.Backoff.Initial == 0 {
		o.Backoff.Initial = defaultBackoffInitial
	}
	if o.Backoff.Max == 0 {
		o.Backoff.Max = max(defaultBackoffMax, o.Backoff.Initial)
	}
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if j.Once == "" {
		j.Once = OnceARun
	}
	if j.Cutoff == "" {
		j.Cutoff = NoCutoff
	}
	if j.Decode == nil {
		j.Decode = func(raw []byte) (value T, err error) {
			err = json.Unmarshal(raw, &value)
			return value, err
		}
	}
	if j.Encode == nil {
		j.Encode = func(value T) ([]byte, error) { return json.Marshal(value) }
	}
	return j
}

// Validate reports every problem of the job at once, as a [*JobError]. Run
// calls it before anything else; a run that was begun already is not held to what
// a newer contract says about the order of its list. [Each] takes a job without a
// handler, and says itself what is wrong with it.
func (j Job[T]) Validate() error {
	return j.invalid(append(j.problems(), j.orderProblems()...))
}

// invalid returns a [*JobError] if there are problems.
func (j Job[T]) invalid(problems []error) error {
	if len(problems) == 0 {
		return nil
	}
	return &JobError{Job: j.Name, Err: errors.Join(problems...)}
}

// problems returns what is wrong with the job's fields.
func (j Job[T]) problems() []error {
	var problems []error
	problem := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	problem(!validName(j.Name), "Name must be 1 to %d letters, digits, dots, dashes and underscores, and not begin with a dot", maxNameLength)
	problem(j.RunID != "" && !validName(j.RunID), "RunID %q must be 1 to %d letters, digits, dots, dashes and underscores, and not begin with a dot", j.RunID, maxNameLength)
	problem(j.Pager == nil, "Pager is missing: use adapters.List, or a pager of your own")
	problem(j.Action == "", "Action is missing: name what is done to each item, such as \"send-reminder\"")
	problem(j.Handle == nil && j.HandleBatch == nil, "Handle is missing: set Handle or HandleBatch, or range over Each")
	problem(j.Handle != nil && j.HandleBatch != nil, "Handle and HandleBatch are both set: choose one of them")
	problem(j.HandleBatch == nil && j.Options.BatchSize > 0, "Options.BatchSize is %d and HandleBatch is missing: only batches have a size", j.Options.BatchSize)
	problem(j.Options.BatchSize < 0, "Options.BatchSize is %d; it must be positive", j.Options.BatchSize)
	problem(j.Options.Concurrency < 0, "Options.Concurrency is %d; it must be positive", j.Options.Concurrency)
	problem(j.Options.MaxAttempts < 0, "Options.MaxAttempts is %d; it must be positive", j.Options.MaxAttempts)
	problem(j.Options.Backoff.Initial < 0 || j.Options.Backoff.Max < 0, "Options.Backoff must not be negative")
	problem(j.Options.WaitUpTo < 0, "Options.WaitUpTo must not be negative")
	problem(j.Options.SupersedeLost < 0, "Options.SupersedeLost must not be negative")
	problem(j.Deadline < 0, "Deadline must not be negative")
	problem(j.KeyRetention < 0, "KeyRetention must not be negative")
	problem(j.Once != "" && j.Once != OnceARun && j.Once != OnceAJob, "Once %q is neither OnceARun nor OnceAJob", j.Once)
	switch j.Cutoff {
	case "", NoCutoff, ClientCutoff:
		problem(j.Incremental, "Incremental needs ServerCutoff")
	case ServerCutoff:
		if _, ok := j.Pager.(pager.Windower[T]); j.Pager != nil {
			problem(!ok, "ServerCutoff needs a pager whose API filters by creation time (pager.Windower); use ClientCutoff")
		}
	default:
		problem(true, "Cutoff %q is neither NoCutoff, ClientCutoff nor ServerCutoff", j.Cutoff)
	}
	return problems
}

// orderProblems refuses a walk in which items can be missed, unless the caller
// accepts that.
func (j Job[T]) orderProblems() []error {
	d := j.description(j.Pager)
	byNumber := d.Style == pager.StyleOffset || d.Style == pager.StylePage
	switch {
	case j.AcceptUnstable:
	case byNumber:
		return []error{fmt.Errorf("the list is walked by %s, which can miss items when the list changes: use a contract that walks by cursor, or set AcceptUnstable", d.Style)}
	case d.Order == pager.OrderUnstable && (j.Cutoff == "" || j.Cutoff == NoCutoff):
		return []error{errors.New("the order of the list is unstable, so items can be missed: declare a stable order, set a Cutoff, or set AcceptUnstable")}
	}
	return nil
}

// validName reports whether a name can stand in a key, a file name and a URL.
func validName(name string) bool {
	if name == "" || len(name) > maxNameLength || name[0] == '.' {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// description returns what is known about the list that p walks, the job's own
// word first.
func (j Job[T]) description(p pager.Pager[T]) pager.Description {
	var d pager.Description
	if known, ok := p.(pager.Describer); ok {
		d = known.Describe()
	}
	own := j.List
	override(&d.Endpoint, own.Endpoint)
	override(&d.Filter, own.Filter)
	override(&d.Sort, own.Sort)
	override(&d.PageSize, own.PageSize)
	override(&d.Contract, own.Contract)
	override(&d.Style, own.Style)
	override(&d.Order, own.Order)
	override(&d.RepeatLimit, own.RepeatLimit)
	override(&d.NotReplayable, own.NotReplayable)
	if own.ContractDocument != nil {
		d.ContractDocument = own.ContractDocument
	}
	if d.Style == "" {
		d.Style = pager.StyleCursor
	}
	return d
}

func override[V comparable](known *V, own V) {
	var zero V
	if own != zero {
		*known = own
	}
}

// definition returns what cannot change inside a run of the job.
func (j Job[T]) definition() *store.Definition {
	d := j.description(j.Pager)
	return &store.Definition{
		Endpoint: d.Endpoint, Filter: d.Filter, Order: d.Sort, PageSize: d.PageSize,
		Action: j.Action, Contract: d.Contract,
		Cutoff: string(j.Cutoff), Once: string(j.Once), AtMostOnce: j.AtMostOnce,
		OrderClass: d.Order, Style: d.Style, UnstableAccepted: j.AcceptUnstable,
		ContractDocument: d.ContractDocument,
	}
}

package proptest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// sink is the other system, in which the handler's effects happen.
type sink struct {
	effects map[string]int       // by key: how often it happened
	bodies  map[string]string    // by key: what it happened with
	known   map[string]time.Time // by key: since when it is remembered
}

// fate is what becomes of one call.
type fate string

// The outcomes of calls.
const (
	succeeds    fate = "success"
	failsBefore fate = "error before the effect"
	failsAfter  fate = "error after the effect"
	answerLost  fate = "lost answer"
	limitsSink  fate = "rate limit"
	limitsLate  fate = "rate limit until an instant"
	notDone     fate = "certainly not done"
	permanent   fate = "permanent error"
	panics      fate = "panic"
	exits       fate = "runtime.Goexit"
	slow        fate = "slow success"
	leaves      fate = "the loop is left"
)

var (
	errSink      = errors.New("the sink failed")
	errLeaveLoop = errors.New("the loop over the items is left")
)

// calls is what is known of the calls for one item in one scope.
type calls struct {
	key     string
	unknown int // calls of which nobody said what became of them, or that they succeeded
	failed  int // calls that counted as failed, since a person asked for a retry
	begun   int
	refused bool // the sink knows the key with another body
	// pardoned says that a person took the doubt about it upon themselves.
	pardoned bool
}

// do has the effect of a key, unless the sink remembers it. The caller holds the
// lock.
func (w *world) do(key, body string) error {
	s, at := w.sink, now()
	if since, ok := s.known[key]; ok && w.shape.Honours && (w.shape.KeyRetention == 0 || at.Sub(since) <= w.shape.KeyRetention) {
		if s.bodies[key] != body {
			w.note("  the sink knows the key with another body: 422")
			w.count("sink: 422")
			return &everypage.PermanentError{Code: state.HoldKeyMismatch, Err: errors.New("422: the key was used with another body")}
		}
		w.note("  the sink remembers the key")
		w.count("sink: remembered")
		return nil
	}
	s.effects[key]++
	s.known[key], s.bodies[key] = at, body
	w.note("  EFFECT %d of %s", s.effects[key], key)
	return nil
}

// confirm says whether the effect of a key happened.
func (w *world) confirm(l *process, key string) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.dead {
		return false, errGone
	}
	happened := w.sink.effects[key] > 0
	w.note("confirm %s: %t", key, happened)
	w.count("sink: confirm")
	if name, known := w.facts.keys[key]; known && !happened {
		w.facts.calls[name].unknown = 0 // whoever asked knows now that it was not done
	}
	return happened, nil
}

// handle is the job's handler: a call of the sink.
func (w *world) handle(ctx context.Context, l *process, item everypage.Item[raw]) error {
	w.mu.Lock()
	if l.dead {
		w.mu.Unlock()
		return errGone
	}
	l.calls++
	l.running++
	o := l.outcomes[l.calls]
	if o == "" || w.api.quiet {
		o = succeeds
	}
	w.note("call %d: %s of page %d, attempt %d: %s", l.calls, item.ID, item.Page, item.Attempt, o)
	w.count("call: " + string(o))
	c := w.judgeCall(l, item)
	l.reach(atCall)
	err := w.before(o, l)
	dead := l.dead
	w.mu.Unlock()
	l.release()
	runtime.Gosched() // so that calls of several goroutines overlap
	if o == slow || o == limitsLate {
		w.pause(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { l.running-- }()
	if dead || l.dead {
		return errGone
	}
	if err == nil {
		err = w.effect(l, o, item)
	}
	if l.dead {
		return errGone
	}
	w.judgeOutcome(c, err)
	switch o { //nolint:exhaustive // the others return
	case panics:
		panic("the handler panics")
	case exits:
		runtime.Goexit()
	}
	return err
}

// batchEnds keeps that every item of a batch has failed whose outcomes were not told.
func (w *world) batchEnds(items []everypage.Item[raw], told bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, item := range items {
		name := itemName{w.facts.scopeOf(string(w.shape.Once), item.RunID), item.ID}
		if w.facts.calls[name] == nil {
			w.facts.calls[name] = &calls{key: item.Key}
		}
		if !told {
			w.facts.calls[name].failed++
		}
	}
}

// before is what goes wrong before an effect. The caller holds the lock.
func (w *world) before(o fate, l *process) error {
	switch o {
	case failsBefore, panics, exits:
		return errSink
	case limitsSink:
		l.may(state.CodeSinkLimited)
		return everypage.PauseRun(time.Time{}, errSink)
	case limitsLate:
		l.may(state.CodeSinkLimited)
		return everypage.PauseRun(now().Add(time.Hour), errSink)
	case notDone:
		return everypage.NotDone(errSink)
	case permanent:
		return everypage.Permanent(errSink)
	case leaves:
		l.may(state.CodeCancelled)
		return errLeaveLoop
	case succeeds, failsAfter, answerLost, slow:
	}
	return nil
}

// effect has the effect, and returns what the handler learns. The caller holds the
// lock.
func (w *world) effect(l *process, o fate, item everypage.Item[raw]) error {
	err := w.do(item.Key, string(item.Raw))
	l.reach(atEffect)
	switch {
	case err != nil:
		return err
	case o == failsAfter:
		return errSink
	case o == answerLost:
		return fmt.Errorf("the answer is lost: %w", &pager.Fault{Verdict: pager.Pause, Code: pager.CodeTransport, Err: errSink})
	}
	return nil
}

// pause is a call that takes some time.
func (w *world) pause(ctx context.Context) {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// settled looks, when a run says that an item is settled, whether that is durable.
func (w *world) settled(_ state.Receipt, item store.Item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.life != nil && w.life.dead {
		return
	}
	if is := w.facts.acked.item(item.Scope, item.ID); is.State != item.State {
		w.broken("confirmed-once", "%s is told as %s and the ledger has it as %s", item.ID, item.State, is.State)
	}
}

package proptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// errDead is what a process that is gone would have got, if it were there.
var errDead = errors.New("the process is gone")

// errDisk is what a failing store says.
var errDisk = errors.New("the case's store does not take this write")

// patience is how long the script waits, in real time, for something to become
// durable.
const patience = 10 * time.Second

// reach plays what the script has for a moment of a life. The caller holds the
// lock. It returns the events that the caller itself has to carry out.
func (p *play) reach(l *life, at point, item string) (own []*event) {
	for _, e := range p.events {
		if l.dead || !e.due(at, item, p.served) {
			continue
		}
		switch e.what {
		case crash:
			e.happened++
			p.note("CRASH %s", e)
			p.die(l)
		case cancel:
			e.happened++
			p.note("the caller leaves: %s", e)
			l.cancelled = true
			l.end(context.Canceled)
		case handlerFails, storeFails:
			own = append(own, e)
		case secondProcess: // what comes after it waits for it; see secondProcesses
			return append(own, e)
		case resume, earlyResume, retry, accept, newRun:
		}
	}
	return own
}

// die ends the process at this instant. The caller holds the lock, so that what
// the world has and what the disk has are of the same instant.
func (p *play) die(l *life) {
	l.dead = true
	l.left = p.fs.CrashClone(vfs.CrashCloneCfg{}) // nothing unsynced is kept
	l.end(errDead)
	l.pass()
	l.wake()
}

// isDead reports whether a process is gone.
func (p *play) isDead(l *life) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return l.dead
}

// expectDurable keeps a process from going on until an item is settled, if the
// script has something for that moment. The caller holds the lock.
func (p *play) expectDurable(l *life, item string) {
	for _, e := range p.events {
		due := e.due(afterRecord, item, p.served) || e.what == storeFails && e.due(afterEffect, item, p.served)
		if due && l.gate == nil {
			l.gate, l.gateItem = make(chan struct{}), item
		}
	}
}

// crosses reports whether a call or a request may have begun before the engine knew
// of a write that failed: the script lets the failure come first. The caller holds
// the lock.
func (p *play) crosses(l *life) bool {
	if !l.failed || l.crossed > max(1, p.setup.concurrency) {
		return false
	}
	l.crossed++
	return true
}

// pass opens the gate. The caller holds the lock.
func (l *life) pass() {
	if l.gate != nil {
		close(l.gate)
		l.gate = nil
	}
}

// wake ends the wait for what was finished. The caller holds the lock.
func (l *life) wake() {
	if l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
}

// beforeCall waits before a call until what the script needs is durable: the item
// that the next event is about, and, where the event is about this call, whatever
// was finished before. What a crash exposes is then what the case says, and not
// what happened to share a sync.
func (p *play) beforeCall(l *life, item string) {
	p.wait(l)
	p.mu.Lock()
	due := false
	for _, e := range p.events {
		due = due || e.due(duringHandler, item, p.served) || e.due(afterEffect, item, p.served)
	}
	idle := l.busy(due)
	p.mu.Unlock()
	if idle != nil {
		p.durable(idle, "whatever was finished before "+item)
	}
}

// beforeRequest waits before a request in the same way, where an event is about
// one.
func (p *play) beforeRequest() {
	p.mu.Lock()
	due := slices.ContainsFunc(p.events, func(e *event) bool {
		return (e.point == duringRequest || e.point == afterFetch) && e.happened == 0
	})
	idle := p.life.busy(due)
	p.mu.Unlock()
	if idle != nil {
		p.durable(idle, "whatever was finished before the request")
	}
}

// busy returns what is closed once all that was finished is durable; nil if it is,
// or if nobody has to wait. The caller holds the lock.
func (l *life) busy(due bool) <-chan struct{} {
	if !due || len(l.unsettled) == 0 || l.dead {
		return nil
	}
	if l.idle == nil {
		l.idle = make(chan struct{})
	}
	return l.idle
}

// wait waits at the gate.
func (p *play) wait(l *life) {
	p.mu.Lock()
	gate, item := l.gate, l.gateItem
	p.mu.Unlock()
	if gate != nil {
		p.durable(gate, item)
	}
}

func (p *play) durable(done <-chan struct{}, what string) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		p.wrong("page-settled-before-next", "the outcome of "+what+" becomes durable", "it did not")
	}
}

func (p *play) pageRecorded(l *life, page store.Page) {
	p.secondProcesses(l.ctx, l, p.afterPage(l, page))
}

func (p *play) afterPage(l *life, page store.Page) []*event {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.dead {
		return nil
	}
	next := page.Next.String()
	p.note("page %d is recorded, revision %d: IDs [%s], next %s, end %s (%s)", page.Index, page.Revision,
		strings.Join(page.IDs, " "), short(next), page.End, short(page.Evidence))
	l.unpaged = map[string]bool{}
	for _, id := range page.IDs {
		p.recorded[id] = true
		l.unpaged[id] = true
	}
	own := p.reach(l, afterPageRecord, "")
	return append(own, p.pageDone(l)...)
}

// pageDone looks whether every item of the page is settled. The caller holds the
// lock.
func (p *play) pageDone(l *life) []*event {
	if l.unpaged == nil || len(l.unpaged) > 0 {
		return nil
	}
	l.unpaged = nil
	return p.reach(l, pageSettled, "")
}

// waitForPage keeps a request back until the page before it is settled, if the
// script has something for that moment.
func (p *play) waitForPage(l *life) {
	p.wait(l)
	p.mu.Lock()
	due := false
	for _, e := range p.events {
		due = due || e.due(pageSettled, "", p.served)
	}
	if !due || len(l.unpaged) == 0 || l.dead {
		p.mu.Unlock()
		return
	}
	l.gate, l.gateItem = make(chan struct{}), "every item of the page"
	p.mu.Unlock()
	p.wait(l)
}

func (p *play) settled(l *life, r state.Receipt, item store.Item) {
	p.secondProcesses(l.ctx, l, p.afterItem(l, r, item))
}

func (p *play) afterItem(l *life, r state.Receipt, item store.Item) []*event {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.dead {
		return nil
	}
	why := ""
	if item.Code != "" {
		why = fmt.Sprintf(" (%s)", item.Code)
	}
	p.note("%s is recorded as %s%s", item.ID, item.State, why)
	if item.State == store.StateDone && item.SettledBy == r.RunID {
		p.confirmed[item.Scope+" "+item.ID] = true
		if len(p.effects[item.ID]) == 0 {
			p.addWrong("confirmed-once", item.ID+" is recorded as done after its effect", "it was recorded as done, and had no effect")
		}
	}
	delete(l.unpaged, item.ID)
	if delete(l.unsettled, item.ID); len(l.unsettled) == 0 {
		l.wake()
	}
	own := p.reach(l, afterRecord, item.ID)
	if l.gateItem == item.ID {
		l.pass()
	}
	if l.unpaged != nil && len(l.unpaged) == 0 {
		own = append(own, p.pageDone(l)...)
		l.pass()
	}
	return own
}

func (p *play) conflict(l *life, c store.Conflict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !l.dead {
		p.note("conflict: %s of page %d is on page %d too", c.ID, c.FirstPage, c.Page)
	}
}

func (p *play) transition(l *life, t state.Transition) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.dead {
		return
	}
	p.note("%s: %s → %s %s %s", t.Event, t.From, t.To, t.Reason.Code, short(t.Reason.Detail))
}

// scriptedLedger is a ledger that can fail, or be the last that a process sees.
type scriptedLedger struct {
	store.Store
	play *play
	life *life
}

// Commit passes a change on, unless the script is against it.
func (s scriptedLedger) Commit(ctx context.Context, change store.Change) error {
	own, err := s.before(change)
	s.play.secondProcesses(ctx, s.life, own)
	switch {
	case err != nil:
		return err
	case s.play.isDead(s.life):
		return errDead
	}
	return s.Store.Commit(ctx, change)
}

func (s scriptedLedger) before(change store.Change) ([]*event, error) {
	p, l := s.play, s.life
	p.mu.Lock()
	defer p.mu.Unlock()
	var own []*event
	if change.Page != nil {
		own = append(own, p.reach(l, afterFetch, "")...)
	}
	for _, item := range change.Items {
		if item.State != store.StatePending {
			own = append(own, p.writes(item.ID)...)
		}
	}
	if l.dead {
		return nil, errDead
	}
	for _, e := range own {
		if e.what == storeFails {
			e.happened++
			p.note("the store refuses a write: %s", e)
			l.failed = true
			l.pass()
			l.wake()
			return own, errDisk
		}
	}
	return own, nil
}

// writes returns the events for the moment at which an item's outcome is written.
// The caller holds the lock.
func (p *play) writes(item string) (own []*event) {
	for _, e := range p.events {
		if e.what == storeFails && e.due(afterEffect, item, p.served) {
			own = append(own, e)
		}
	}
	return own
}

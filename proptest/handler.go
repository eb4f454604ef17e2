package proptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// errHandler is what a failing handler says.
var errHandler = errors.New("the case's handler fails")

// handle is the handler: a sink that knows keys, so that a key has one effect,
// however often it is called.
func (p *play) handle(ctx context.Context, l *life, item everypage.Item[json.RawMessage]) error {
	own, err := p.called(ctx, l, item)
	if err != nil {
		return err
	}
	for _, e := range p.secondProcesses(ctx, l, own) {
		if e.what == handlerFails {
			return p.failing(e)
		}
	}
	p.mu.Lock()
	cancelled := l.cancelled && ctx.Err() != nil
	p.mu.Unlock()
	if cancelled { // during the call, before its effect
		return context.Cause(ctx)
	}
	own, err = p.takesEffect(l, item)
	if err != nil {
		return err
	}
	for _, e := range p.secondProcesses(ctx, l, own) {
		if e.what == handlerFails {
			return p.failing(e)
		}
	}
	return nil
}

// called is a call up to the moment before its effect.
func (p *play) called(ctx context.Context, l *life, item everypage.Item[json.RawMessage]) ([]*event, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case l.dead:
		return nil, errDead
	case l.cancelled && ctx.Err() != nil: // the script kept this call back until its caller had left
		return nil, context.Cause(ctx)
	case p.crosses(l):
		return nil, errDisk
	}
	l.calls++
	p.calls[item.ID]++
	p.note("call for %s, attempt %d, key …%s", item.ID, item.Attempt, tail(item.Key))
	scope := item.RunID
	if p.setup.once == "job" {
		scope = "" // one for all runs
	}
	if key, known := p.keys[scope+" "+item.ID]; known && key != item.Key {
		p.addWrong("same-key", item.ID+" is always called with the key "+key, "it was called with "+item.Key)
	}
	p.keys[scope+" "+item.ID] = item.Key
	if !p.recorded[item.ID] {
		p.addWrong("page-before-work", item.ID+" is on a durable page record before it is handled", "it was handled before")
	}
	if p.confirmed[p.keyScope(item.RunID)+" "+item.ID] {
		p.addWrong("confirmed-once", item.ID+" was confirmed, so it is never called again", "it was called again")
	}
	own := p.reach(l, duringHandler, item.ID)
	if l.dead {
		return nil, errDead
	}
	return own, nil
}

// keyScope returns the scope that an item's success was confirmed in, where it is
// known from a run alone.
func (p *play) keyScope(runID string) string {
	if p.setup.once == "job" {
		return "job:case"
	}
	return runID
}

// takesEffect is the effect and the moment after it.
func (p *play) takesEffect(l *life, item everypage.Item[json.RawMessage]) ([]*event, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.dead {
		return nil, errDead
	}
	keys := p.effects[item.ID]
	if keys == nil {
		keys = map[string]bool{}
		p.effects[item.ID] = keys
	}
	if keys[item.Key] {
		p.note("%s: the key is known, no second effect", item.ID)
	} else {
		p.note("effect on %s", item.ID)
	}
	keys[item.Key] = true
	own := p.reach(l, afterEffect, item.ID)
	if l.dead {
		return nil, errDead
	}
	if !slices.ContainsFunc(own, func(e *event) bool { return e.what == handlerFails }) {
		l.unsettled[item.ID] = true
		p.expectDurable(l, item.ID)
	}
	return own, nil
}

// failing is how a handler fails.
func (p *play) failing(e *event) error {
	p.mu.Lock()
	e.happened++
	p.note("the call fails: %s, %s", e, e.how)
	p.mu.Unlock()
	switch e.how {
	case "panic":
		panic(errHandler)
	case "pause":
		return everypage.PauseRun(e.until, errHandler)
	case "permanent":
		return everypage.Permanent(errHandler)
	case "not_done":
		return everypage.NotDone(errHandler)
	}
	return errHandler
}

// secondProcesses starts those that the script has for a moment, and returns
// whatever else it has for that moment.
func (p *play) secondProcesses(ctx context.Context, l *life, own []*event) []*event {
	n := len(own)
	if n == 0 || own[n-1].what != secondProcess {
		return own
	}
	e := own[n-1]
	p.secondProcess(ctx, l, e)
	p.mu.Lock()
	more := p.reach(l, e.point, e.item)
	p.mu.Unlock()
	return append(own[:n-1], p.secondProcesses(ctx, l, more)...)
}

// secondProcess starts a second runner, in both ways in: one that shares the open
// ledger, and one that opens the same folder.
func (p *play) secondProcess(ctx context.Context, l *life, e *event) {
	p.mu.Lock()
	e.happened++
	p.note("a second process starts: %s", e)
	if p.second == nil {
		p.second = &seenSecond{refused: true}
	}
	p.mu.Unlock()
	receipt, err := p.runSecond(ctx, l, l.ledger)
	p.secondReturned("with the same ledger", errors.Is(err, store.ErrHeld), returned(receipt, err))
	other, err := pebblestore.Open("ledger", &pebblestore.Options{FS: p.fs, Now: p.clock.Now})
	if err != nil {
		p.secondReturned("from another process", errors.Is(err, store.ErrLocked), err.Error())
		return
	}
	receipt, err = p.runSecond(ctx, l, other)
	p.secondReturned("from another process", false, returned(receipt, err))
	_ = other.Close() // it should not have been open
}

func (p *play) runSecond(ctx context.Context, l *life, ledger store.Store) (receipt *state.Receipt, err error) {
	job, err := p.job(l, true)
	if err != nil {
		return nil, err
	}
	return p.options.run(context.WithoutCancel(ctx), ledger, job)
}

func (p *play) secondReturned(how string, refused bool, result string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.second.refused = p.second.refused && refused
	p.second.results = append(p.second.results, how+": "+result)
	p.note("the second process, %s: %s", how, result)
}

// tail returns the end of a key, by which a person can tell keys apart.
func tail(key string) string {
	const most = 16
	if len(key) <= most {
		return key
	}
	return fmt.Sprint(key[len(key)-most:])
}

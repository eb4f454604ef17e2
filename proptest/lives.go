package proptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// mostLives ends a case that does not come to its end.
const mostLives = 100

// mostIdle is how many processes in a row may bring nothing new.
const mostIdle = 5

// nearly is how far an instant may be off: the waits between two calls of a
// handler are some nanoseconds here.
const nearly = time.Millisecond

// deadlineContext has a deadline by the case's clock. Whoever sets the clock ends
// it.
type deadlineContext struct {
	context.Context //nolint:containedctx // it is a context

	due time.Time
}

// Deadline returns the instant at which the call should have returned.
func (d deadlineContext) Deadline() (time.Time, bool) { return d.due, true }

// playLives lets one process after the other run the job until the script is over.
func (p *play) playLives(ctx context.Context) error {
	for {
		receipt, err := p.live(ctx)
		if err != nil {
			return err
		}
		again, err := p.between(ctx, receipt)
		if err != nil || !again {
			return err
		}
		if p.lives >= mostLives {
			p.wrong("pause-or-review", "the script's end", fmt.Sprintf("after %d processes the run has not come to it", p.lives))
			return nil
		}
	}
}

// live is one process, from its start to whatever ends it. It returns the newest
// receipt in the ledger.
func (p *play) live(ctx context.Context) (*state.Receipt, error) {
	l, err := p.begin(ctx)
	if err != nil {
		return nil, err
	}
	receipt, failed, err := p.runIn(l)
	if err != nil {
		return nil, errors.Join(err, l.ledger.Close())
	}
	p.judgeReturn(l, receipt, failed)
	closed := l.ledger.Close()
	l.end(nil)
	p.mu.Lock()
	if l.dead {
		p.fs = l.left
	} else if closed != nil {
		p.note("the ledger does not close: %v", closed)
	}
	p.mu.Unlock()
	newest, err := p.newest(ctx)
	if err != nil || newest == nil {
		return nil, err
	}
	if newest.Status == state.Paused && !l.dead && l.number == p.lives {
		p.pauses = append(p.pauses, seenPause{p.served, *newest})
	}
	return newest, nil
}

// runIn calls the engine in a process.
func (p *play) runIn(l *life) (receipt *state.Receipt, failed, err error) {
	job, err := p.job(l, false)
	if err != nil {
		return nil, nil, fmt.Errorf("the case's setup gives no list: %w", err)
	}
	receipt, failed = p.options.run(l.ctx, scriptedLedger{l.ledger, p, l}, job)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !l.dead {
		p.note("Run returns: %s", returned(receipt, failed))
	}
	return receipt, failed, nil
}

func returned(receipt *state.Receipt, err error) string {
	text := "no receipt"
	if receipt != nil {
		text = fmt.Sprintf("%s, %d done, %d pending, %d conflicts, terminal_observed %t",
			receipt.Status, receipt.ProcessedUnique, receipt.PendingCount, receipt.DuplicateConflicts, receipt.TerminalObserved)
		if !receipt.ResumeAt.IsZero() {
			text += ", resume_at " + stamp(receipt.ResumeAt)
		}
	}
	if err != nil {
		text += "; " + err.Error()
	}
	return text
}

// newest reads the newest run's receipt from the disk; nil if there is none.
func (p *play) newest(ctx context.Context) (*state.Receipt, error) {
	ledger, err := p.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = ledger.Close() }()
	for run, err := range ledger.Runs(ctx, store.RunFilter{}) {
		if err != nil {
			return nil, err
		}
		p.recount(ctx, ledger, run)
		return &run.Receipt, nil
	}
	return nil, nil //nolint:nilnil // a process may die before it records anything
}

// between does what the script says between two lives, and reports whether there
// is another one.
func (p *play) between(ctx context.Context, receipt *state.Receipt) (again bool, err error) {
	l := p.life
	if p.beyond > 0 {
		return false, nil // whatever comes now is not of the script
	}
	due := p.nextRequired()
	var e *event
	if e = p.betweenEvent(due); e != nil {
		e.happened++
		return p.follow(ctx, e, receipt, due)
	}
	if p.next == p.before {
		p.idle++
	} else {
		p.before, p.idle = p.next, 0
	}
	var at time.Time
	switch {
	case due != nil:
		at = due.at
	case !p.goesOn():
		return false, nil
	}
	switch {
	case p.idle > mostIdle:
		return false, nil
	case l.dead, receipt == nil, receipt.Status == state.Running:
		p.moveTo(at)
		return true, nil
	case receipt.Status == state.Paused:
		return p.resumeAt(receipt, at), nil
	}
	return false, nil
}

// goesOn reports whether a run that was interrupted goes on although the script has
// no exchange left that must happen: the case expects it neither paused nor running.
func (p *play) goesOn() bool {
	for _, status := range []state.Status{state.Paused, state.Running} {
		if e := &p.wanted; e.status == string(status) || slices.Contains(e.acceptAlso, string(status)) {
			return false
		}
	}
	return true
}

// nextRequired returns the next exchange of the script that must happen, nil if
// there is none.
func (p *play) nextRequired() *exchange {
	for i := p.next; i < len(p.pages); i++ {
		if !p.pages[i].optional {
			return &p.pages[i]
		}
	}
	return nil
}

// betweenEvent returns the next event that happens between two lives, if now is
// its time.
func (p *play) betweenEvent(due *exchange) *event {
	for _, e := range p.events {
		if !e.betweenLives() || e.happened > 0 {
			continue
		}
		if due != nil && e.before > due.n {
			return nil
		}
		return e
	}
	return nil
}

func (p *play) moveTo(at time.Time) {
	if !at.IsZero() {
		p.clock.set(at)
	}
}

// resumeAt moves the clock to where a paused run goes on: the script's instant,
// else the receipt's. It reports whether the run may go on then.
func (p *play) resumeAt(receipt *state.Receipt, at time.Time) bool {
	p.moveTo(at)
	until := receipt.ResumeAt
	late := until.Sub(p.clock.Now())
	switch {
	case late <= 0:
	case late < nearly, at.IsZero():
		p.clock.set(until)
	default:
		p.wrong("pause-or-review", "a run that may go on at "+stamp(at), "resume_at is "+stamp(until))
		return false
	}
	return true
}

// follow carries out an event between two lives.
func (p *play) follow(ctx context.Context, e *event, receipt *state.Receipt, due *exchange) (again bool, err error) {
	at := e.at
	if at.IsZero() && due != nil {
		at = due.at
	}
	p.mu.Lock()
	p.note("the script: %s", e)
	p.mu.Unlock()
	switch e.what {
	case earlyResume:
		return p.early(ctx, e, receipt)
	case resume:
		if receipt != nil && receipt.Status == state.Paused {
			return p.resumeAt(receipt, at), nil
		}
		if receipt != nil && receipt.Status == state.Complete {
			p.pinned = receipt.RunID // which stays as it is; without its name, a new run would begin
		}
		p.moveTo(at)
		return true, nil
	case retry, accept, newRun:
		p.pinned = ""
		p.moveTo(at)
		return true, p.decide(ctx, e, receipt)
	case crash, cancel, handlerFails, storeFails, secondProcess:
	}
	return false, fmt.Errorf("event %s is not one between two lives", e)
}

// early asks for a paused run before its instant: nothing may happen.
func (p *play) early(ctx context.Context, e *event, before *state.Receipt) (again bool, err error) {
	if before == nil || before.Status != state.Paused {
		p.wrong("pause-or-review", "a paused run, which an early resume leaves alone", "the run is "+statusOf(before))
		return false, nil
	}
	p.clock.set(e.at)
	pauses := len(p.pauses)
	after, err := p.live(ctx)
	if err != nil {
		return false, err
	}
	p.pauses = p.pauses[:pauses]
	if l := p.life; l.requests > 0 || l.calls > 0 || statusOf(after) != string(state.Paused) {
		p.wrong("pause-or-review", "an early resume at "+stamp(e.at)+" makes no request and the run stays paused",
			fmt.Sprintf("%d requests, %d calls, and the run is %s", l.requests, l.calls, statusOf(after)))
	}
	return p.between(ctx, after)
}

// decide does what a person would.
func (p *play) decide(ctx context.Context, e *event, receipt *state.Receipt) error {
	if receipt == nil {
		return fmt.Errorf("event %s: there is no run", e)
	}
	if e.what == newRun && receipt.Status == state.Complete {
		return nil // the next Run is a new one
	}
	ledger, err := p.open()
	if err != nil {
		return err
	}
	d := everypage.Decision{By: "the script", Note: "as the case says", Items: e.items, Clock: p.clock, Random: p.random}
	switch e.what {
	case retry:
		_, err = everypage.Retry(ctx, ledger, receipt.RunID, d)
	case accept:
		_, err = everypage.Accept(ctx, ledger, receipt.RunID, d)
	case newRun:
		_, err = everypage.Supersede(ctx, ledger, receipt.RunID, d)
	case crash, cancel, handlerFails, storeFails, secondProcess, resume, earlyResume:
	}
	if err != nil {
		p.wrong("a person's decision is carried out", e.String(), err.Error())
	}
	return ledger.Close()
}

func statusOf(r *state.Receipt) string {
	if r == nil {
		return "not begun"
	}
	return string(r.Status)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

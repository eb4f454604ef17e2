package proptest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/internal/tier"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// TestMachineMemory lets random things happen to a job whose ledger is in memory.
func TestMachineMemory(t *testing.T) { machines(t, tier.Checks(3, 20, 100), false) }

// TestMachinePebble does so on the real ledger, whose file system crashes.
func TestMachinePebble(t *testing.T) { machines(t, tier.Checks(2, 10, 50), true) }

// machines checks a hundred worlds in each round.
func machines(t *testing.T, rounds int, pebble bool) {
	t.Helper()
	for range rounds {
		t.Run("round", func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				rapid.SyncTest(t, func(t *rapid.T) { play1(t, pebble) })
			})
		})
	}
}

func play1(t *rapid.T, pebble bool) {
	m := &machine{w: newWorld(drawShape(t, pebble), rapid.Uint64().Draw(t, "seed"))}
	if err := m.w.open(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.w.ledger.store.Close() }()
	for range rapid.IntRange(0, 6).Draw(t, "items") {
		m.insert(t)
	}
	t.Repeat(map[string]func(*rapid.T){
		"":        m.check,
		"run":     m.run,
		"run on":  m.run,
		"insert":  m.insert,
		"delete":  m.delete,
		"replace": m.replace,
		"move":    m.move,
		"copy":    m.duplicate,
		"wait":    m.wait,
		"decide":  m.decide,
	})
	m.peace(t)
}

// machine is a world to which things happen.
type machine struct{ w *world }

func newWorld(s shape, seed uint64) *world {
	return &world{
		shape: s, list: simapi.NewList(), facts: newFacts(), random: rand.New(rand.NewPCG(seed, 2)), counts: map[string]int{},
		api:    &api{issued: map[string]spot{}, used: map[string]bool{}},
		sink:   &sink{effects: map[string]int{}, bodies: map[string]string{}, known: map[string]time.Time{}},
		ledger: ledger{seed: seed},
	}
}

func drawShape(t *rapid.T, pebble bool) shape {
	s := shape{
		Pebble: pebble, Honours: rapid.Bool().Draw(t, "the sink honours keys"), AtMostOnce: rapid.Bool().Draw(t, "at most once"),
		Form: oneByOne, MaxAttempts: rapid.IntRange(1, 3).Draw(t, "attempts"),
		List: listShape{
			Style: pager.StyleCursor, Order: pager.OrderStable,
			Size: rapid.IntRange(1, 4).Draw(t, "page size"), Most: rapid.IntRange(1, 4).Draw(t, "most"),
			Trailing: rapid.Bool().Draw(t, "an empty last page"),
		},
	}
	return s
}

func (m *machine) fail(t *rapid.T, err any) {
	t.Fatalf("%v\n%s\n", err, m.w.story())
}

// check is the invariant.
func (m *machine) check(t *rapid.T) {
	w := m.w
	w.mu.Lock()
	wrong := w.wrong
	w.mu.Unlock()
	if wrong != "" {
		m.fail(t, wrong)
	}
	ctx := context.Background()
	for _, id := range w.facts.acked.order {
		run, err := w.ledger.store.Run(ctx, id)
		if err != nil {
			m.fail(t, err)
		}
		if final, complete := w.facts.final[id]; complete && final != receiptText(&run.Receipt) {
			m.fail(t, fmt.Sprintf("complete-is-final: run %s changed from\n%s\nto\n%s", id, final, receiptText(&run.Receipt)))
		}
	}
	if n := len(w.facts.acked.order); n > 0 {
		id := w.facts.acked.order[n-1]
		run := w.facts.acked.runs[id]
		counted, err := everypage.Recount(ctx, w.ledger.store, id)
		if err != nil {
			m.fail(t, err)
		}
		if receiptText(counted) != receiptText(&run.Receipt) {
			m.fail(t, fmt.Sprintf("nothing-lost: the receipt\n%s\ndiffers from a recount\n%s", receiptText(&run.Receipt), receiptText(counted)))
		}
	}
}

func (m *machine) pick(t *rapid.T) (simapi.Item, bool) {
	items := m.w.list.Items()
	if len(items) == 0 {
		return simapi.Item{}, false
	}
	return rapid.SampledFrom(items).Draw(t, "item"), true
}

func (m *machine) insert(t *rapid.T) {
	m.change(m.drawInsert(t))
}

func (m *machine) drawInsert(t *rapid.T) (string, func()) {
	at := rapid.IntRange(0, 8).Draw(t, "at")
	return fmt.Sprintf("insert at %d", at), func() {
		w := m.w
		w.ids++
		w.list.Insert(at, simapi.Item{ID: fmt.Sprintf("i%d", w.ids), CreatedAt: time.Now(), Subject: "as made"})
	}
}

func (m *machine) change(what string, do func()) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.w.note("%s", what)
	m.w.count("list: " + what)
	do()
}

func (m *machine) delete(t *rapid.T) {
	if item, ok := m.pick(t); ok {
		m.change("delete "+item.ID, func() { m.w.list.Delete(item.ID) })
	}
}

func (m *machine) replace(t *rapid.T) {
	if item, ok := m.pick(t); ok {
		item.Subject += "!"
		m.change("update "+item.ID, func() { m.w.list.Replace(item) })
	}
}

func (m *machine) move(t *rapid.T) {
	if item, ok := m.pick(t); ok {
		at := rapid.IntRange(0, 8).Draw(t, "at")
		m.change(fmt.Sprintf("move %s to %d", item.ID, at), func() { m.w.list.Move(item.ID, at) })
	}
}

func (m *machine) duplicate(t *rapid.T) {
	if item, ok := m.pick(t); ok {
		at := rapid.IntRange(0, 8).Draw(t, "at")
		m.change(fmt.Sprintf("copy %s to %d", item.ID, at), func() { m.w.list.Duplicate(item.ID, at) })
	}
}

func (m *machine) wait(t *rapid.T) {
	d := time.Duration(rapid.SampledFrom([]int{1, 60, 3600, 90000}).Draw(t, "seconds")) * time.Second
	m.change(fmt.Sprintf("%s pass", d), func() {})
	if !m.w.shape.Pebble {
		time.Sleep(d)
		return
	}
	// Pebble looks ten times a second for something to compact, of fake seconds too.
	if err := m.w.ledger.store.Close(); err != nil {
		m.fail(t, err)
	}
	time.Sleep(d)
	if err := m.w.open(); err != nil {
		m.fail(t, err)
	}
}

// run is one process.
func (m *machine) run(t *rapid.T) {
	w := m.w
	l := newProcess(w, manner{
		Concurrency: rapid.IntRange(1, 3).Draw(t, "concurrency"), ReadAhead: rapid.Bool().Draw(t, "read ahead"),
		Force: rapid.Bool().Draw(t, "force"), BatchSize: rapid.IntRange(1, 3).Draw(t, "batch"),
	})
	for range rapid.IntRange(0, 2).Draw(t, "incidents") {
		l.incidents = append(l.incidents, m.drawIncident(t, l))
	}
	for range rapid.IntRange(0, 3).Draw(t, "outcomes") {
		l.outcomes[rapid.IntRange(1, 6).Draw(t, "call")] = rapid.SampledFrom([]fate{failsBefore, failsAfter, answerLost, limitsSink, limitsLate, notDone, permanent, panics, exits, slow}).Draw(t, "outcome")
	}
	if err := w.live(l, 0); err != nil {
		m.fail(t, err)
	}
}

func (m *machine) drawIncident(t *rapid.T, l *process) incident {
	points := []moment{atRequest, atAnswer, beforeCommit, afterCommit, atCall, atEffect}
	if m.w.shape.Pebble {
		points = append(points, atSync)
	}
	i := incident{at: rapid.SampledFrom(points).Draw(t, "when"), n: rapid.IntRange(1, 10).Draw(t, "which")}
	i.what = rapid.SampledFrom([]string{"it dies, unsynced data lost", "it dies, unsynced data kept", "its caller leaves"}).Draw(t, "what")
	switch i.what {
	case "it dies, unsynced data lost":
		i.do = func() { l.die(0) }
	case "it dies, unsynced data kept":
		i.do = func() { l.die(100) }
	default:
		i.do = l.leave
	}
	return i
}

// decide is what a person does about a run that needs review.
func (m *machine) decide(t *rapid.T) {
	w := m.w
	receipt, any := w.status()
	if !any || receipt.Status != state.NeedsReview {
		return
	}
	acts := []string{"retry", "accept", "supersede", "write off"}
	m.act(t, receipt, rapid.SampledFrom(acts).Draw(t, "act"))
}

// act carries a decision out, and returns its error.
func (m *machine) act(t *rapid.T, receipt state.Receipt, act string) error {
	w := m.w
	l := newProcess(w, manner{})
	ledger := watched{Store: w.ledger.store, w: w, life: l}
	d := everypage.Decision{By: "Ada", Note: "as drawn", Random: w}
	run := w.facts.acked.runs[receipt.RunID]
	held := w.facts.acked.held(run.Scope)
	w.mu.Lock()
	w.note("a person decides: %s", act)
	w.count("decision: " + act)
	w.mu.Unlock()
	ctx := context.Background()
	var err error
	switch act {
	case "retry":
		_, err = everypage.Retry(ctx, ledger, receipt.RunID, d)
	case "accept":
		_, err = everypage.Accept(ctx, ledger, receipt.RunID, d)
	case "supersede":
		_, err = everypage.Supersede(ctx, ledger, receipt.RunID, d)
	case "write off":
		for _, item := range held {
			d.Items = append(d.Items, item.ID)
		}
		_, err = everypage.Accept(ctx, ledger, receipt.RunID, d)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("  it says: %v", err)
	for name, item := range w.facts.acked.items {
		if item.Released {
			w.facts.calls[name].retried(slices.Contains(d.Items, name.id))
		}
	}
	return err
}

// retried says that a person wants an item called again.
func (c *calls) retried(named bool) {
	if c == nil {
		return
	}
	c.unknown = 0
	c.pardoned = c.pardoned || named
}

// peace lets nothing happen any more: the run must come to its end.
func (m *machine) peace(t *rapid.T) {
	w := m.w
	w.mu.Lock()
	w.note("from here on nothing happens")
	w.api.quiet = true
	w.mu.Unlock()
	for range 12 {
		l := newProcess(w, manner{Concurrency: 2, Force: true})
		if err := w.live(l, 0); err != nil {
			m.fail(t, err)
		}
		m.check(t)
		receipt, _ := w.status()
		switch receipt.Status {
		case state.Complete:
			return
		case state.NeedsReview:
			m.resolve(t, receipt)
			m.check(t)
		case state.Running, state.Paused:
		}
		if receipt, _ = w.status(); receipt.Status == state.Complete {
			return
		}
	}
	m.fail(t, "pause-or-review: the run does not come to its end")
}

// resolve is what a person does who wants the run to come to its end.
func (m *machine) resolve(t *rapid.T, receipt state.Receipt) {
	var errs []error
	acts := []string{"supersede"}
	switch receipt.Reason.Code {
	case state.CodeConflictsOpen:
		acts = []string{"accept", "write off"}
	case state.CodeItemsHeld:
		acts = []string{"write off"}
	}
	for _, act := range acts {
		if act == "write off" && len(m.w.facts.acked.held(m.w.facts.acked.runs[receipt.RunID].Scope)) == 0 {
			continue
		}
		errs = append(errs, m.act(t, receipt, act))
	}
	if err := errors.Join(errs...); err != nil {
		m.fail(t, fmt.Sprintf("pause-or-review: %s is no remedy for %s: %v", acts, receipt.Reason.Code, err))
	}
}

package proptest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/internal/tier"
)

// TestMachineMemory lets random things happen to a job whose ledger is in memory: to
// the list, its API, the handler, the process and the person who decides. After each
// step every promise of the package is looked at; at the end nothing happens any
// more, and the run must come to its end.
//
// A failure names the promise, tells what happened in order, and how to repeat it.
// More: go test ./proptest -run TestMachineMemory -rapid.checks=5000.
func TestMachineMemory(t *testing.T) {
	counts := machines(t, tier.Checks(8, 50, 200), false)
	wantAll(t, counts, situations())
}

// TestMachinePebble does so on the real ledger, whose file system crashes with the
// process: before a sync of its log, or at any other moment, and what was not synced
// is lost, or kept. Those crashes repeat; ones before any other write, with a part of
// the unsynced data kept, find more and repeat less, and have tests of their own.
func TestMachinePebble(t *testing.T) {
	counts := machines(t, tier.Checks(5, 25, 100), true)
	wantAll(t, counts, append(situations(),
		"at sync: it dies, unsynced data lost", "at sync: it dies, unsynced data kept", "crash: unacknowledged record kept"))
}

// TestMachineContracts does so with an API over HTTP that speaks the contracts that
// ship, one for each check.
func TestMachineContracts(t *testing.T) {
	contracts := spoken()
	counts := machines(t, tier.Checks(4, 20, 80), false, func(t *rapid.T, s *shape) { drawContract(t, s, contracts) })
	wanted := []string{"complete", "reason: rate_limited", "reason: server_error", "reason: transport", "reason: unauthorized", "reason: not_a_list"}
	for _, c := range contracts {
		wanted = append(wanted, "contract: "+c.Name)
	}
	wantAll(t, counts, wanted)
}

// machines checks a hundred worlds in each round, and counts what happened in them.
func machines(t *testing.T, rounds int, pebble bool, edit ...func(*rapid.T, *shape)) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for range rounds {
		t.Run("round", func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				rapid.SyncTest(t, func(t *rapid.T) {
					s := drawShape(t, pebble)
					for _, change := range edit {
						change(t, &s)
					}
					m := &machine{w: newWorld(s, rapid.Uint64().Draw(t, "seed"))}
					m.play(t)
					for what, n := range m.w.counts {
						counts[what] += n
					}
				})
			})
		})
	}
	return counts
}

// play is one check.
func (m *machine) play(t *rapid.T) {
	if err := m.w.open(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.w.ledger.store.Close() }()
	m.countShape()
	for range rapid.IntRange(0, 6).Draw(t, "items") {
		m.edit(m.drawInsertion(t))
	}
	t.Repeat(map[string]func(*rapid.T){
		"":                  m.check,
		"run":               m.run,
		"run on":            m.run,
		"change":            m.change,
		"change once more":  m.change,
		"wait":              m.wait,
		"expire":            m.expire,
		"decide":            m.decide,
		"other definition":  m.redefine,
		"complete run anew": m.revisit,
	})
	m.peace(t)
}

// machine is a world to which things happen.
type machine struct{ w *world }

func newWorld(s shape, seed uint64) *world {
	return &world{
		shape: s, list: simapi.NewList(), facts: newFacts(), random: rand.New(rand.NewPCG(seed, 2)), counts: map[string]int{}, created: map[string]time.Time{},
		api:    &api{issued: map[string]spot{}, used: map[string]bool{}},
		sink:   &sink{effects: map[string]int{}, bodies: map[string]string{}, known: map[string]time.Time{}},
		ledger: ledger{seed: seed},
	}
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

package proptest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage/internal/steps"
	"github.com/everypage-go/everypage/store"
)

// StorePlace is where a store keeps a ledger, such as a folder or a schema.
type StorePlace interface {
	// Open opens the store at the place: a fresh one at first, and after its Close
	// the same one again.
	Open() (store.Store, error)
}

// DurablePlace is a place whose ledger outlives its store. A place that is none is
// asked nothing about that.
type DurablePlace interface {
	StorePlace
	// Durable has no effect; it is the harness's word.
	Durable()
}

// CrashPlace is a place that can lose what was not durable, as a machine does.
type CrashPlace interface {
	StorePlace
	// Crash ends the machine at this instant, while a store is at work: Open then
	// opens what is left. Stores that were opened before count for nothing.
	Crash()
}

// TestStore puts somebody's store through every rule of [store.Store], each on a
// fresh place. fresh gets an empty folder that the rule has to itself. Durability
// and crashes are asked of places that are a [DurablePlace] and a [CrashPlace].
//
//	func TestMyStore(t *testing.T) {
//		proptest.TestStore(t, func(dir string) proptest.StorePlace { return place{dir} })
//	}
//
// A failure names the rule and says what was seen and what was wanted. One rule is
// asked again by
//
//	go test -run 'TestMyStore/held_items_follow_their_state'
func TestStore(t *testing.T, fresh func(dir string) StorePlace) {
	t.Helper()
	for _, r := range storeRules() {
		t.Run(r.name, func(t *testing.T) {
			if why := r.skip(fresh(t.TempDir())); why != "" {
				t.Skip(why)
			}
			if err := r.ask(t.Context(), fresh); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run(modelRule, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { checkStoreModel(t, fresh) })
	})
}

// CheckStore is TestStore for programs that are no test, without the comparison
// with a model. It returns what every broken rule found, or nil.
func CheckStore(ctx context.Context, fresh func(dir string) StorePlace) error {
	var broken []error
	for _, r := range storeRules() {
		err := r.ask(ctx, fresh)
		if !errors.Is(err, errNotAsked) {
			broken = append(broken, err)
		}
	}
	return errors.Join(broken...)
}

// errNotAsked is a rule that a place has nothing for.
var errNotAsked = errors.New("not asked")

// storeRule is one rule of a store.
type storeRule struct {
	name string
	// check is asked of an open store, which is closed afterwards; place instead of
	// a place.
	check func(t *trial, s store.Store)
	place func(t *trial, p StorePlace)
	needs string // "", "durable" or "crash"
}

// skip says why a place is not asked.
func (r storeRule) skip(p StorePlace) string {
	_, durable := p.(DurablePlace)
	_, crashes := p.(CrashPlace)
	switch {
	case r.needs == "durable" && !durable:
		return "the place is no DurablePlace: give it a method Durable to have this tested"
	case r.needs == "crash" && !crashes:
		return "the place is no CrashPlace: give it a method Crash to have this tested"
	}
	return ""
}

// ask asks a rule of a fresh place.
func (r storeRule) ask(ctx context.Context, fresh func(dir string) StorePlace) error {
	skipped := false
	err := try(ctx, r.name, func(t *trial) {
		p := fresh(t.folder)
		if skipped = r.skip(p) != ""; skipped {
			return
		}
		if r.place != nil {
			r.place(t, p)
			return
		}
		r.check(t, openPlace(t, p))
	})
	if skipped {
		return errNotAsked
	}
	return err
}

// storeRules is every rule there is. Those of records and runs stand in files of
// their own.
func storeRules() []storeRule {
	return []storeRule{
		{name: "a committed change is read back as a whole", check: ruleReadBack},
		{name: "a change that begins a run that is there is refused as a whole", check: ruleBeginOnce},
		{name: "of begins at the same time one wins", check: ruleBeginRace},
		{name: "a change of a run that is not there is refused", check: ruleUnknownRun},
		{name: "a second run changes in the same step", check: ruleAlso},
		{name: "a run that is not there is not found", check: ruleRunNotFound},
		{name: "runs come newest first, by job and by status", check: ruleRunsOrder},
		{name: "a run whose status changed is listed under the new one only", check: ruleStatusMoves},
		{name: "items are looked up in the order asked for", check: ruleItemsOrder},
		{name: "an item is replaced", check: ruleItemReplaced},
		{name: "held items follow their state, in the order of their IDs", check: ruleHeld},
		{name: "held items are those of their scope", check: ruleHeldScope},
		{name: "pages come by index and revision, from an index on", check: rulePagesOrder},
		{name: "cursors are kept byte for byte, the start is not an empty token", check: ruleCursors},
		{name: "a conflict of the same number is replaced", check: ruleConflicts},
		{name: "events are appended in order", check: ruleEvents},
		{name: "names may hold any byte", check: ruleAnyBytes},
		{name: "a sequence starts afresh each time and can be left", check: ruleSequences},
		{name: "a sequence shows one instant", check: ruleSequenceInstant},
		{name: "a commit ignores the caller's cancellation, a read honours it", check: ruleContext},
		{name: "one holder at a time works on a job", check: ruleHold},
		{name: "of holds at the same time one wins", check: ruleHoldRace},
		{name: "a sequence yields at most one error, and then stops", check: ruleSequenceError},
		{name: "after close everything says so", check: ruleClosed},
		{name: "commits of many goroutines all count", check: ruleConcurrent},
		{name: "what was committed is there when it is opened again", place: ruleReopened, needs: "durable"},
		{name: "a hold ends with its store", place: ruleHoldEnds, needs: "durable"},
		{name: "a crash loses nothing confirmed and tears nothing", place: ruleCrash, needs: "crash"},
		{name: "a crash leaves no lock", place: ruleCrashHold, needs: "crash"},
	}
}

// openPlace opens a place until the rule is over.
func openPlace(t *trial, p StorePlace) store.Store {
	s, err := p.Open()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func ruleReopened(t *trial, p StorePlace) {
	run := steps.Run("job", "r")
	for n := range 12 { // opened again after each step
		s, err := p.Open()
		if err != nil {
			t.Fatalf("open for step %d: %v", n, err)
		}
		t.Cleanup(func() { _ = s.Close() }) // where the rule ends early
		if n == 0 {
			commit(t, s, steps.Begin(run))
		} else if got, err := steps.Whole(t.Context(), s, "r"); err != nil || got != n {
			t.Fatalf("after %d steps it has %d, %v", n, got, err)
		}
		commit(t, s, steps.Page(run, n))
		if err := s.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
	s := openPlace(t, p)
	if got, err := steps.Whole(t.Context(), s, "r"); err != nil || got != 12 {
		t.Errorf("after 12 steps it has %d, %v", got, err)
	}
	commit(t, s, steps.Begin(steps.Run("job", "later")))
	wantIDs(t, "runs", runIDs(t, s, store.RunFilter{}), "later", "r")
}

func ruleHoldEnds(t *trial, p StorePlace) {
	s, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Hold(t.Context(), "job"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	release, err := openPlace(t, p).Hold(t.Context(), "job")
	if err != nil {
		t.Fatalf("a store that was closed still holds the job: %v", err)
	}
	release()
}

// ruleCrash crashes while several runs are walked, several times over.
func ruleCrash(t *trial, p StorePlace) {
	confirmed := map[string]int{}
	for round := range 4 {
		s, err := p.Open()
		if err != nil {
			t.Fatalf("open after %d crashes: %v", round, err)
		}
		t.Cleanup(func() { _ = s.Close() }) // where the rule ends early
		for runID, want := range confirmed {
			if got, err := steps.Whole(t.Context(), s, runID); err != nil || got < want {
				t.Fatalf("after %d crashes run %s has %d steps, %v; %d were confirmed", round, runID, got, err, want)
			}
		}
		crashWalk(t, p, s, round, confirmed)
		_ = s.Close() // of a machine that is gone
	}
}

// crashWalk walks runs until the machine crashes, and notes what was confirmed.
func crashWalk(t *trial, p StorePlace, s store.Store, round int, confirmed map[string]int) {
	var mu sync.Mutex
	var group sync.WaitGroup
	reached, gone := make(chan struct{}), make(chan struct{})
	total := 0
	for i := range 3 {
		group.Go(func() {
			run := steps.Run("job", fmt.Sprintf("r%d-%d", round, i))
			if s.Commit(context.WithoutCancel(t.ctx), steps.Begin(run)) != nil {
				return
			}
			for n := range 60 {
				select {
				case <-gone:
					return
				default:
				}
				if s.Commit(context.WithoutCancel(t.ctx), steps.Page(run, n)) != nil {
					return
				}
				mu.Lock()
				select {
				case <-gone: // whether this one was durable in time is open
				default:
					confirmed[run.Receipt.RunID] = n + 1
					if total++; total == 7*(round+1) {
						close(reached)
					}
				}
				mu.Unlock()
			}
		})
	}
	<-reached
	mu.Lock()
	if crashes, ok := p.(CrashPlace); ok {
		crashes.Crash()
	}
	close(gone)
	mu.Unlock()
	group.Wait()
}

func ruleCrashHold(t *trial, p StorePlace) {
	s, err := p.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Hold(t.Context(), "job"); err != nil {
		t.Fatal(err)
	}
	if crashes, ok := p.(CrashPlace); ok {
		crashes.Crash()
	}
	release, err := openPlace(t, p).Hold(t.Context(), "job")
	if err != nil {
		t.Errorf("the hold of a machine that is gone is still there: %v", err)
	} else {
		release()
	}
	_ = s.Close()
}

func commit(t *trial, s store.Store, changes ...store.Change) {
	for _, change := range changes {
		if err := s.Commit(t.Context(), change); err != nil {
			t.Fatalf("commit: %v", err)
		}
	}
}

func runIDs(t *trial, s store.Store, filter store.RunFilter) []string {
	ids, err := steps.Collect(s.Runs(t.Context(), filter), func(r store.Run) string { return r.Receipt.RunID })
	if err != nil {
		t.Fatalf("runs: %v", err)
	}
	return ids
}

func heldIDs(t *trial, s store.Store, scope string) []string {
	ids, err := steps.Collect(s.Held(t.Context(), scope), func(i store.Item) string { return i.ID })
	if err != nil {
		t.Fatalf("held: %v", err)
	}
	return ids
}

func wantIDs(t *trial, what string, got []string, want ...string) {
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func wantError(t *trial, err, want error) {
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want one that wraps %q", err, want)
	}
}

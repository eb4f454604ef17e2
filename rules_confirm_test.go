package everypage_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
)

// Rule 20: Confirm settles doubt without another call. It is asked only about
// what may have been called.
func TestRule20_ConfirmSettlesDoubt(t *testing.T) {
	for _, after := range []bool{true, false} {
		for _, once := range []bool{true, false} {
			t.Run(fmt.Sprintf("after the effect %t, at most once %t", after, once), func(t *testing.T) {
				w := newWorld(t, 2, "a", "b", "c", "d").crashable()
				var asked []string
				job := w.job(func(j *everypage.Job[ticket]) {
					j.AtMostOnce = once
					j.Confirm = func(_ context.Context, key string) (bool, error) {
						asked = append(asked, key)
						return w.effects[key] > 0, nil
					}
				})
				w.die("b", after, job)
				receipt, err := w.run(job)
				wantComplete(t, err)
				if after {
					w.wantCalls("a", "b", "c", "d")
				} else {
					w.wantCalls("a", "b", "b", "c", "d")
				}
				for key, n := range w.effects {
					want(t, "the number of effects of "+key, n, 1)
				}
				for _, key := range asked {
					for _, id := range []string{"c", "d"} {
						if key == everypage.Key(receipt.RunID, id, "remind") {
							t.Errorf("the sink was asked about %s, which was never called", id)
						}
					}
				}
			})
		}
	}
}

// Rule 20: a sink that cannot say leaves the doubt, and past the attempts the item
// is held with it.
func TestRule20_ConfirmFails(t *testing.T) {
	w := newWorld(t, 2, "a", "b").crashable()
	confirm := func(j *everypage.Job[ticket]) {
		j.Confirm = func(context.Context, string) (bool, error) { return false, errNo }
	}
	w.die("b", true, w.job(confirm))
	receipt, err := w.run(w.job(confirm))
	wantReview(t, receipt, err, state.CodeItemsHeld)
	w.wantHeld(receipt.RunID, "b", state.HoldInDoubt)
	for key, n := range w.effects {
		want(t, "the number of effects of "+key, n, 1)
	}
}

// Rule 20: the sink forgets keys. Doubt that is older than that is held; doubt
// that is younger is called again with its key. A pause of the sink says nothing
// about an earlier call, nor does its word that a later one was not done.
func TestRule20_KeyRetention(t *testing.T) {
	const kept = 24 * time.Hour
	retention := func(j *everypage.Job[ticket]) { j.KeyRetention = kept }
	for age, hold := range map[time.Duration]bool{kept - time.Hour: false, kept + time.Hour: true} {
		t.Run("died "+age.String()+" ago", func(t *testing.T) {
			w := newWorld(t, 2, "a", "b").crashable()
			w.die("b", true, w.job(retention))
			w.clock.advance(age)
			receipt, err := w.run(w.job(retention))
			if hold {
				wantReview(t, receipt, err, state.CodeItemsHeld)
				w.wantHeld(receipt.RunID, "b", state.HoldInDoubt)
				w.wantCalls("a", "b")
				return
			}
			wantComplete(t, err)
			w.wantCalls("a", "b", "b")
		})
	}
	for name, second := range map[string]error{
		"paused":   everypage.PauseRun(start().Add(kept+time.Hour), errNo),
		"not done": everypage.NotDone(errNo),
	} {
		t.Run("unknown, then "+name, func(t *testing.T) {
			w := newWorld(t, 2, "a", "b")
			calls := 0
			w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
				if item.ID != "b" {
					return nil
				}
				switch calls++; calls {
				case 1:
					return errNo // nobody knows
				case 2:
					w.clock.advance(kept + time.Hour)
					return second
				}
				return nil
			}
			receipt, err := w.run(w.job(retention, waitUpTo(48*time.Hour)))
			wantReview(t, receipt, err, state.CodeItemsHeld)
			w.wantHeld(receipt.RunID, "b", state.HoldInDoubt)
			want(t, "the number of calls for b", calls, 2)
		})
	}
	t.Run("refused for good, then retried", func(t *testing.T) {
		w := newWorld(t, 2, "a", "b")
		w.handle = func(_ context.Context, item everypage.Item[ticket]) error {
			if item.ID == "b" {
				return everypage.Permanent(errNo) // there is no doubt about that
			}
			return nil
		}
		receipt, err := w.run(w.job(retention))
		wantReview(t, receipt, err, state.CodeItemsHeld)
		w.handle = nil
		w.clock.advance(2 * kept)
		if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w)); err != nil {
			t.Fatal(err)
		}
		_, err = w.run(w.job(retention))
		wantComplete(t, err)
	})
	t.Run("retried, then died", func(t *testing.T) {
		w := newWorld(t, 2, "a", "b").crashable()
		w.handle = failing("b")
		receipt, err := w.run(w.job(retention))
		wantReview(t, receipt, err, state.CodeItemsHeld)
		w.handle = nil
		if _, err := everypage.Retry(t.Context(), w.ledger, receipt.RunID, decision(w, "b")); err != nil {
			t.Fatal(err)
		}
		w.die("b", true, w.job(retention))
		w.clock.advance(kept + time.Hour)
		receipt, err = w.run(w.job(retention))
		wantReview(t, receipt, err, state.CodeItemsHeld)
		w.wantHeld(receipt.RunID, "b", state.HoldInDoubt)
		want(t, "the number of calls for b", len(w.calls), 5)
	})
}

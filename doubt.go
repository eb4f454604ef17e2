package everypage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// confirm asks the handler's own API whether an item's effect happened.
func (r *runner[T]) confirm(ctx context.Context, item store.Item) (happened bool, err error) {
	err = guarded(func() (err error) {
		happened, err = r.job.Confirm(ctx, r.keys.of(item.ID))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("ask whether the effect happened: %w", err)
	}
	return happened, nil
}

// resolveDoubt looks before a call at what is not known of earlier ones. It
// settles the task where it must not, or need not, be called again.
func (r *runner[T]) resolveDoubt(ctx context.Context, t *task[T]) (settled bool, err error) {
	first := t.first
	t.first = false
	if t.record.DoubtSince.IsZero() {
		return false, nil
	}
	died := first && t.record.Intent
	if first && r.job.Confirm != nil {
		happened, err := r.confirm(ctx, t.record)
		if err != nil {
			t.first = true // asked again before the next call
			return false, err
		}
		if happened {
			r.done(t, r.clock.Now(), 0)
			return true, nil
		}
		t.record.Intent, t.record.DoubtSince = false, time.Time{}
	}
	inDoubt, since := !t.record.DoubtSince.IsZero(), t.record.DoubtSince.Format(time.RFC3339)
	switch age := r.clock.Now().Sub(t.record.DoubtSince); {
	case inDoubt && died && r.job.AtMostOnce:
		r.hold(t, state.HoldInDoubt, "its call was begun at "+since+" and its outcome is not known", 0)
		return true, nil
	case inDoubt && r.job.KeyRetention > 0 && age > r.job.KeyRetention:
		r.hold(t, state.HoldInDoubt, fmt.Sprintf("its outcome is not known since %s, which is longer than keys are kept (%s)", since, r.job.KeyRetention), 0)
		return true, nil
	case died && t.record.Attempts >= r.job.Options.MaxAttempts:
		r.hold(t, state.HoldPoison, fmt.Sprintf("the process died during its call, %d times", t.record.Attempts), 0)
		return true, nil
	}
	return false, nil
}

// unconfirmed counts a failed question about an effect like a failed call. The
// doubt stays. It returns whether the run stops.
func (w *worker[T]) unconfirmed(ctx context.Context, t *task[T], err error) (stops bool) {
	if ctx.Err() != nil {
		w.halted(w.cancelled(ctx, t.record.Page))
		return true
	}
	if pause, ok := errors.AsType[*PauseRunError](err); ok {
		w.halted(w.sinkLimited(pause, t.record.Page))
		return true
	}
	if t.record.Attempts+1 >= w.job.Options.MaxAttempts {
		w.hold(t, state.HoldInDoubt, err.Error(), 1)
		return false
	}
	is := t.record
	is.Attempts, is.Detail, is.UpdatedAt = is.Attempts+1, bounded(err.Error()), w.clock.Now()
	w.put(t, is, 1)
	w.spread = 0
	w.callLater(t)
	return false
}

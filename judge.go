package everypage

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// judge settles the outcome of a call for one task, or says when it is called
// again.
func (w *worker[T]) judge(ctx context.Context, t *task[T], err error) {
	calls := int64(1)
	if w.intent {
		calls = 0 // the intent has counted it already
	}
	if err == nil {
		w.done(t, w.now, calls)
		return
	}
	var permanent *PermanentError
	var pause *PauseRunError
	var notDone *NotDoneError
	none := errors.As(err, &notDone)
	switch {
	case errors.As(err, &pause):
		w.uncount(t, true)
		w.halted(w.sinkLimited(pause, t.record.Page))
	case errors.As(err, &permanent):
		code := permanent.Code
		if code == "" {
			code = state.HoldPermanent
		}
		t.record.DoubtSince = t.doubt
		w.hold(t, code, permanent.Err.Error(), calls)
	case ctx.Err() != nil && (!w.job.AtMostOnce || none):
		w.uncount(t, none)
		w.halted(w.cancelled(ctx, t.record.Page))
	case w.job.AtMostOnce && !none:
		w.hold(t, state.HoldInDoubt, err.Error(), calls)
	default:
		w.failed(t, err, calls, none)
	}
}

// settledUnit is how exactly it is known when an item was done. Nothing is decided
// by it, and a nanosecond would be most of what a ledger keeps of a plain success.
const settledUnit = time.Millisecond

// done settles a task as done.
func (r *runner[T]) done(t *task[T], now time.Time, calls int64) {
	is := t.record
	is.State, is.SettledBy, is.UpdatedAt = store.StateDone, r.book.current().Receipt.RunID, now.Truncate(settledUnit)
	is.Attempts += int(calls)
	is.Intent, is.Released, is.DoubtSince, is.Payload, is.Code, is.Detail = false, false, time.Time{}, nil, "", ""
	r.put(t, is, calls)
}

// hold settles a task as held, with its bytes, for a person.
func (r *runner[T]) hold(t *task[T], code pager.Code, detail string, calls int64) {
	is := t.record
	is.State, is.Code, is.Detail, is.UpdatedAt = store.StateHeld, code, bounded(detail), r.clock.Now()
	is.Attempts += int(calls)
	is.Intent, is.Released = false, false
	if is.Payload == nil {
		is.Payload = r.raw(t.item)
	}
	r.put(t, is, calls)
}

// failed counts a failed call, and says when the next is due or holds the item.
func (w *worker[T]) failed(t *task[T], err error, calls int64, notDone bool) {
	is := t.record
	is.Attempts += int(calls)
	if notDone {
		is.DoubtSince = t.doubt
	}
	if is.Attempts >= w.job.Options.MaxAttempts {
		t.record.DoubtSince = is.DoubtSince
		w.hold(t, state.HoldAttempts, err.Error(), calls)
		return
	}
	is.Intent, is.Detail, is.UpdatedAt = false, bounded(err.Error()), w.now
	w.put(t, is, calls)
	w.callLater(t)
	w.log.Debug("a call failed and is made again", "item_id", is.ID, "attempt", is.Attempts, "again_at", t.ready, "error", is.Detail)
}

// callLater puts a task back that failed now.
func (w *worker[T]) callLater(t *task[T]) {
	if w.spread == 0 {
		w.spread = w.jitter()
	}
	wait := interval(w.job.Options.Backoff, t.record.Attempts)
	t.ready = t.record.UpdatedAt.Add(time.Duration(float64(wait) * w.spread))
	w.again(t)
}

// uncount takes back an attempt that was interrupted: it costs none.
func (w *worker[T]) uncount(t *task[T], notDone bool) {
	is := t.record
	is.Intent, is.UpdatedAt = false, w.now
	if notDone {
		is.DoubtSince = t.doubt
	}
	calls := int64(0)
	if w.intent { // it was counted before the call
		is.Attempts--
		calls = -1
	}
	w.put(t, is, calls)
}

// put queues a task's new record.
func (r *runner[T]) put(t *task[T], is store.Item, calls int64) {
	r.book.settle(&t.record, &is, calls)
	t.record = is
}

// sinkLimited is the pause that a handler asked for; where its own API gave a
// fault that only a person can mend, such as a bad credential, it is a review.
func (r *runner[T]) sinkLimited(p *PauseRunError, page int) *stop {
	reason := state.Reason{Code: state.CodeSinkLimited, Detail: bounded(p.Err.Error()), PageIndex: page}
	if fault, ok := errors.AsType[*pager.Fault](p.Err); ok {
		reason = state.ReasonOf(fault, page)
		reason.Detail = bounded("the handler: " + reason.Detail)
		switch {
		case fault.Verdict == pager.Review:
			return &stop{event: state.EventReview, reason: reason, cause: p}
		case !state.Explain(fault.Code).NeedsInstant: // a quota stays one, and is not polled
			reason.Code = state.CodeSinkLimited
		}
	}
	return &stop{event: state.EventPause, reason: reason, until: r.resumeAt(reason.Code, p.Until), cause: p}
}

// jitter returns a share from half to one and a half, by which waits are
// stretched so that what failed together is not called together.
func (r *runner[T]) jitter() float64 {
	var b [2]byte
	r.random.Lock()
	_, err := r.job.Options.Random.Read(b[:])
	r.random.Unlock()
	if err != nil {
		return 1 // jitter is a courtesy
	}
	return 0.5 + float64(uint16(b[0])<<8|uint16(b[1]))/math.MaxUint16
}

// maxDetail bounds what is stored of an error's text, in bytes.
const maxDetail = 4096

func bounded(text string) string {
	cut := ""
	if len(text) > maxDetail {
		text, cut = text[:maxDetail], "…"
		for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) { // whole characters only
			text = text[:len(text)-1]
		}
		if len(text) > 0 && text[len(text)-1] >= utf8.RuneSelf {
			text = text[:len(text)-1]
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD") + cut
}

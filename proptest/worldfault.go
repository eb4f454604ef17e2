package proptest

import (
	"context"
	"errors"
	"time"

	"github.com/everypage-go/everypage/pager"
)

// faults returns everything that can be wrong with one answer of the API.
func faults() []fault {
	return []fault{
		refusing("429 with an instant", pager.Pause, pager.CodeRateLimited, time.Minute),
		refusing("429 without an instant", pager.Pause, pager.CodeRateLimited, 0),
		refusing("429 with an instant in the past", pager.Pause, pager.CodeRateLimited, -time.Minute),
		refusing("a quota until an instant", pager.Pause, pager.CodeQuotaExhausted, 5*time.Hour),
		refusing("a quota without an instant", pager.Pause, pager.CodeQuotaExhausted, 0),
		refusing("500", pager.Pause, pager.CodeServerError, 0),
		refusing("a cut body", pager.Pause, pager.CodeTransport, 0),
		{name: "a hang", instead: hangs},
		refusing("401", pager.Review, pager.CodeUnauthorized, 0),
		refusing("404", pager.Review, pager.CodeRequestRefused, 0),
		refusing("a body that is no list page", pager.Review, pager.CodeNotAList, 0),
		refusing("a body without end", pager.Review, pager.CodeBodyTooLarge, 0),
		refusing("a next link to another origin", pager.Review, pager.CodeCrossOrigin, 0),
		{name: "an error that says nothing", instead: func(_ context.Context, w *world, l *process) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			l.may(pager.CodePagerFailed)
			return errors.New("the pager failed")
		}},
		{name: "the cursors have expired", instead: func(_ context.Context, w *world, _ *process) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.api.generation++
			return nil
		}},
		{name: "the sequence stops", stops: true},
		{name: "more without a cursor", edit: func(_ *world, p *pager.Page[raw], _ pager.Cursor) {
			p.End, p.Next, p.Evidence = pager.EndMore, pager.Cursor{}, "has_more=true"
		}},
		{name: "neither an end nor a cursor", edit: func(_ *world, p *pager.Page[raw], _ pager.Cursor) {
			p.End, p.Next, p.Evidence = pager.EndUnknown, pager.Cursor{}, ""
		}},
		{name: "no word about the end", edit: func(_ *world, p *pager.Page[raw], _ pager.Cursor) {
			if p.End == pager.EndMore {
				p.End, p.Evidence = pager.EndUnknown, ""
			}
		}},
		{name: "its own cursor again", edit: func(_ *world, p *pager.Page[raw], at pager.Cursor) {
			if !at.IsStart() {
				p.End, p.Next, p.Evidence = pager.EndMore, at, "has_more=true"
			}
		}},
		{name: "a cursor of earlier", edit: func(w *world, p *pager.Page[raw], _ pager.Cursor) {
			run, _ := w.facts.acked.open(jobName)
			pages := w.facts.acked.pages[run.Receipt.RunID] // one of another listing could skip items unseen
			if n := len(pages); n > 0 && !pages[n/2].Cursor.IsStart() {
				p.End, p.Next, p.Evidence = pager.EndMore, pages[n/2].Cursor, "has_more=true"
			}
		}},
		{name: "an entry without ID", edit: func(_ *world, p *pager.Page[raw], _ pager.Cursor) {
			p.Items = append(p.Items, pager.Item[raw]{Problem: "entry: has no ID", Raw: raw(`{}`)})
		}},
		{name: "an equal copy", edit: func(_ *world, p *pager.Page[raw], _ pager.Cursor) {
			if len(p.Items) > 0 {
				p.Items = append(p.Items, p.Items[0])
			}
		}},
		{name: "a copy that differs", edit: func(_ *world, p *pager.Page[raw], _ pager.Cursor) {
			if len(p.Items) > 0 {
				other := p.Items[0]
				other.Raw, other.Value = raw(`{"text":"another"}`), raw(`{"text":"another"}`)
				p.Items = append(p.Items, other)
			}
		}},
		{name: "a veto", edit: func(_ *world, p *pager.Page[raw], _ pager.Cursor) { p.Vetoes = []string{"incomplete_results=true"} }},
		{name: "items without a time", edit: func(_ *world, p *pager.Page[raw], _ pager.Cursor) {
			for i := range p.Items {
				p.Items[i].CreatedAt = time.Time{}
			}
		}},
	}
}

// refusing is a fault that says what to do, and until when after now; 0 for no
// instant.
func refusing(name string, verdict pager.Verdict, code pager.Code, wait time.Duration) fault {
	return fault{name: name, instead: func(_ context.Context, w *world, l *process) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		f := &pager.Fault{Verdict: verdict, Code: code, Detail: name}
		if wait != 0 {
			f.Until = now().Add(wait)
		}
		l.until(code, f.Until)
		return f
	}}
}

// hangs is a server that does not answer.
func hangs(ctx context.Context, w *world, l *process) error {
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l.may(pager.CodeTransport)
	return context.DeadlineExceeded
}

package proptest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// recount looks that a receipt's counts equal a recount of the records.
func (p *play) recount(ctx context.Context, ledger store.Reader, run store.Run) {
	counted, err := everypage.Recount(ctx, ledger, run.Receipt.RunID)
	if err != nil {
		p.wrong("nothing-lost", "the ledger can be counted anew", err.Error())
		return
	}
	got, errGot := run.Receipt.YAML()
	want, errWant := counted.YAML()
	if err := errors.Join(errGot, errWant); err != nil || string(got) != string(want) {
		p.wrong("nothing-lost", "a receipt whose counts equal a recount:\n"+string(want), fmt.Sprintf("%s (%v)", got, err))
	}
}

// judgeReturn looks at what Run returned: an error is nil if and only if the run
// is complete, and says what the receipt says.
func (p *play) judgeReturn(l *life, receipt *state.Receipt, err error) {
	if l.dead || p.beyond > 0 {
		return
	}
	complete := receipt != nil && receipt.Status == state.Complete
	if complete != (err == nil) {
		p.wrong("pause-or-review", "an error that is nil if and only if the receipt says complete", returned(receipt, err))
	}
	for status, is := range map[state.Status]error{state.Paused: everypage.ErrPaused, state.NeedsReview: everypage.ErrNeedsReview} {
		if receipt != nil && receipt.Status == status && !errors.Is(err, is) && !l.failed {
			p.wrong("pause-or-review", "an error that says "+string(status), returned(receipt, err))
		}
	}
	if l.cancelled && err != nil && !errors.Is(err, context.Canceled) && statusOf(receipt) == string(state.Paused) {
		p.wrong("pause-or-review", "the error holds the context's own", err.Error())
	}
	if l.failed && !errors.Is(err, errDisk) {
		p.wrong("pause-or-review", "the ledger's own error, since nothing more could be recorded", returned(receipt, err))
	}
	if p.clock.waitedTooLong() {
		p.wrong("pause-or-review", "a call that returns within its deadline of "+p.setup.deadline.String(), "it waited until "+stamp(p.clock.Now()))
	}
}

// compare compares what happened with what the case expects.
func (p *play) compare(o *outcome) {
	e := &p.wanted
	p.over = true
	got := string(o.receipt.Status)
	exact := got == e.status
	if !exact && !slices.Contains(e.acceptAlso, got) {
		want := e.status
		if len(e.acceptAlso) > 0 {
			want += " (or " + strings.Join(e.acceptAlso, ", ") + ")"
		}
		p.wrong(statusPromise(got, e.status), "status "+want, "status "+got+reasonOf(&o.receipt))
	}
	p.compareCalls(exact)
	p.compareRequests(exact, got)
	p.compareEvents()
	p.comparePauses()
	p.compareSecond()
	if exact { // of another outcome that a reader could defend, the case says only the status
		p.compareReceipt(o)
		p.compareItems(o)
	}
}

// statusPromise names the promise that a wrong status breaks.
func statusPromise(got, want string) string {
	switch {
	case got == string(state.Complete):
		return "end-observed"
	case want == string(state.Complete):
		return "complete when the end was observed and nothing is owed"
	}
	return "pause-or-review"
}

func reasonOf(r *state.Receipt) string {
	if r.Reason == nil {
		return ""
	}
	return fmt.Sprintf(", reason %s: %s", r.Reason.Code, r.Reason.Detail)
}

func (p *play) compareCalls(exact bool) {
	e := &p.wanted
	if e.calls != nil {
		for _, id := range unionOf(e.calls, p.calls) {
			want, got := e.calls[id], p.calls[id]
			if got > want || exact && got < want {
				p.wrong(callPromise(got, want), fmt.Sprintf("%d calls for %s", want, id), fmt.Sprintf("%d calls", got))
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.effects)) {
		want, said := e.effects[id]
		if !said {
			want = 1
		}
		if e.effects == nil && p.ranTwice() { // a new run acts anew, with keys of its own
			continue
		}
		if got := len(p.effects[id]); got != want && (exact || got > want) {
			p.wrong("same-key", fmt.Sprintf("%d effects on %s", want, id), fmt.Sprintf("%d effects, one for each key", got))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(e.effects)) {
		if exact && e.effects[id] > 0 && len(p.effects[id]) == 0 {
			p.wrong("nothing-lost", fmt.Sprintf("%d effects on %s", e.effects[id], id), "none")
		}
	}
}

func callPromise(got, want int) string {
	if got > want {
		return "confirmed-once"
	}
	return "nothing-lost"
}

// ranTwice reports whether the script asks for more than one run.
func (p *play) ranTwice() bool {
	return slices.ContainsFunc(p.events, func(e *event) bool { return e.what == newRun })
}

func (p *play) compareRequests(exact bool, status string) {
	want := 0
	for i := range p.pages {
		if !p.pages[i].optional {
			want++
		}
	}
	if p.wanted.requests != nil {
		want = *p.wanted.requests
	}
	promise := "the requests of the script"
	if p.required < want && status == string(state.Complete) {
		promise = "end-observed" // the rest of the list was never asked for
	}
	if p.required > want || exact && p.required < want {
		p.wrong(promise, fmt.Sprintf("%d requests, optional ones not counted", want), fmt.Sprintf("%d", p.required))
	}
}

// compareEvents looks that whatever the script has did happen.
func (p *play) compareEvents() {
	for _, e := range p.events {
		if e.happened == 0 || e.times > 0 && e.happened < e.times && e.what != handlerFails {
			p.wrong("every event of the script happens", e.String(), fmt.Sprintf("it happened %d times", e.happened))
		}
	}
}

func (p *play) comparePauses() {
	want := p.wanted.pauses
	if want == nil {
		return
	}
	var got []seenPause
	for _, pause := range p.pauses {
		r := pause.receipt.Reason
		cancelled := r != nil && r.Code == state.CodeCancelled
		said := slices.ContainsFunc(want, func(w wantedPause) bool { return w.after == pause.after })
		if !cancelled || said { // a caller that leaves pauses a run too
			got = append(got, pause)
		}
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			p.wrong("pause-or-review", fmt.Sprintf("a pause after exchange %d", want[i].after), "none")
		case i >= len(want):
			p.wrong("pause-or-review", "no further pause", fmt.Sprintf("one after exchange %d%s", got[i].after, reasonOf(&got[i].receipt)))
		default:
			if problem := want[i].compare(got[i]); problem != "" {
				p.wrong("pause-or-review", fmt.Sprintf("pause %d: %s", i+1, problem),
					fmt.Sprintf("after exchange %d, resume_at %s%s", got[i].after, stamp(got[i].receipt.ResumeAt), reasonOf(&got[i].receipt)))
			}
		}
	}
}

// compare says what a pause should have been; empty if it was.
func (w *wantedPause) compare(got seenPause) string {
	at := got.receipt.ResumeAt
	switch {
	case w.after != 0 && w.after != got.after:
		return fmt.Sprintf("after exchange %d", w.after)
	case w.noInstant && !at.IsZero():
		return "no resume_at"
	case w.resumeAt != nil && at.Sub(*w.resumeAt).Abs() >= nearly:
		return "resume_at " + stamp(*w.resumeAt)
	case !w.notBefore.IsZero() && at.Before(w.notBefore):
		return "resume_at not before " + stamp(w.notBefore)
	case !w.notAfter.IsZero() && at.Sub(w.notAfter) >= nearly:
		return "resume_at not after " + stamp(w.notAfter)
	case w.reason != "" && (got.receipt.Reason == nil || string(got.receipt.Reason.Code) != w.reason):
		return "reason " + w.reason
	}
	return ""
}

func (p *play) compareSecond() {
	got, want := p.second, p.wanted.second
	switch {
	case got == nil && want != nil:
		p.wrong("one-runner", "a second process is refused", "no event starts one")
	case got == nil:
	case !got.refused:
		p.wrong("one-runner", "a second process is refused at once, as store.ErrHeld or store.ErrLocked", strings.Join(got.results, "; "))
	case want == nil:
		want = &wantedSecond{}
		fallthrough
	default:
		if got.requests != want.requests || got.calls != want.calls {
			p.wrong("one-runner", fmt.Sprintf("%d requests and %d calls of the second process", want.requests, want.calls),
				fmt.Sprintf("%d requests and %d calls", got.requests, got.calls))
		}
	}
}

// compareReceipt compares the receipt's own words.
func (p *play) compareReceipt(o *outcome) {
	e := &p.wanted
	raw, err := json.Marshal(o.receipt)
	var receipt map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(raw, &receipt)
	}
	if err != nil {
		p.wrong("the receipt can be written", "JSON", err.Error())
		return
	}
	for _, name := range slices.Sorted(maps.Keys(e.counts)) {
		var got int64
		if raw, ok := receipt[name]; ok {
			_ = json.Unmarshal(raw, &got) // the receipt's counts are numbers
		}
		if want := e.counts[name]; got != want {
			p.wrong(countPromise(name), fmt.Sprintf("%s %d", name, want), fmt.Sprint(got))
		}
	}
	if e.terminal != nil && *e.terminal != o.receipt.TerminalObserved {
		p.wrong("end-observed", fmt.Sprintf("terminal_observed %t", *e.terminal), fmt.Sprintf("%t (%s)", o.receipt.TerminalObserved, o.receipt.EndEvidence))
	}
	if copies := o.receipt.InPageDuplicates + o.differing; e.inPage != nil && copies != *e.inPage {
		p.wrong("duplicate-once", fmt.Sprintf("%d copies inside one answer", *e.inPage), fmt.Sprint(copies))
	}
	if code := o.receipt.Reason; len(e.reasons) > 0 && (code == nil || !slices.Contains(e.reasons, string(code.Code))) {
		p.wrong("pause-or-review", "reason "+strings.Join(e.reasons, " or "), "status "+string(o.receipt.Status)+reasonOf(&o.receipt))
	}
	for _, path := range slices.Sorted(maps.Keys(e.receipt)) {
		got, err := valueAt(raw, path)
		if err != nil || !sameJSON(got, e.receipt[path]) {
			p.wrong("the receipt", path+" "+shortJSON(e.receipt[path]), fmt.Sprintf("%s (%v)", shortJSON(got), err))
		}
	}
}

// valueAt returns the value at a path inside JSON; null where there is none.
func valueAt(raw []byte, path string) (json.RawMessage, error) {
	tree, err := parseTree(raw)
	if err != nil {
		return nil, err
	}
	steps, err := pathSteps(path)
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		switch x := tree.(type) {
		case map[string]any:
			tree = x[step.name]
		case []any:
			if !step.elem || step.index >= len(x) {
				return json.RawMessage("null"), nil
			}
			tree = x[step.index]
		default:
			return json.RawMessage("null"), nil
		}
	}
	return writeTree(tree)
}

func countPromise(name string) string {
	switch name {
	case "duplicate_conflicts":
		return "duplicate-once"
	case "deferred_count":
		return "cutoff-closed"
	}
	return "nothing-lost"
}

// compareItems compares what became of the items.
func (p *play) compareItems(o *outcome) {
	e := &p.wanted
	done := slices.Compact(slices.Sorted(slices.Values(o.done)))
	if e.processed != nil {
		if want := slices.Sorted(slices.Values(e.processed)); !slices.Equal(done, want) {
			p.wrong("nothing-lost", "done: "+listed(want), "done: "+listed(done))
		}
	}
	for _, x := range []struct {
		promise, what string
		want, got     []string
	}{
		{"nothing-lost", "held", e.held, o.held},
		{"cutoff-closed", "deferred", e.deferred, o.deferred},
	} {
		want, got := slices.Sorted(slices.Values(x.want)), slices.Sorted(slices.Values(x.got))
		if x.want != nil && !slices.Equal(want, got) {
			p.wrong(x.promise, x.what+": "+listed(want), x.what+": "+listed(got))
		}
	}
}

func unionOf(a, b map[string]int) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

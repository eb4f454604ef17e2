package proptest

import (
	"time"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// drawShape draws a list and a job over it.
func drawShape(t *rapid.T, pebble bool) shape {
	s := shape{
		Pebble: pebble, List: drawList(t), Form: rapid.SampledFrom([]form{oneByOne, oneByOne, batches, loops}).Draw(t, "form"),
		Honours: !sometimes(t, 4, "a sink without keys"), AtMostOnce: sometimes(t, 3, "at most once"),
		DropVanished: sometimes(t, 4, "drop vanished"), Confirm: sometimes(t, 4, "confirm"),
		Once: everypage.OnceARun, Cutoff: rapid.SampledFrom([]everypage.Cutoff{everypage.NoCutoff, everypage.NoCutoff, everypage.ClientCutoff, everypage.ServerCutoff}).Draw(t, "cutoff"),
		MaxAttempts: rapid.IntRange(1, 3).Draw(t, "attempts"),
	}
	if sometimes(t, 4, "once a job") {
		s.Once = everypage.OnceAJob
	}
	if sometimes(t, 4, "the sink forgets keys") {
		s.KeyRetention = 24 * time.Hour
	}
	if sometimes(t, 4, "a deadline") {
		s.Deadline = time.Minute
	}
	s.Incremental = s.Cutoff == everypage.ServerCutoff && rapid.Bool().Draw(t, "incremental")
	return s
}

func drawList(t *rapid.T) listShape {
	l := listShape{
		Style: rapid.SampledFrom([]pager.Style{pager.StyleCursor, pager.StyleCursor, pager.StyleCursor, pager.StyleOffset, pager.StylePage}).Draw(t, "style"),
		Order: rapid.SampledFrom([]pager.Order{pager.OrderStable, pager.OrderUnstable, pager.OrderStableAscending}).Draw(t, "order"),
		Size:  rapid.IntRange(1, 4).Draw(t, "page size"), Most: rapid.IntRange(1, 4).Draw(t, "most"),
		Trailing: sometimes(t, 3, "an empty last page"), Totals: sometimes(t, 3, "totals"),
	}
	l.NotReplayable = l.Style == pager.StyleCursor && sometimes(t, 4, "not replayable")
	return l
}

// drawContract makes the list one over HTTP.
func drawContract(t *rapid.T, s *shape, contracts []adapters.Contract) {
	s.List = overHTTP(rapid.SampledFrom(contracts).Draw(t, "contract"), s.List.Size)
	s.List.Skew = rapid.SampledFrom([]time.Duration{0, time.Hour, -time.Hour}).Draw(t, "the server's clock")
	s.Cutoff, s.Incremental = everypage.NoCutoff, false
}

// answersOf returns what can be wrong with an answer of a list.
func answersOf(l listShape) []fault {
	all := faults()
	if l.Contract == nil {
		return all
	}
	var spoken []fault
	for _, f := range all {
		switch f.name {
		case "429 with an instant", "429 without an instant", "500", "a cut body", "a hang", "401", "404", "a body that is no list page":
			spoken = append(spoken, f)
		}
	}
	return spoken
}

// sometimes is true one time in n.
func sometimes(t *rapid.T, n int, label string) bool {
	return rapid.IntRange(1, n).Draw(t, label) == n
}

// drawProcess draws a process and what happens to it.
func (m *machine) drawProcess(t *rapid.T) *process {
	w := m.w
	l := newProcess(w, manner{
		Concurrency: rapid.IntRange(1, 3).Draw(t, "concurrency"), BatchSize: rapid.IntRange(1, 3).Draw(t, "batch"),
		ReadAhead: rapid.Bool().Draw(t, "read ahead"), Force: rapid.Bool().Draw(t, "force"),
	})
	if sometimes(t, 3, "waits in place") {
		l.manner.WaitUpTo = 10 * time.Minute
	}
	if sometimes(t, 4, "supersedes lost cursors") {
		l.manner.SupersedeLost = 2
	}
	for range rapid.SampledFrom([]int{0, 1, 1, 2}).Draw(t, "incidents") {
		l.incidents = append(l.incidents, m.drawIncident(t, l))
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "odd calls") {
		l.outcomes[rapid.IntRange(1, 5).Draw(t, "call")] = rapid.SampledFrom(fatesOf(w.shape.Form)).Draw(t, "outcome")
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 1}).Draw(t, "odd answers") {
		l.faults[rapid.IntRange(1, 4).Draw(t, "request")] = rapid.SampledFrom(answersOf(w.shape.List)).Draw(t, "answer")
	}
	return l
}

// fatesOf returns what can become of a call of a job in a form.
func fatesOf(f form) []fate {
	all := []fate{failsBefore, failsAfter, answerLost, limitsSink, limitsLate, notDone, permanent, slow}
	if f == loops {
		return append(all, leaves) // a panic there is the caller's own
	}
	return append(all, panics, exits)
}

// drawIncident draws one thing that happens to a process, and when.
func (m *machine) drawIncident(t *rapid.T, l *process) incident {
	points := []moment{atRequest, atAnswer, beforeCommit, afterCommit, atCall, atEffect}
	if m.w.shape.Pebble {
		points = append(points, atSync, atSync)
	}
	i := incident{at: rapid.SampledFrom(points).Draw(t, "when"), n: rapid.IntRange(1, 8).Draw(t, "which")}
	kinds := []string{"dies", "dies kept", "leaves", "list"}
	switch i.at {
	case beforeCommit, afterCommit:
		kinds = append(kinds, "ledger")
	case atRequest, atCall:
		kinds = append(kinds, "second")
	case atAnswer, atEffect, atSync:
	}
	switch rapid.SampledFrom(kinds).Draw(t, "what") {
	case "dies":
		i.what, i.do = "it dies, unsynced data lost", func() { l.die(0) }
	case "dies kept":
		i.what, i.do = "it dies, unsynced data kept", func() { l.die(100) }
	case "leaves":
		i.what, i.do = "its caller leaves", l.leave
	case "ledger":
		i.what, i.do = "the ledger fails", func() {
			l.failed = true
			m.w.deaths++ // as far as the ledger can tell
		}
	case "second":
		i.what, i.do = "a second runner tries", func() { l.later = append(l.later, m.w.intrude) }
	default:
		c := m.drawChange(t)
		i.what, i.do = "the list changes", func() { m.apply(c) }
	}
	return i
}

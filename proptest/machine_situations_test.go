package proptest

import (
	"maps"
	"slices"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/tier"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// situations are what a machine has to bring about in the middle tier. Each comes up
// dozens of times there, so that none of them is missing by chance.
func situations() []string {
	all := []string{
		"complete", "definition refused", "complete run asked for", "api: expire",
		"list: insert", "list: delete", "list: update", "list: move", "list: copy",
		"sink: remembered", "sink: 422", "sink: confirm",
		"decision: retry", "decision: retry by name", "decision: accept", "decision: write off", "decision: supersede",
		"at request: a second runner tries", "at call: a second runner tries",
		"at before record: the ledger fails", "at after record: the ledger fails",
		"at most once", "read ahead", "drop vanished", "confirm", "keys forgotten", "a deadline", "incremental",
		"not replayable", "once a job", "several runs",
	}
	for _, at := range []moment{atRequest, atAnswer, beforeCommit, afterCommit, atCall, atEffect} {
		for _, what := range []string{"it dies, unsynced data lost", "it dies, unsynced data kept", "its caller leaves", "the list changes"} {
			all = append(all, "at "+string(at)+": "+what)
		}
	}
	for _, f := range faults() {
		all = append(all, "answer: "+f.name)
	}
	for _, f := range append(fatesOf(oneByOne), leaves) {
		all = append(all, "call: "+string(f))
	}
	for _, f := range []form{oneByOne, batches, loops} {
		all = append(all, "form: "+string(f))
	}
	for _, s := range []pager.Style{pager.StyleCursor, pager.StyleOffset, pager.StylePage} {
		all = append(all, "style: "+string(s))
	}
	for _, c := range []everypage.Cutoff{everypage.NoCutoff, everypage.ClientCutoff, everypage.ServerCutoff} {
		all = append(all, "cutoff: "+string(c))
	}
	for _, code := range reachable() {
		all = append(all, "reason: "+string(code))
	}
	for _, code := range []pager.Code{
		state.HoldAttempts, state.HoldPermanent, state.HoldInDoubt, state.HoldPoison, state.HoldVanished, state.HoldCreatedAt, state.HoldKeyMismatch,
	} {
		all = append(all, "held: "+string(code))
	}
	return all
}

// reachable are the reasons that a world can give. The others are
// end_not_observed and items_pending, which a walk cannot end with, and superseded,
// which the successor answers for.
func reachable() []pager.Code {
	return []pager.Code{
		pager.CodeRateLimited, pager.CodeQuotaExhausted, pager.CodeServerError, pager.CodeTransport, state.CodeCancelled,
		state.CodeDeadlinePassed, state.CodeSinkLimited, pager.CodeUnauthorized, pager.CodeRequestRefused, pager.CodeNotAList,
		pager.CodeBodyTooLarge, pager.CodeCrossOrigin, pager.CodePagerFailed, state.CodeSequenceStopped, state.CodeItemsHeld,
		state.CodeConflictsOpen, pager.CodeCursorExpired, pager.CodeCursorMissing, pager.CodeEndUnknown, state.CodeCursorRepeated,
		state.CodeNoProgress, state.CodeCursorLost, state.CodeEntriesWithoutID, state.CodeEndVetoed, state.CodeListShifted,
	}
}

// wantAll fails, in the middle tier and the long one, where a situation never came
// up.
func wantAll(t *testing.T, counts map[string]int, wanted []string) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%8d  %s", counts[what], what)
	}
	if t.Failed() || tier.Current() == tier.Short {
		return
	}
	for _, what := range wanted {
		if counts[what] == 0 {
			t.Errorf("it never came up: %s", what)
		}
	}
}

// countShape counts what kind of job and list a check is about.
func (m *machine) countShape() {
	s := m.w.shape
	if c := s.List.Contract; c != nil {
		m.w.count("contract: " + c.Name)
	}
	for what, is := range map[string]bool{
		"at most once": s.AtMostOnce, "drop vanished": s.DropVanished, "confirm": s.Confirm, "keys forgotten": s.KeyRetention > 0,
		"a deadline": s.Deadline > 0, "incremental": s.Incremental, "not replayable": s.List.NotReplayable,
		"once a job":              s.Once == everypage.OnceAJob,
		"form: " + string(s.Form): true, "style: " + string(s.List.Style): true, "cutoff: " + string(s.Cutoff): true,
	} {
		if is {
			m.w.count(what)
		}
	}
}

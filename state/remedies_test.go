package state_test

import (
	"slices"
	"testing"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// A receipt offers what its reason allows, without what would change nothing.
func TestReceiptRemedies(t *testing.T) {
	needs := func(code pager.Code, edit ...func(*state.Receipt)) state.Receipt {
		r := state.Receipt{Status: state.NeedsReview, TerminalObserved: true, Reason: &state.Reason{Code: code}}
		for _, change := range edit {
			change(&r)
		}
		return r
	}
	held := func(r *state.Receipt) { r.HeldCount, r.PendingCount = 1, 1 }
	conflict := func(r *state.Receipt) { r.DuplicateConflicts = 1 }
	vetoed := func(r *state.Receipt) { r.Vetoes, r.TerminalObserved = []string{"incomplete_results=true"}, false }
	for name, c := range map[string]struct {
		receipt state.Receipt
		want    []state.Remedy
	}{
		"running":                      {state.Receipt{Status: state.Running}, nil},
		"complete":                     {state.Receipt{Status: state.Complete}, nil},
		"paused":                       {state.Receipt{Status: state.Paused, Reason: &state.Reason{Code: pager.CodeRateLimited}}, []state.Remedy{state.RunAgain}},
		"superseded":                   {needs(state.CodeListShifted, func(r *state.Receipt) { r.SupersededBy = "next" }), nil},
		"held items":                   {needs(state.CodeItemsHeld, held), []state.Remedy{state.Reopen, state.Accept, state.Supersede}},
		"open conflicts alone":         {needs(state.CodeConflictsOpen, conflict), []state.Remedy{state.Accept, state.Supersede}},
		"open conflicts and held":      {needs(state.CodeConflictsOpen, conflict, held), []state.Remedy{state.Accept, state.Reopen, state.Supersede}},
		"refused credentials":          {needs(pager.CodeUnauthorized), []state.Remedy{state.Reopen, state.Supersede}},
		"refused credentials and veto": {needs(pager.CodeUnauthorized, vetoed), []state.Remedy{state.Supersede}},
		"held items and a veto":        {needs(state.CodeItemsHeld, held, vetoed), []state.Remedy{state.Accept, state.Supersede}},
		"a lost cursor":                {needs(state.CodeCursorLost), []state.Remedy{state.Supersede}},
	} {
		if got := c.receipt.Remedies(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

package proptest

import (
	"context"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// outcome is what the ledger holds when the script is over.
type outcome struct {
	receipt   state.Receipt
	done      []string
	held      []string
	deferred  []string
	differing int64 // copies in one answer that differ
}

// outcome reads the ledger.
func (p *play) outcome(ctx context.Context) (*outcome, error) {
	ledger, err := p.open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = ledger.Close() }()
	o := &outcome{receipt: state.Receipt{Status: "not begun"}}
	newest := true
	for run, err := range ledger.Runs(ctx, store.RunFilter{}) {
		if err != nil {
			return nil, err
		}
		if newest {
			o.receipt = run.Receipt
		}
		if err := o.add(ctx, ledger, run.Receipt.RunID, newest); err != nil {
			return nil, err
		}
		newest = false
	}
	return o, nil
}

// add adds the items of a run. Of an older one only what it did counts.
func (o *outcome) add(ctx context.Context, ledger store.Reader, runID string, newest bool) error {
	for item, err := range everypage.Items(ctx, ledger, runID) {
		if err != nil {
			return err
		}
		switch item.State {
		case store.StateDone:
			o.done = append(o.done, item.ID)
		case store.StateHeld:
			if newest {
				o.held = append(o.held, item.ID)
			}
		case store.StateDeferred:
			if newest {
				o.deferred = append(o.deferred, item.ID)
			}
		case store.StateUnknown, store.StatePending, store.StateDropped:
		}
	}
	if !newest {
		return nil
	}
	for c, err := range ledger.Conflicts(ctx, runID) {
		if err != nil {
			return err
		}
		if c.FirstPage == c.Page {
			o.differing++
		}
	}
	return nil
}

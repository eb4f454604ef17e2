package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// demoJob and demoRunID name what the demo runs.
const (
	demoJob    = "overdue-tickets"
	demoAction = "remind"
	demoRunID  = "demo"
)

const demoHelp = `Seven overdue tickets, A to G, three a page, each to get one note in a CRM. Both
APIs are simulated on this machine's loopback, and nothing else is contacted.

A process of its own runs the job. It is killed without warning after the CRM made
the note for E, on page 2, and before anybody could record that. A second process
goes on. Then the claims of this library are checked against what the two APIs saw,
and a claim that does not hold makes the exit code 1.

With --json: passed, claims (each with claim, holds and seen), killed and receipt, the
two receipts with their own names.`

func newDemo(std streams) *cobra.Command {
	var forgetful, keep, asJSON bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Be killed in the middle of a list, come back, and prove that nothing was lost or done twice",
		Long:  demoHelp,
		Example: `  everypage demo
  everypage demo --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demo(cmd.Context(), std, forgetful, keep, asJSON)
		},
	}
	cmd.Flags().BoolVar(&forgetful, "forgetful-crm", false, "use a CRM that honours no keys, to see a claim fail")
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the ledger's folder and say where it is")
	jsonFlag(cmd, &asJSON)
	_ = cmd.Flags().MarkHidden("forgetful-crm") // the flag is there
	return cmd
}

// demo tells the story and checks it.
func demo(ctx context.Context, std streams, forgetful, keep, asJSON bool) (err error) {
	answers := std
	if asJSON {
		std.out = io.Discard // the story
	}
	folder, err := os.MkdirTemp("", "everypage-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	if !keep {
		defer func() { _ = os.RemoveAll(folder) }() // of temporary things
	}
	world, err := newDemoWorld(filepath.Join(folder, "ledger"), std.err, forgetful) //nolint:contextcheck // its servers are stopped, not cancelled
	if err != nil {
		return err
	}
	defer world.close()
	tell(std.out, `everypage demo: seven overdue tickets, A to G, three a page, one note each in a CRM

1. A process runs the job; it is killed once the CRM has made the note for E
`)
	if err := world.runUntilEffect(ctx, "E"); err != nil {
		return err
	}
	killed, err := world.look(ctx)
	if err != nil {
		return err
	}
	tell(std.out, "   killed: its ledger says %d tickets done, the CRM has %d notes\n", killed.receipt.ProcessedUnique, len(world.crm.Notes()))
	tell(std.out, "\n2. The receipt that the dead process left\n\n")
	if err := printReceipt(std.out, &killed.receipt); err != nil {
		return err
	}
	tell(std.out, `
   It says running, and nobody is running: a killed process can write no farewell,
   and leaves no lock. It does not say complete: the end was not observed, and %d
   tickets are pending. E is one of them, although its note exists.

3. Another process runs the same job
`, killed.receipt.PendingCount)
	if err := world.runToEnd(ctx); err != nil {
		return err
	}
	final, err := world.look(ctx)
	if err != nil {
		return err
	}
	tell(std.out, "   It read page 2 again at the recorded cursor, and sent E under the same key.\n\n4. The receipt at the end\n\n")
	if err := printReceipt(std.out, &final.receipt); err != nil {
		return err
	}
	if keep {
		tell(std.out, "\n   everypage events %s --ledger %s\n", demoRunID, word(world.ledger))
	}
	tell(std.out, "\n5. What is claimed, and what the two APIs saw\n\n")
	failed, answer := 0, demoAnswer{Killed: killed.receipt.Redacted(), Receipt: final.receipt.Redacted()}
	for _, claim := range world.claims(killed, final) {
		answer.Claims = append(answer.Claims, demoClaim{claim.text, claim.holds, claim.seen})
		mark := "ok  "
		if !claim.holds {
			mark = "FAIL"
			failed++
		}
		tell(std.out, "   %s  %s: %s\n", mark, claim.text, claim.seen)
	}
	if answer.Passed = failed == 0; asJSON {
		if err := printJSON(answers, answer); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &exitError{exitClaim, fmt.Errorf("%s", number(int64(failed), "claim does not hold", "claims do not hold"))}
	}
	tell(std.out, "\nEvery page, every item, once.\n")
	return nil
}

// demoAnswer is the answer of demo as JSON shows it. Its names are kept.
type demoAnswer struct {
	Passed  bool          `json:"passed"`
	Claims  []demoClaim   `json:"claims"`
	Killed  state.Receipt `json:"killed"`
	Receipt state.Receipt `json:"receipt"`
}

type demoClaim struct {
	Claim string `json:"claim"`
	Holds bool   `json:"holds"`
	Seen  string `json:"seen"`
}

// tell prints a part of the story. Who cannot read it learns from the exit code.
func tell(out io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }

// sight is what the ledger says at one moment.
type sight struct {
	receipt state.Receipt
	recount state.Receipt
	pages   []store.Page
	done    map[string]bool
}

// look reads the demo's ledger, which nobody else has open.
func (w *demoWorld) look(ctx context.Context) (seen sight, err error) {
	err = readLedger(ctx, w.ledger, func(ledger store.Store) error {
		run, err := ledger.Run(ctx, demoRunID)
		if err != nil {
			return err
		}
		recount, err := everypage.Recount(ctx, ledger, demoRunID)
		if err != nil {
			return err
		}
		seen = sight{receipt: run.Receipt, recount: *recount, done: map[string]bool{}}
		for page, err := range ledger.Pages(ctx, demoRunID, 0) {
			if err != nil {
				return err
			}
			seen.pages = append(seen.pages, page)
		}
		for item, err := range everypage.Items(ctx, ledger, demoRunID) {
			if err != nil {
				return err
			}
			seen.done[item.ID] = item.State == store.StateDone
		}
		return nil
	})
	return seen, err
}

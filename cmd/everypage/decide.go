package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// decision is how the library carries out what a person decides.
type decision func(ctx context.Context, ledger store.Store, runID string, d everypage.Decision) (*state.Receipt, error)

func newRetry(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retry RUN --by NAME --ledger DIR [--item ID]…",
		Short: "Let a run that needs review go on, and try its held items again",
		Long: `Let a run that needs review go on. Held items are tried again from their stored
bytes, with their old key and fresh attempts: those that are named, or else all
except those in doubt and those whose key the other side knows with another body;
they must be named. An item without stored bytes cannot be tried again: accept it,
or supersede the run. Then run the job again.`,
		Example: `  everypage retry march --ledger ./ledger --by Ann
  everypage retry march --ledger ./ledger --by Ann --item 5 --json`,
	}
	return newDecision(std, cmd, everypage.Retry, func(r *state.Receipt, _ string) string {
		return fmt.Sprintf("run %s is open again: %s. Now run the job again, with the same command as before", r.RunID, counts(r))
	})
}

func newAccept(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "accept RUN --by NAME --note WHY --ledger DIR [--item ID]…",
		Short: "Take a run's conflicts, or held items that are named, as they are",
		Long: `Take a run's open conflicts as they are; with --item those of the named items, and
held items among them are written off. Name and note stay in the ledger, and the
number in the receipt.`,
		Example: `  everypage accept march --ledger ./ledger --by Ann --note 'the customer left' --item 5`,
	}
	return newDecision(std, cmd, everypage.Accept, func(r *state.Receipt, dir string) string {
		return fmt.Sprintf("run %s %s: %s. %s", r.RunID, stands(r.Status), counts(r), nextStep(r, dir))
	})
}

func newSupersede(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "supersede RUN --by NAME --note WHY --ledger DIR",
		Short: "Begin a new listing in place of a run: what is done stays done",
		Long: `Begin a new run of the same lineage, which lists from the start. What is done stays
done, what is in doubt keeps its key, and what is owed stays owed. Then run the job
again; another filter, page size or contract may be given to it.`,
		Example: `  everypage supersede march --ledger ./ledger --by Ann --note 'the filter was wrong'`,
	}
	return newDecision(std, cmd, everypage.Supersede, func(r *state.Receipt, _ string) string {
		return fmt.Sprintf("run %s takes the place of %s. Now run the job again", r.RunID, r.Supersedes)
	})
}

func newDecision(std streams, cmd *cobra.Command, decide decision, done func(r *state.Receipt, dir string) string) *cobra.Command {
	var (
		d      everypage.Decision
		asJSON bool
	)
	cmd.Long += "\n\nWith --json: the receipt of the run that goes on, with the receipt's own names."
	cmd.Args = exactly("a run's ID")
	cmd.DisableFlagsInUseLine = true
	flags := cmd.Flags()
	flags.StringVar(&d.By, "by", "", "`name` of the person who decides; it stays in the ledger")
	flags.StringVar(&d.Note, "note", "", "`text` that says why")
	if cmd.Name() != "supersede" {
		flags.StringArrayVar(&d.Items, "item", nil, "`ID` of an item that it is about; may be repeated")
	}
	jsonFlag(cmd, &asJSON)
	ledger := ledgerFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := ledger()
		if d.By == "" {
			err = errors.Join(err, usagef("--by is missing: say who decides"))
		}
		if d.Note == "" && cmd.Name() != "retry" {
			err = errors.Join(err, usagef("--note is missing: say why, for whoever reads the ledger later"))
		}
		if err != nil {
			return err
		}
		return readLedger(cmd.Context(), dir, func(ledger store.Store) error {
			receipt, err := decide(cmd.Context(), ledger, args[0], d)
			if err != nil {
				return err
			}
			if asJSON {
				return printReceiptJSON(std, receipt)
			}
			_, err = fmt.Fprintln(std.out, visible.Line("everypage: "+done(receipt, dir)))
			return err
		})
	}
	return cmd
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

func newShow(std streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show RUN|JOB --ledger DIR",
		Short: "Print a run's receipt",
		Long: `Print the receipt of a run, or of a job's newest run, as YAML. While a live run has
the ledger open, the receipt comes from the mirror beside it and is up to a second
old; a note on standard error says so. Credentials are left out.`,
		DisableFlagsInUseLine: true,
		Args:                  exactly("a run's ID or a job's name"),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	ledger := ledgerFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := ledger()
		if err != nil {
			return err
		}
		receipt, err := findReceipt(cmd.Context(), std, dir, args[0])
		if err != nil {
			return err
		}
		if !asJSON {
			return printReceipt(std.out, receipt)
		}
		redacted := receipt.Redacted()
		data, err := redacted.JSON()
		if err != nil {
			return err
		}
		_, err = std.out.Write(data)
		return err
	}
	return cmd
}

// findReceipt returns a receipt from the ledger, or from its mirror while
// somebody else has the ledger open.
func findReceipt(ctx context.Context, std streams, dir, name string) (*state.Receipt, error) {
	var receipt *state.Receipt
	err := readLedger(ctx, dir, func(ledger store.Store) error {
		run, err := findRun(ctx, ledger, name)
		receipt = &run.Receipt
		return err
	})
	if !errors.Is(err, store.ErrLocked) {
		return receipt, err
	}
	for mirrored, failed := range pebblestore.Mirror(ctx, dir) {
		if failed != nil {
			return nil, errors.Join(err, failed)
		}
		if mirrored.RunID == name || mirrored.Job == name {
			_, _ = fmt.Fprintf(std.err, "everypage: the ledger is in use; this receipt is from its mirror, as of %s\n", mirrored.UpdatedAt.Format(time.RFC3339))
			return &mirrored, nil
		}
	}
	return nil, fmt.Errorf("%w; the mirror has only each job's newest run, and none is %q", err, name)
}

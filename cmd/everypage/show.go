package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
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
the ledger open, or where this user may not write in the ledger's folder, the receipt
comes from the mirror beside it, which has each job's newest run and may be a second
behind; a note on standard error says so. Credentials are left out.
With --json it is JSON, with the same names.`,
		Example: `  everypage show tickets --ledger ./ledger
  everypage show march --ledger ./ledger --json`,
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
			return printReceipt(std.answers(), receipt)
		}
		return printReceiptJSON(std, receipt)
	}
	return cmd
}

// printReceiptJSON writes a receipt as JSON, with credentials left out.
func printReceiptJSON(std streams, receipt *state.Receipt) error {
	redacted := receipt.Redacted()
	data, err := redacted.JSON()
	if err != nil {
		return err
	}
	if _, err = std.answers().Write(data); err != nil {
		return fmt.Errorf("print the receipt: %w", err)
	}
	return nil
}

// findReceipt returns a receipt from the ledger, or from its mirror where the
// ledger cannot be opened: while somebody else has it open, and where nothing may
// be written, not even its lock.
func findReceipt(ctx context.Context, std streams, dir, name string) (*state.Receipt, error) {
	var receipt *state.Receipt
	err := readLedger(ctx, dir, func(ledger store.Store) error {
		run, err := findRun(ctx, ledger, name)
		receipt = &run.Receipt
		return err
	})
	why := mirrorInstead(err)
	if why == "" {
		return receipt, err
	}
	for mirrored, failed := range pebblestore.Mirror(ctx, dir) {
		if failed != nil {
			return nil, errors.Join(err, failed)
		}
		if mirrored.RunID == name || mirrored.Job == name {
			_, _ = fmt.Fprintf(std.err, "everypage: the ledger %s; this receipt is from its mirror, as of %s\n", why, mirrored.UpdatedAt.Format(time.RFC3339))
			return &mirrored, nil
		}
	}
	return nil, fmt.Errorf("%w; the mirror has only each job's newest run, and none is %q", err, name)
}

// mirrorInstead says why a ledger cannot be opened although its mirror may well be
// read. It is empty for every other error.
func mirrorInstead(err error) string {
	switch {
	case errors.Is(err, store.ErrLocked):
		return "is in use"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "cannot be written by this user"
	}
	return ""
}

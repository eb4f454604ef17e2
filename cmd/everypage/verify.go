package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store"
)

func newVerify(std streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [RUN|JOB] --ledger DIR",
		Short: "Recount a run from its records, and name what differs from its receipt",
		Long: `Recount a run, or a job's newest run, or without a name every run of the ledger:
each page record, the digest chain over them, each item, conflict and transition, and
compare them with the receipt. What differs is printed, and the exit code is then 1.
With --json, one line for each run.

It finds damage and mistakes. It is no proof against somebody who can write the ledger:
the chain has no key.`,
		Example: `  everypage verify tickets --ledger ./ledger
  everypage verify --ledger ./ledger --json`,
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("%s takes one run's ID or job's name, or none for every run", cmd.CommandPath())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON lines")
	ledger := ledgerFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := ledger()
		if err != nil {
			return err
		}
		return readLedger(cmd.Context(), dir, func(ledger store.Store) error {
			runIDs, err := toVerify(cmd.Context(), ledger, args)
			if err != nil {
				return err
			}
			wrong := 0
			for _, runID := range runIDs {
				report, err := everypage.Verify(cmd.Context(), ledger, runID)
				if report == nil {
					return err
				}
				if err != nil {
					wrong++
				}
				if err := printVerification(std, report, asJSON); err != nil {
					return err
				}
			}
			if wrong > 0 {
				return &exitError{exitClaim, said(fmt.Errorf("%d of %d runs do not add up", wrong, len(runIDs)))}
			}
			return nil
		})
	}
	return cmd
}

// toVerify returns the IDs of the runs that are asked for, the newest first.
func toVerify(ctx context.Context, ledger store.Reader, args []string) ([]string, error) {
	if len(args) == 1 {
		run, err := findRun(ctx, ledger, args[0])
		return []string{run.Receipt.RunID}, err
	}
	var runIDs []string
	for run, err := range ledger.Runs(ctx, store.RunFilter{}) {
		if err != nil {
			return nil, err
		}
		runIDs = append(runIDs, run.Receipt.RunID)
	}
	return runIDs, nil
}

func printVerification(std streams, v *everypage.Verification, asJSON bool) error {
	for i := range v.Findings { // cursors can hold secrets
		f := &v.Findings[i]
		f.Recorded, f.Found, f.Detail = pager.RedactText(f.Recorded), pager.RedactText(f.Found), pager.RedactText(f.Detail)
	}
	if asJSON {
		encoder := json.NewEncoder(std.answers())
		encoder.SetEscapeHTML(false)
		return encoder.Encode(v)
	}
	verdict := "adds up"
	if v.Found > 0 {
		verdict = "does not add up"
	}
	_, err := fmt.Fprintln(std.out, visible.Line(fmt.Sprintf("run %s of job %s %s: it %s, %s, %s, digest %s",
		v.RunID, v.Job, verdict, stands(v.Status), number(int64(v.Pages), "page", "pages"), number(v.Items, "item", "items"), v.Digest)))
	for _, f := range v.Findings {
		_, failed := fmt.Fprintln(std.out, visible.Line(fmt.Sprintf("  %s: %s", f.Kind, f)))
		err = errors.Join(err, failed)
	}
	if more := v.Found - len(v.Findings); more > 0 {
		_, failed := fmt.Fprintf(std.out, "  and %d more\n", more)
		err = errors.Join(err, failed)
	}
	if v.TakenOver {
		_, failed := fmt.Fprintln(std.out, "  a later run met its items; its counters can no longer be recounted")
		err = errors.Join(err, failed)
	}
	return err
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/store"
)

func newPrune(std streams) *cobra.Command {
	var p everypage.Pruning
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "prune --ledger DIR (--dry-run | --by NAME) [--job JOB] [--keep N] [--older-than DURATION]",
		Short: "Remove old complete runs from a ledger",
		Long: `Remove complete runs, with their receipts and records: all but the newest of each job,
or as many of the newest as --keep says, and only those that were finished at least
--older-than ago. What a later run needs stays: open runs and what they supersede, the
last complete run of each endpoint and filter, from whose cutoff an incremental job goes
on, and the items of a once-a-job job.

--dry-run tells what would be removed. Without it --by is needed: the name stays in the
ledger. Nothing brings a removed run back; see "everypage backup".`,
		Example: `  everypage prune --ledger ./ledger --keep 3 --older-than 720h --dry-run
  everypage prune --ledger ./ledger --keep 3 --older-than 720h --by Ann --json`,
		DisableFlagsInUseLine: true,
		Args:                  exactly(),
	}
	flags := cmd.Flags()
	flags.StringVar(&p.Job, "job", "", "`name` of the job whose runs are meant; defaults to every job")
	flags.IntVar(&p.Keep, "keep", 1, "`number` of each job's newest complete runs that stay")
	flags.DurationVar(&p.OlderThan, "older-than", 0, "`time` since a run was finished, such as 720h")
	flags.StringVar(&p.By, "by", "", "`name` of the person who decides; it stays in the ledger")
	flags.BoolVar(&p.DryRun, "dry-run", false, "tell what would be removed, and remove nothing")
	flags.BoolVar(&asJSON, "json", false, "print JSON lines")
	ledger := ledgerFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := ledger()
		switch {
		case p.By == "" && !p.DryRun:
			err = errors.Join(err, usagef("--by is missing: say who decides, or look first with --dry-run"))
		case p.Keep < 1:
			err = errors.Join(err, usagef("--keep must be at least 1: a job's newest complete run stays"))
		case p.OlderThan < 0:
			err = errors.Join(err, usagef("--older-than must not be negative"))
		}
		if err != nil {
			return err
		}
		return readLedger(cmd.Context(), dir, func(ledger store.Store) error {
			pruned, err := everypage.Prune(cmd.Context(), ledger, p)
			return errors.Join(printPruned(std, pruned, p.DryRun, asJSON), err)
		})
	}
	return cmd
}

func printPruned(std streams, pruned []everypage.PrunedRun, dry, asJSON bool) error {
	removed, verb := 0, "removed"
	if dry {
		verb = "would be removed"
	}
	encoder := json.NewEncoder(std.answers())
	encoder.SetEscapeHTML(false)
	for _, run := range pruned {
		removed += len(run.Runs)
		what := verb
		if !run.Removed {
			removed -= len(run.Runs)
			what = "stays: " + run.Kept
		}
		var err error
		if asJSON {
			err = encoder.Encode(run)
		} else {
			_, err = fmt.Fprintln(std.out, visible.Line(fmt.Sprintf("run %s of job %s, finished %s, %s: %s",
				run.RunID, run.Job, run.FinishedAt.Format(time.RFC3339), number(int64(run.Pages), "page", "pages"), what)))
		}
		if err != nil {
			return err
		}
	}
	if asJSON {
		return nil
	}
	_, err := fmt.Fprintf(std.out, "%s %s\n", number(int64(removed), "run", "runs"), verb)
	return err
}

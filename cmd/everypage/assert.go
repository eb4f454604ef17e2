package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

const assertHelp = `Succeed only where the ledger holds a complete receipt of JOB that became complete at
most --max-age ago, and whose records add up to it. It is the gate that a pipeline, or
the supervisor of an agent, puts before the word "done":

  everypage assert invoices --max-age 24h --newest && echo done

A run that was begun later and is not complete is no obstacle, since a job that runs
every hour is vouched for while it is at work. With --newest it is one: the newest run
itself has to be complete. That is what to ask of an agent that has just run a job.

Nothing is called and nothing is changed. The ledger must not be in use.

Exit codes: 0 vouched for, 1 not, 66 there is no such ledger or job, 75 the ledger is
in use (ask again), 70 it is damaged, 64 wrong call.

With --json one object goes to standard output in each case but a wrong call: job,
vouched (true or false), why (null; or no_ledger, no_run, not_complete, too_old,
future, unverified, in_use, failed), detail, next (what to do), age_seconds, notes,
and receipt (null, or the receipt that was found, with its own names).`

// asserted is the answer of assert as JSON shows it. Its names are kept.
type asserted struct {
	Job        string         `json:"job"`
	Vouched    bool           `json:"vouched"`
	Why        *string        `json:"why"`
	Detail     string         `json:"detail,omitempty"`
	Next       string         `json:"next,omitempty"`
	AgeSeconds *int64         `json:"age_seconds"`
	Notes      []string       `json:"notes"`
	Receipt    *state.Receipt `json:"receipt"`
}

func newAssert(std streams) *cobra.Command {
	var (
		options everypage.AssertOptions
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:   "assert JOB --max-age 24h --ledger DIR",
		Short: "Succeed only where a complete receipt of a job exists, is fresh, and verifies",
		Long:  assertHelp,
		Example: `  everypage assert tickets --max-age 24h --ledger ./ledger
  everypage assert tickets --max-age 1h --newest --ledger ./ledger --json`,
		DisableFlagsInUseLine: true,
		Args:                  exactly("a job's name"),
	}
	cmd.Flags().DurationVar(&options.MaxAge, "max-age", 0, "how long ago the run may have become complete, such as 24h; defaults to any age")
	cmd.Flags().BoolVar(&options.Newest, "newest", false, "the job's newest run itself has to be complete")
	jsonFlag(cmd, &asJSON)
	ledger := ledgerFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := ledger()
		if options.MaxAge < 0 {
			err = errors.Join(err, usagef("--max-age is negative: name a span such as 24h, or leave it out"))
		}
		if err != nil {
			return err
		}
		return assert(cmd.Context(), std, dir, args[0], options, asJSON)
	}
	return cmd
}

func assert(ctx context.Context, std streams, dir, job string, options everypage.AssertOptions, asJSON bool) error {
	var receipt *state.Receipt
	options.Clock = everypage.SystemClock{}
	err := readLedger(ctx, dir, func(ledger store.Store) (err error) {
		receipt, err = everypage.Assert(ctx, ledger, job, &options)
		return err
	})
	answer := asserted{Job: job, Vouched: err == nil, Notes: []string{}}
	if err != nil {
		err = answer.deny(err, dir)
	} else {
		answer.found(receipt, options.Clock.Now())
	}
	if asJSON {
		if failed := printJSON(std, answer); failed != nil || err == nil {
			return failed
		}
		return err
	}
	if err != nil {
		return err
	}
	text := fmt.Sprintf("everypage: job %s is vouched for by run %s: complete %s ago, %s, and its records add up",
		job, receipt.RunID, time.Duration(*answer.AgeSeconds)*time.Second, counts(receipt))
	text = strings.Join(append([]string{text}, answer.Notes...), "; ")
	_, err = fmt.Fprintln(std.out, visible.Line(text))
	return err
}

// found fills in what a receipt says.
func (a *asserted) found(receipt *state.Receipt, now time.Time) {
	redacted := receipt.Redacted()
	a.Receipt = &redacted
	if receipt.FinishedAt.IsZero() {
		return
	}
	age := int64(now.Sub(receipt.FinishedAt).Seconds())
	a.AgeSeconds = &age
	note := func(is bool, text string, args ...any) {
		if is {
			a.Notes = append(a.Notes, fmt.Sprintf(text, args...))
		}
	}
	note(receipt.BoundedFeed, "the list is the first few of something by contract, and complete means no more than that")
	note(receipt.UnstableAccepted, "its caller accepted a walk that can miss items (order_class %s)", receipt.OrderClass)
	note(receipt.WrittenOff > 0, "%s written off by a person", number(receipt.WrittenOff, "item was", "items were"))
	note(receipt.ConflictsAccepted > 0, "%s accepted by a person", number(receipt.ConflictsAccepted, "conflict was", "conflicts were"))
	note(receipt.VanishedCount > 0, "%s dropped since the list no longer had them", number(receipt.VanishedCount, "item was", "items were"))
	note(receipt.DeferredCount > 0, "%s created after the cutoff, for the next run", number(receipt.DeferredCount, "item was", "items were"))
}

// deny fills in why not, and what to do. It returns the error for standard error.
func (a *asserted) deny(err error, dir string) error {
	code, why := codeOf(err), "failed"
	at := " --ledger " + word(dir)
	a.Detail = sentence(err)
	if denied, ok := errors.AsType[*everypage.AssertError](err); ok {
		code, why, a.Detail = exitClaim, string(denied.Why), sentence(errors.New(denied.Detail))
		if denied.Receipt != nil {
			a.found(denied.Receipt, everypage.SystemClock{}.Now())
		}
		switch denied.Why {
		case everypage.DenialNoRun:
			code = exitNotFound
			a.Next = "Look which jobs there are: everypage runs" + at
		case everypage.DenialNotComplete:
			a.Next = nextStep(denied.Receipt, dir)
		case everypage.DenialTooOld:
			a.Next = "Run the job again, with the same command as before"
		case everypage.DenialFuture:
			a.Next = "Set the clock of this machine right, or of the one that the job ran on"
		case everypage.DenialUnverified:
			a.Next = "Restore a backup of the ledger, or run the job again into a new one"
		}
	} else {
		switch {
		case errors.Is(err, store.ErrLocked):
			why, a.Next = "in_use", "Ask again when the run has ended; meanwhile: everypage show "+word(a.Job)+at
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, store.ErrNotFound), code == exitNotFound:
			why, a.Next = "no_ledger", "Name the folder that \"everypage run\" was given"
		}
	}
	a.Why = &why
	return &exitError{code, errors.New(strings.TrimSuffix(fmt.Sprintf("job %s is not vouched for (%s): %s. %s", a.Job, why, a.Detail, a.Next), " "))}
}

// sentence is an error without the name of the package that found it.
func sentence(err error) string {
	return strings.TrimPrefix(describe(err), "everypage: ")
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/sink/jsonlines"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

const runHelp = `Walk the list at URL by a contract, and do something to each of its items once:
write it as a line to a file, or hand it to a command. Run the same command line
again after any stop; it goes on where it stood. Run again after a complete run, it
starts a new one, unless --run-id names the complete one: then nothing is called.

WITH --out FILE each item is one line, as the API sent it, in compact form. Exactly
one line stands in FILE for each item that the receipt counts as processed, also
after a kill or a power cut: a line is durable in a journal beside the file (the
folder FILE.everypage) before its item counts as done, and the next start brings
both into line. Several runs of one job append to one file. A file of another job
or ledger, or one that was cut or appended to, or whose last line was edited, is
refused and left alone. An edit further up that keeps the length is not noticed.
The action is always "write" here, and no command may have that one: so no run that
began with the one kind goes on with the other.

WITH -- COMMAND each item is handed to the command on its standard input, as one
line, with these variables:
  EVERYPAGE_KEY      the idempotency key: the same for every call for this item
  EVERYPAGE_ITEM_ID  the item's ID
  EVERYPAGE_RUN_ID   the run
  EVERYPAGE_ATTEMPT  which call this is, from 1
Its exit code says what became of the item:
  0      done; never handed over again
  75     the other side is limiting: pause the run, and call again later
  65     it cannot succeed: hold the item for a person
  other  try again, with the same key, up to --attempts; then hold the item
The end of what it writes to standard error becomes the error; control characters in
it are shown escaped. Its standard output is passed on as it is. It must close both:
where something that it started in the background keeps one open, its item waits for
that, for up to ten seconds. It runs in a process group of its own; a stopped run
sends that group SIGTERM, and SIGKILL ten seconds later, and counts an exit code of 0
as done then, too. With --at-most-once it is let finish instead. A kill of everypage
itself does not reach a command that is running.

A FILTER is a part of the URL's query. Credentials belong in --header-env; those in
a URL are kept out of every output.

STOPPING: the first Ctrl-C, SIGTERM or SIGHUP pauses the run cleanly, a second one ends
the command at once; under nohup, SIGHUP does nothing. Who reads the log may go away.
One within a second of the first belongs to it: "timeout" and some
supervisors send two. Neither loses anything.

Exit codes: 0 complete, 75 paused or in use (run it again), 65 needs review (see
"everypage show"), 64 wrong call, 70 internal failure.`

func newRun(std streams) *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run URL --contract NAME --job NAME --ledger DIR (--out FILE | --action NAME -- COMMAND ARGS…)",
		Short: "Walk a list to its end and settle every item once",
		Long:  runHelp,
		Example: `  everypage run 'https://api.example.com/v1/tickets?status=overdue' --contract keyset-catalogue \
    --job overdue --ledger ./ledger --out overdue.jsonl

  everypage run https://api.example.com/v1/tickets --contract keyset-catalogue --header-env Authorization=API_AUTH \
    --job remind --action send-reminder --ledger ./ledger -- ./remind.sh`,
		DisableFlagsInUseLine: true,
		Args:                  cobra.ArbitraryArgs, // they are taken apart below
	}
	flags.register(cmd)
	ledger := ledgerFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		address, command, err := splitArgs(args, cmd.ArgsLenAtDash())
		if err != nil {
			return err
		}
		dir, err := ledger()
		if err := errors.Join(err, flags.check(command)); err != nil {
			return err
		}
		return runJob(cmd.Context(), std, &flags, dir, address, command)
	}
	return cmd
}

// splitArgs takes the URL and the command apart. dash is where "--" stood, or -1.
func splitArgs(args []string, dash int) (address string, command []string, err error) {
	if dash >= 0 {
		args, command = args[:dash], args[dash:]
		if len(command) == 0 {
			return "", nil, usagef("a command is missing after --")
		}
	}
	switch len(args) {
	case 0:
		return "", nil, usagef("the URL of the list is missing; see \"everypage run --help\"")
	case 1:
		return args[0], command, nil
	}
	return "", nil, usagef("there is one URL, and %q comes after it; a command stands behind --", args[1])
}

// runJob runs the job until it is complete or stops, and says how it went.
func runJob(ctx context.Context, std streams, flags *runFlags, dir, address string, command []string) error {
	show := newProgress(std, flags.verbose)
	job, err := flags.build(address, show.log)
	if err != nil {
		return err
	}
	var program *program
	job.Handle = func(context.Context, everypage.Item[json.RawMessage]) error { return nil }
	if len(command) > 0 {
		if program, err = newProgram(std, show, command, flags.atMostOnce); err != nil {
			return err
		}
		job.Handle = program.handle
	}
	if err := job.Validate(); err != nil { // before a ledger is made for it
		return err
	}
	stopped := stopOnSignal(ctx, std, show, program)
	defer stopped.release()
	receipt, err := runOnLedger(stopped, show, flags, dir, job)
	show.close()
	concluded := conclude(std, receipt, err, dir)
	switch {
	case receipt != nil && flags.json:
		return errors.Join(concluded, printReceiptJSON(std, receipt))
	case receipt != nil && flags.receipt:
		return errors.Join(concluded, printReceipt(std.answers(), receipt))
	}
	return concluded
}

// runOnLedger runs the job with its ledger and its file open.
func runOnLedger(ctx *stoppable, show *progress, flags *runFlags, dir string, job everypage.Job[json.RawMessage]) (receipt *state.Receipt, err error) {
	ledger, err := openLedger(dir, show.log)
	if err != nil {
		return nil, err
	}
	defer func() {
		failed := ledger.Close()
		switch {
		case failed == nil:
		case err == nil:
			err = failed
		default: // how the run stands is the last word
			show.log.Error("the ledger was not closed cleanly", "error", failed)
		}
	}()
	job.Options.Observer = show.observer()
	if flags.out != "" {
		file, err := openOut(ctx.Context, ledger, flags, job)
		if err != nil {
			return nil, err
		}
		// The lines are durable before this; closing only tidies.
		defer func() {
			if failed := file.Close(); failed != nil && err == nil {
				show.log.Warn("the output file was not closed cleanly; the next start mends it", "error", failed)
			}
		}()
		write(ctx, &job, file)
	}
	return everypage.Run(ctx.Context, ledger, job)
}

func openOut(ctx context.Context, ledger store.Reader, flags *runFlags, job everypage.Job[json.RawMessage]) (*jsonlines.File, error) {
	return jsonlines.Open(ctx, flags.out, ledger, jsonlines.Options{Job: job.Name, RunID: job.RunID, NewFile: flags.newOut})
}

// write makes the job write its items to a file. A file that fails stops the run:
// other items would fail the same way, and be held for nothing.
func write(ctx *stoppable, job *everypage.Job[json.RawMessage], file *jsonlines.File) {
	job.Confirm = file.Confirm
	job.Options.Observer = everypage.Tee(job.Options.Observer, file.Observer())
	job.Handle = func(_ context.Context, item everypage.Item[json.RawMessage]) error {
		err := file.Append(jsonlines.Line{Key: item.Key, RunID: item.RunID, ItemID: item.ID, JSON: item.Raw})
		if errors.Is(err, jsonlines.ErrFailed) {
			ctx.stop(err)
		}
		return err
	}
}

// printReceipt writes a receipt as YAML, with credentials left out.
func printReceipt(out interface{ Write([]byte) (int, error) }, receipt *state.Receipt) error {
	redacted := receipt.Redacted()
	data, err := redacted.YAML()
	if err != nil {
		return err
	}
	if _, err := out.Write(data); err != nil {
		return fmt.Errorf("print the receipt: %w", err)
	}
	return nil
}

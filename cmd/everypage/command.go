package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/everypage-go/everypage/internal/visible"
)

// streams are where a command reads from and writes to.
type streams struct {
	out io.Writer
	err io.Writer
	// interactive says that err is a terminal that a person looks at.
	interactive bool
	// outTerminal says that out is a terminal, and width how many columns it has; 0
	// says that nothing has to fit.
	outTerminal bool
	width       int
	// errWidth is the same of err.
	errWidth int
}

func terminal() streams {
	std := streams{
		out: os.Stdout, err: os.Stderr, interactive: isTerminal(os.Stderr),
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
	}
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && std.outTerminal {
		std.width = width
	}
	if width, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil && std.interactive {
		std.errWidth = width
	}
	return std
}

// answers is where receipts and JSON go: as they are, or where a terminal shows
// them, made visible.
func (s streams) answers() io.Writer {
	if s.outTerminal {
		return visible.Writer{To: s.out}
	}
	return s.out
}

// execute runs a command line and returns its exit code. An error is printed
// here, once.
func execute(ctx context.Context, std streams, args []string) int {
	root := newRoot(std) //nolint:contextcheck // cobra hands the context to each command
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if text := describe(err); text != "" {
		_, _ = fmt.Fprintln(std.err, text) // there is nowhere else to say it
	}
	return codeOf(err)
}

func newRoot(std streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "everypage",
		Short: "Walk every page of a list API, settle every item once, and prove it",
		Long: `everypage walks a list API to the end that the API itself declares, settles every
item once, comes back safely after any stop, and leaves a receipt.

Exit codes: 0 complete, 64 wrong call, 65 needs review, 66 not found,
70 internal failure, 75 paused or in use: run the same command again.`,
		Example: `  everypage demo
  everypage run 'https://api.example.com/v1/tickets?status=overdue' --contract keyset-catalogue \
    --job overdue --ledger ./ledger --out overdue.jsonl
  everypage show overdue --ledger ./ledger
  everypage assert overdue --max-age 24h --ledger ./ledger`,
		Version:           thisBuild().Version,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              noCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.SetVersionTemplate(thisBuild().String() + "\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%v; see %q", err, cmd.CommandPath()+" --help")
	})
	root.AddCommand(
		newRun(std), newRuns(std), newShow(std), newItems(std), newEvents(std),
		newRetry(std), newAccept(std), newSupersede(std),
		newVerify(std), newExplain(std), newAssert(std),
		newBackup(std), newPrune(std), newServe(std),
		newContracts(std), newProbe(std), newDemo(std), newDemoRun(std), newDrill(std), newDrillRun(std),
		newCompletion(std), newMan(std), newVersion(std),
	)
	completeAll(root)
	return root
}

// noCommand is the check of a root that got words which are no command.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("there is no command %q; see %q", args[0], cmd.CommandPath()+" --help")
}

// exactly is the check of a command that takes a number of arguments, which it
// names.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		if len(names) == 0 {
			return usagef("%s takes no argument, and %q was given", cmd.CommandPath(), args[0])
		}
		return usagef("%s needs %s, and nothing else beside its flags", cmd.CommandPath(), strings.Join(names, " and "))
	}
}

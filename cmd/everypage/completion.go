package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

const completionHelp = `Print a script that teaches a shell to complete everypage's commands, flags, contracts,
and, where --ledger or EVERYPAGE_LEDGER names a ledger, its jobs and runs. Those come
from the ledger's mirror, which has each job's newest run: to complete a word, no
ledger is opened, and no run is disturbed.

bash, for the current shell, or for each (with the package bash-completion):
  source <(everypage completion bash)
  everypage completion bash > ~/.local/share/bash-completion/completions/everypage

zsh, with compinit loaded:
  everypage completion zsh > "${fpath[1]}/_everypage"

fish:
  everypage completion fish > ~/.config/fish/completions/everypage.fish

PowerShell:
  everypage completion powershell | Out-String | Invoke-Expression`

func newCompletion(std streams) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes commands, jobs, runs and contracts",
		Long:  completionHelp,
		Example: `  everypage completion bash
  everypage completion zsh`,
		Args:                  exactly("a shell: " + strings.Join(shells, ", ")),
		ValidArgs:             shells,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			write := map[string]func(io.Writer) error{
				"bash":       func(out io.Writer) error { return cmd.Root().GenBashCompletionV2(out, true) },
				"zsh":        cmd.Root().GenZshCompletion,
				"fish":       func(out io.Writer) error { return cmd.Root().GenFishCompletion(out, true) },
				"powershell": cmd.Root().GenPowerShellCompletionWithDesc,
			}[args[0]]
			if write == nil {
				return usagef("%q is none of %s", args[0], strings.Join(shells, ", "))
			}
			return write(std.out)
		},
	}
}

// completeAll tells every command's arguments and flags how to be completed: by what
// its usage calls them.
func completeAll(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
		switch usage := cmd.Use; {
		case strings.HasPrefix(usage, "retry RUN"), strings.HasPrefix(usage, "accept RUN"), strings.HasPrefix(usage, "supersede RUN"):
			cmd.ValidArgsFunction = once(completeRuns(false))
		case strings.Contains(usage, "RUN|JOB"):
			cmd.ValidArgsFunction = once(completeRuns(true))
		case strings.Contains(usage, " JOB"):
			cmd.ValidArgsFunction = once(completeJobs)
		case strings.HasPrefix(usage, "show NAME"):
			cmd.ValidArgsFunction = once(completeContracts)
		case strings.HasPrefix(usage, "backup"): // a folder
		case strings.Contains(usage, "COMMAND"), strings.Contains(usage, "PROGRAM"): // the shell's own
		default:
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
	flag := func(name string, complete cobra.CompletionFunc) {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, complete) // one that knows better has been there before
		}
	}
	words := func(name string, words ...string) {
		flag(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	flag("job", completeJobs)
	flag("run-id", completeRuns(false))
	if cmd.Name() == "run" {
		flag("contract", func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			names, _ := completeContracts(cmd, args, typed)
			return names, cobra.ShellCompDirectiveDefault // or a file
		})
	}
	flag("ledger", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
	words("status", texts(state.Statuses())...)
	words("state", itemStates()...)
	words("order", texts([]pager.Order{pager.OrderUnstable, pager.OrderStable, pager.OrderStableAscending})...)
	words("once", texts([]everypage.Once{everypage.OnceARun, everypage.OnceAJob})...)
	words("cutoff", texts([]everypage.Cutoff{everypage.NoCutoff, everypage.ClientCutoff, everypage.ServerCutoff})...)
	for _, child := range cmd.Commands() {
		completeAll(child)
	}
}

func texts[S ~string](values []S) []string {
	all := make([]string, len(values))
	for i, value := range values {
		all[i] = string(value)
	}
	return all
}

func itemStates() []string {
	var states []string
	for s := store.StatePending; s <= store.StateDropped; s++ {
		states = append(states, s.String())
	}
	return states
}

// once completes the first argument only.
func once(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, typed)
	}
}

// newestReceipts returns each job's newest receipt, from the mirror: a ledger that is
// opened cannot be opened by a run that starts meanwhile. Whoever completes a word
// hears of no error.
func newestReceipts(cmd *cobra.Command) []state.Receipt {
	dir := os.Getenv(ledgerVariable)
	if flag := cmd.Flags().Lookup("ledger"); flag != nil && flag.Value.String() != "" {
		dir = flag.Value.String()
	}
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	var receipts []state.Receipt
	for receipt, err := range pebblestore.Mirror(ctx, dir) {
		if err != nil {
			break
		}
		receipts = append(receipts, receipt)
	}
	return receipts
}

func completeJobs(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var jobs []cobra.Completion
	for _, r := range newestReceipts(cmd) {
		jobs = append(jobs, cobra.CompletionWithDesc(r.Job, fmt.Sprintf("its newest run %s", stands(r.Status))))
	}
	return jobs, cobra.ShellCompDirectiveNoFileComp
}

func completeRuns(andJobs bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []cobra.Completion
		for _, r := range newestReceipts(cmd) {
			names = append(names, cobra.CompletionWithDesc(r.RunID, fmt.Sprintf("job %s, %s", r.Job, stands(r.Status))))
		}
		if andJobs {
			jobs, _ := completeJobs(cmd, args, typed)
			names = slices.Concat(jobs, names)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func completeContracts(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, c := range adapters.Builtin() {
		names = append(names, cobra.CompletionWithDesc(c.Name, c.Doc))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

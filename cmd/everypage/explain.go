package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// explained is a code as JSON shows it. Its names are kept.
type explained struct {
	Code pager.Code `json:"code"`
	// Of says what the code is a reason of: a run that is paused or needs review,
	// or an item that is held.
	Of       string         `json:"of"`
	Meaning  string         `json:"meaning"`
	Advice   string         `json:"advice"`
	Remedies []state.Remedy `json:"remedies"`
	// NeedsInstant says that the pause ends by itself only if the API said when.
	NeedsInstant bool `json:"needs_instant"`
}

func allExplained() []explained {
	var all []explained
	add := func(of string, explanations []state.Explanation) {
		for _, e := range explanations {
			remedies := append([]state.Remedy{}, e.Remedies...) // [] in JSON where there is none
			all = append(all, explained{e.Code, of, e.Meaning, e.Advice, remedies, e.NeedsInstant})
		}
	}
	add("run", state.Explanations())
	add("item", state.HoldExplanations())
	return all
}

func newExplain(std streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Say what a reason means and what to do about it",
		Long: `Say what the code of a run's reason, or of a held item, means, what to do about it,
and with which commands. Without a code, list them all.

With --json: code, of (run or item), meaning, advice, remedies (run_again, reopen,
accept, supersede; the gentlest first) and needs_instant; without a code as JSON
lines.`,
		Example: `  everypage explain cursor_expired
  everypage explain in_doubt --json
  everypage explain`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("explain takes one code, and %q comes after it", args[1])
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var codes []string
			for _, e := range allExplained() {
				codes = append(codes, cobra.CompletionWithDesc(string(e.Code), e.Meaning))
			}
			return codes, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			all := allExplained()
			if len(args) == 0 {
				list := newRows(std, asJSON, column{head: "CODE"}, column{head: "OF"}, column{head: "MEANING", least: 20})
				for _, e := range all {
					if err := list.add(row{value: e, cells: []string{string(e.Code), e.Of, e.Meaning}}); err != nil {
						return err
					}
				}
				return list.flush()
			}
			at := slices.IndexFunc(all, func(e explained) bool { return string(e.Code) == args[0] })
			if at < 0 {
				return notFoundf("there is no code %q of everypage's own; a pager's or a handler's own code is explained by its detail; \"everypage explain\" lists those that there are", args[0])
			}
			if asJSON {
				return printJSON(std, all[at])
			}
			_, err := fmt.Fprintln(std.out, all[at])
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// String says what a code means to whoever reads a terminal.
func (e explained) String() string {
	var b strings.Builder
	subject := "the reason of a run"
	if e.Of == "item" {
		subject = "the reason of a held item"
	}
	fmt.Fprintf(&b, "%s, %s\n\n", e.Code, subject)
	fmt.Fprintf(&b, "What it means:  %s\n", e.Meaning)
	fmt.Fprintf(&b, "What to do:     %s\n", e.Advice)
	for i, remedy := range e.Remedies {
		lead := "Ways on:        "
		if i > 0 {
			lead = strings.Repeat(" ", len(lead))
		}
		b.WriteString(lead + e.way(remedy) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// way is a remedy as something to type.
func (e explained) way(remedy state.Remedy) string {
	item := ""
	if e.Of == "item" {
		item = " --item ID"
	}
	switch remedy {
	case state.RunAgain:
		if e.NeedsInstant {
			return "the same \"everypage run\" again, at or after resume_at; with --force where there is none"
		}
		return "the same \"everypage run\" again, at or after resume_at"
	case state.Reopen:
		return "everypage retry RUN --ledger DIR --by NAME" + item + ", then the same \"everypage run\" again"
	case state.Accept:
		if e.Code == state.CodeItemsHeld {
			item = " --item ID"
		}
		return "everypage accept RUN --ledger DIR --by NAME --note WHY" + item
	case state.Supersede:
		return "everypage supersede RUN --ledger DIR --by NAME --note WHY, then the same \"everypage run\" again"
	}
	return string(remedy)
}

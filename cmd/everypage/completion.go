package main

import (
	"github.com/spf13/cobra"
)

// completeFlag lets a shell complete a flag's value from some words.
func completeFlag(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
}

package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

// jsonFlag adds --json to a command that answers with one value.
func jsonFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON")
}

// printJSON answers with one value.
func printJSON(std streams, value any) error {
	encoder := json.NewEncoder(std.answers())
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print the answer: %w", err)
	}
	return nil
}

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage/adapters"
)

// loadContract returns the contract with a name, or the one in a file. A name has
// neither a slash nor the ending of a file.
func loadContract(name string) (adapters.Contract, error) {
	if !isFile(name) {
		return adapters.Named(name)
	}
	data, err := os.ReadFile(name) //nolint:gosec // the file that the caller named
	if err != nil {
		return adapters.Contract{}, usagef("--contract: %w", err)
	}
	contract, err := adapters.Parse(data)
	if err != nil {
		return adapters.Contract{}, usagef("--contract %s: %w", name, err)
	}
	return contract, nil
}

func isFile(name string) bool {
	return strings.ContainsAny(name, `/\`) || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

func newContracts(std streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "contracts",
		Short: "List the contracts that come with everypage",
		Long: `List the contracts that come with everypage. A contract says how one API's lists
are paginated, and what the one thing is that counts as the end.

"everypage contracts show NAME" prints one as YAML: the start of a contract of
your own, for --contract FILE.yaml.`,
		Example: `  everypage contracts
  everypage contracts --json`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			list := newRows(std, asJSON, column{head: "CONTRACT"}, column{head: "API", least: 20})
			for _, c := range adapters.Builtin() {
				if err := list.add(row{value: c, cells: []string{c.Name, c.Doc}}); err != nil {
					return err
				}
			}
			return list.flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON lines, each a contract in whole, with the names of its file")
	cmd.AddCommand(newSchema(std), newContractShow(std))
	return cmd
}

func newContractShow(std streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Print a contract as YAML",
		Long:  `Print a contract as YAML, or with --json as JSON; --contract reads both.`,
		Example: `  everypage contracts show github-rest
  everypage contracts show stripe-v1 --json`,
		Args: exactly("a contract's name"),
		RunE: func(_ *cobra.Command, args []string) error {
			contract, err := adapters.Named(args[0])
			if _, unknown := errors.AsType[*adapters.UnknownContractError](err); unknown {
				return &exitError{exitNotFound, err}
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(std, contract)
			}
			document, err := contract.Document()
			if err != nil {
				return err
			}
			_, err = std.out.Write(document)
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

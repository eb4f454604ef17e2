package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/store"
)

func newBackup(std streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "backup DIR --ledger DIR",
		Short: "Copy a ledger into a new folder, and open the copy to see that it is whole",
		Long: `Copy a ledger into a folder that does not exist yet, and open the copy once. On the
ledger's own disk the copy shares its tables by hard links: move it to another disk.

One process at a time has a ledger open. While a run of another process is at work this
command says so and ends with 75; a program that runs jobs itself can copy its ledger
meanwhile, with everypage.Backup.

With --json: ledger and copy, the two folders.`,
		Example:               `  everypage backup ./ledger-copy --ledger ./ledger`,
		DisableFlagsInUseLine: true,
		Args:                  exactly("the folder of the copy"),
	}
	jsonFlag(cmd, &asJSON)
	ledger := ledgerFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := ledger()
		if err != nil {
			return err
		}
		err = readLedger(cmd.Context(), dir, func(ledger store.Store) error {
			return everypage.Backup(cmd.Context(), ledger, args[0])
		})
		switch {
		case errors.Is(err, fs.ErrExist):
			return &exitError{exitUsage, err}
		case err != nil:
			return err
		}
		if asJSON {
			return printJSON(std, map[string]string{"ledger": dir, "copy": args[0]})
		}
		_, err = fmt.Fprintln(std.out, visible.Line(fmt.Sprintf("the ledger is copied to %s, and the copy opens", args[0])))
		return err
	}
	return cmd
}

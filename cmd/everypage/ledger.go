package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// ledgerVariable names the ledger where the flag does not.
const ledgerVariable = "EVERYPAGE_LEDGER"

// ledgerFlag adds --ledger to a command. It returns the folder and complains
// where there is none.
func ledgerFlag(cmd *cobra.Command) func() (string, error) {
	dir := cmd.Flags().String("ledger", os.Getenv(ledgerVariable), "`folder` of the ledger; defaults to $"+ledgerVariable)
	return func() (string, error) {
		if *dir == "" {
			return "", usagef("--ledger is missing: name the folder that holds the job's records, or set %s", ledgerVariable)
		}
		return *dir, nil
	}
}

func openLedger(dir string, log *slog.Logger) (*pebblestore.Store, error) {
	return pebblestore.Open(dir, &pebblestore.Options{Logger: log, Now: everypage.SystemClock{}.Now})
}

// readLedger opens a ledger that must be there already, for the time of do.
func readLedger(ctx context.Context, dir string, do func(store.Store) error) (err error) {
	for _, err := range pebblestore.Mirror(ctx, dir) {
		if errors.Is(err, fs.ErrNotExist) {
			return notFoundf("there is no ledger in %s", dir)
		}
		break // what else is wrong is for Open to say
	}
	ledger, err := openLedger(dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	return do(ledger)
}

// findRun returns the run with an ID, or the newest run of the job with that name.
func findRun(ctx context.Context, ledger store.Reader, name string) (store.Run, error) {
	run, err := ledger.Run(ctx, name)
	if !errors.Is(err, store.ErrNotFound) {
		return run, err
	}
	for run, err := range ledger.Runs(ctx, store.RunFilter{Job: name}) {
		return run, err
	}
	return store.Run{}, notFoundf("the ledger has no run and no job %q; \"everypage runs\" lists the runs", name)
}

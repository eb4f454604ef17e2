// The program github-csv exports the issues of a repository to a CSV file. The
// file is there if and only if the list was read to its end.
//
//	go run ./examples/github-csv -name 2026-12-01 https://api.github.com/repos/golang/go/issues
//
// Stopped in any way, it goes on where it was when it is called again with the same
// name; a name whose export is complete is not exported again. GITHUB_TOKEN, where
// it is set, raises GitHub's limit.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/sink/jsonlines"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// job is the name of the export in its ledger.
const job = "github-csv"

func main() {
	name := flag.String("name", "issues", "what the export is called")
	folder := flag.String("folder", ".", "where its files and its ledger stand")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: github-csv [-name NAME] [-folder DIR] https://api.github.com/repos/OWNER/REPO/issues")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	e := export{url: flag.Arg(0), name: *name, folder: *folder, token: os.Getenv("GITHUB_TOKEN"), pageSize: 100}
	err := e.run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// export is one CSV file.
type export struct {
	url, name, folder, token string
	pageSize                 int
}

// run reads the list into a file of JSON lines, each issue once, and writes the CSV
// file when the receipt says complete.
func (e export) run(ctx context.Context, out io.Writer) (err error) {
	ledger, err := pebblestore.Open(filepath.Join(e.folder, "ledger"), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()

	header := http.Header{}
	if e.token != "" {
		header.Set("Authorization", "Bearer "+e.token)
	}
	issues, err := adapters.List[issue](nil, adapters.GitHubREST(), e.url, &adapters.Options{PageSize: e.pageSize, Header: header})
	if err != nil {
		return err
	}
	lines := filepath.Join(e.folder, e.name+".jsonl")
	file, err := jsonlines.Open(ctx, lines, ledger, jsonlines.Options{Job: job, RunID: e.name})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()

	receipt, err := everypage.Run(ctx, ledger, everypage.Job[issue]{
		Name: job, RunID: e.name, Pager: issues, Action: "export",
		Handle: jsonlines.Handler[issue](file), Confirm: file.Confirm,
		// GitHub counts its pages, so an issue can be missed while others come and
		// go. That stands in the receipt.
		AcceptUnstable: true,
		Options:        everypage.Options{Observer: file.Observer(), WaitUpTo: time.Hour},
	})
	if err != nil {
		return err
	}
	target := filepath.Join(e.folder, e.name+".csv")
	rows, err := writeCSV(lines, target)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %d issues on %d pages, %s\n", target, rows, receipt.Pages, receipt.EndEvidence)
	return err
}

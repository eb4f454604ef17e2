// The program go-github writes the title of every issue of a repository once,
// through a vendor's own SDK, and goes on where it stopped when it is run again:
//
//	GITHUB_TOKEN=… go run . OWNER REPO
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/google/go-github/v84/github"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/store/pebblestore"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: GITHUB_TOKEN=… go run . OWNER REPO")
		os.Exit(64)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(owner, repo string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ledger, err := pebblestore.Open("ledger", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	issues := &Issues{Client: newClient(os.Getenv("GITHUB_TOKEN")), Owner: owner, Repo: repo, PageSize: 100}
	receipt, err := everypage.Run(ctx, ledger, titlesJob(issues, os.Stdout))
	if err != nil {
		return err
	}
	_, err = fmt.Println(receipt.Status, receipt.ProcessedUnique, receipt.EndEvidence) //nolint:forbidigo // this is a program
	return err
}

func newClient(token string) *github.Client {
	return github.NewClient(&http.Client{Timeout: 2 * time.Minute, CheckRedirect: stayOnHost}).WithAuthToken(token)
}

// titlesJob writes the title of every issue. GitHub counts pull requests as issues.
func titlesJob(issues *Issues, out io.Writer) everypage.Job[*github.Issue] {
	return everypage.Job[*github.Issue]{
		Name: "titles", Pager: issues, Action: "write-title", AcceptUnstable: true,
		Handle: func(_ context.Context, item everypage.Item[*github.Issue]) error {
			_, err := fmt.Fprintf(out, "#%d %s\n", item.Value.GetNumber(), item.Value.GetTitle())
			return err
		},
	}
}

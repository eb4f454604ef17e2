// The program contract-go reports every stock movement of a warehouse once, by a
// contract in Go and a ledger on disk.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// movement is what this program wants of an item. The number of a movement has
// more digits than a float64; json.Number keeps them.
type movement struct {
	ID      json.Number `json:"id"`
	Article string      `json:"article"`
	Change  int         `json:"change"`
}

func main() {
	if err := demo(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// demo runs the job once, over a simulated warehouse and with a ledger that is
// thrown away. A real one is kept: it is what makes the next start safe.
func demo(ctx context.Context, out io.Writer) (err error) {
	url, stop, err := serve(ctx, &warehouse{})
	if err != nil {
		return err
	}
	defer stop()
	folder, err := os.MkdirTemp("", "contract-go-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	return report(ctx, out, url, filepath.Join(folder, "ledger"))
}

// report writes each movement, and then what the receipt says. Called again with
// the same ledger it goes on where it stopped.
func report(ctx context.Context, out io.Writer, url, folder string) (err error) {
	ledger, err := pebblestore.Open(folder, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()

	movements, err := adapters.List[movement](nil, Movements(), url, &adapters.Options{PageSize: 2})
	if err != nil {
		return err
	}
	receipt, err := everypage.Run(ctx, ledger, everypage.Job[movement]{
		Name: "stock-report", Pager: movements, Action: "report",
		Handle: func(_ context.Context, item everypage.Item[movement]) error {
			_, err := fmt.Fprintf(out, "%s %+d %s\n", item.ID, item.Value.Change, item.Value.Article)
			return err
		},
	})
	if err != nil {
		return err // errors.Is tells everypage.ErrPaused from everypage.ErrNeedsReview
	}
	_, err = fmt.Fprintln(out, receipt.Status, receipt.ProcessedUnique, receipt.EndEvidence)
	return err
}

// The program contract-yaml walks a list by a contract that stands in a file. The
// same file serves the command:
//
//	everypage run URL --contract tickets.yaml --job tickets --ledger ./ledger --out tickets.jsonl
package main

import (
	"context"
	_ "embed" // the contract travels inside the program
	"fmt"
	"io"
	"os"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

//go:embed tickets.yaml
var document []byte

// ticket is what this program wants of an item. Members that it does not name are
// left out here; Item.Raw has all of them.
type ticket struct {
	ID      string    `json:"id"`
	Subject string    `json:"subject"`
	Created time.Time `json:"created_at"`
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run walks the help desk, which here is a simulated one on this machine.
func run(ctx context.Context, out io.Writer) error {
	url, stop, err := serve(ctx, helpDesk{})
	if err != nil {
		return err
	}
	defer stop()
	return walk(ctx, out, url)
}

// walk writes every ticket of the list at url, and what ended it.
func walk(ctx context.Context, out io.Writer, url string) error {
	// A contract that forgot its end, or has a key that none has, does not load;
	// the error names line and key.
	contract, err := adapters.Parse(document)
	if err != nil {
		return err
	}
	tickets, err := adapters.List[ticket](nil, contract, url, &adapters.Options{PageSize: 2})
	if err != nil {
		return err
	}
	for page, err := range tickets.Pages(ctx, pager.Cursor{}) {
		if err != nil {
			return err // a *pager.Fault: pause, or ask a person
		}
		for _, item := range page.Items {
			if _, err := fmt.Fprintln(out, item.ID, item.Value.Subject); err != nil {
				return err
			}
		}
		// A vetoed end is no end. everypage.Run keeps count of vetoes over all
		// pages; a loop of one's own has to look.
		if len(page.Vetoes) > 0 {
			return fmt.Errorf("the list is not whole: %s", page.Vetoes)
		}
		if page.End == pager.EndLast {
			_, err = fmt.Fprintln(out, "the API said that this is the end:", page.Evidence)
			return err
		}
	}
	return nil // not reached: a sequence ends with an error or an end
}

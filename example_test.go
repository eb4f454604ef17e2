package everypage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// twoPages is a list of three tickets, two a page.
func twoPages(_ context.Context, at pager.Cursor) (pager.Page[string], error) {
	if at.IsStart() {
		return pager.Page[string]{
			Items: []pager.Item[string]{{ID: "A", Value: "overdue"}, {ID: "B", Value: "overdue"}},
			Next:  pager.At("after-B"), End: pager.EndMore,
		}, nil
	}
	return pager.Page[string]{
		Items: []pager.Item[string]{{ID: "C", Value: "overdue"}},
		End:   pager.EndLast, Evidence: "has_more=false",
	}, nil
}

func ExampleRun() {
	folder, err := os.MkdirTemp("", "everypage-example-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ledger, err := pebblestore.Open(filepath.Join(folder, "ledger"), nil)
	if err != nil {
		panic(err)
	}
	defer func() { _ = ledger.Close() }()

	receipt, err := everypage.Run(context.Background(), ledger, everypage.Job[string]{
		Name:   "overdue-tickets",
		Pager:  pager.Func[string](twoPages),
		Action: "remind",
		RunID:  "2026-11-30",
		Handle: func(_ context.Context, item everypage.Item[string]) error {
			fmt.Println(item.ID, item.Key)
			return nil
		},
	})
	fmt.Println(receipt.Status, receipt.ProcessedUnique, receipt.EndEvidence, err)
	// Output:
	// A 2026-11-30|A|remind
	// B 2026-11-30|B|remind
	// C 2026-11-30|C|remind
	// complete 3 has_more=false <nil>
}

// A run with a held item is not complete. A person lets it be tried again, and
// the next Run handles it from what the ledger holds, under its old key.
func ExampleRetry() {
	folder, err := os.MkdirTemp("", "everypage-example-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ledger, err := pebblestore.Open(filepath.Join(folder, "ledger"), nil)
	if err != nil {
		panic(err)
	}
	defer func() { _ = ledger.Close() }()

	closed := true
	job := everypage.Job[string]{
		Name: "overdue-tickets", Pager: pager.Func[string](twoPages), Action: "remind",
		Handle: func(_ context.Context, item everypage.Item[string]) error {
			if item.ID == "B" && closed {
				return everypage.Permanent(errors.New("the customer's account is closed"))
			}
			return nil
		},
	}
	receipt, err := everypage.Run(context.Background(), ledger, job)
	fmt.Println(receipt.Status, receipt.Reason.Code, errors.Is(err, everypage.ErrNeedsReview))

	closed = false
	if _, err := everypage.Retry(context.Background(), ledger, receipt.RunID, everypage.Decision{By: "Sato"}); err != nil {
		panic(err)
	}
	receipt, err = everypage.Run(context.Background(), ledger, job)
	fmt.Println(receipt.Status, receipt.ProcessedUnique, err)
	// Output:
	// needs_review items_held true
	// complete 3 <nil>
}

func ExampleKey() {
	fmt.Println(everypage.Key("2026-11-30", "T-1", "remind"))
	fmt.Println(everypage.Key("2026-11-30", "チケット1", "remind"))
	// Output:
	// 2026-11-30|T-1|remind
	// sha256|bc436f705aade5833d2026aaae6f9826c75809ad6247aa91998bf641564592eb
}

// What a reason means, and what can be done about it, is data.
func ExampleReviewError() {
	e := state.Explain(state.CodeConflictsOpen)
	fmt.Println(e.Meaning, e.Remedies)
	// Output: The same ID was seen on two pages, so the list moved. [accept reopen supersede]
}

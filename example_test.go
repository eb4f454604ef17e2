package everypage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

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

// An API that takes items in bulk says of each what became of it. What failed is
// called again with what else is due by then; what succeeded beside it is done.
func ExampleJob_handleBatch() {
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
		Name: "overdue-tickets", Pager: pager.Func[string](twoPages), Action: "remind",
		HandleBatch: func(_ context.Context, items []everypage.Item[string]) []error {
			outcomes := make([]error, len(items))
			for i, item := range items {
				fmt.Println(item.ID, "attempt", item.Attempt)
				if item.ID == "B" && item.Attempt == 1 {
					outcomes[i] = errors.New("row 2: try again")
				}
			}
			return outcomes
		},
		Options: everypage.Options{BatchSize: 50, Backoff: everypage.Backoff{Initial: time.Millisecond}},
	})
	fmt.Println(receipt.Status, receipt.ProcessedUnique, err)
	// Output:
	// A attempt 1
	// B attempt 1
	// B attempt 2
	// C attempt 1
	// complete 3 <nil>
}

// A loop over the items of a run. Leaving it leaves the run paused; the next loop
// begins where it stood.
func ExampleEach() {
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

	job := everypage.Job[string]{
		Name: "overdue-tickets", Pager: pager.Func[string](twoPages), Action: "remind",
	}
	for _, most := range []int{2, 10} { // the first loop is left with B in hand
		for item, err := range everypage.Each(context.Background(), ledger, job) {
			if err != nil {
				fmt.Println(err)
				break
			}
			if most--; most == 0 {
				fmt.Println("left with", item.ID)
				break
			}
			fmt.Println(item.ID, item.Value)
			item.Done()
		}
	}
	// Output:
	// A overdue
	// left with B
	// B overdue
	// C overdue
}

// Where neither Done nor Fail is called, an item is never done.
func ExampleOpenItem() {
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

	job := everypage.Job[string]{
		Name: "overdue-tickets", Pager: pager.Func[string](twoPages), Action: "remind",
		Options: everypage.Options{MaxAttempts: 1},
	}
	for item, err := range everypage.Each(context.Background(), ledger, job) {
		switch {
		case errors.Is(err, everypage.ErrNeedsReview):
			var review *everypage.ReviewError
			errors.As(err, &review)
			fmt.Println(review.Receipt.HeldCount, "held;", review.Remedies())
		case err != nil:
			fmt.Println(err)
		case item.ID != "B":
			item.Done()
		}
	}
	// Output: 1 held; [reopen accept supersede]
}

// What a reason means, and what can be done about it, is data.
func ExampleReviewError() {
	e := state.Explain(state.CodeConflictsOpen)
	fmt.Println(e.Meaning, e.Remedies)
	// Output: The same ID was seen on two pages, so the list moved. [accept reopen supersede]
}

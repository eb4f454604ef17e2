package jsonlines_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/sink/jsonlines"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// A job writes its items to a file. Handler, Confirm and Observer belong together.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "everypage-example-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx := context.Background()
	ledger, err := pebblestore.Open(filepath.Join(folder, "ledger"), nil)
	if err != nil {
		panic(err)
	}
	defer func() { _ = ledger.Close() }()
	path := filepath.Join(folder, "fruit.jsonl")
	file, err := jsonlines.Open(ctx, path, ledger, jsonlines.Options{Job: "fruit"})
	if err != nil {
		panic(err)
	}

	list := pager.Func[string](func(context.Context, pager.Cursor) (pager.Page[string], error) {
		return pager.Page[string]{End: pager.EndLast, Items: []pager.Item[string]{
			{ID: "1", Value: "apple"}, {ID: "2", Value: "pear"},
		}}, nil
	})
	receipt, err := everypage.Run(ctx, ledger, everypage.Job[string]{
		Name: "fruit", Pager: list, Action: "write",
		Handle:  jsonlines.Handler[string](file),
		Confirm: file.Confirm,
		Options: everypage.Options{Observer: file.Observer()},
	})
	if err != nil {
		panic(err)
	}
	if err := file.Close(); err != nil {
		panic(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s%s\n", data, receipt.Status)
	// Output:
	// "apple"
	// "pear"
	// complete
}

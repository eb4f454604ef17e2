package oteleverypage_test

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/oteleverypage"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// A program that has set up OpenTelemetry's global providers changes one name.
func ExampleRun() {
	ctx := context.Background()
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: vfs.NewMem()})
	if err != nil {
		panic(err)
	}
	defer func() { _ = ledger.Close() }()
	job := everypage.Job[string]{
		Name: "letters", Pager: &pages{list: [][]string{{"a", "b"}, {"c"}}}, Action: "read",
		Handle: func(context.Context, everypage.Item[string]) error { return nil },
	}
	receipt, err := oteleverypage.Run(ctx, ledger, job, nil)
	fmt.Println(receipt.Status, receipt.ProcessedUnique, err)
	// Output: complete 3 <nil>
}

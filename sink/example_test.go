package sink_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/sink"
)

// A sink is a job's handler. The same key creates once, however often it is sent.
func ExampleNew() {
	crm := simapi.NewCRM(nil)
	base, stop, err := simapi.Serve(crm)
	if err != nil {
		panic(err)
	}
	defer stop()

	notes, err := sink.New(sink.Config[string]{
		URL:    base + crm.Path(),
		Header: http.Header{"Authorization": {"Bearer t"}},
		Body: func(item everypage.Item[string]) (any, error) {
			return map[string]string{"ticket_id": item.ID, "text": item.Value}, nil
		},
		OnCreated: func(_ context.Context, item everypage.Item[string], answer sink.Answer) error {
			fmt.Println(item.ID, answer.Status, answer.Replayed)
			return nil
		},
	})
	if err != nil {
		panic(err)
	}
	item := everypage.Item[string]{ID: "A", Key: everypage.Key("run-1", "A", "note"), Value: "overdue"}
	for range 2 {
		if err := notes.Handle(context.Background(), item); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(len(crm.Notes()), "note")
	// Output:
	// A 201 false
	// A 201 true
	// 1 note
}

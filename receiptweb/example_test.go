package receiptweb_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/receiptweb"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// The page is mounted in the program that runs the jobs. Whoever the program's own
// proxy has signed in may decide; everybody else who may see the page only reads.
func ExampleHandler() {
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: vfs.NewMem()}) // a folder, in a real program
	if err != nil {
		panic(err)
	}
	defer func() { _ = ledger.Close() }()

	mux := http.NewServeMux()
	mux.Handle("/receipts/", http.StripPrefix("/receipts", receiptweb.Handler(ledger, &receiptweb.Options{
		Authorize: func(r *http.Request, _ receiptweb.Action) (string, error) {
			name := r.Header.Get("X-Signed-In-As")
			if name == "" {
				return "", errors.New("sign in first")
			}
			return name, nil
		},
	})))
	server := httptest.NewServer(mux)
	defer server.Close()

	_, err = everypage.Run(context.Background(), ledger, everypage.Job[string]{
		Name: "overdue-tickets", Action: "remind",
		Pager: pager.Func[string](func(context.Context, pager.Cursor) (pager.Page[string], error) {
			return pager.Page[string]{End: pager.EndLast, Items: []pager.Item[string]{{ID: "1", Value: "a ticket"}}}, nil
		}),
		Handle: func(context.Context, everypage.Item[string]) error { return nil },
	})
	if err != nil {
		panic(err)
	}
	response, err := server.Client().Get(server.URL + "/receipts/") //nolint:noctx // an example
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(response.Status, strings.Contains(string(page), "overdue-tickets"), strings.Contains(string(page), "complete"))
	// Output: 200 OK true true
}

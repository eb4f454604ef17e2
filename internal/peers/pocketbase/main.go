// Command pocketbase serves a PocketBase with one public collection, "tickets",
// on loopback, for the tests of package peers. It writes "listening on ADDRESS" to
// standard error and runs until it is stopped.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	_ "github.com/pocketbase/pocketbase/migrations"
)

func main() {
	data := flag.String("data", "", "the folder for its databases")
	records := flag.Int("records", 25, "how many tickets new databases get")
	port := flag.Int("port", 0, "the port of loopback; 0 for a free one")
	flag.Parse()
	if err := run(*data, *records, *port); err != nil {
		fmt.Fprintln(os.Stderr, "pocketbase:", err)
		os.Exit(1)
	}
}

func run(data string, records, port int) error {
	app := core.NewBaseApp(core.BaseAppConfig{DataDir: data})
	if err := app.Bootstrap(); err != nil {
		return err
	}
	if err := app.RunAllMigrations(); err != nil {
		return err
	}
	if _, err := app.FindCollectionByNameOrId("tickets"); err != nil {
		if err := fill(app, records); err != nil {
			return err
		}
	}
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	app.OnServe().BindFunc(func(e *core.ServeEvent) error {
		e.Listener, e.InstallerFunc = listener, nil
		fmt.Fprintln(os.Stderr, "listening on", listener.Addr())
		return e.Next()
	})
	return apis.Serve(app, apis.ServeConfig{HttpAddr: listener.Addr().String()})
}

// fill makes the collection, which everybody may list, and its records.
func fill(app core.App, records int) error {
	tickets := core.NewBaseCollection("tickets")
	tickets.ListRule = new("")
	tickets.Fields.Add(
		&core.TextField{Name: "title", Required: true},
		&core.AutodateField{Name: "created", OnCreate: true},
	)
	if err := app.Save(tickets); err != nil {
		return err
	}
	for i := range records {
		ticket := core.NewRecord(tickets)
		ticket.Set("title", fmt.Sprintf("ticket %02d", i+1))
		if err := app.Save(ticket); err != nil {
			return err
		}
	}
	return nil
}

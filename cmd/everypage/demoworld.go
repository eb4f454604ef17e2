package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/sink"
)

const (
	// demoSettle is how long the world waits with the kill after the effect, so
	// that what was done before it is surely recorded. No claim depends on it.
	demoSettle = 200 * time.Millisecond
	// demoPatience is how long a process of the demo may take.
	demoPatience = time.Minute
)

// demoWorld is the two APIs that the demo's processes talk to, and their ledger.
type demoWorld struct {
	ledger  string
	stderr  io.Writer
	clock   everypage.Clock
	list    *simapi.Server
	crm     *simapi.CRM
	listURL string
	crmURL  string
	stops   []func()
	// before is the number of requests that the CRM had got at the kill.
	before int
}

func newDemoWorld(ledger string, stderr io.Writer, forgetful bool) (*demoWorld, error) {
	w := &demoWorld{ledger: ledger, stderr: stderr, clock: everypage.SystemClock{}}
	first := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	w.list = simapi.NewServer(simapi.KeysetCatalogue, simapi.NewList(simapi.Tickets(first, "A", "B", "C", "D", "E", "F", "G")...),
		&simapi.ServerOptions{Now: w.clock.Now})
	w.crm = simapi.NewCRM(&simapi.CRMOptions{IgnoreKeys: forgetful, Now: w.clock.Now})
	listURL, stopList, err := simapi.Serve(w.list)
	if err != nil {
		return nil, err
	}
	w.stops = append(w.stops, stopList)
	crmURL, stopCRM, err := simapi.Serve(w.crm)
	if err != nil {
		w.close()
		return nil, err
	}
	w.stops = append(w.stops, stopCRM)
	w.listURL, w.crmURL = listURL+w.list.Path()+"?status=overdue", crmURL+w.crm.Path()
	return w, nil
}

func (w *demoWorld) close() {
	for _, stop := range w.stops {
		stop()
	}
}

// process returns a process that runs the job: this program once more.
func (w *demoWorld) process(ctx context.Context) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, to start it once more: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "demo-run", "--list", w.listURL, "--crm", w.crmURL, "--ledger", w.ledger) //nolint:gosec // this program itself
	cmd.Stderr = w.stderr
	return cmd, nil
}

// runUntilEffect runs the job and kills it when the CRM has made the note for a
// ticket, before the CRM's answer is sent.
func (w *demoWorld) runUntilEffect(ctx context.Context, ticket string) error {
	ctx, cancel := context.WithTimeout(ctx, demoPatience)
	defer cancel()
	happened, killed := make(chan struct{}), make(chan struct{})
	w.crm.Script().When(simapi.NoteOn(ticket), simapi.Fault{Edit: func(*simapi.Answer) {
		close(happened)
		<-killed
	}})
	defer close(killed)
	cmd, err := w.process(ctx)
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a process of the demo: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-happened:
	case err := <-ended:
		return fmt.Errorf("the process ended before it was killed: %w", orEarly(err))
	}
	settled, stop := w.clock.Timer(demoSettle)
	defer stop()
	<-settled
	if err := cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill the process: %w", err)
	}
	if err := <-ended; err == nil {
		return errors.New("the process was killed and ended well all the same")
	}
	w.before = w.crm.Log().Len()
	return nil
}

func orEarly(err error) error {
	if err == nil {
		return errors.New("it thought that it was complete")
	}
	return err
}

// runToEnd runs the job once more.
func (w *demoWorld) runToEnd(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, demoPatience)
	defer cancel()
	cmd, err := w.process(ctx)
	if err != nil {
		return err
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the second process: %w", err)
	}
	return nil
}

// ticketOf returns the ticket that a request to the CRM is about.
func ticketOf(r simapi.Request) string {
	var note struct {
		TicketID string `json:"ticket_id"`
	}
	if json.Unmarshal(r.Body, &note) != nil {
		return ""
	}
	return note.TicketID
}

// demoTicket is what the job reads of a ticket.
type demoTicket struct {
	Subject  string `json:"subject"`
	Customer string `json:"customer"`
}

// newDemoRun is what the demo's processes run: a job as a user of the library
// writes it.
func newDemoRun(std streams) *cobra.Command {
	var listURL, crmURL, ledger string
	cmd := &cobra.Command{
		Use: "demo-run", Hidden: true, Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return demoRun(cmd.Context(), std, listURL, crmURL, ledger)
		},
	}
	cmd.Flags().StringVar(&listURL, "list", "", "URL of the list")
	cmd.Flags().StringVar(&crmURL, "crm", "", "URL of the CRM's notes")
	cmd.Flags().StringVar(&ledger, "ledger", "", "folder of the ledger")
	return cmd
}

func demoRun(ctx context.Context, std streams, listURL, crmURL, dir string) (err error) {
	tickets, err := adapters.List[demoTicket](nil, adapters.KeysetCatalogue(), listURL, &adapters.Options{
		PageSize: 3, Sort: "created_at", Order: "stable_ascending",
	})
	if err != nil {
		return err
	}
	notes, err := sink.New(sink.Config[demoTicket]{
		URL: crmURL,
		Body: func(item everypage.Item[demoTicket]) (any, error) {
			return map[string]string{"ticket_id": item.ID, "text": item.Value.Subject}, nil
		},
	})
	if err != nil {
		return err
	}
	ledger, err := openLedger(dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	receipt, err := everypage.Run(ctx, ledger, everypage.Job[demoTicket]{
		Name: demoJob, RunID: demoRunID, Pager: tickets, Action: demoAction, Handle: notes.Handle,
	})
	return conclude(streams{out: std.out, err: io.Discard}, receipt, err, dir)
}

package main

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// newListing returns a command that lists something of a ledger, as a table or as
// JSON lines.
func newListing(std streams, cmd *cobra.Command, columns []column, list func(ctx context.Context, ledger store.Store, args []string, add func(row) error) error) *cobra.Command {
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON lines")
	cmd.DisableFlagsInUseLine = true
	ledger := ledgerFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := ledger()
		if err != nil {
			return err
		}
		return readLedger(cmd.Context(), dir, func(ledger store.Store) error {
			rows := newRows(std, asJSON, columns...)
			if err := list(cmd.Context(), ledger, args, rows.add); err != nil {
				return err
			}
			return rows.flush()
		})
	}
	return cmd
}

// oneOf is the check of a flag that is empty or one of some words.
func oneOf[S ~string](flag string, given S, known []S) error {
	if given == "" || slices.Contains(known, given) {
		return nil
	}
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = string(k)
	}
	return usagef("--%s %q is none of %s", flag, given, strings.Join(words, ", "))
}

func newRuns(std streams) *cobra.Command {
	var job, status string
	cmd := &cobra.Command{
		Use: "runs --ledger DIR", Short: "List runs, the newest first",
		Long: `List runs, the newest first. With --json, one line for each run: its receipt, with the
receipt's own names.`,
		Example: `  everypage runs --ledger ./ledger
  everypage runs --ledger ./ledger --status needs_review --json`,
		Args: exactly(),
	}
	cmd.Flags().StringVar(&job, "job", "", "only runs of the job with this `name`")
	cmd.Flags().StringVar(&status, "status", "", "only runs with this `status`: running, paused, complete or needs_review")
	cmd.PreRunE = func(*cobra.Command, []string) error { return oneOf("status", state.Status(status), state.Statuses()) }
	head := []column{
		{head: "RUN", least: 12},
		{head: "JOB", least: 8},
		{head: "STATUS"},
		{head: "REASON", least: 8},
		{head: "PAGES", spare: true},
		{head: "DONE"},
		{head: "PENDING"},
		{head: "HELD"},
		{head: "UPDATED", spare: true},
	}
	return newListing(std, cmd, head, func(ctx context.Context, ledger store.Store, _ []string, add func(row) error) error {
		for run, err := range ledger.Runs(ctx, store.RunFilter{Job: job, Status: state.Status(status)}) {
			if err != nil {
				return err
			}
			r := run.Receipt.Redacted()
			reason := ""
			if r.Reason != nil {
				reason = string(r.Reason.Code)
			}
			if r.SupersededBy != "" {
				reason = "superseded by " + r.SupersededBy
			}
			err := add(row{value: r, cells: []string{
				r.RunID, r.Job, string(r.Status), reason, strconv.Itoa(r.Pages), count(r.ProcessedUnique), count(r.PendingCount), count(r.HeldCount), instant(r.UpdatedAt),
			}})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// itemLine is an item as JSON shows it.
type itemLine struct {
	ID        string          `json:"id"`
	Key       string          `json:"key"`
	State     string          `json:"state"`
	Page      int             `json:"page_index"`
	Attempts  int             `json:"attempts"`
	SettledBy string          `json:"settled_by,omitempty"`
	Code      string          `json:"code,omitempty"`
	Detail    string          `json:"detail,omitempty"`
	UpdatedAt time.Time       `json:"updated_at,omitzero"`
	Payload   json.RawMessage `json:"payload,omitempty"`
}

func newItems(std streams) *cobra.Command {
	var only string
	cmd := &cobra.Command{
		Use: "items RUN|JOB --ledger DIR", Short: "List a run's items, in the order in which they were met",
		Long: `List a run's items, in the order in which they were met.

With --json, one line for each item: id, key, state (pending, done, held, deferred,
dropped), page_index (from 0), attempts, settled_by, code, detail, updated_at, payload.`,
		Example: `  everypage items tickets --ledger ./ledger
  everypage items reminders --ledger ./ledger --state held --json`,
		Args: exactly("a run's ID or a job's name"),
	}
	cmd.Flags().StringVar(&only, "state", "", "only items in this `state`: pending, done, held, deferred or dropped")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		return oneOf("state", only, itemStates())
	}
	head := []column{
		{head: "ITEM", least: 12},
		{head: "STATE"},
		{head: "PAGE"},
		{head: "ATTEMPTS", spare: true},
		{head: "UPDATED", spare: true},
		{head: "CODE", least: 12},
		{head: "DETAIL", least: 16},
	}
	return newListing(std, cmd, head, func(ctx context.Context, ledger store.Store, args []string, add func(row) error) error {
		run, err := findRun(ctx, ledger, args[0])
		if err != nil {
			return err
		}
		for item, err := range everypage.Items(ctx, ledger, run.Receipt.RunID) {
			if err != nil {
				return err
			}
			if only != "" && item.State.String() != only {
				continue
			}
			item.Detail = pager.RedactText(item.Detail)
			line := itemLine{
				ID: item.ID, Key: everypage.Key(run.Scope, item.ID, run.Receipt.Action), State: item.State.String(), Page: item.Page,
				Attempts: item.Attempts, SettledBy: item.SettledBy, Code: string(item.Code), Detail: item.Detail, UpdatedAt: item.UpdatedAt,
			}
			if json.Valid(item.Payload) {
				line.Payload = item.Payload
			}
			err := add(row{value: line, cells: []string{
				item.ID, line.State, strconv.Itoa(item.Page), strconv.Itoa(item.Attempts), instant(item.UpdatedAt), line.Code, item.Detail,
			}})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// eventLine is a transition as JSON shows it.
type eventLine struct {
	At     time.Time     `json:"at"`
	Event  state.Event   `json:"event"`
	From   state.Status  `json:"from,omitempty"`
	To     state.Status  `json:"to"`
	Who    string        `json:"who,omitempty"`
	Reason *state.Reason `json:"reason,omitempty"`
}

func newEvents(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "events RUN|JOB --ledger DIR", Short: "List what happened to a run, in order",
		Long: `List what happened to a run, in order.

With --json, one line for each transition: at, event, from, to, who, reason.`,
		Example: `  everypage events tickets --ledger ./ledger
  everypage events tickets --ledger ./ledger --json`,
		Args: exactly("a run's ID or a job's name"),
	}
	head := []column{
		{head: "AT"},
		{head: "EVENT"},
		{head: "FROM", spare: true},
		{head: "TO"},
		{head: "WHO", least: 8},
		{head: "REASON", least: 10},
		{head: "DETAIL", least: 12},
	}
	return newListing(std, cmd, head, func(ctx context.Context, ledger store.Store, args []string, add func(row) error) error {
		run, err := findRun(ctx, ledger, args[0])
		if err != nil {
			return err
		}
		for t, err := range ledger.Events(ctx, run.Receipt.RunID) {
			if err != nil {
				return err
			}
			t.Reason.Detail = pager.RedactText(t.Reason.Detail)
			line := eventLine{At: t.At, Event: t.Event, From: t.From, To: t.To, Who: t.Who}
			if t.Reason.Code != "" || t.Reason.Detail != "" {
				line.Reason = &t.Reason
			}
			err := add(row{value: line, cells: []string{
				instant(t.At), string(t.Event), string(t.From), string(t.To), t.Who, string(t.Reason.Code), t.Reason.Detail,
			}})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

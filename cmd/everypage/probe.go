package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/adapters/probe"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/pager"
)

const probeHelp = `Fetch a page of the list at URL, try every contract against it, follow the best by
a page or two, and suggest one, with what was seen. It is a suggestion for a person:
a run never guesses, and nothing is stored. Every request is a GET, and there are at
most as many as --pages and five more.

The answer is a comment, line by line, with the suggested contract below it where it
is none of those that come with everypage. So it may go to a file as it is:

  everypage probe https://api.example.com/v1/orders > orders.yaml
  everypage run https://api.example.com/v1/orders --contract ./orders.yaml …

Read the comment and the API's documentation in between.

With --json: address, requests, seen, suggestion (null, or contract, builtin, items_at
and document, the contract in whole), doubts and check.

Exit codes: 0 a suggestion, 65 none fits or the API refuses, 75 the API is limiting
or out of reach, 64 wrong call.`

func newProbe(std streams) *cobra.Command {
	var flags runFlags // for its headers
	pages, asJSON := probe.DefaultPages, false
	cmd := &cobra.Command{
		Use:   "probe URL",
		Short: "Look at a list and suggest a contract for it",
		Long:  probeHelp,
		Example: `  everypage probe https://api.example.com/v1/tickets
  everypage probe https://api.example.com/v1/tickets --header-env Authorization=API_AUTH --json`,
		Args: exactly("the URL of a list"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if pages < probe.MinPages || pages > probe.MaxPages {
				return usagef("--pages is %d; it must be between %d and %d", pages, probe.MinPages, probe.MaxPages)
			}
			if flags.bodyLimit < 0 {
				return usagef("--body-limit is negative")
			}
			header, err := flags.header()
			if err != nil {
				return err
			}
			report, err := probe.List(cmd.Context(), args[0], &probe.Options{
				Pages: pages, Header: header, BodyLimit: flags.bodyLimit, Now: everypage.SystemClock{}.Now,
			})
			if fault, ok := errors.AsType[*pager.Fault](err); ok {
				if fault.Verdict == pager.Pause {
					return &exitError{exitPaused, err}
				}
				return &exitError{exitReview, err}
			}
			if err != nil {
				return err
			}
			printed := printProbe
			if asJSON {
				printed = func(_ io.Writer, report *probe.Report) error { return printJSON(std, probedOf(report)) }
			}
			if err := printed(std.answers(), report); err != nil {
				return err
			}
			if report.Suggestion == nil {
				return &exitError{exitReview, errors.New("no contract fits what was seen; the answer says why")}
			}
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	set := cmd.Flags()
	set.IntVar(&pages, "pages", pages, "pages to read of the list with the contract that is suggested, 2 to 10")
	set.StringArrayVar(&flags.headers, "header", nil, "header `field` for the list's own origin, as 'Name: value'; may be repeated")
	set.StringArrayVar(&flags.headersByEnv, "header-env", nil, "header whose whole value is in a variable, as `NAME=VARIABLE`; may be repeated")
	set.Int64Var(&flags.bodyLimit, "body-limit", 0, "longest answer to read, in `bytes`; defaults to 33554432")
	return cmd
}

// printProbe writes a report as YAML that --contract loads: all but the contract
// itself is comment, and each text of the API's stays within its line.
func printProbe(out io.Writer, report *probe.Report) error {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(strings.TrimRight("# "+visible.Line(fmt.Sprintf(format, args...)), " ") + "\n")
	}
	group := func(title string, texts []string) {
		if len(texts) == 0 {
			return
		}
		line("")
		line("%s", title)
		for _, text := range texts {
			line("  - %s", pager.RedactText(text))
		}
	}
	line("everypage probe %s", report.Address)
	line("Requests made: %d.", report.Requests)
	group("SEEN", report.Seen)
	line("")
	s := report.Suggestion
	switch {
	case s == nil:
		line("NO CONTRACT FITS what was seen.")
	case s.Builtin && s.ItemsAt != "":
		line("SUGGESTED: --contract %s --items-at '%s'", s.Contract.Name, s.ItemsAt)
	case s.Builtin:
		line("SUGGESTED: --contract %s", s.Contract.Name)
	default:
		line("SUGGESTED: the contract below, saved as FILE.yaml: --contract FILE.yaml")
	}
	if s != nil && s.Builtin {
		line("  %s", s.Contract.Doc)
		line("  To change it: everypage contracts show %s > FILE.yaml", s.Contract.Name)
	}
	group("DOUBTS", report.Doubts)
	group("CHECK in the API's documentation", report.Check)
	if s != nil && !s.Builtin {
		document, err := s.Contract.Document()
		if err != nil {
			return err
		}
		b.WriteString("\n")
		b.Write(document)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// probed is a report as JSON shows it. Its names are kept.
type probed struct {
	Address    string     `json:"address"`
	Requests   int        `json:"requests"`
	Seen       []string   `json:"seen"`
	Suggestion *suggested `json:"suggestion"`
	Doubts     []string   `json:"doubts"`
	Check      []string   `json:"check"`
}

type suggested struct {
	Contract string            `json:"contract"`
	Builtin  bool              `json:"builtin"`
	ItemsAt  string            `json:"items_at,omitempty"`
	Document adapters.Contract `json:"document"`
}

func probedOf(report *probe.Report) probed {
	redacted := func(texts []string) []string {
		all := make([]string, len(texts))
		for i, text := range texts {
			all[i] = pager.RedactText(text)
		}
		return all
	}
	p := probed{
		Address: report.Address, Requests: report.Requests,
		Seen: redacted(report.Seen), Doubts: redacted(report.Doubts), Check: redacted(report.Check),
	}
	if s := report.Suggestion; s != nil {
		p.Suggestion = &suggested{s.Contract.Name, s.Builtin, string(s.ItemsAt), s.Contract}
	}
	return p
}

// newSchema prints the JSON Schema of a contract's file.
func newSchema(std streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a contract's file",
		Long: `Print the JSON Schema (draft 2020-12) of a contract's file, for an editor that checks
and completes YAML. What hangs together across fields only a run checks.`,
		Example: `  everypage contracts schema`,
		Args:    exactly(),
		RunE: func(*cobra.Command, []string) error {
			_, err := std.out.Write(adapters.Schema())
			return err
		},
	}
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/drill"
	"github.com/everypage-go/everypage/internal/simapi"
)

// drillFlags are the flags of drill.
type drillFlags struct {
	url      string
	handler  bool
	contract string
	timeout  time.Duration
	verbose  bool
	json     bool
	headers  runFlags // for its headers
}

// The variables that a drilled program reads.
const (
	drillList = "EVERYPAGE_DRILL_LIST_URL"
	drillSink = "EVERYPAGE_DRILL_SINK_URL"
	drillDir  = "EVERYPAGE_DRILL_DIR"
	drillTest = "EVERYPAGE_DRILL_TEST"
)

const drillHelp = `Play the failures that programs over list APIs break on against your own program, and
print what was expected and what happened. Seven items, A to G, three a page, on a
simulated list on this machine's loopback:

  all-pages        the list as it is
  kill-on-page-2   killed without warning when E has had its effect; started again
  item-added       an eighth item comes while page 2 is read
  repeated-id      B stands on page 2 again
  lost-cursor      page 2 says that more follows, and not where
  repeated-cursor  the list leads back to page 2 for ever

YOUR OWN WALK: everypage drill -- PROGRAM ARGS
The program walks the list by itself. It is started with
  EVERYPAGE_DRILL_LIST_URL  where the list is, paged as --contract says
  EVERYPAGE_DRILL_SINK_URL  where to POST each item when its effect happens, as JSON
                            with its "id" (the item itself will do), and with its
                            key in Idempotency-Key; a key that came before has no
                            second effect
  EVERYPAGE_DRILL_DIR       an empty folder to remember things in; the same one after
                            the kill
  EVERYPAGE_DRILL_TEST      the test's name
It has to exit 0 only where it walked the list to the end that the API said, and with
anything else otherwise. In ten lines, for curl and jq:

  #!/bin/sh
  set -eu # walk.sh
  cursor=
  while page=$(curl -fsS -G "$EVERYPAGE_DRILL_LIST_URL" ${cursor:+--data-urlencode "cursor=$cursor"}); do
    echo "$page" | jq -c '.tickets[]' | while read -r item; do
      key=note-$(echo "$item" | jq -r .id)
      curl -fsS -o "$EVERYPAGE_DRILL_DIR/answer" -H "Idempotency-Key: $key" -d "$item" "$EVERYPAGE_DRILL_SINK_URL" || exit 1
    done
    [ "$(echo "$page" | jq .pagination.has_more)" != false ] || exit 0
    next=$(echo "$page" | jq -r '.pagination.next_cursor // empty')
    [ -n "$next" ] && [ "$next" != "$cursor" ] || exit 1
    cursor=$next
  done
  exit 1

YOUR HANDLER, A COMMAND: everypage drill --handler -- COMMAND ARGS
everypage walks, is killed and goes on; the command gets each item as with "everypage
run -- COMMAND" (the item on standard input, its key in EVERYPAGE_KEY), and posts it to
the sink as above:

  #!/bin/sh
  # handler.sh
  exec curl -fsS -o "$EVERYPAGE_DRILL_DIR/answer" -H "Idempotency-Key: $EVERYPAGE_KEY" --data-binary @- "$EVERYPAGE_DRILL_SINK_URL"

YOUR HANDLER, A URL: everypage drill --url URL
everypage walks, is killed and goes on; each item is posted to URL as JSON, with its
key in Idempotency-Key. Point it to an instance for tests: it gets the seven items six
times, each time under other keys. Its answers are judged: 2xx for each item, and to a
key that comes again the same answer as before, or one with the same "id", or with the
field "Idempotent-Replayed: true".

Exit codes: 0 every test passed, 1 one did not, 64 wrong call, 70 the drill failed.

With --json: passed (true or false), and tests, each with test, expected, happened,
passed and, where it failed, advice.`

func newDrill(std streams) *cobra.Command {
	var flags drillFlags
	cmd := &cobra.Command{
		Use:   "drill (-- PROGRAM ARGS… | --handler -- COMMAND ARGS… | --url URL)",
		Short: "Play the five failures against your own program, handler or endpoint",
		Long:  drillHelp,
		Example: `  everypage drill -- ./walk.sh
  everypage drill --handler -- ./handler.sh
  everypage drill --url http://localhost:8080/items --json`,
		DisableFlagsInUseLine: true,
		Args:                  cobra.ArbitraryArgs, // they are taken apart below
	}
	set := cmd.Flags()
	set.StringVar(&flags.url, "url", "", "`address` of an endpoint that gets each item as a POST")
	set.BoolVar(&flags.handler, "handler", false, "the command handles one item, and everypage walks")
	set.StringVar(&flags.contract, "contract", string(simapi.KeysetCatalogue), "`name` of how the list is paged: "+strings.Join(drillContracts(), ", "))
	set.DurationVar(&flags.timeout, "timeout", drill.DefaultPatience, "how long the program may take for one walk")
	set.BoolVar(&flags.verbose, "verbose", false, "pass on what the program prints")
	set.StringArrayVar(&flags.headers.headers, "header", nil, "header `field` for --url, as 'Name: value'; may be repeated")
	set.StringArrayVar(&flags.headers.headersByEnv, "header-env", nil, "header for --url whose whole value is in a variable, as `NAME=VARIABLE`; may be repeated")
	jsonFlag(cmd, &flags.json)
	_ = cmd.RegisterFlagCompletionFunc("contract", cobra.FixedCompletions(drillContracts(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		options, err := flags.options(std, args, cmd.ArgsLenAtDash())
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return runDrill(ctx, std, options, flags.json)
	}
	return cmd
}

func drillContracts() []string {
	var names []string
	for _, c := range drill.Contracts() {
		names = append(names, string(c))
	}
	return names
}

// options reads the flags. dash is where "--" stood, or -1.
func (f *drillFlags) options(std streams, args []string, dash int) (drill.Options, error) {
	options := drill.Options{
		Contract: simapi.Contract(f.contract), Patience: f.timeout, Now: everypage.SystemClock{}.Now, Kill: killGroup,
	}
	var command []string
	if dash >= 0 {
		args, command = args[:dash], args[dash:]
	}
	switch {
	case len(args) > 0:
		return options, usagef("%q is out of place: a program stands behind --, as in everypage drill -- ./walk.sh", args[0])
	case f.url == "" && len(command) == 0:
		return options, usagef("say what to drill: -- PROGRAM, --handler -- COMMAND, or --url URL; see \"everypage drill --help\"")
	case f.url != "" && len(command) > 0:
		return options, usagef("--url and a program exclude each other: drill one after the other")
	case f.url != "" && f.handler:
		return options, usagef("--handler is about a command: leave it out beside --url")
	case !slices.Contains(drillContracts(), f.contract):
		return options, usagef("--contract %q is none of %s", f.contract, strings.Join(drillContracts(), ", "))
	case f.contract != string(simapi.KeysetCatalogue) && (f.handler || f.url != ""):
		return options, usagef("--contract is about a program that walks by itself: leave it out here")
	case f.timeout <= 0:
		return options, usagef("--timeout is %s; it must be positive", f.timeout)
	case f.url == "" && len(f.headers.headers)+len(f.headers.headersByEnv) > 0:
		return options, usagef("--header and --header-env need --url")
	}
	if f.url != "" {
		forward, err := f.forward()
		if err != nil {
			return options, err
		}
		options.Forward = forward
	} else if _, err := exec.LookPath(command[0]); err != nil {
		return options, usagef("the program cannot be run: %w", err)
	}
	options.Start = func(ctx context.Context, place drill.Place) (*exec.Cmd, error) {
		cmd, err := f.process(ctx, place, command)
		if err != nil {
			return nil, err
		}
		cmd.Env = append(os.Environ(), drillList+"="+place.List, drillSink+"="+place.Sink, drillDir+"="+place.Dir, drillTest+"="+place.Test)
		ownGroup(cmd)
		cmd.Cancel = nil // the drill ends it
		if f.verbose {
			cmd.Stdout, cmd.Stderr = std.err, std.err
		}
		return cmd, nil
	}
	return options, nil
}

// process returns the process that walks: the program itself, or this one with the
// handler.
func (f *drillFlags) process(ctx context.Context, place drill.Place, command []string) (*exec.Cmd, error) {
	if !f.handler && f.url == "" {
		return exec.CommandContext(ctx, command[0], command[1:]...), nil //nolint:gosec // the program that the caller named
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, to start it once more: %w", err)
	}
	ledger := filepath.Join(place.Dir, "ledger")
	if f.url != "" {
		return exec.CommandContext(ctx, self, "drill-run", "--list", place.List, "--sink", place.Sink, "--ledger", ledger), nil //nolint:gosec // this program itself
	}
	args := append([]string{
		"run", place.List, "--contract", string(simapi.KeysetCatalogue), "--page-size", "3", "--job", drillJob, "--action", drillJob, "--ledger", ledger, "--",
	}, command...)
	return exec.CommandContext(ctx, self, args...), nil //nolint:gosec // this program itself
}

// forward posts an item on to the user's endpoint.
func (f *drillFlags) forward() (func(context.Context, []byte, http.Header) (*drill.Answer, error), error) {
	address, err := url.Parse(f.url)
	if err != nil || (address.Scheme != "http" && address.Scheme != "https") || address.Host == "" {
		return nil, usagef("--url has to be an absolute http or https URL, such as http://localhost:8080/items")
	}
	extra, err := f.headers.header()
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport:     http.DefaultTransport.(*http.Transport).Clone(), //nolint:forbidigo // a copy, with the proxy of the environment
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       f.timeout,
	}
	return func(ctx context.Context, body []byte, header http.Header) (*drill.Answer, error) {
		// The effect must not be cut short by the kill of who asked for it.
		request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, f.url, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		for _, name := range []string{"Content-Type", "Idempotency-Key", "User-Agent", "Accept"} {
			if values := header.Values(name); len(values) > 0 {
				request.Header[name] = values
			}
		}
		maps.Copy(request.Header, extra)
		answer, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close()
		said, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
		if err != nil {
			return nil, err
		}
		return &drill.Answer{Status: answer.StatusCode, Header: answer.Header, Body: said}, nil
	}, nil
}

// drillAnswer is the answer of drill as JSON shows it. Its names are kept.
type drillAnswer struct {
	Passed bool           `json:"passed"`
	Tests  []drill.Result `json:"tests"`
}

func runDrill(ctx context.Context, std streams, options drill.Options, asJSON bool) error {
	results, err := drill.Run(ctx, options)
	if err != nil {
		if ctx.Err() != nil {
			return &exitError{exitPaused, errors.New("the drill was stopped; nothing is left of it, so start it again")}
		}
		return err
	}
	failed := 0
	for _, r := range results {
		if !r.Passed {
			failed++
		}
	}
	if asJSON {
		err = printJSON(std, drillAnswer{Passed: failed == 0, Tests: results})
	} else {
		err = printDrill(std, results)
	}
	if err == nil && failed > 0 {
		err = &exitError{exitClaim, fmt.Errorf("%d of %s; mend what stands there, and drill again", failed, number(int64(len(results)), "test failed", "tests failed"))}
	}
	return err
}

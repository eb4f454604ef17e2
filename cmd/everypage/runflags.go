package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// writeAction is the action of every job with --out, and of no other: the keys of
// lines and of a command's items are never the same, and no run goes on as the
// other kind.
const writeAction = "write"

// runFlags are the flags of run that say what the job is and how it is run.
type runFlags struct {
	contract string
	job      string
	action   string
	out      string
	newOut   bool

	pageSize     int
	sort         string
	order        string
	itemsAt      string
	headers      []string
	headersByEnv []string
	bodyLimit    int64

	runID          string
	once           string
	cutoff         string
	incremental    bool
	deadline       time.Duration
	atMostOnce     bool
	acceptUnstable bool
	dropVanished   bool

	concurrency   int
	attempts      int
	wait          time.Duration
	readAhead     bool
	force         bool
	supersedeLost int

	receipt bool
	json    bool
	verbose bool
}

func (f *runFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.contract, "contract", "", "`name` of a contract, or a YAML file with one; see \"everypage contracts\"")
	flags.StringVar(&f.job, "job", "", "`name` of the job in the ledger")
	flags.StringVar(&f.action, "action", "", "`name` of what the command does to an item, part of its key; not \"write\", which is what --out does")
	flags.StringVar(&f.out, "out", "", "`file` that gets each item as a JSON line, exactly once")
	flags.BoolVar(&f.newOut, "new-out", false, "go on with an open run although --out does not hold the items that it has done")

	flags.IntVar(&f.pageSize, "page-size", 0, "items to ask for at a time; defaults to the contract's")
	flags.StringVar(&f.sort, "sort", "", "`text` that says how the list is sorted, for the receipt")
	flags.StringVar(&f.order, "order", "", "`class` of the order: unstable, stable or stable_ascending; defaults to the contract's")
	flags.StringVar(&f.itemsAt, "items-at", "", "`path` of the array of items; defaults to the contract's")
	flags.StringArrayVar(&f.headers, "header", nil, "header `field` for the list's own origin, as 'Name: value'; may be repeated")
	flags.StringArrayVar(&f.headersByEnv, "header-env", nil, "header whose whole value is in a variable, as `NAME=VARIABLE`; may be repeated")
	flags.Int64Var(&f.bodyLimit, "body-limit", 0, "longest answer to read, in `bytes`; defaults to 33554432")

	flags.StringVar(&f.runID, "run-id", "", "`name` of the run; asked for a complete one, nothing is called")
	flags.StringVar(&f.once, "once", "run", "`how` long an item is done: run, for its run; or job, for all runs of the job")
	flags.StringVar(&f.cutoff, "cutoff", "none", "`who` keeps items out that are created after the start: none, client or server")
	flags.BoolVar(&f.incremental, "incremental", false, "start at the cutoff of the last complete run; needs --cutoff server")
	flags.DurationVar(&f.deadline, "deadline", 0, "how long after its start the run should be complete")
	flags.BoolVar(&f.atMostOnce, "at-most-once", false, "hold an item in doubt for a person instead of calling again")
	flags.BoolVar(&f.acceptUnstable, "accept-unstable", false, "accept a walk that can miss items; it stands in the receipt")
	flags.BoolVar(&f.dropVanished, "drop-vanished", false, "drop items that are gone when their page is read again")

	flags.IntVar(&f.concurrency, "concurrency", 1, "items of a page that are handled at a time")
	flags.IntVar(&f.attempts, "attempts", 3, "calls for an item before it is held")
	flags.DurationVar(&f.wait, "wait", time.Minute, "longest pause to wait out; a longer one ends the command with 75")
	flags.BoolVar(&f.readAhead, "read-ahead", false, "fetch the next page while one is handled")
	flags.BoolVar(&f.force, "force", false, "go on with a paused run before its instant")
	flags.IntVar(&f.supersedeLost, "supersede-lost", 0, "new listings to begin without asking where a cursor was lost")

	flags.BoolVar(&f.receipt, "receipt", false, "print the receipt to standard output at the end")
	flags.BoolVar(&f.json, "json", false, "print the receipt as JSON to standard output at the end, however the run ends")
	flags.BoolVar(&f.verbose, "verbose", false, "log every request and page")
}

// check reports what a flag alone can be wrong about.
func (f *runFlags) check(command []string) error {
	var problems []error
	problem := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, usagef(format, args...))
		}
	}
	problem(f.contract == "", "--contract is missing: without one nobody knows where the list ends; \"everypage contracts\" lists them")
	problem(f.job == "", "--job is missing: name the job, so that its runs are found again")
	problem(f.out == "" && len(command) == 0, "say what to do with the items: --out FILE, or -- COMMAND and its arguments")
	problem(f.out != "" && len(command) > 0, "--out and a command exclude each other")
	problem(len(command) > 0 && f.action == "", "--action is missing: name what the command does to an item")
	problem(len(command) > 0 && f.action == writeAction, "--action %s is what --out does: a command needs an action of its own", writeAction)
	problem(f.out != "" && f.action != "", "--action names what a command does; with --out it is always %s, so leave it out", writeAction)
	problem(f.out == "-", "--out - is no file: what was written to a pipe cannot be brought into line after a kill")
	problem(f.newOut && f.out == "", "--new-out needs --out")
	problem(f.concurrency < 1, "--concurrency is %d; it must be at least 1", f.concurrency)
	problem(f.attempts < 1, "--attempts is %d; it must be at least 1", f.attempts)
	problem(f.bodyLimit < 0, "--body-limit is negative")
	return errors.Join(problems...)
}

// build returns the job that the flags describe, without its handler.
func (f *runFlags) build(address string, log *slog.Logger) (everypage.Job[json.RawMessage], error) {
	var job everypage.Job[json.RawMessage]
	contract, err := loadContract(f.contract)
	if err != nil {
		return job, err
	}
	header, err := f.header()
	if err != nil {
		return job, err
	}
	client := &adapters.Client{Now: everypage.SystemClock{}.Now, Logger: log, BodyLimit: f.bodyLimit}
	list, err := adapters.List[json.RawMessage](client, contract, address, &adapters.Options{
		PageSize: f.pageSize, Sort: f.sort, Header: header, Order: pager.Order(f.order), ItemsAt: adapters.Path(f.itemsAt),
	})
	if err != nil {
		return job, err
	}
	action := f.action
	if action == "" {
		action = writeAction
	}
	return everypage.Job[json.RawMessage]{
		Name: f.job, Pager: list, Action: action,
		RunID: f.runID, Once: everypage.Once(f.once), Cutoff: everypage.Cutoff(f.cutoff), Incremental: f.incremental,
		Deadline: f.deadline, AtMostOnce: f.atMostOnce, AcceptUnstable: f.acceptUnstable, DropVanished: f.dropVanished,
		Options: everypage.Options{
			Concurrency: f.concurrency, MaxAttempts: f.attempts, WaitUpTo: f.wait, ReadAhead: f.readAhead,
			Force: f.force, SupersedeLost: f.supersedeLost, Logger: log,
		},
	}, nil
}

// header reads --header and --header-env. Its errors say no value, and no name
// that may be a misplaced one.
func (f *runFlags) header() (http.Header, error) {
	header := http.Header{}
	for _, field := range f.headers {
		name, value, ok := strings.Cut(field, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, usagef("--header wants 'Name: value'")
		}
		if err := addHeader(header, "--header", name, strings.TrimSpace(value)); err != nil {
			return nil, err
		}
	}
	for _, pair := range f.headersByEnv {
		name, variable, ok := strings.Cut(pair, "=")
		if !ok || name == "" || variable == "" {
			return nil, usagef("--header-env wants NAME=VARIABLE: the header's name, and that of a variable that holds its value")
		}
		value := os.Getenv(variable)
		if value == "" && isHeaderName(name) {
			return nil, usagef("--header-env: the variable for %s is not set, or is empty", name)
		}
		if err := addHeader(header, "--header-env", name, value); err != nil {
			return nil, err
		}
	}
	return header, nil
}

// addHeader adds a field that can be sent.
func addHeader(header http.Header, flag, name, value string) error {
	if !isHeaderName(name) {
		return usagef("%s: the name holds a character that a header's name may not hold, such as a space", flag)
	}
	control := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	if strings.IndexFunc(value, control) >= 0 {
		return usagef("%s: the value for %s holds a line break or another control character, and cannot be sent", flag, name)
	}
	header.Add(name, value)
	return nil
}

// isHeaderName reports whether a text is a token of RFC 9110, section 5.6.2.
func isHeaderName(name string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune(marks, r)
	}) < 0
}

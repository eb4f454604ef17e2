package main

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/simapi"
)

// Bad input is refused before anything is called, made or lost, in words that say
// what to do.
func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		name string
		args func(w *world) []string
		code int
		says []string
	}{
		{"no such command", words("walk"), exitUsage, []string{`there is no command "walk"`}},
		{"no such flag", words("run", "--fast"), exitUsage, []string{"unknown flag: --fast", "--help"}},
		{"a flag's value", words("run", "--page-size", "many"), exitUsage, []string{"--page-size"}},
		{"no URL", words("run", "--job", "j"), exitUsage, []string{"the URL of the list is missing"}},
		{"two URLs", words("run", "http://a.test", "http://b.test"), exitUsage, []string{"there is one URL"}},
		{"no command after --", words("run", "http://a.test", "--"), exitUsage, []string{"a command is missing"}},
		{"nothing but a URL", words("run", "http://a.test"), exitUsage, []string{"--contract is missing", "--job is missing", "--ledger is missing", "--out FILE, or -- COMMAND"}},
		{"unknown contract", with("--contract", "nobody"), exitUsage, []string{`there is no contract "nobody"`, "keyset-catalogue"}},
		{"a contract that is no file", with("--contract", "./no.yaml"), exitUsage, []string{"--contract: open ./no.yaml"}},
		{"a contract without an end", withContract("name: own\nitems: {at: data, id: [id]}\n"), exitUsage, []string{"end.rule", "is missing"}},
		{"a contract with an unknown key", withContract("name: own\nend_rule: x\n"), exitUsage, []string{"own.yaml", "line 2", "end_rule"}},
		{"a contract with a value of the wrong kind", withContract("name: own\nitems:\n  at: [1]\n"), exitUsage, []string{"line 3", "items.at"}},
		{"a contract with several faults", withContract("name: own\nitems: {at: data}\nend:\n  rule: whenever\n"), exitUsage, []string{"line 4", "end.rule", "\n  ", "line 2", "items.id"}},
		{"a contract that is no YAML", withContract("name: own\nitems: {at: \n"), exitUsage, []string{"own.yaml", "read the contract", "3"}},
		{"a URL without host", replaceURL("http:///v1/tickets"), exitUsage, []string{"names no host"}},
		{"a URL without scheme", replaceURL("example.test/v1"), exitUsage, []string{"does not begin with https://"}},
		{"a URL that is none", replaceURL("http://user:secret@[::1"), exitUsage, []string{"cannot be parsed"}},
		{"a job's name", with("--job", "a b"), exitUsage, []string{"--job must be"}},
		{"an order that is none", with("--order", "sorted"), exitUsage, []string{`"sorted" is no class of order`}},
		{"once that is none", with("--once", "ever"), exitUsage, []string{`--once "ever" is neither run nor job`}},
		{"a header without name", with("--header", "secret-value"), exitUsage, []string{"--header wants 'Name: value'"}},
		{"a header from no variable", with("--header-env", "Authorization=EVERYPAGE_TEST_UNSET"), exitUsage, []string{"the variable for Authorization is not set"}},
		{"a value where a variable's name belongs", with("--header-env", "Authorization=secret-value"), exitUsage, []string{"the variable for Authorization is not set"}},
		{"a header with a line break", with("--header", "X-Key: secret\nvalue"), exitUsage, []string{"--header: the value for X-Key holds a line break"}},
		{"a header with a control character", with("--header", "X-Key: secret\x00value"), exitUsage, []string{"--header: the value for X-Key holds"}},
		{"a header from a variable with a line break", withVariable("secret\n", "--header-env", "Authorization=EVERYPAGE_TEST_AUTH"), exitUsage, []string{"--header-env: the value for Authorization holds a line break"}},
		{"a header's name that is none", with("--header", "X Key secret: value"), exitUsage, []string{"--header: the name holds a character"}},
		{"an action beside out", with("--action", "greet"), exitUsage, []string{"with --out it is always write"}},
		{"out's own action beside out", with("--action", "write"), exitUsage, []string{"leave it out"}},
		{"a command with the action of out", func(w *world) []string { return append(w.job("--action", "write"), "--", "true") }, exitUsage, []string{"--action write is what --out does"}},
		{"an unstable order", with("--order", "unstable"), exitUsage, []string{"order of the list is unstable", "set --accept-unstable", "set a --cutoff"}},
		{"a walk by page number", with("--contract", "github-rest", "--order", "unstable"), exitUsage, []string{"unstable"}},
		{"a cutoff that is none", with("--cutoff", "noon"), exitUsage, []string{`--cutoff "noon" is neither none, client nor server`}},
		{"a window without cutoff", with("--incremental"), exitUsage, []string{"--incremental needs --cutoff server"}},
		{"a run's name", with("--run-id", ".."), exitUsage, []string{`--run-id ".." must be`}},
		{"no concurrency", with("--concurrency", "0"), exitUsage, []string{"--concurrency is 0"}},
		{"out and a command", func(w *world) []string { return append(w.toFile(), "--", "true") }, exitUsage, []string{"exclude each other"}},
		{"a command without action", func(w *world) []string { return append(w.job(), "--", "true") }, exitUsage, []string{"--action is missing"}},
		{"out to a pipe", func(w *world) []string { return w.job("--out", "-") }, exitUsage, []string{"--out - is no file"}},
		{"a decision without name", words("retry", "r", "--ledger", "x"), exitUsage, []string{"--by is missing"}},
		{"a decision without note", words("accept", "r", "--by", "me", "--ledger", "x"), exitUsage, []string{"--note is missing"}},
		{"no such contract to show", words("contracts", "show", "nobody"), exitNotFound, []string{"there is no contract"}},
		{"no such status", words("runs", "--ledger", "x", "--status", "done"), exitUsage, []string{`"done" is none of running, paused, complete, needs_review`}},
		{"no such state", words("items", "r", "--ledger", "x", "--state", "lost"), exitUsage, []string{`"lost" is none of pending, done, held, deferred, dropped`}},
		{"no such ledger", words("runs", "--ledger", "/no/such/folder"), exitNotFound, []string{"there is no ledger in /no/such/folder"}},
		{"too many arguments", words("show", "a", "b", "--ledger", "x"), exitUsage, []string{"needs a run's ID or a job's name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 3)
			got := w.want(c.code, c.args(w), c.says...)
			if !strings.HasPrefix(got.err, "everypage: ") || got.out != "" || strings.Contains(got.err, "secret") {
				t.Errorf("said %q and %q", got.out, got.err)
			}
			if n := w.list.Log().Len(); n != 0 {
				t.Errorf("%d requests were made", n)
			}
			for _, name := range []string{"ledger", "out.jsonl", "out.jsonl.everypage"} {
				if _, err := os.Stat(w.path(name)); err == nil {
					t.Errorf("%s was made", name)
				}
			}
		})
	}
}

func words(args ...string) func(*world) []string { return func(*world) []string { return args } }

func with(more ...string) func(*world) []string {
	return func(w *world) []string { return w.toFile(more...) }
}

func withContract(text string) func(*world) []string {
	return func(w *world) []string {
		w.put("own.yaml", text)
		return w.toFile("--contract", w.path("own.yaml"))
	}
}

func withVariable(value string, more ...string) func(*world) []string {
	return func(w *world) []string {
		w.Setenv("EVERYPAGE_TEST_AUTH", value)
		return w.toFile(more...)
	}
}

func replaceURL(address string) func(*world) []string {
	return func(w *world) []string {
		args := w.toFile()
		args[1] = address
		return args
	}
}

func TestLedgersThatCannotBeOpened(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(w *world)
		says []string
	}{
		{"a file", func(w *world) { w.put("ledger", "") }, []string{"it is a file, and a ledger is a folder"}},
		{"a folder of something else", func(w *world) { w.mkdir("ledger"); w.put("ledger/thesis.txt", "") }, []string{`holds "thesis.txt" and no ledger`}},
		{"one of a newer version", func(w *world) {
			w.mkdir("ledger")
			w.put("ledger/everypage.ledger", `{"ledger":"everypage","format":99}`)
		}, []string{"newer version", "its format is 99"}},
		{"a damaged one", func(w *world) { w.mkdir("ledger"); w.put("ledger/everypage.ledger", `{`) }, []string{"damaged", "restore a backup"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 3)
			c.do(w)
			w.want(exitInternal, w.toFile(), append(c.says, w.path("ledger"))...)
			w.want(exitInternal, []string{"show", "tickets", "--ledger", w.path("ledger")}, c.says...)
			if n := w.list.Log().Len(); n != 0 {
				t.Errorf("%d requests were made", n)
			}
		})
	}
}

// A resume that would do something else is refused, and names what differs.
func TestAnotherDefinitionOnResume(t *testing.T) {
	for _, c := range []struct {
		name string
		more []string
		says string
	}{
		{"page size", []string{"--page-size", "2"}, `page_size was "3" and is "2"`},
		{"once", []string{"--once", "job"}, `once was "run" and is "job"`},
		{"cutoff", []string{"--cutoff", "client"}, `cutoff was "none" and is "client"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, 7)
			w.pause()
			requests := w.list.Log().Len()
			w.want(exitUsage, w.toFile(append(c.more, "--force")...), "begun with another definition", c.says, "go on with the recorded one")
			if w.list.Log().Len() != requests {
				t.Error("a request was made")
			}
			w.want(exitDone, w.toFile("--force"), "7 items done")
			w.wantOnce("out.jsonl", 7)
		})
	}
	t.Run("filter", func(t *testing.T) {
		w := newWorld(t, 7)
		w.pause()
		args := w.toFile("--force")
		args[1] += "?status=overdue"
		w.want(exitUsage, args, `filter was "" and is "status=overdue"`)
	})
}

// A paused run is not asked for again before its instant, and then goes on.
func TestPausedUntil(t *testing.T) {
	w := newWorld(t, 7)
	w.list.Script().At(2, simapi.RateLimited(time.Hour, everypage.SystemClock{}.Now(), simapi.Envelope{RequestID: "req_42"}))
	w.want(exitPaused, w.toFile(), "is paused (rate_limited", "req_42", "again at or after")
	requests := w.list.Log().Len()
	w.want(exitPaused, w.toFile(), "is paused (rate_limited")
	if w.list.Log().Len() != requests {
		t.Error("it was asked again before its instant")
	}
	w.want(exitDone, w.toFile("--force"), "7 items done")
}

// A pause that is waited out ends at once where somebody stops the run.
func TestStopDuringAWait(t *testing.T) {
	w := newWorld(t, 7)
	ctx, cancel := context.WithCancelCause(t.Context())
	w.list.Script().At(2, simapi.Fault{
		Before: func() { time.AfterFunc(50*time.Millisecond, func() { cancel(errStopped) }) },
		Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"30"}}, Body: "{}",
	})
	got := runIn(ctx, w.toFile()...)
	if got.code != exitPaused || !strings.Contains(got.err, "is paused (rate_limited") || !strings.Contains(got.err, "3 items done") {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
	w.want(exitDone, w.toFile("--force"), "7 items done")
}

func (w *world) mkdir(name string) {
	w.Helper()
	if err := os.Mkdir(w.path(name), 0o750); err != nil {
		w.Fatal(err)
	}
}

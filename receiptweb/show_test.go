package receiptweb_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/receiptweb"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// What others said is text: escaped, with hidden characters to be seen, and without
// credentials.
func TestForeignTexts(t *testing.T) {
	w := newWorld(t, everybodyMay)
	const evil = "<script>alert(1)</script>\u202egnp\x1b[2J\xff"
	w.lists["tickets"] = &list{
		pages: [][]ticket{{{ID: "a" + evil, Text: evil}, {ID: "b"}}, {{ID: "b", Text: evil}}},
		next: func(page int) string {
			return fmt.Sprintf("https://user:s3cret@api.example/list?access_token=s3cret&page=%d&q=<b>\u202e", page)
		},
	}
	w.refuse("see https://user:s3cret@api.example/?token=s3cret "+evil, "a"+evil)
	run := w.run("tickets")
	path := "/runs/" + run.RunID
	for _, part := range []string{"", "/held", "/conflicts", "/pages", "/pages/0", "/pages/1", "/events"} {
		page := w.page(path + part)
		lacks(t, page, "<script>alert", "\u202e", "\x1b", "\xff", "s3cret", "<b>")
	}
	has(t, w.page(path), `a&lt;script&gt;alert(1)&lt;/script&gt;\u202egnp\u001b[2J\xff`, "REDACTED")
	for _, form := range []string{"json", "yaml"} {
		lacks(t, w.page(path+"/receipt."+form), "s3cret")
	}
	stopped := &pager.Fault{Code: pager.CodeRequestRefused, Detail: "at https://x/?token=s3cret " + evil, Answer: pager.Answer{
		HTTPStatus: 403, Error: evil, ErrorDescription: evil, Type: evil, Details: []string{evil, "sig=s3cret"}, RequestID: evil, Bucket: evil, Hint: evil, AgentInstruction: evil,
	}}
	w.lists["stopped"] = &list{pages: [][]ticket{tickets("a"), nil}, fault: stopped}
	page := w.page("/runs/" + w.run("stopped").RunID)
	lacks(t, page, "<script>alert", "\u202e", "\x1b", "s3cret")
	has(t, page, "The API refused the request.", "403 Forbidden", `\u202egnp`)
	odd := w.page("/?job=" + "%3Cscript%3Ealert(1)%3C/script%3E%E2%80%AE")
	lacks(t, odd, "<script>alert", "\u202e")
	has(t, odd, "No run is like that")
}

// Each status says what it means and what to do.
func TestVerdicts(t *testing.T) {
	w := newWorld(t)
	complete := w.run("complete", tickets("a"))
	has(t, w.page("/runs/"+complete.RunID), "The API said that the list ended, and nothing is owed.", "The API said so: has_more=false", "✓")
	lacks(t, w.page("/runs/"+complete.RunID), "data-live-source", "Not met:", ">current<")

	until := noon().Add(40 * time.Minute)
	w.lists["paused"] = &list{pages: [][]ticket{tickets("a"), nil}, fault: &pager.Fault{Verdict: pager.Pause, Code: pager.CodeRateLimited, Until: until}}
	paused := w.page("/runs/" + w.run("paused").RunID)
	has(t, paused, "paused", state.Explain(pager.CodeRateLimited).Advice, "It may go on at 2026-03-05 12:40:00 UTC, in 40 minutes.", "Not met:", "data-live-source")

	w.refuse("no", "b")
	held := w.page("/runs/" + w.run("held", tickets("a", "b")).RunID)
	has(t, held, "needs review", state.Explain(state.CodeItemsHeld).Advice, state.ExplainHold(state.HoldPermanent).Advice, "1 owed, 1 of them held.", "about b")

	row := w.page("/")
	has(t, row, "The API limits the rate of requests.", "needs review", "1 held", "just now")
	has(t, w.page("/?status=paused"), "paused</a>")
	lacks(t, w.page("/?status=paused"), ">complete</a>", ">held</a>")
}

// A run without news for long says so.
func TestQuietRunner(t *testing.T) {
	w := newWorld(t)
	receipt := state.Receipt{RunID: "r", Job: "job", Status: state.Running, StartedAt: noon(), UpdatedAt: noon()}
	begin := store.Change{Begin: true, Run: store.Run{Receipt: receipt, Scope: "r", Lineage: "r", Active: true, Definition: &store.Definition{}, Fetching: -1, Careful: -1}}
	if err := w.ledger.Commit(t.Context(), begin); err != nil {
		t.Fatal(err)
	}
	has(t, w.page("/runs/r"), "A runner is at work")
	w.clock.advance(3 * time.Hour)
	has(t, w.page("/runs/r"), "It has recorded nothing for 3 hours.", "run the job again")
}

// Every code has its explanation, and an address of its own.
func TestCodes(t *testing.T) {
	page := newWorld(t).page("/codes")
	for _, e := range append(state.Explanations(), state.HoldExplanations()...) {
		has(t, page, `id="`+string(e.Code)+`"`)
	}
}

// Thousands of pages are shown in parts, and each part can be gone to.
func TestLongStrip(t *testing.T) {
	w := newWorld(t)
	var pages [][]ticket
	for i := range 450 {
		pages = append(pages, []ticket{{ID: fmt.Sprint(i)}})
	}
	path := "/runs/" + w.run("long", pages...).RunID
	tiles := func(page string) int { return strings.Count(page, `class="tile`) }
	run := w.page(path)
	if n := tiles(run); n != 36 {
		t.Errorf("the run's page shows %d pages", n)
	}
	has(t, run, "The newest 36", "pages?from=0", "pages?from=400")
	for from, want := range map[int]int{0: 200, 200: 200, 400: 50, 449: 1} {
		if n := tiles(w.page(fmt.Sprintf("%s/pages?from=%d", path, from))); n != want {
			t.Errorf("from %d there are %d pages, want %d", from, n, want)
		}
	}
}

// The list, the hold queue and the conflicts are paged: nothing is shown twice, and
// nothing is left out.
func TestPaging(t *testing.T) {
	w := newWorld(t, func(w *world) { w.options.PageSize = 7 })
	var ids []string
	for i := range 30 {
		ids = append(ids, fmt.Sprintf("item-%02d", i))
	}
	w.refuse("no", ids...)
	held := "/runs/" + w.run("held", tickets(ids...)).RunID + "/held"
	w.handle = nil
	conflicts := "/runs/" + w.run("conflicts", tickets(ids...), tickets(ids...)).RunID + "/conflicts"
	for i := range 30 {
		w.run(fmt.Sprintf("run-%02d", i), tickets("a"))
	}
	onward := regexp.MustCompile(`rel="next" href="[./]*([^"]*)"`)
	for path, c := range map[string]struct {
		entry *regexp.Regexp
		want  int
	}{
		"/":       {regexp.MustCompile(`class="job"[^>]*>([^<]+)<`), 32},
		held:      {regexp.MustCompile(`<label for="choose[^>]*class="id">([^<]+)<`), 30},
		conflicts: {regexp.MustCompile(`<h3 class="id"[^>]*>([^<]+)<`), 30},
	} {
		seen := map[string]int{}
		for at, steps := path, 0; at != "" && steps < 20; steps++ {
			page := w.page(at)
			for _, found := range c.entry.FindAllStringSubmatch(page, -1) {
				seen[found[1]]++
			}
			at = ""
			if next := onward.FindStringSubmatch(page); next != nil {
				at = "/" + strings.ReplaceAll(next[1], "&amp;", "&")
			}
		}
		for entry, times := range seen {
			if times != 1 {
				t.Errorf("%s shows %s %d times", path, entry, times)
			}
		}
		if len(seen) != c.want {
			t.Errorf("%s shows %d entries in all, want %d", path, len(seen), c.want)
		}
	}
}

// stream is a followed page.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
	stop  func()
}

func (w *world) follow(path, last string) (*stream, int) {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	w.t.Cleanup(stop)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.address(path), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	response, err := w.client.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { response.Body.Close() })
	return &stream{w.t, bufio.NewScanner(response.Body), stop}, response.StatusCode
}

// next returns the next event and its mark, beside heartbeats.
func (s *stream) next() (event, mark string) {
	s.t.Helper()
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch {
		case name == "event":
			event = value
		case name == "id":
			mark = value
		case name == "" && event != "":
			return event, mark
		}
	}
	return "", ""
}

var liveSource = regexp.MustCompile(`data-live-source="([^"]+)"`)

// A followed page is told of a change, also of one between its load and its stream,
// and when nothing changes any more.
func TestLive(t *testing.T) {
	w := newWorld(t)
	w.refuse("no", "a")
	run := w.run("tickets", tickets("a"))
	found := liveSource.FindStringSubmatch(w.page("/runs/" + run.RunID))
	if found == nil {
		t.Fatal("the page of an open run is not followed")
	}
	source := "/runs/" + found[1]
	missed := newWorldChange(w, run.RunID)
	s, _ := w.follow(source, "")
	event, mark := s.next()
	if event != "change" || mark == "" {
		t.Fatalf("a change before the stream: %q, %q", event, mark)
	}
	missed()
	if event, next := s.next(); event != "change" || next == mark {
		t.Errorf("a change: %q, %q after %q", event, next, mark)
	} else {
		mark = next
	}
	s.stop()
	// A stream that is taken up again knows what it told.
	s, _ = w.follow(source, mark)
	final := w.stored(run.RunID)
	final.Receipt.SupersededBy = "another"
	if err := w.ledger.Commit(t.Context(), store.Change{Run: final}); err != nil {
		t.Fatal(err)
	}
	if event, _ := s.next(); event != "change" {
		t.Errorf("the last change: %q", event)
	}
	if event, _ := s.next(); event != "over" {
		t.Errorf("at the end: %q", event)
	}
}

// newWorldChange changes a run at once, and again when it is called.
func newWorldChange(w *world, runID string) (again func()) {
	change := func() {
		w.t.Helper()
		w.clock.advance(time.Second)
		run := w.stored(runID)
		run.Receipt.UpdatedAt = w.clock.Now()
		if err := w.ledger.Commit(w.t.Context(), store.Change{Run: run}); err != nil {
			w.t.Fatal(err)
		}
	}
	change()
	return change
}

// No more pages are followed than the program allows.
func TestLive_Bounded(t *testing.T) {
	w := newWorld(t, func(w *world) { w.options.MaxLive = 1 })
	w.run("tickets", tickets("a"))
	first, status := w.follow("/live", "")
	if event, _ := first.next(); status != http.StatusOK || event != "change" {
		t.Fatalf("the first one: %d, %q", status, event)
	}
	if _, status := w.follow("/live", ""); status != http.StatusServiceUnavailable {
		t.Errorf("one beyond the bound: %d", status)
	}
}

// The paging of the largest page size is bounded, and the zero value serves.
func TestOptions_Zero(t *testing.T) {
	w := newWorld(t, func(w *world) { w.options = receiptweb.Options{PageSize: 1 << 30} })
	w.run("tickets", tickets("a"))
	has(t, w.page("/"), "tickets")
}

package browsertest_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// The page of a live run follows it by itself, from its first page to complete, and
// so does the list of runs.
func TestLiveRun(t *testing.T) {
	b, w := newBrowser(t), newWorld(t)
	gates := []*gate{newGate(), newGate(), newGate()}
	ended := make(chan error, 1)
	go func() {
		_, err := w.run(t.Context(), everypage.Job[invoice]{
			Name: "live", Pager: paged(3, few),
			Handle: func(ctx context.Context, item everypage.Item[invoice]) error { return gates[item.Page].wait(ctx) },
		})
		ended <- err
	}()
	b.visit(w.root)
	b.until("the list shows the run", `document.querySelector("tr.running a.job")?.textContent === "live"`)
	b.do(chromedp.Click(chromedp.CSS("a.job")))
	pages := func(n int) string {
		return fmt.Sprintf(`document.querySelectorAll("#strip .tile").length === %d && document.querySelector("#strip .tile.current .index").textContent === "Page %d"`, n, n-1)
	}
	b.until("the first page is shown as the current one", pages(1))
	b.until("it follows", `document.getElementById("live").dataset.liveState === "on"`)
	// It is the same document all the time: a mark on it stays.
	eval[bool](b, `document.body.dataset.mark = "here", true`)
	for i, gate := range gates {
		b.until(fmt.Sprintf("page %d is shown", i), pages(i+1))
		close(gate.open)
	}
	b.until("it shows that the run is complete", `document.querySelector("#verdict .status").textContent.includes("complete")`)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	b.until("nothing is followed any more", `document.getElementById("live").textContent.includes("Now complete. This run does not change any more")`)
	if got := b.text("#numbers"); !strings.Contains(strings.Join(strings.Fields(got), " "), "Done 9") {
		t.Errorf("the numbers are %q", got)
	}
	if unmet := eval[int](b, `document.querySelectorAll(".conditions .unmet").length`); unmet != 0 {
		t.Errorf("%d lines of complete_when are not ticked", unmet)
	}
	if !eval[bool](b, `document.body.dataset.mark === "here"`) {
		t.Error("the page was loaded anew instead of being brought up to date")
	}
	if title := eval[string](b, `document.title`); !strings.Contains(title, "complete") {
		t.Errorf("the title is %q", title)
	}
}

// A held item, whose ID tries to be markup, is retried through the page with the
// keyboard alone, and the next Run completes.
func TestHeldItemRetriedByKeyboard(t *testing.T) {
	b, w := newBrowser(t), newWorld(t)
	const evil = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>{{.}}` + "\u202e\r\n'\x00"
	pages := func(index int) []invoice {
		page := few(index)
		if index == 1 {
			page[1].ID, page[1].Customer = evil, evil
		}
		return page
	}
	var mu sync.Mutex
	mended, calls := false, 0
	job := everypage.Job[invoice]{Name: "held", Pager: paged(2, pages), Handle: func(_ context.Context, item everypage.Item[invoice]) error {
		mu.Lock()
		defer mu.Unlock()
		if item.ID != evil {
			return nil
		}
		if calls++; !mended {
			return everypage.Permanent(errors.New(evil))
		}
		return nil
	}}
	receipt, _ := w.run(t.Context(), job)
	if receipt.Status != state.NeedsReview {
		t.Fatalf("the run is %s", receipt.Status)
	}
	b.visit(w.root)
	keys := func(keys string) { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }
	focused := func() string {
		return eval[string](b, `(() => { const e = document.activeElement; return [e.tagName, e.id, e.className, e.name || "", e.type || "", e.textContent.trim().slice(0, 60)].join("|"); })()`)
	}
	// to goes on with the tabulator until what is wanted has the focus, which must be
	// seen.
	to := func(what string) {
		b.t.Helper()
		var passed []string
		for range 200 {
			keys(kb.Tab)
			at := focused()
			if strings.Contains(at, what) {
				if outline := eval[string](b, `getComputedStyle(document.activeElement).outlineStyle`); outline == "none" {
					t.Errorf("the focus on %s is not to be seen", at)
				}
				return
			}
			passed = append(passed, at)
		}
		t.Fatalf("the tabulator never comes to %s; it went over\n%s", what, strings.Join(passed, "\n"))
	}
	to("skip")
	keys(kb.Enter)
	b.until("the way over the navigation leads to the content", `document.activeElement.id === "main"`)
	to("A||job|")
	keys(kb.Enter)
	b.until("the run's page is loaded", `document.querySelector("#held") !== null`)
	if n := eval[int](b, `document.querySelectorAll("main img, main script").length`); n != 0 {
		t.Errorf("an ID became %d elements", n)
	}
	if shown := b.text("#held h3"); !strings.Contains(shown, `<script>document.title='owned'</script>{{.}}\u202e\u000d\u000a'\u0000`) {
		t.Errorf("the ID is shown as %q", shown)
	}
	to("choose-" + base64.RawURLEncoding.EncodeToString([]byte(evil)))
	keys(" ")
	to("|by|")
	keys("Anna Ōno")
	to("Retry the chosen")
	mu.Lock()
	mended = true
	mu.Unlock()
	keys(kb.Enter)
	b.until("it says what to do now", `document.querySelector(".notice")?.textContent.includes("run the job again")`)
	if title := eval[string](b, "document.title"); strings.Contains(title, "owned") {
		t.Error("an item's text ran as a script")
	}
	if receipt, err := w.run(t.Context(), job); err != nil || receipt.Status != state.Complete || receipt.ProcessedUnique != 6 {
		t.Fatalf("after the retry: %v", err)
	}
	b.until("the page follows to complete", `document.querySelector("#verdict .status").textContent.includes("complete")`)
	if got := b.text("#events"); !strings.Contains(got, "Anna Ōno") {
		t.Errorf("who decided is not told: %s", got)
	}
	if calls != 2 {
		t.Errorf("the item was handled %d times", calls)
	}
}

// A decision about a run that has changed meanwhile is refused in words, and an
// acceptance completes.
func TestConflictAccepted(t *testing.T) {
	b, w := newBrowser(t), newWorld(t)
	twice := func(int) []invoice { return few(0)[:1] }
	receipt, _ := w.run(t.Context(), everypage.Job[invoice]{Name: "twice", Pager: paged(2, twice)})
	address := w.root + "runs/" + receipt.RunID
	b.visit(address)
	b.do(
		chromedp.SendKeys(chromedp.CSS(`form[action$="accept"] input[name=by]`), "Anna"),
		chromedp.SendKeys(chromedp.CSS(`form[action$="accept"] input[name=note]`), "the same invoice"),
		chromedp.Click(chromedp.CSS(`form[action$="accept"] button`)),
	)
	b.until("it is complete", `document.querySelector("#verdict .status")?.textContent.includes("complete")`)
	if got := b.text("#conflicts"); !strings.Contains(got, "Accepted by Anna") || !strings.Contains(got, "the same invoice") {
		t.Errorf("the conflict says %q", got)
	}
}

// Without JavaScript every page shows what it has, and a form works.
func TestWithoutJavaScript(t *testing.T) {
	b, w := newBrowser(t), newWorld(t)
	receipt, _ := w.run(t.Context(), everypage.Job[invoice]{Name: "plain", Pager: paged(2, few), Handle: func(_ context.Context, item everypage.Item[invoice]) error {
		if item.ID == "inv_00004" {
			return everypage.Permanent(errors.New("no"))
		}
		return nil
	}})
	b.do(withoutScripts())
	b.visit(w.root + "runs/" + receipt.RunID)
	b.do(
		chromedp.SendKeys(chromedp.CSS(`form[action$="retry"] input[name=by]`), "Anna"),
		chromedp.Click(chromedp.CSS(`.actions form[action$="retry"] button`)),
		chromedp.WaitVisible(chromedp.CSS(".notice")),
	)
	run, err := w.ledger.Run(t.Context(), receipt.RunID)
	if err != nil || run.Receipt.Status != state.Running {
		t.Errorf("the run is %s, %v", run.Receipt.Status, err)
	}
}

// A hundred thousand runs are paged from the newest to older ones, each once, and as
// fast in the middle as at the top.
func TestManyRuns(t *testing.T) {
	b, w := newBrowser(t), newWorld(t)
	const many = 100_000
	at := time.Date(2026, time.March, 5, 9, 0, 0, 0, time.UTC)
	for i := range many {
		id := fmt.Sprintf("run-%06d", i)
		receipt := state.Receipt{RunID: id, Job: fmt.Sprintf("job-%d", i%7), Status: state.Complete, SchemaVersion: state.SchemaVersion, TerminalObserved: true, StartedAt: at, UpdatedAt: at}
		if i%1000 == 0 {
			receipt.Status, receipt.Reason = state.NeedsReview, &state.Reason{Code: pager.CodeCursorExpired}
		}
		if err := w.ledger.Commit(t.Context(), store.Change{Begin: true, Run: store.Run{Receipt: receipt, Lineage: id, Scope: id, Fetching: -1, Careful: -1}}); err != nil {
			t.Fatal(err)
		}
	}
	shown := func() []string {
		return eval[[]string](b, `Array.from(document.querySelectorAll("tbody .id"), (e) => e.textContent)`)
	}
	b.visit(w.root)
	next := many
	for page := range 8 {
		ids := shown()
		for _, id := range ids {
			next--
			if want := fmt.Sprintf("run-%06d", next); id != want {
				t.Fatalf("page %d shows %s, want %s", page, id, want)
			}
		}
		if len(ids) != 50 {
			t.Fatalf("page %d has %d runs", page, len(ids))
		}
		b.do(chromedp.Click(chromedp.CSS(`a[rel=next]`)))
		b.until("older runs are shown", fmt.Sprintf(`document.querySelector("tbody .id")?.textContent === "run-%06d"`, next-1))
	}
	// The middle, the end, and a filter of each kind.
	for path, want := range map[string]struct{ first, older string }{
		"?after=run-050000":                     {"run-049999", "yes"},
		"?after=run-000050":                     {"run-000049", "no"},
		"?status=needs_review":                  {"run-099000", "yes"},
		"?status=needs_review&after=run-050500": {"run-050000", "yes"},
		"?job=job-3":                            {"run-099998", "yes"},
		"?job=job-3&after=run-000400":           {"run-000395", "yes"},
		"?job=job-0&status=needs_review":        {"run-098000", "no"},
		"?job=job-none":                         {"", "no"},
	} {
		began := time.Now()
		b.visit(w.root + path)
		took := time.Since(began)
		first, older := "", "no"
		if ids := shown(); len(ids) > 0 {
			first = ids[0]
		}
		if eval[bool](b, `document.querySelector("a[rel=next]") !== null`) {
			older = "yes"
		}
		if first != want.first || older != want.older {
			t.Errorf("%s begins with %q, and older runs: %s; want %+v", path, first, older, want)
		}
		t.Logf("%s: loaded in %v", path, took)
	}
}

package browsertest_test

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long a browser may take for anything: a machine may be busy.
const patience = 60 * time.Second

// browser is a tab of a real browser, and what it did that it must not.
type browser struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps the tab in it
	mu  sync.Mutex
	bad []string
}

// program returns the browser, or skips the test where there is none; with
// EVERYPAGE_REQUIRE_REAL=1 that is a failure.
func program(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "no Chromium in the path; on Debian: apt-get install chromium"
	if os.Getenv("EVERYPAGE_REQUIRE_REAL") == "1" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// newBrowser starts a browser with one tab. At the end of the test it fails where a
// request went elsewhere than to this machine, where the page broke its own
// Content-Security-Policy, and where a script failed.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program(t)),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.WSURLReadTimeout(patience),
		// Nothing is looked up, so nothing can be reached by a name but this machine.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("force-color-profile", "srgb"),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses its sandbox to root
	}
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(closeTab)
	b := &browser{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.watch); err != nil { // it starts the browser
		t.Fatalf("start %s: %v", program(t), err)
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, bad := range b.bad {
			t.Error(bad)
		}
	})
	return b
}

// watch notes what a page must not do.
func (b *browser) watch(event any) {
	note := func(text string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.bad = append(b.bad, text)
	}
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		to, err := url.Parse(e.Request.URL)
		if err != nil || to.Hostname() != "127.0.0.1" && to.Scheme != "about" && to.Scheme != "chrome" {
			note("a request left this machine: " + e.Request.URL)
		}
	case *cdplog.EventEntryAdded:
		if e.Entry.Source == cdplog.EntrySourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") {
			note("the browser objects: " + e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		note("a script failed: " + e.ExceptionDetails.Text)
	}
}

// do carries actions out, all within the test's patience.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	get(b, "act", chromedp.Steps(actions...))
}

// get carries an action out and returns its value, within the test's patience.
func get[T any](b *browser, what string, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatalf("the browser: %s: %v; the page says:\n%s", what, err, b.shows())
	}
	return value
}

// shows returns what the page says, as far as it can be had.
func (b *browser) shows() string {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}

// visit loads a page.
func (b *browser) visit(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate(address), chromedp.WaitReady(chromedp.CSS("footer")))
}

// text returns what a reader sees of an element.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return get(b, "read "+selector, chromedp.Text(chromedp.CSS(selector)))
}

// eval returns the value of an expression in the page.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	return get(b, expression, chromedp.Evaluate[T](expression))
}

// until waits until an expression holds, also across pages that are loaded meanwhile.
func (b *browser) until(what, expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		if err == nil && holds {
			return
		}
		select {
		case <-ctx.Done():
			b.t.Fatalf("%s: %v; the page says:\n%s", what, err, b.shows())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

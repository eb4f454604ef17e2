package receiptweb_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/receiptweb"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is what the tests' clock says.
func noon() time.Time { return time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC) }

// clock stands still at noon, or where a test has moved it; its timers are real and
// short, since a browser's stream cannot wait in a fake time.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Timer(time.Duration) (<-chan time.Time, func() bool) {
	timer := time.NewTimer(time.Millisecond)
	return timer.C, timer.Stop
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// ticket is the item of the tests.
type ticket struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
}

// list is a list of pages. A nil page is answered with fault.
type list struct {
	mu    sync.Mutex
	pages [][]ticket
	fault *pager.Fault
	next  func(page int) string // the cursor of a page; nil: its number
}

func (l *list) Pages(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[ticket], error] {
	return pager.Func[ticket](l.page).Pages(ctx, from)
}

func (l *list) page(_ context.Context, at pager.Cursor) (pager.Page[ticket], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	cursor := func(page int) string {
		if l.next != nil {
			return l.next(page)
		}
		return fmt.Sprint(page)
	}
	index := 0
	if token, ok := at.Token(); ok {
		for index < len(l.pages) && cursor(index) != token {
			index++
		}
	}
	if index >= len(l.pages) {
		return pager.Page[ticket]{}, &pager.Fault{Code: pager.CodeRequestRefused, Detail: "no such cursor"}
	}
	if l.pages[index] == nil {
		return pager.Page[ticket]{}, l.fault
	}
	page := pager.Page[ticket]{End: pager.EndMore, Next: pager.At(cursor(index + 1)), Evidence: "has_more=true"}
	if index == len(l.pages)-1 {
		page.End, page.Next, page.Evidence = pager.EndLast, pager.Cursor{}, "has_more=false"
	}
	for _, t := range l.pages[index] {
		raw, err := json.Marshal(t)
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, pager.Item[ticket]{ID: t.ID, Value: t, Raw: raw})
	}
	return page, nil
}

// world is a ledger, its page and somebody who looks.
type world struct {
	t       *testing.T
	clock   *clock
	ledger  *pebblestore.Store
	options receiptweb.Options
	// prefix is where the page is mounted.
	prefix string
	server *httptest.Server
	client *http.Client
	lists  map[string]*list
	handle func(everypage.Item[ticket]) error
}

func newWorld(t *testing.T, edit ...func(*world)) *world {
	t.Helper()
	w := &world{t: t, clock: &clock{now: noon()}, prefix: "/ops/receipts", lists: map[string]*list{}}
	ledger, err := pebblestore.Open("ledger", &pebblestore.Options{FS: vfs.NewMem(), Now: w.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ledger.Close() })
	w.ledger = ledger
	w.options.Clock = w.clock
	for _, change := range edit {
		change(w)
	}
	mux := http.NewServeMux()
	mux.Handle(w.prefix+"/", http.StripPrefix(w.prefix, receiptweb.Handler(ledger, &w.options)))
	w.server = httptest.NewServer(mux)
	t.Cleanup(w.server.Close)
	w.client = w.server.Client()
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return w
}

// everybodyMay is an Authorize that lets everybody act and leaves the name to them.
func everybodyMay(w *world) {
	w.options.Authorize = func(*http.Request, receiptweb.Action) (string, error) { return "", nil }
}

// job gives a job its list and runs it.
func (w *world) run(name string, pages ...[]ticket) *state.Receipt {
	w.t.Helper()
	if len(pages) > 0 {
		w.lists[name] = &list{pages: pages}
	}
	receipt, err := everypage.Run(w.t.Context(), w.ledger, everypage.Job[ticket]{
		Name: name, Pager: w.lists[name], Action: "remind",
		Handle: func(_ context.Context, item everypage.Item[ticket]) error {
			if w.handle != nil {
				return w.handle(item)
			}
			return nil
		},
		Options: everypage.Options{Clock: w.clock, MaxAttempts: 2},
	})
	if receipt == nil {
		w.t.Fatal(err)
	}
	return receipt
}

// refuse makes the handler refuse items by their IDs.
func (w *world) refuse(why string, ids ...string) {
	w.handle = func(item everypage.Item[ticket]) error {
		if slices.Contains(ids, item.ID) {
			return everypage.Permanent(errors.New(why))
		}
		return nil
	}
}

// answer is what the page answered.
type answer struct {
	status int
	header http.Header
	body   string
}

func (w *world) do(request *http.Request) answer {
	w.t.Helper()
	response, err := w.client.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(body)}
}

func (w *world) address(path string) string { return w.server.URL + w.prefix + path }

func (w *world) get(path string) answer {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.address(path), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.do(request)
}

// page gets a page that must be there.
func (w *world) page(path string) string {
	w.t.Helper()
	got := w.get(path)
	if got.status != http.StatusOK {
		w.t.Fatalf("GET %s: %d\n%s", path, got.status, got.body)
	}
	return got.body
}

// post sends a form as a browser does from the page's own origin, or from another.
func (w *world) post(path string, form url.Values, site string) answer {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.address(path), strings.NewReader(form.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if site != "" {
		request.Header.Set("Sec-Fetch-Site", site)
	}
	return w.do(request)
}

var token = regexp.MustCompile(`name="token" value="([^"]+)"`)

// token returns the token of the forms of a page.
func (w *world) token(path string) string {
	w.t.Helper()
	found := token.FindStringSubmatch(w.page(path))
	if found == nil {
		w.t.Fatalf("GET %s: there is no form", path)
	}
	return found[1]
}

func (w *world) stored(runID string) store.Run {
	w.t.Helper()
	run, err := w.ledger.Run(w.t.Context(), runID)
	if err != nil {
		w.t.Fatal(err)
	}
	return run
}

// has fails unless a page has all the texts.
func has(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) && !strings.Contains(page, html.EscapeString(text)) {
			t.Errorf("the page does not have %q:\n%s", text, page)
		}
	}
}

// lacks fails if a page has one of the texts.
func lacks(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("the page has %q:\n%s", text, page)
		}
	}
}

func tickets(ids ...string) []ticket {
	var all []ticket
	for _, id := range ids {
		all = append(all, ticket{ID: id, Text: "about " + id})
	}
	return all
}

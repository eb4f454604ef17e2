package proptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/proptest"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

type (
	page = pager.Page[json.RawMessage]
	job  = everypage.Job[json.RawMessage]
)

// only returns a folder with one of the package's own cases.
func only(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	raw, err := os.ReadFile(ownCases + "/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{name + ".json": {Data: raw}}
}

// walker is a pager that is wrong in one way: it changes the pages and errors of
// the library's own.
type walker struct {
	inner  pager.Pager[json.RawMessage]
	list   proptest.Endpoint
	change func(w *walker, p *page, err error) error
	first  int // items on the first page
}

// Pages walks on from what the change makes of each page.
func (w *walker) Pages(ctx context.Context, from pager.Cursor) iter.Seq2[page, error] {
	return pager.Func[json.RawMessage](func(ctx context.Context, at pager.Cursor) (page, error) {
		for p, err := range w.inner.Pages(ctx, at) {
			err = w.change(w, &p, err)
			return p, err
		}
		return page{}, errors.New("there is no page")
	}).Pages(ctx, from)
}

func (w *walker) Describe() pager.Description {
	d := w.inner.(pager.Describer).Describe() //nolint:forcetypeassert // adapters' pager is one
	d.ContractDocument = nil
	return d
}

func walks(change func(w *walker, p *page, err error) error) *proptest.CaseOptions {
	return &proptest.CaseOptions{Pager: func(e proptest.Endpoint) (pager.Pager[json.RawMessage], error) {
		inner, err := e.Pager()
		return &walker{inner: inner, list: e, change: change}, err
	}}
}

// engine runs the real engine on a job that was made wrong.
func engine(change func(job *job)) *proptest.CaseOptions {
	return &proptest.CaseOptions{Run: func(ctx context.Context, ledger store.Store, j job) (*state.Receipt, error) {
		change(&j)
		return everypage.Run(ctx, ledger, j)
	}}
}

func last(p *page) error {
	p.End, p.Evidence, p.Next = pager.EndLast, "so the walker says", pager.Cursor{}
	return nil
}

func faultOf(err error) *pager.Fault {
	fault, _ := errors.AsType[*pager.Fault](err)
	if fault == nil {
		fault = &pager.Fault{}
	}
	return fault
}

// sharedByAll lets everybody hold a job.
type sharedByAll struct{ store.Store }

func (sharedByAll) Hold(context.Context, string) (func(), error) { return func() {}, nil }

// forgetful keeps what is written to itself: nothing is on the disk.
type forgetful struct{ store.Store }

func (f forgetful) Commit(ctx context.Context, change store.Change) error {
	change.Items = nil
	return f.Store.Commit(ctx, change)
}

// broken are walkers and engines that are wrong, each with a case that must notice
// and the promise that it must name.
func broken() []struct {
	name, by, promise string
	options           *proptest.CaseOptions
} {
	return []struct {
		name, by, promise string
		options           *proptest.CaseOptions
	}{
		{"takes a short page as the end", "01-short-page-not-end", "end-observed", walks(func(w *walker, p *page, err error) error {
			w.first = max(w.first, len(p.Items))
			if err == nil && len(p.Items) < w.first {
				return last(p)
			}
			return err
		})},
		{"reads the first page only", "03-mcp-first-page-only", "end-observed", walks(func(_ *walker, p *page, err error) error {
			if err == nil {
				return last(p)
			}
			return err
		})},
		{"takes an empty page as the end", "105-echoed-token-ends", "end-observed", walks(func(_ *walker, p *page, err error) error {
			if err == nil && len(p.Items) == 0 {
				return last(p)
			}
			return err
		})},
		{"takes 404 as the end", "39-404-past-the-end", "end-observed", walks(func(_ *walker, p *page, err error) error {
			if faultOf(err).Answer.HTTPStatus == http.StatusNotFound {
				return last(p)
			}
			return err
		})},
		{"takes an answer without items as the end", "20-200-with-error-body", "end-observed", walks(func(_ *walker, p *page, err error) error {
			if faultOf(err).Code == pager.CodeNotAList {
				return last(p)
			}
			return err
		})},
		{"takes a dead cursor as the end", "12-cursor-expired-400", "end-observed", walks(func(_ *walker, p *page, err error) error {
			if faultOf(err).Code == pager.CodeRequestRefused {
				return last(p)
			}
			return err
		})},
		{"takes an empty token as none", "115-empty-string-is-a-cursor", "complete when the end was observed and nothing is owed", walks(func(_ *walker, p *page, err error) error {
			if p.Next == pager.At(`""`) {
				p.Next = pager.Cursor{}
			}
			return err
		})},
		{"sends the empty token that ends the list", "32-empty-string-cursor-ends", "no request beyond the script", walks(func(_ *walker, p *page, err error) error {
			if err == nil && p.End == pager.EndLast {
				p.End, p.Next = pager.EndMore, pager.At("")
			}
			return err
		})},
		{"looks at no veto", "104-incomplete-results-veto", "end-observed", walks(func(_ *walker, p *page, err error) error {
			p.Vetoes = nil
			return err
		})},
		{"reads a cursor as a double", "23-bigint-ids-and-cursor", "opaque-cursor", walks(func(_ *walker, p *page, err error) error {
			token, _ := p.Next.Token()
			if f, failed := strconv.ParseFloat(token, 64); failed == nil {
				p.Next = pager.At(strconv.FormatFloat(f, 'f', 0, 64))
			}
			return err
		})},
		{"sends a plus unescaped", "25-cursor-special-chars-and-long", "opaque-cursor", walks(func(_ *walker, p *page, err error) error {
			if token, set := p.Next.Token(); set {
				p.Next = pager.At(strings.ReplaceAll(token, "+", " "))
			}
			return err
		})},
		{"drops entries without an ID", "36-null-and-nested-items", "end-observed", walks(func(_ *walker, p *page, err error) error {
			p.Items = slices.DeleteFunc(p.Items, func(i pager.Item[json.RawMessage]) bool { return i.ID == "" })
			return err
		})},
		{"follows a link to another origin", "26-cross-origin-next-link", "opaque-cursor", walks(func(w *walker, p *page, err error) error {
			return w.elsewhere(p, err)
		})},
		{"follows a redirect to another origin", "106-redirect-to-another-origin", "opaque-cursor", walks(func(w *walker, p *page, err error) error {
			return w.elsewhere(p, err)
		})},
		{"takes a date in Retry-After for now", "15-retry-after-http-date", "pause-or-review", walks(func(w *walker, _ *page, err error) error {
			if fault := faultOf(err); fault.Verdict == pager.Pause {
				fault.Until = w.list.Client.Now()
			}
			return err
		})},
		{"takes a limit for a refusal", "19-403-rate-limit-vs-real-403", "pause-or-review", walks(func(_ *walker, _ *page, err error) error {
			if fault := faultOf(err); fault.Answer.HTTPStatus == http.StatusForbidden {
				fault.Verdict = pager.Review
			}
			return err
		})},
		{"takes a cut answer for a page", "22-truncated-then-huge-body", "nothing-lost", walks(func(_ *walker, p *page, err error) error {
			if faultOf(err).Code == pager.CodeTransport {
				return last(p)
			}
			return err
		})},
		{"says nothing of a total", "33-offset-delete-total-shrinks", "", walks(func(_ *walker, p *page, err error) error {
			p.Meta.Total = nil // which the case lets pass: the other status that it accepts
			return err
		})},

		{"goes on before the instant", "15-retry-after-http-date", "pause-or-review", engine(func(j *job) { j.Options.Force = true })},
		{"makes a key for each attempt", "11-crash-between-effect-and-record", "same-key", engine(func(j *job) {
			handle, n := j.Handle, 0
			j.Handle = func(ctx context.Context, item everypage.Item[json.RawMessage]) error {
				n++
				item.Key += fmt.Sprint("-", ctx.Value(new(int)), n)
				return handle(ctx, item)
			}
		})},
		{"confirms before the effect", "11-crash-between-effect-and-record", "confirmed-once", engine(func(j *job) {
			var later sync.Map
			settled, handle := j.Options.Observer.Settled, j.Handle
			j.Handle = func(ctx context.Context, item everypage.Item[json.RawMessage]) error {
				later.Store(item.ID, func() { _ = handle(ctx, item) })
				return nil
			}
			j.Options.Observer.Settled = func(r state.Receipt, item store.Item) {
				settled(r, item)
				if effect, ok := later.Load(item.ID); ok {
					effect.(func())() //nolint:forcetypeassert // it is one
				}
			}
		})},
		{"takes a failed call for done", "30-retry-limit-hold-queue", "end-observed", engine(func(j *job) {
			handle := j.Handle
			j.Handle = func(ctx context.Context, item everypage.Item[json.RawMessage]) error {
				_ = handle(ctx, item)
				return nil
			}
		})},
		{"calls again what is in doubt", "109-at-most-once-crash", "end-observed", engine(func(j *job) { j.AtMostOnce = false })},
		{"has no cutoff", "107-deferred-past-the-cutoff", "confirmed-once", engine(func(j *job) { j.Cutoff, j.Once = everypage.NoCutoff, everypage.OnceARun })},
		{"calls a cancelled run a success", "42-context-cancelled-mid-page", "pause-or-review", &proptest.CaseOptions{
			Run: func(ctx context.Context, ledger store.Store, j job) (*state.Receipt, error) {
				receipt, _ := everypage.Run(ctx, ledger, j)
				return receipt, nil
			},
		}},
		{"lets a second runner in", "40-two-processes-one-run", "one-runner", &proptest.CaseOptions{
			Run: func(ctx context.Context, ledger store.Store, j job) (*state.Receipt, error) {
				return everypage.Run(ctx, sharedByAll{ledger}, j)
			},
		}},
		{"records no item", "10-crash-mid-page", "nothing-lost", &proptest.CaseOptions{
			Run: func(ctx context.Context, ledger store.Store, j job) (*state.Receipt, error) {
				return everypage.Run(ctx, forgetful{ledger}, j)
			},
		}},
	}
}

// elsewhere goes wherever it is sent, with all that it has.
func (w *walker) elsewhere(p *page, err error) error {
	if faultOf(err).Code != pager.CodeCrossOrigin {
		return err
	}
	_, target, _ := strings.Cut(faultOf(err).Detail, " at ")
	if target == "" {
		_, target, _ = strings.Cut(faultOf(err).Detail, " to ")
	}
	target, _, _ = strings.Cut(target, " was not")
	req, failed := http.NewRequestWithContext(context.Background(), http.MethodGet, target, http.NoBody)
	if failed != nil {
		return err
	}
	req.Header = w.list.Options.Header
	resp, failed := w.list.Client.HTTP.Transport.RoundTrip(req)
	if failed != nil {
		return err
	}
	resp.Body.Close()
	return last(p)
}

// Whatever is wrong is caught, by the case that was written for it, and named.
func TestBrokenAreCaught(t *testing.T) {
	for _, b := range broken() {
		t.Run(b.name, func(t *testing.T) {
			folder := only(t, b.by)
			if err := proptest.CheckCases(t.Context(), folder, nil); err != nil {
				t.Fatalf("without the fault: %v", err)
			}
			err := proptest.CheckCases(t.Context(), folder, b.options)
			if b.promise == "" {
				if err != nil {
					t.Errorf("the case accepts this, and says %v", err)
				}
				return
			}
			caught, ok := errors.AsType[*proptest.CaseError](err)
			if !ok {
				t.Fatalf("case %s does not notice (%v)", b.by, err)
			}
			if caught.Case != b.by || !slices.Contains(caught.Broken, b.promise) {
				t.Errorf("case %s names %q, want %q:\n%v", caught.Case, caught.Broken, b.promise, err)
			}
		})
	}
}

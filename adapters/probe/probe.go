package probe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// The pages that a probe may read of a list.
const (
	DefaultPages = 3
	MinPages     = 2
	MaxPages     = 10
)

// tries is how many candidates are followed: each one that is wrong costs the API
// one request.
const tries = 5

// Options are what a probe may be told. A nil *Options is valid.
type Options struct {
	// Pages is how many pages are read at most with the contract that is
	// suggested. Defaults to DefaultPages.
	Pages int
	// Header is sent to the list's own origin and nowhere else. Defaults to
	// nothing.
	Header http.Header
	// HTTP makes the requests. Defaults to a client of its own.
	HTTP *http.Client
	// BodyLimit is the longest answer that is read, in bytes. Defaults to
	// adapters.DefaultBodyLimit.
	BodyLimit int64
	// Now tells the time. Defaults to the adapters' clock.
	Now func() time.Time
	// Logger gets what the engine logs. Defaults to silence.
	Logger *slog.Logger
}

// Suggestion is the contract that fits best.
type Suggestion struct {
	// Contract is what to load. Its name is that of one of the library's contracts
	// where Builtin says so.
	Contract adapters.Contract
	Builtin  bool
	// ItemsAt names the array of items, where the contract leaves it open and the
	// answer has several.
	ItemsAt adapters.Path
	// Pages is how many pages were read with it, and EndSeen whether the last of
	// them carried the end.
	Pages   int
	EndSeen bool
}

// Report is what a probe saw. All its texts are for a person.
type Report struct {
	// Address is what was asked, with credentials left out.
	Address string
	// Requests is how many requests were made.
	Requests int
	// Seen tells what the answers hold.
	Seen []string
	// Suggestion is nil where no contract fits.
	Suggestion *Suggestion
	// Doubts are what the answers leave open, and Check what to look up in the
	// API's documentation.
	Doubts []string
	Check  []string
}

// prober is one probe.
type prober struct {
	address string
	options Options
	http    http.Client
	client  *adapters.Client // asks the API; one, so that it keeps what it learns of limits
	live    *recorder
	look    looked
	report  Report
	midway  string // why contracts did not take the address
}

// List probes the list at address, an absolute http or https URL. An address that
// cannot be used is an [*adapters.OptionError]; a first page that fails, or is an
// error by its status, is an error that wraps a [*pager.Fault]. An answer that no
// contract fits is a report without a suggestion.
func List(ctx context.Context, address string, options *Options) (*Report, error) {
	p := &prober{address: address}
	if options != nil {
		p.options = *options
	}
	if p.options.Pages == 0 {
		p.options.Pages = DefaultPages
	}
	if p.options.Pages < MinPages || p.options.Pages > MaxPages {
		return nil, &adapters.OptionError{Option: "pages", Problem: fmt.Sprintf("%d is not between %d and %d", p.options.Pages, MinPages, MaxPages)}
	}
	if p.options.HTTP != nil {
		p.http = *p.options.HTTP
	}
	inner := p.http.Transport
	if inner == nil {
		own := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second}
		defer own.CloseIdleConnections()
		inner = own
	}
	p.live = &recorder{inner: inner, most: p.options.Pages + tries, kept: map[string]*recorded{}}
	asking := p.http
	asking.Transport = p.live
	p.client = &adapters.Client{HTTP: &asking, Now: p.options.Now, Logger: p.options.Logger, BodyLimit: p.options.BodyLimit}
	first, err := p.firstLook(ctx)
	if err != nil {
		return nil, err
	}
	p.look = look(first)
	p.report.Address = pager.RedactURL(address)
	p.see(first)
	all := append(builtins(&p.look), shaped(&p.look, first.request.URL.Hostname())...)
	readings := p.tryAll(ctx, first, all)
	p.seeReadings(readings)
	if err := p.choose(ctx, readings); err != nil {
		return nil, err
	}
	p.report.Requests = p.live.made
	return &p.report, nil
}

// choose follows the candidates, the best first, until one is not refused.
func (p *prober) choose(ctx context.Context, readings []reading) error {
	left := tries
	for i := range readings {
		r := &readings[i]
		if r.page.End == pager.EndLast && !r.shown {
			continue // an absence alone is no reason to suggest anything
		}
		if r.page.End == pager.EndMore {
			if left == 0 {
				p.saw("No further contract was tried, to spare the API; others may fit.")
				break
			}
			left--
		}
		f := p.follow(ctx, r, p.options.Pages)
		if ctx.Err() != nil {
			return fmt.Errorf("probe: %w", ctx.Err())
		}
		if f.refused != "" {
			p.saw(fmt.Sprintf("Followed %s: %s.", title(&r.candidate), f.refused))
			continue
		}
		return p.suggest(r, &f, readings)
	}
	p.doubtNone(readings)
	return nil
}

func (p *prober) suggest(r *reading, f *followed, readings []reading) error {
	last := f.lastPage()
	s := &Suggestion{Contract: r.contract, Builtin: r.builtin, ItemsAt: r.itemsAt, Pages: len(f.pages), EndSeen: last.End == pager.EndLast}
	if r.builtin {
		whole, err := adapters.Named(r.contract.Name) // with the page size that trials leave out
		if err != nil {
			return err
		}
		s.Contract = whole
	}
	document, err := s.Contract.Document()
	if err != nil {
		return err
	}
	if _, err := adapters.Parse(document); err != nil {
		return errors.Join(errors.New("probe: the suggested contract does not load"), err)
	}
	p.report.Suggestion = s
	p.seeFollowed(r, f)
	p.doubt(r, f, readings)
	p.check(&s.Contract)
	return nil
}

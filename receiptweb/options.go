package receiptweb

import (
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/everypage-go/everypage"
)

// Options change how a ledger is shown. Nil is valid.
type Options struct {
	// Authorize decides whether whoever sent a request may carry out an action. It
	// is asked when the action is sent, and when a page is shown, to leave out what
	// it would refuse. It returns the name that stays in the ledger; where that is
	// empty, the page asks for one. Its error is shown, so it must hold no secret.
	// Defaults to nobody: the pages only read.
	Authorize func(r *http.Request, action Action) (name string, err error)

	// PageSize is how many runs, held items or conflicts stand on one page. Defaults
	// to 50; at most 500.
	PageSize int

	// Refresh is how often a page that is being looked at looks at the ledger.
	// Defaults to one second.
	Refresh time.Duration

	// MaxLive bounds how many pages are kept up to date at a time; those beyond it
	// show what was when they were loaded. Defaults to 100.
	MaxLive int

	// Logger gets what a person who looks cannot mend, such as a ledger that cannot
	// be read. Defaults to silence.
	Logger *slog.Logger

	// Clock is where the time comes from. Defaults to everypage.SystemClock.
	Clock everypage.Clock

	// Random is where tokens and the IDs of new runs come from. Defaults to
	// crypto/rand.Reader.
	Random io.Reader
}

// Act is a kind of action.
type Act string

// The actions, after the functions of package everypage that carry them out.
const (
	Retry     Act = "retry"
	Accept    Act = "accept"
	Supersede Act = "supersede"
)

// Action is what somebody wants to do.
type Action struct {
	Act   Act
	RunID string
	Job   string
	// Items are the IDs of the items that it is about; empty for what is about the
	// run, and while a page is shown.
	Items []string
}

const maxPageSize = 500

func (o *Options) withDefaults() Options {
	var is Options
	if o != nil {
		is = *o
	}
	if is.PageSize <= 0 {
		is.PageSize = 50
	}
	is.PageSize = min(is.PageSize, maxPageSize)
	if is.Refresh <= 0 {
		is.Refresh = time.Second
	}
	if is.MaxLive <= 0 {
		is.MaxLive = 100
	}
	if is.Logger == nil {
		is.Logger = slog.New(slog.DiscardHandler)
	}
	if is.Clock == nil {
		is.Clock = everypage.SystemClock{}
	}
	if is.Random == nil {
		is.Random = rand.Reader
	}
	return is
}

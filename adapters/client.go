package adapters

import (
	"crypto/sha256"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/everypage-go/everypage/pager"
)

// DefaultBodyLimit is the longest answer that is read unless client or contract
// say otherwise: 32 MiB, after decompression.
const DefaultBodyLimit = 32 << 20

// DefaultTimeout bounds one exchange: 2 minutes.
const DefaultTimeout = 2 * time.Minute

// defaultUserAgent names the library to the API's operators; GitHub refuses
// requests that name nobody.
const defaultUserAgent = "everypage (+https://github.com/everypage-go/everypage)"

// Client is what lists have in common. The zero value, and a nil *Client, are
// ready to use; fields must not be changed after the first request. Lists that
// use one client and the same credentials share what is known of their rate
// limit: while one of them is paused by the API, the others make no request.
type Client struct {
	// HTTP makes the requests. Redirects are followed within the list's origin
	// only, with the client's own CheckRedirect asked as well.
	// Defaults to a client with net/http's own transport.
	HTTP *http.Client
	// Now tells the time. Defaults to time.Now.
	Now func() time.Time
	// Logger gets a line at Debug for each request and one at Warn for each fault,
	// with credentials in URLs redacted. Defaults to silence.
	Logger *slog.Logger
	// BodyLimit is the longest answer that is read, in bytes after decompression.
	// A contract's own limit goes before it. Defaults to DefaultBodyLimit.
	BodyLimit int64
	// Timeout bounds one exchange, from the request to the last byte of the
	// answer. Defaults to DefaultTimeout.
	Timeout time.Duration
	// UserAgent is sent with each request. Defaults to the library's name.
	UserAgent string
	// Before is called with each request to the list's own origin before it is
	// sent, to sign it or to add a fresh token. It is not called for a host that
	// was only allowed. An error stops the page: a *pager.Fault as it is, any
	// other one for review. Defaults to nothing.
	Before func(*http.Request) error

	// Limiter bounds the rate of requests to what the caller wants, whatever the
	// API allows; a *rate.Limiter of golang.org/x/time/rate is one. Its waits end
	// with the caller's context. Defaults to no bound.
	Limiter Limiter
	// Unpaced makes the next request even where the answer before said that none
	// is left until an instant. Defaults to a pause until that instant, without a
	// request that would be refused.
	Unpaced bool

	mu     sync.Mutex
	closed map[[sha256.Size]byte]closure // by credentials; what stands in the way
}

// closure is a limit that keeps requests from being made.
type closure struct {
	fault pager.Fault
	// ahead says that an answer foretold the limit, as against a refusal.
	ahead bool
}

func (c *Client) http() *http.Client {
	if c.HTTP == nil {
		return &http.Client{}
	}
	return c.HTTP
}

func (c *Client) now() time.Time {
	if c.Now == nil {
		return time.Now() //nolint:forbidigo // the default clock
	}
	return c.Now()
}

func (c *Client) logger() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}

func (c *Client) userAgent() string {
	if c.UserAgent == "" {
		return defaultUserAgent
	}
	return c.UserAgent
}

func (c *Client) timeout() time.Duration {
	if c.Timeout <= 0 {
		return DefaultTimeout
	}
	return c.Timeout
}

func (c *Client) bodyLimit(contract *Contract) int64 {
	switch {
	case contract.BodyLimit > 0:
		return contract.BodyLimit
	case c.BodyLimit > 0:
		return c.BodyLimit
	}
	return DefaultBodyLimit
}

// ForgetLimits drops what is known of rate limits, for a caller that wants to ask
// before the instant that the API gave, as by a forced resume in the same process.
func (c *Client) ForgetLimits() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = nil
}

// credentials is a digest of an origin and of what is sent to it as the caller.
// The headers themselves are not kept.
func credentials(home origin, header http.Header) [sha256.Size]byte {
	h := sha256.New()
	_, _ = io.WriteString(h, home.String()) // a hash does not fail
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, text := range header[name] {
			_, _ = io.WriteString(h, "\x00"+name+"\x00"+text)
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

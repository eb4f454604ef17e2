package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// DefaultKeyHeader is the field that carries the key, after "The Idempotency-Key
// HTTP Header Field" (IETF HTTPAPI working group, draft) and Stripe's "Idempotent
// requests".
const DefaultKeyHeader = "Idempotency-Key"

// The limits of a key, in characters. Stripe documents 255 as the most.
const (
	MinKeyLength = 8
	MaxKeyLength = 255
)

const (
	defaultTimeout = 30 * time.Second
	defaultMaxBody = 1 << 20
	defaultMedia   = "application/json"
	keyInLookup    = "{key}"
	userAgent      = "everypage (+https://github.com/everypage-go/everypage)"
)

// Config says how things are created.
type Config[T any] struct {
	// URL is where things are created. Credentials belong in Header.
	URL string
	// Body makes a request's body: []byte and json.RawMessage are sent as they are,
	// anything else as its JSON. It must give the same for the same item, since an
	// API that has seen the key refuses another body; so no time of day. An error
	// holds the item.
	Body func(item everypage.Item[T]) (any, error)

	// Client makes the requests. Its CheckRedirect is not used. Defaults to a
	// client of the sink's own over http.DefaultTransport.
	Client *http.Client
	// Method is POST, PUT or PATCH. Defaults to POST.
	Method string
	// Target gives one item's address, such as "customers/42/notes", resolved
	// against URL; it must stay within URL's origin. Defaults to URL itself.
	Target func(item everypage.Item[T]) (string, error)
	// Header is sent with each request, credentials included. Defaults to a
	// Content-Type of application/json and the library's User-Agent.
	Header http.Header
	// KeyHeader is the field that carries the key. Defaults to DefaultKeyHeader.
	KeyHeader string
	// Errors says what the API's errors mean; that of a contract will do. Beside
	// adapters.ErrorCodes it may give state.HoldKeyMismatch. Defaults to what the package comment says.
	Errors adapters.ErrorRules
	// Lookup asks whether something was created under a key. Defaults to none.
	Lookup *Lookup
	// OnCreated is called after a success, before it is recorded, and so perhaps
	// more than once for one item. An error makes the item be tried again with its
	// key. Defaults to nothing.
	OnCreated func(ctx context.Context, item everypage.Item[T], answer Answer) error

	// Timeout bounds one exchange, body included. Defaults to 30 s.
	Timeout time.Duration
	// MaxBody is how much of an answer is read, in bytes after decompression.
	// Defaults to 1 MiB.
	MaxBody int64
	// Now tells the time; give it the job's clock. Defaults to time.Now.
	Now func() time.Time
	// Logger gets a line at Debug for each answer and one at Warn for each that is
	// no success, with the API's request ID. Defaults to silence.
	Logger *slog.Logger
}

// Answer is what the API said to a create or a lookup.
type Answer struct {
	Status int
	Header http.Header
	// Body is what was read of the answer; Truncated says that it is not the whole,
	// because the connection broke or Config.MaxBody was reached.
	Body      []byte
	Truncated bool
	// Replayed says that the API marked the answer as the one that it gave before,
	// by Idempotent-Replayed or a field like it.
	Replayed bool
	// RequestID is the API's name for the exchange.
	RequestID string
}

// Lookup asks an API whether something was created under a key.
type Lookup struct {
	// URL has {key} where the key belongs, escaped for a query or a path. It must
	// be of the same origin as Config.URL.
	URL string
	// Happened reads the answer, which is a 2xx or a 404. Defaults to a 2xx for yes
	// and a 404 for no; an API that answers with a list needs a func.
	Happened func(answer Answer) (bool, error)
}

// Validate reports every problem of the configuration at once.
func (c Config[T]) Validate() error {
	var problems []error
	problem := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	home, err := address(c.URL)
	problem(err != nil, "URL: %w", err)
	problem(c.Body == nil, "Body is missing: say what is sent for an item")
	switch c.Method {
	case "", http.MethodPost, http.MethodPut, http.MethodPatch:
	default:
		problem(true, "Method %q is neither POST, PUT nor PATCH", c.Method)
	}
	keyHeader := c.keyHeader()
	problem(!isToken(keyHeader), "KeyHeader %q cannot be the name of a header field", keyHeader)
	for name, values := range c.Header {
		problem(!isToken(name), "Header %q cannot be the name of a header field", name)
		problem(strings.EqualFold(name, keyHeader), "Header has %s, which carries each item's key: leave it out", name)
		for _, value := range values {
			problem(strings.ContainsAny(value, "\r\n\x00"), "Header %s has a value with a line break in it", name)
		}
	}
	if c.Lookup != nil {
		lookup, err := address(strings.ReplaceAll(c.Lookup.URL, keyInLookup, "key"))
		problem(err != nil, "Lookup.URL: %w", err)
		problem(!strings.Contains(c.Lookup.URL, keyInLookup), "Lookup.URL has no %s in it", keyInLookup)
		problem(home != nil && lookup != nil && !sameOrigin(home, lookup),
			"Lookup.URL is of another origin than URL, and the credentials must not go there")
	}
	problem(c.Timeout < 0, "Timeout must not be negative")
	problem(c.MaxBody < 0, "MaxBody must not be negative")
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("sink: the configuration is not valid: %w", errors.Join(problems...))
}

func (c Config[T]) keyHeader() string {
	if c.KeyHeader == "" {
		return DefaultKeyHeader
	}
	return c.KeyHeader
}

// withDefaults returns a configuration of its own with every zero value replaced.
func (c Config[T]) withDefaults() Config[T] {
	c.KeyHeader = c.keyHeader()
	client := http.Client{}
	if c.Client != nil {
		client = *c.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.Client = &client
	if c.Method == "" {
		c.Method = http.MethodPost
	}
	header := http.Header{}
	for name, values := range c.Header {
		header[http.CanonicalHeaderKey(name)] = values
	}
	header.Del("Accept-Encoding") // with it set by hand, net/http would leave the answer packed
	if c.Header = header.Clone(); c.Header.Get("Content-Type") == "" {
		c.Header.Set("Content-Type", defaultMedia)
	}
	if c.Header.Get("User-Agent") == "" {
		c.Header.Set("User-Agent", userAgent)
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxBody == 0 {
		c.MaxBody = defaultMaxBody
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the default clock
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// address reads a URL that requests with credentials may go to.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, errors.New("it is missing")
	case err != nil:
		return nil, errors.New("it cannot be read") // the parser's own words repeat it, with what it may hold
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, fmt.Errorf("%q is no http or https address with a host", pager.RedactURL(text))
	case u.User != nil:
		return nil, errors.New("it holds credentials: put them into Header")
	case u.Fragment != "":
		return nil, fmt.Errorf("%q has a fragment, which is never sent", pager.RedactURL(text))
	}
	return u, nil
}

// sameOrigin compares scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		switch {
		case u.Port() != "":
			return u.Port()
		case u.Scheme == "https":
			return "443"
		}
		return "80"
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// isToken reports whether a name can be a header field's (RFC 9110, 5.6.2).
func isToken(name string) bool {
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return name != ""
}

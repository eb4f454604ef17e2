package adapters

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/everypage-go/everypage/pager"
)

// Options are what one list has of its own. A nil *Options is valid.
type Options struct {
	// PageSize is the number of items to ask for. Defaults to the URL's own
	// parameter, then to the contract's default.
	PageSize int
	// Filter are query parameters that select items; they are part of the list's
	// definition. Defaults to those in the URL alone.
	Filter url.Values
	// Body are members of the JSON object that a POST sends; each goes before the
	// contract's member of that name. Defaults to the contract's body.
	Body map[string]any
	// Sort says to a person how the list is sorted. Defaults to nothing.
	Sort string
	// Header is sent to the list's own origin and nowhere else: Authorization and
	// the like. Accept-Encoding is left to net/http. Defaults to nothing.
	Header http.Header
	// Order declares the class of order that the list is read in, where the caller
	// knows more than the contract. Defaults to the contract's.
	Order pager.Order
	// ItemsAt names the array of items, where its name differs by endpoint.
	// Defaults to the contract's.
	ItemsAt Path
	// AllowedHosts are further origins that may be read as a guest, beside the
	// contract's; see Contract.AllowedHosts. Defaults to none.
	AllowedHosts []string
}

// OptionError is an argument of List that cannot be used.
type OptionError struct {
	// Option names the argument.
	Option string
	// Problem says what is wrong and what is needed.
	Problem string
}

func (e *OptionError) Error() string { return "adapters: " + e.Option + ": " + e.Problem }

// List returns a pager for the list at address, an absolute http or https URL, as
// the contract describes it. Items are decoded into T by encoding/json; for a T
// of json.RawMessage they stay as they are. It does no I/O.
//
// The pager is a [pager.Describer], a [pager.Rebinder] and a [pager.Windower].
// Every error that it yields is a [*pager.Fault]. List itself returns
// [*OptionError]s and [*FieldError]s, all of them at once.
func List[T any](client *Client, contract Contract, address string, options *Options) (pager.Pager[T], error) {
	l, err := newList(client, contract, address, options)
	if err != nil {
		return nil, err
	}
	return pages[T]{l}, nil
}

// pages is a list whose items are a T.
type pages[T any] struct{ list *list }

var (
	_ pager.Pager[any]    = pages[any]{}
	_ pager.Describer     = pages[any]{}
	_ pager.Rebinder[any] = pages[any]{}
	_ pager.Windower[any] = pages[any]{}
)

// Pages walks the list from a cursor on.
func (p pages[T]) Pages(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[T], error] {
	return pager.Func[T](p.read).Pages(ctx, from)
}

func (p pages[T]) read(ctx context.Context, at pager.Cursor) (pager.Page[T], error) {
	read, err := p.list.fetch(ctx, at)
	if err != nil {
		return pager.Page[T]{}, err
	}
	out := pager.Page[T]{
		Cursor: at, Next: read.next, End: read.end, Evidence: read.evidence,
		Items: make([]pager.Item[T], len(read.entries)), Skipped: read.skipped,
		Vetoes: read.vetoes, Bounded: p.list.contract.bounded(), Meta: read.meta,
	}
	for i, e := range read.entries {
		item := &out.Items[i] // where it is decoded, so that it is not copied
		*item = pager.Item[T]{ID: e.id, Problem: e.problem, CreatedAt: e.created, Raw: slices.Clip(e.raw.raw)}
		if e.id != "" {
			if err := decode(e.raw.raw, &item.Value); err != nil {
				f := &pager.Fault{
					Code:   pager.CodePagerFailed,
					Detail: fmt.Sprintf("entry %d (ID %s) is not what the caller decodes it into, %T", i, quoted(e.id), item.Value),
					Answer: pager.Answer{HTTPStatus: read.meta.Status, RequestID: read.meta.RequestID}, Err: err,
				}
				p.list.warn(ctx, f, nil)
				return pager.Page[T]{}, f
			}
		}
	}
	return out, nil
}

func decode[T any](raw []byte, into *T) error {
	if message, ok := any(into).(*json.RawMessage); ok {
		*message = slices.Clip(raw)
		return nil
	}
	return json.Unmarshal(raw, into)
}

// Describe returns what is known of the list.
func (p pages[T]) Describe() pager.Description { return p.list.describe() }

// Rebind returns the same list under another contract document.
func (p pages[T]) Rebind(document []byte) (pager.Pager[T], error) {
	contract, err := Parse(document)
	if err != nil {
		return nil, err
	}
	options := p.list.options
	options.ItemsAt = "" // the document says it
	l, err := newList(p.list.client, contract, p.list.address, &options)
	if err != nil {
		return nil, err
	}
	l.window = p.list.window
	return pages[T]{l}, nil
}

// Window returns the same list, for the items created in [from, to].
func (p pages[T]) Window(from, to time.Time) (pager.Pager[T], error) {
	if p.list.contract.Request.Window.From == "" {
		return nil, &OptionError{"window", "contract " + p.list.contract.Name + " knows no filter by creation time"}
	}
	if to.IsZero() || to.Before(from) {
		return nil, &OptionError{"window", "its end must be an instant that is not before its start"}
	}
	l := *p.list
	l.window = &window{from, to}
	return pages[T]{&l}, nil
}

// list is a list whatever its items are decoded into.
type list struct {
	client   *Client
	contract Contract
	document []byte
	address  string
	options  Options

	base     *url.URL // of the first page, without size, window and cursor
	follow   *url.URL // of the pages after it, where the contract says so
	endpoint string
	filter   string
	method   string
	body     map[string]any
	header   http.Header
	http     *http.Client
	policy   policy
	key      [sha256.Size]byte // of the credentials
	reader   reader
	size     int
	window   *window
}

type window struct{ from, to time.Time }

func newList(client *Client, contract Contract, address string, options *Options) (*list, error) {
	if client == nil {
		client = &Client{}
	}
	l := &list{client: client, contract: contract, address: address}
	if options != nil {
		l.options = *options
	}
	if contract.Name == "" && contract.End.Rule == "" && contract.Next.From == "" && len(contract.Items.ID) == 0 {
		return nil, &OptionError{"contract", "none was given; a list needs one to know its end (see Named)"}
	}
	if l.options.ItemsAt != "" {
		l.contract.Items.At = l.options.ItemsAt
	}
	l.method = l.contract.method()
	u, err := parseAddress(address)
	problems := []error{err, l.contract.Validate(), l.checkOrder()}
	if u != nil {
		l.policy = policy{home: originOf(u), allowed: map[origin]bool{}}
		problems = append(problems, l.readAddress(u), l.readFollow(), l.allow())
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if l.reader, err = newReader(&l.contract); err != nil {
		return nil, err
	}
	if l.document, err = l.contract.Document(); err != nil {
		return nil, err
	}
	l.body = copyTree(l.contract.Request.Body)
	maps.Copy(l.body, l.options.Body)
	l.key = credentials(l.policy.home, l.header)
	own := client.http()
	copied := *own
	copied.CheckRedirect = l.policy.redirects(own.CheckRedirect, l.travels)
	l.http = &copied
	return l, l.describeFilter()
}

func parseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil: // its text repeats the address, which may hold credentials
		return nil, &OptionError{"url", "it cannot be parsed"}
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, &OptionError{"url", quoted(pager.RedactURL(address)) + " does not begin with https:// or http://"}
	case u.Hostname() == "":
		return nil, &OptionError{"url", quoted(pager.RedactURL(address)) + " names no host"}
	}
	return u, nil
}

// readAddress takes the address apart: credentials become a header, parameters
// become the filter, and what says the page size is the page size.
func (l *list) readAddress(u *url.URL) error {
	l.header = http.Header{}
	for _, name := range slices.Sorted(maps.Keys(l.options.Header)) {
		canonical := http.CanonicalHeaderKey(name)
		l.header[canonical] = append(l.header[canonical], l.options.Header[name]...)
	}
	// With it set by hand, net/http would leave the answer packed.
	l.header.Del("Accept-Encoding")
	if u.User != nil {
		if l.header.Get("Authorization") == "" {
			password, _ := u.User.Password()
			l.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
		}
		u.User = nil
	}
	u.Fragment, u.RawFragment = "", ""
	for _, name := range sortedKeys(l.options.Filter) {
		for i, text := range l.options.Filter[name] {
			if i == 0 {
				u.RawQuery = setQuery(u.RawQuery, name, text)
			} else {
				u.RawQuery += "&" + escape(name) + "=" + escape(text)
			}
		}
	}
	l.base = u
	bare := *u
	bare.RawQuery = ""
	l.endpoint = bare.String()
	return errors.Join(l.checkHeader(), l.checkStart(), l.readSize())
}

// checkHeader refuses what net/http would refuse with every request. It names the
// field and not its value, which may be a credential.
func (l *list) checkHeader() error {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(l.header)) {
		for _, text := range l.header[name] {
			if strings.ContainsFunc(name+text, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
				problems = append(problems, &OptionError{"header", quoted(name) + " holds a line break or another control character"})
				break
			}
		}
	}
	return errors.Join(problems...)
}

// checkStart refuses an address that begins in the middle of the list.
func (l *list) checkStart() error {
	rule := l.contract.Request.Cursor
	names := slices.Clone(rule.Positions)
	if where, name := rule.In.split(); where == "query" && name != "*" {
		names = append(names, name)
	}
	query := l.base.Query()
	var problems []error
	for _, name := range names {
		if text := query.Get(name); query.Has(name) && text != l.contract.firstToken() {
			problems = append(problems, &OptionError{"url", fmt.Sprintf("its parameter %s says where to begin, so that a part of the list would be left out: take it out", name)})
		}
	}
	return errors.Join(problems...)
}

// readSize settles the page size: the option, the URL's own parameter, the
// contract's default.
func (l *list) readSize() error {
	rule := l.contract.Request.Size
	size := l.options.PageSize
	where, name := rule.In.split()
	if where == "query" {
		if text := l.base.Query().Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return &OptionError{"page size", fmt.Sprintf("the URL's %s=%s is no positive number", name, clean(text, 40))}
			}
			if size != 0 && size != n {
				return &OptionError{"page size", fmt.Sprintf("the URL says %s=%d, and the option says %d", name, n, size)}
			}
			size = n
		}
	}
	switch {
	case size < 0:
		return &OptionError{"page size", fmt.Sprintf("%d is negative", size)}
	case size > 0 && rule.In == "":
		return &OptionError{"page size", "contract " + l.contract.Name + " has no way to choose one"}
	case rule.Max > 0 && size > rule.Max:
		return &OptionError{"page size", fmt.Sprintf("%d is more than the %d that %s allows", size, rule.Max, l.contract.Name)}
	case size == 0:
		size = rule.Default
	}
	l.size = size
	return nil
}

func (l *list) checkOrder() error {
	switch l.options.Order {
	case pager.OrderUnspecified, pager.OrderUnstable, pager.OrderStable, pager.OrderStableAscending:
		return nil
	}
	return &OptionError{"order", fmt.Sprintf("%q is no class of order", l.options.Order)}
}

func (l *list) allow() error {
	var problems []error
	for _, host := range slices.Concat(l.contract.AllowedHosts, l.options.AllowedHosts) {
		o, err := parseOrigin(host)
		if err != nil {
			problems = append(problems, &OptionError{"allowed hosts", err.Error()})
			continue
		}
		l.policy.allowed[o] = true
	}
	return errors.Join(problems...)
}

// travels reports whether a header field may go to a host that was only allowed.
func (l *list) travels(name string) bool {
	if _, callers := l.header[name]; callers {
		return false
	}
	if slices.Contains([]string{"Accept", "User-Agent", "Content-Type", "Accept-Encoding"}, name) {
		return true
	}
	for known := range l.contract.Request.Header {
		if http.CanonicalHeaderKey(known) == name {
			return true
		}
	}
	return false
}

// describeFilter writes the filter as the definition shows it: parameters in
// order, without the page size, and with credentials named but not shown.
func (l *list) describeFilter() error {
	_, sizeName := l.contract.Request.Size.In.split()
	var shown []string
	for pair := range strings.SplitSeq(l.base.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil && plain == sizeName || pair == "" {
			continue
		}
		switch {
		case pager.IsSecret(name): // may be renewed while a run is open
			pair = name + "=REDACTED"
		case pager.MayBeSecret(name): // or may be the filter itself, so that a change must show
			hash := sha256.Sum256([]byte(value))
			pair = name + "=sha256:" + hex.EncodeToString(hash[:8])
		}
		shown = append(shown, pair)
	}
	slices.Sort(shown)
	l.filter = strings.Join(shown, "&")
	if len(l.options.Body) == 0 {
		return nil
	}
	body, err := encode(l.options.Body)
	if err != nil {
		return &OptionError{"body", "it is no JSON: " + err.Error()}
	}
	l.filter = strings.TrimSpace(l.filter + " " + string(body))
	return nil
}

func (l *list) describe() pager.Description {
	c := &l.contract
	d := pager.Description{
		Endpoint: l.endpoint, Filter: l.filter, Sort: l.options.Sort, PageSize: l.size,
		Contract: c.Name, ContractDocument: slices.Clone(l.document),
		Style: c.style(), Order: c.Order, NotReplayable: c.NotReplayable, RepeatLimit: c.RepeatLimit,
	}
	if l.options.Order != "" {
		d.Order = l.options.Order
	}
	return d
}

func sortedKeys(values url.Values) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// PaginateIssues is where `make fixtures` puts the recording of a walk over 13
// issues of a GitHub repository, 3 a page, seen from the module's root.
const PaginateIssues = ".fixtures/octokit/scenarios/api.github.com/paginate-issues/normalized-fixture.json"

// Recording is a recorded sequence of exchanges with one API.
type Recording struct {
	exchanges []exchange
}

// exchange is one recorded request with its answer.
type exchange struct {
	method string
	path   string
	query  url.Values
	origin string // such as https://api.example.com, without a default port
	status int
	header http.Header
	body   []byte
}

// recorded is an exchange in nock's form.
type recorded struct {
	Scope    string                     `json:"scope"`
	Method   string                     `json:"method"`
	Path     string                     `json:"path"`
	Status   int                        `json:"status"`
	Response json.RawMessage            `json:"response"`
	Binary   bool                       `json:"responseIsBinary"`
	Headers  map[string]json.RawMessage `json:"headers"`
}

// Load reads a recording from a file. The error wraps fs.ErrNotExist where the
// file is not there, and says how to get it.
func Load(file string) (*Recording, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the caller names the file to be read
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("replay: no recording; run \"make fixtures\" to fetch it: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("replay: reading a recording: %w", err)
	}
	recording, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return recording, nil
}

// Parse reads a recording from its text.
func Parse(text []byte) (*Recording, error) {
	var entries []recorded
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("replay: no recording: %w", err)
	}
	if len(entries) == 0 {
		return nil, errors.New("replay: the recording is empty")
	}
	recording := &Recording{}
	for i, entry := range entries {
		e, err := entry.exchange()
		if err != nil {
			return nil, fmt.Errorf("replay: exchange %d: %w", i+1, err)
		}
		recording.exchanges = append(recording.exchanges, e)
	}
	return recording, nil
}

// Len returns the number of exchanges.
func (r *Recording) Len() int { return len(r.exchanges) }

// First returns the path and query of the first exchange, to be put behind the
// server's base URL: where a walk begins.
func (r *Recording) First() string {
	first := r.exchanges[0]
	target := url.URL{Path: first.path, RawQuery: first.query.Encode()}
	return target.String()
}

func (r recorded) exchange() (exchange, error) {
	if r.Binary {
		return exchange{}, errors.New("binary answers are not supported")
	}
	scope, err := url.Parse(r.Scope)
	if err != nil || scope.Host == "" {
		return exchange{}, fmt.Errorf("the scope %q is no origin", r.Scope)
	}
	target, err := url.Parse(r.Path)
	if err != nil {
		return exchange{}, fmt.Errorf("the path %q: %w", r.Path, err)
	}
	if r.Status < 100 || r.Status > 999 {
		return exchange{}, fmt.Errorf("%d is no status", r.Status)
	}
	header, err := readHeader(r.Headers)
	if err != nil {
		return exchange{}, err
	}
	body, err := readBody(r.Response)
	if err != nil {
		return exchange{}, err
	}
	return exchange{
		method: strings.ToUpper(r.Method), path: target.Path, query: target.Query(), origin: origin(scope),
		status: r.Status, header: header, body: body,
	}, nil
}

// origin writes the origin as links in an answer do, which name no default port.
func origin(scope *url.URL) string {
	host := scope.Host
	if port := scope.Port(); scope.Scheme == "https" && port == "443" || scope.Scheme == "http" && port == "80" {
		host = strings.TrimSuffix(host, ":"+port)
	}
	return scope.Scheme + "://" + host
}

// readHeader takes the recorded header, whose values are strings, numbers or
// arrays of them, without what belonged to the recorded transfer.
func readHeader(fields map[string]json.RawMessage) (http.Header, error) {
	header := http.Header{}
	for name, text := range fields {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if ofTransfer(name) {
			continue
		}
		var several []json.RawMessage
		if json.Unmarshal(text, &several) != nil {
			several = []json.RawMessage{text}
		}
		for _, one := range several {
			value := string(one)
			if unquoted, isString := stringOf(one); isString {
				value = unquoted
			} else if _, err := strconv.ParseFloat(value, 64); err != nil {
				return nil, fmt.Errorf("header %s: %s is neither text nor a number", name, value)
			}
			header.Add(name, value)
		}
	}
	return header, nil
}

// ofTransfer reports whether a header field speaks of the connection or of how
// the body was carried, which a replay does anew.
func ofTransfer(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
		"Content-Length", "Content-Encoding", "Content-Md5", "Strict-Transport-Security":
		return true
	}
	return false
}

// readBody takes a recorded body: text stands for itself, anything else for its
// JSON.
func readBody(text json.RawMessage) ([]byte, error) {
	if len(text) == 0 {
		return nil, nil
	}
	if plain, isString := stringOf(text); isString {
		return []byte(plain), nil
	}
	// A compressed answer is recorded as an array of hexadecimal text.
	var chunks []string
	if json.Unmarshal(text, &chunks) == nil && len(chunks) > 0 {
		return nil, errors.New("the body is recorded compressed; use a normalized recording")
	}
	return text, nil
}

func stringOf(text json.RawMessage) (string, bool) {
	var plain string
	err := json.Unmarshal(text, &plain)
	return plain, err == nil && len(text) > 0 && text[0] == '"'
}

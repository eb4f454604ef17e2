package proptest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// setup is what a case tells the library about its endpoint and its job.
type setup struct {
	path        string // where it stands in the file
	endpoint    string
	method      string
	header      [][2]string // with the credentials
	secret      string      // the name of the field that carries them
	requestBody map[string]any
	pageSize    int
	sizeTo      string
	itemsAt     string
	idAt        []string
	createdAt   string
	// createdFormat is the format of that time, in a contract's words.
	createdFormat string
	totalAt       string
	firstCursor   json.RawMessage
	cursorFrom    string
	cursorTo      string
	emptyCursor   string
	skipNull      bool
	order         string
	end           endRule
	hosts         []string
	contract      json.RawMessage

	now          time.Time
	cutoff       *cutoff
	deadline     time.Duration // of one call
	maxAttempts  int
	atMostOnce   bool
	once         string
	concurrency  int
	readAhead    bool
	dropVanished bool
}

// cutoff is who keeps later items out, and when it is fixed.
type cutoff struct {
	at time.Time // zero: when the run starts
	by string
}

// endRule is a case's own word for the end, as it stands in the file.
type endRule struct {
	path   string
	kind   string
	raw    json.RawMessage
	field  string
	value  json.RawMessage
	status []int
	also   []int
	after  int
	empty  bool
	size   string
}

func (r *caseReader) setup(path string, raw json.RawMessage, s *setup) {
	s.path, s.method, s.maxAttempts, s.once = path, http.MethodGet, 3, "run"
	retries, deadline := 0, int64(0)
	r.object(path, raw, fields{
		"endpoint": &s.endpoint, "method": &s.method, "request_body": r.body(&s.requestBody),
		"auth": func(path string, raw json.RawMessage) {
			var name, value string
			r.object(path, raw, fields{"header": &name, "value": &value})
			if name != "" {
				s.secret, s.header = name, append(s.header, [2]string{name, value})
			}
		},
		"headers": r.pairs(&s.header), "page_size": &s.pageSize, "size_to": &s.sizeTo,
		"items_at": &s.itemsAt, "id_at": r.texts(&s.idAt), "total_at": &s.totalAt,
		"created_at": &s.createdAt, "created_at_at": &s.createdAt, "created_at_path": &s.createdAt, "cutoff_field": &s.createdAt, "created_format": &s.createdFormat,
		"first_cursor": func(path string, raw json.RawMessage) {
			var err error
			if s.firstCursor, err = expandRaw(raw); err != nil {
				r.fail(path, "%v", err)
			}
		},
		"cursor_from": &s.cursorFrom, "cursor_to": &s.cursorTo, "empty_cursor": &s.emptyCursor, "skip_null": &s.skipNull,
		"order": &s.order, "end_rule": func(path string, raw json.RawMessage) { r.endRule(path, raw, &s.end) },
		"allowed_hosts": &s.hosts, "contract": &s.contract,
		"now": r.instant(&s.now), "cutoff": r.cutoff(s), "call_deadline_ms": &deadline,
		"max_attempts": &s.maxAttempts, "inline_http_retries": &retries, "at_most_once": &s.atMostOnce, "once": &s.once,
		"concurrency": &s.concurrency, "read_ahead": &s.readAhead, "drop_vanished": &s.dropVanished,
		"note": nil, "comment": nil,
	})
	s.deadline = time.Duration(deadline) * time.Millisecond
	r.checkSetup(path, s)
	if retries != 0 {
		r.fail(path+".inline_http_retries", "is %d; each exchange is one attempt, so it is 0", retries)
	}
}

func (r *caseReader) checkSetup(path string, s *setup) {
	u, err := url.Parse(s.endpoint)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		r.fail(path+".endpoint", "is %q, and an http or https URL is needed", s.endpoint)
	}
	r.word(path+".once", s.once, "run", "job")
	r.word(path+".empty_cursor", s.emptyCursor, "", "cursor", "end")
	if s.now.IsZero() {
		r.fail(path+".now", "is missing; it is the clock at the start")
	}
	if s.maxAttempts < 1 {
		r.fail(path+".max_attempts", "is %d; at least 1 call is made", s.maxAttempts)
	}
	if s.end.kind == "" {
		r.fail(path+".end_rule", "is missing; it is the only thing that counts as the end")
	}
	if len(s.idAt) == 0 {
		r.fail(path+".id_at", "is missing")
	}
}

// body reads a JSON object; whole numbers stay whole.
func (r *caseReader) body(into *map[string]any) func(string, json.RawMessage) {
	return func(path string, raw json.RawMessage) {
		tree, err := parseTree(raw)
		if err == nil {
			tree, err = expand(tree)
		}
		if err != nil {
			r.fail(path, "%v", err)
			return
		}
		switch tree := plainNumbers(tree).(type) {
		case nil:
		case map[string]any:
			*into = tree
		default:
			r.fail(path, "is %s, and an object is needed", shortJSON(raw))
		}
	}
}

// plainNumbers turns the numbers of a tree into Go's own.
func plainNumbers(tree any) any {
	switch x := tree.(type) {
	case map[string]any:
		for name := range x {
			x[name] = plainNumbers(x[name])
		}
	case []any:
		for i := range x {
			x[i] = plainNumbers(x[i])
		}
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n
		}
		if f, err := x.Float64(); err == nil {
			return f
		}
	}
	return tree
}

func (r *caseReader) cutoff(s *setup) func(string, json.RawMessage) {
	return func(path string, raw json.RawMessage) {
		var text string
		c := &cutoff{by: "client"}
		switch {
		case isNull(raw), string(raw) == "false":
			return
		case string(raw) == "true":
		case json.Unmarshal(raw, &text) == nil && (text == "run_start" || text == "now"):
		case json.Unmarshal(raw, &text) == nil:
			r.instant(&c.at)(path, raw)
		default:
			r.object(path, raw, fields{"at": r.instant(&c.at), "by": &c.by, "field": &s.createdAt})
			r.word(path+".by", c.by, "client", "server")
		}
		s.cutoff = c
	}
}

func (r *caseReader) endRule(path string, raw json.RawMessage, e *endRule) {
	var also204 bool
	e.path, e.raw = path, raw
	r.object(path, raw, fields{
		"type": &e.kind, "field": &e.field, "value": &e.value, "after_page": &e.after, "and_empty": &e.empty,
		"size_field": &e.size, "status_204": &also204, "also_status": r.numbers(&e.also), "status": r.numbers(&e.status),
		"rules": nil, "note": nil, "comment": nil,
	})
	if also204 {
		e.also = append(e.also, http.StatusNoContent)
	}
}

// numbers reads a number or an array of numbers.
func (r *caseReader) numbers(into *[]int) func(string, json.RawMessage) {
	return func(path string, raw json.RawMessage) {
		var one int
		if json.Unmarshal(raw, &one) == nil && !isNull(raw) {
			*into = append(*into, one)
			return
		}
		if err := json.Unmarshal(raw, into); err != nil {
			r.fail(path, "is %s, and a number or an array of numbers is needed", shortJSON(raw))
		}
	}
}

// home returns the origin of the endpoint as host and port.
func (s *setup) home() (scheme, address string) {
	u, err := url.Parse(s.endpoint)
	if err != nil {
		return "", ""
	}
	return u.Scheme, withPort(u)
}

// address returns where the first page is read.
func (s *setup) address() string {
	if s.cursorTo != "url" {
		return s.endpoint
	}
	if first, ok := textOf(s.firstCursor); ok {
		return first
	}
	return s.endpoint
}

// withPort returns a URL's host with its port, the scheme's own where none is
// said.
func withPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}

// textOf returns the text of a JSON string or number, and whether there is one.
func textOf(raw json.RawMessage) (string, bool) {
	if isNull(raw) {
		return "", false
	}
	tree, err := parseTree(raw)
	if err != nil {
		return "", false
	}
	switch x := tree.(type) {
	case string:
		return x, true
	case json.Number:
		return x.String(), true
	}
	return string(raw), true
}

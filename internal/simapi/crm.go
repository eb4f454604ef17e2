package simapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The length that the CRM asks of an Idempotency-Key.
const (
	MinKeyLength = 8
	MaxKeyLength = 255
)

// Note is what the CRM creates: one effect.
type Note struct {
	ID        string    `json:"id"`
	TicketID  string    `json:"ticket_id"`
	Text      string    `json:"text"`
	Key       string    `json:"idempotency_key,omitempty"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// CRMOptions are what may be said about a CRM.
type CRMOptions struct {
	// Path is where notes are created and listed. Defaults to "/v1/notes".
	Path string
	// IgnoreKeys makes a sink that honours no keys: each POST creates a note.
	// Defaults to false.
	IgnoreKeys bool
	// Now gives notes and log their times. Defaults to the zero time throughout.
	Now func() time.Time
}

// CRM is the system that effects happen in. POST creates a note under an
// Idempotency-Key; GET lists what was created, and with ?key= only what was
// created under that key.
type CRM struct {
	options  CRMOptions
	exchange exchange

	mu     sync.Mutex
	notes  []Note
	stored map[string]stored
}

// stored is the first answer to a key.
type stored struct {
	body   string
	answer Answer
}

var _ http.Handler = (*CRM)(nil)

// NewCRM returns an empty CRM. nil options are the defaults.
func NewCRM(options *CRMOptions) *CRM {
	c := &CRM{stored: map[string]stored{}}
	if options != nil {
		c.options = *options
	}
	fill(&c.options.Path, "/v1/notes")
	c.exchange.now = c.options.Now
	return c
}

// Path is where notes stand, to be put behind the base URL.
func (c *CRM) Path() string { return c.options.Path }

// Script returns the CRM's faults.
func (c *CRM) Script() *Script { return &c.exchange.script }

// Log returns the CRM's requests.
func (c *CRM) Log() *Log { return &c.exchange.log }

// Notes returns what was created, in that order.
func (c *CRM) Notes() []Note {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.notes)
}

// EffectsByKey counts the notes created under each key.
func (c *CRM) EffectsByKey() map[string]int {
	return c.count(func(n Note) string { return n.Key })
}

// EffectsByTicket counts the notes created for each ticket.
func (c *CRM) EffectsByTicket() map[string]int {
	return c.count(func(n Note) string { return n.TicketID })
}

func (c *CRM) count(by func(Note) string) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := make(map[string]int, len(c.notes))
	for _, note := range c.notes {
		counts[by(note)]++
	}
	return counts
}

// ForgetKeys drops every stored answer, as a sink does when its retention ends:
// a key that comes again creates again.
func (c *CRM) ForgetKeys() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.stored)
}

// ServeHTTP answers one request.
func (c *CRM) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.exchange.serve(w, r, func(request call) Answer {
		answer, refused := c.answer(request)
		if refused != nil {
			answer = refused.flat(request.id)
		}
		answer.Header.Set("X-Request-Id", request.id)
		return answer
	})
}

func (c *CRM) answer(request call) (Answer, *problem) {
	if request.request.URL.Path != c.options.Path {
		return Answer{}, &problem{status: http.StatusNotFound, code: "not_found", kind: "invalid_request_error", message: "Not Found"}
	}
	switch request.request.Method {
	case http.MethodGet:
		return c.listed(request.request), nil
	case http.MethodPost:
		return c.create(request)
	}
	return Answer{}, &problem{
		status: http.StatusMethodNotAllowed, code: "method_not_allowed", kind: "invalid_request_error", message: "Only GET and POST are allowed.",
	}
}

func (c *CRM) listed(r *http.Request) Answer {
	notes := c.Notes()
	if query := r.URL.Query(); query.Has("key") {
		key := query.Get("key")
		notes = slices.DeleteFunc(notes, func(n Note) bool { return n.Key != key })
	}
	return jsonAnswer(http.StatusOK, map[string]any{"notes": notes})
}

// wanted is what a client asks to be created.
type wanted struct {
	TicketID string `json:"ticket_id"`
	Text     string `json:"text"`
}

// NoteOn matches the requests that create a note on a ticket, for
// [Script.When].
func NoteOn(ticketID string) func(Request) bool {
	return func(r Request) bool {
		var asked wanted
		return r.Method == http.MethodPost && json.Unmarshal(r.Body, &asked) == nil && asked.TicketID == ticketID
	}
}

func (c *CRM) create(request call) (Answer, *problem) {
	key := request.request.Header.Get("Idempotency-Key")
	if !c.options.IgnoreKeys && (len(key) < MinKeyLength || len(key) > MaxKeyLength) {
		return Answer{}, invalid("Idempotency-Key", &parameterError{
			Name: "Idempotency-Key", Problem: fmt.Sprintf("must have %d to %d characters, and has %d", MinKeyLength, MaxKeyLength, len(key)),
		})
	}
	var asked wanted
	canonical, err := canonicalJSON(request.body)
	if err == nil {
		err = json.Unmarshal(request.body, &asked)
	}
	if err != nil {
		return Answer{}, invalid("body", &parameterError{Name: "body", Problem: "is no note: " + err.Error()})
	}
	if asked.TicketID == "" {
		return Answer{}, invalid("ticket_id", &parameterError{Name: "ticket_id", Problem: "is missing"})
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if before, known := c.stored[key]; known && !c.options.IgnoreKeys {
		if before.body != canonical {
			return Answer{}, &problem{
				status: http.StatusUnprocessableEntity, code: "idempotency_key_reused", kind: "idempotency_error",
				message: "The Idempotency-Key was used before with another body.",
			}
		}
		replay := before.answer
		replay.Header = replay.Header.Clone()
		replay.Header.Set("Idempotent-Replayed", "true")
		return replay, nil
	}
	note := Note{
		ID: fmt.Sprintf("note_%06d", len(c.notes)+1), TicketID: asked.TicketID, Text: asked.Text, Key: key, CreatedAt: c.exchange.clock(),
	}
	c.notes = append(c.notes, note)
	answer := jsonAnswer(http.StatusCreated, note)
	c.stored[key] = stored{body: canonical, answer: answer}
	answer.Header = answer.Header.Clone() // the stored one stays as it is
	return answer, nil
}

// canonicalJSON gives equal texts for bodies that say the same: a client may
// order its members anew when it asks again.
func canonicalJSON(text []byte) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", fmt.Errorf("reading JSON: %w", err)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("writing JSON: %w", err)
	}
	return string(encoded), nil
}

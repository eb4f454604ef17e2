package drill

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// maxBody bounds what the sink reads of a request, and keyHeader carries the key.
const (
	maxBody   = 1 << 20
	keyHeader = "Idempotency-Key"
)

// Answer is what an endpoint of the user's said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

func (a *Answer) good() bool { return a.Status >= 200 && a.Status < 300 }

// call is one post that the sink got.
type call struct {
	item   string
	key    string
	answer *Answer
	effect bool // this call made an effect, as far as can be told
}

// tally is what the sink saw of one item.
type tally struct {
	calls, effects int
	keys           []string // in order, each once
	refusals       []int    // the statuses of answers that were no success
}

// sink is where effects happen: its own, which honours keys, or an endpoint that it
// posts on to.
type sink struct {
	forward func(ctx context.Context, body []byte, header http.Header) (*Answer, error)

	mu    sync.Mutex
	calls []call
	known map[string]known // by key
	holds map[string]*hold // by item
}

// known is the first answer to a key.
type known struct {
	body   string
	answer *Answer
}

// hold keeps the answer to an item's first effect back.
type hold struct {
	happened, release chan struct{}
	reached           bool
	once              sync.Once
}

func newSink(forward func(ctx context.Context, body []byte, header http.Header) (*Answer, error)) *sink {
	return &sink{forward: forward, known: make(map[string]known), holds: make(map[string]*hold)}
}

// holdAt keeps back the answer to the first effect for an item. The channel is closed
// when that effect has happened.
func (s *sink) holdAt(item string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := &hold{happened: make(chan struct{}), release: make(chan struct{})}
	s.holds[item] = h
	return h.happened
}

// letGo sends every answer that is kept back, and keeps back no more.
func (s *sink) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.holds {
		h.once.Do(func() { close(h.release) })
	}
}

// ServeHTTP makes the effect of one post.
func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil || r.Method != http.MethodPost {
		refuse(w, http.StatusMethodNotAllowed, "post one item at a time, as JSON")
		return
	}
	item := itemOf(body)
	if item == "" {
		refuse(w, http.StatusBadRequest, `the body has to be a JSON object with the item's "id"; the item itself will do`)
		return
	}
	answer, effect := s.act(r, item, body)
	h := s.note(call{item: item, key: r.Header.Get(keyHeader), answer: answer, effect: effect})
	if h != nil {
		close(h.happened)
		<-h.release
	}
	for name, values := range answer.Header {
		if name != "Content-Length" && name != "Transfer-Encoding" && name != "Connection" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body) // a program that was killed reads no answer
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text})
}

// itemOf returns the ID of the item that a post is about.
func itemOf(body []byte) string {
	var post struct {
		ID       string `json:"id"`
		ItemID   string `json:"item_id"`
		TicketID string `json:"ticket_id"`
	}
	if json.Unmarshal(body, &post) != nil {
		return ""
	}
	for _, id := range []string{post.TicketID, post.ItemID, post.ID} {
		if id != "" {
			return id
		}
	}
	return ""
}

// act makes the effect, or lets the user's endpoint make it.
func (s *sink) act(r *http.Request, item string, body []byte) (*Answer, bool) {
	if s.forward != nil {
		answer, err := s.forward(r.Context(), body, r.Header)
		if err != nil {
			text, _ := json.Marshal(map[string]string{"error": err.Error()}) //nolint:errchkjson // a text always encodes
			answer = &Answer{Status: http.StatusBadGateway, Header: http.Header{}, Body: text}
		}
		return answer, answer.good() && s.another(r.Header.Get(keyHeader), answer)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.Header.Get(keyHeader)
	if before, again := s.known[key]; again && key != "" {
		if before.body != string(body) {
			return jsonAnswer(http.StatusUnprocessableEntity, map[string]string{"error": "the Idempotency-Key was used before with another body"}), false
		}
		replay := *before.answer
		replay.Header = replay.Header.Clone()
		replay.Header.Set("Idempotent-Replayed", "true")
		return &replay, false
	}
	answer := jsonAnswer(http.StatusCreated, map[string]string{"id": fmt.Sprintf("effect-%d", len(s.calls)+1), "item_id": item})
	s.known[key] = known{body: string(body), answer: answer}
	return answer, true
}

func jsonAnswer(status int, value map[string]string) *Answer {
	body, _ := json.Marshal(value) //nolint:errchkjson // texts always encode
	return &Answer{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// another says whether an answer tells of another effect than the one that the key
// has had: an endpoint that honours keys answers as it did before, or with the same
// ID, or marks its answer as a replay.
func (s *sink) another(key string, answer *Answer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, again := s.known[key]
	if !again {
		s.known[key] = known{answer: answer}
		return true
	}
	if strings.EqualFold(answer.Header.Get("Idempotent-Replayed"), "true") {
		return false
	}
	if a, b := idOf(before.answer.Body), idOf(answer.Body); a != "" && b != "" {
		return a != b
	}
	return string(before.answer.Body) != string(answer.Body)
}

func idOf(body []byte) string {
	var made struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(body, &made) != nil {
		return ""
	}
	return string(made.ID)
}

// note records a call. It returns the hold that its answer has to wait for.
func (s *sink) note(c call) *hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	h := s.holds[c.item]
	if h == nil || h.reached || !c.answer.good() {
		return nil
	}
	h.reached = true
	return h
}

// tallies returns what was seen, by item.
func (s *sink) tallies() map[string]tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := make(map[string]tally)
	for _, c := range s.calls {
		t := seen[c.item]
		t.calls++
		if c.effect {
			t.effects++
		}
		if !slices.Contains(t.keys, c.key) {
			t.keys = append(t.keys, c.key)
		}
		if !c.answer.good() {
			t.refusals = append(t.refusals, c.answer.Status)
		}
		seen[c.item] = t
	}
	return seen
}

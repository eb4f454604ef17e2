package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// Sink creates things through an API. It may be used from several goroutines and
// by several jobs.
type Sink[T any] struct {
	config Config[T]
	home   *url.URL
	judge  judge
}

// New returns a sink, or everything that is wrong with its configuration.
func New[T any](config Config[T]) (*Sink[T], error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	home, err := url.Parse(config.URL)
	if err != nil {
		return nil, fmt.Errorf("sink: %w", err) // validated above
	}
	return &Sink[T]{config: config.withDefaults(), home: home, judge: newJudge(config.Errors)}, nil
}

// Handle creates what the item asks for. It is an everypage.Job's Handle: what it
// returns says whether the item is done, tried again or held, or the run paused;
// the package comment has the list.
func (s *Sink[T]) Handle(ctx context.Context, item everypage.Item[T]) error {
	if err := usableKey(item.Key); err != nil {
		return everypage.Permanent(err)
	}
	target, err := s.target(item)
	if err != nil {
		return everypage.Permanent(fmt.Errorf("the item's address: %w", err))
	}
	body, err := s.body(item)
	if err != nil {
		return everypage.Permanent(fmt.Errorf("the item's body: %w", err))
	}
	answer, err := s.send(ctx, call{method: s.config.Method, url: target, key: item.Key, body: body})
	log := s.config.Logger.With("item_id", item.ID, "attempt", item.Attempt)
	if err != nil {
		log.Warn("nothing came back from the sink", "error", err)
		return err
	}
	fault := s.judge.fault(answer, s.config.Now())
	if fault != nil {
		log.Warn("the sink refused an item", "status", answer.Status, "code", fault.Code,
			"request_id", fault.Answer.RequestID, "detail", fault.Detail)
		return outcome(item.ID, answer.Status, fault)
	}
	log.Debug("the sink has the item", "status", answer.Status, "replayed", answer.Replayed, "request_id", answer.RequestID)
	if s.config.OnCreated == nil {
		return nil
	}
	if err := s.config.OnCreated(ctx, item, answer); err != nil {
		return fmt.Errorf("it was created (status %d), and OnCreated failed: %w", answer.Status, err)
	}
	return nil
}

// Confirm asks the API whether something was created under a key. It is an
// everypage.Job's Confirm, and needs Config.Lookup. Anything but a plain yes or
// no is an error.
func (s *Sink[T]) Confirm(ctx context.Context, key string) (happened bool, err error) {
	lookup := s.config.Lookup
	if lookup == nil {
		return false, errors.New("sink: Config.Lookup is missing, so nothing can be confirmed")
	}
	if err := usableKey(key); err != nil {
		return false, err
	}
	// A key has no space in it, so that the escape of a query also fits a path.
	target, err := address(strings.ReplaceAll(lookup.URL, keyInLookup, url.QueryEscape(key)))
	if err != nil {
		return false, fmt.Errorf("Lookup.URL: %w", err)
	}
	answer, err := s.send(ctx, call{method: http.MethodGet, url: target})
	if err != nil {
		return false, err
	}
	if answer.Status != http.StatusNotFound {
		if fault := s.judge.fault(answer, s.config.Now()); fault != nil {
			s.config.Logger.Warn("the sink refused a lookup", "status", answer.Status, "code", fault.Code,
				"request_id", fault.Answer.RequestID, "detail", fault.Detail)
			return false, fault
		}
	}
	switch {
	case lookup.Happened != nil:
		return lookup.Happened(answer)
	default:
		return answer.Status != http.StatusNotFound, nil
	}
}

// usableKey refuses a key that an API would refuse, or cut, or read differently.
func usableKey(key string) error {
	if len(key) < MinKeyLength || len(key) > MaxKeyLength {
		return fmt.Errorf("the key has %d characters, and an idempotency key has %d to %d", len(key), MinKeyLength, MaxKeyLength)
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return fmt.Errorf("the key has a character at %d that cannot stand in a header field: %q", i, key[i])
		}
	}
	return nil
}

func (s *Sink[T]) target(item everypage.Item[T]) (*url.URL, error) {
	if s.config.Target == nil {
		return s.home, nil
	}
	text, err := s.config.Target(item)
	if err != nil {
		return nil, err
	}
	relative, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it cannot be read as a URL")
	}
	target := s.home.ResolveReference(relative)
	if !sameOrigin(s.home, target) || target.User != nil {
		return nil, fmt.Errorf("%q is not of the sink's own origin, and the credentials must not go there", pager.RedactURL(text))
	}
	return target, nil
}

func (s *Sink[T]) body(item everypage.Item[T]) ([]byte, error) {
	content, err := s.config.Body(item)
	if err != nil {
		return nil, err
	}
	switch content := content.(type) {
	case []byte:
		return content, nil
	case json.RawMessage: // json.Marshal would write it anew
		return content, nil
	}
	return json.Marshal(content) // the same bytes each time: it sorts the keys of maps
}

// outcome turns a fault into what the engine is told.
func outcome(itemID string, status int, fault *pager.Fault) error {
	switch {
	case fault.Code == state.HoldKeyMismatch:
		return &everypage.PermanentError{Code: state.HoldKeyMismatch, Err: fault}
	case fault.Code == pager.CodeRateLimited, fault.Code == pager.CodeQuotaExhausted:
		return everypage.PauseRun(fault.Until, fault)
	case fault.Code == pager.CodeUnauthorized, redirect(status):
		// Every other item would meet the same, and a hold queue of all of them helps
		// nobody.
		fault.Detail = fmt.Sprintf("item %.100q: %s", itemID, fault.Detail)
		return everypage.PauseRun(fault.Until, fault)
	case status == http.StatusServiceUnavailable && !fault.Until.IsZero():
		// RFC 9110, 15.6.4: it cannot handle the request now, and says until when.
		return everypage.PauseRun(fault.Until, fault)
	case fault.Verdict == pager.Pause:
		return fault
	}
	return everypage.Permanent(fault)
}

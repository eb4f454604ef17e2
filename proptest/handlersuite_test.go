package proptest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
)

// ledgerOfEffects is a system that a handler acts on: it honours keys if it is told
// one.
type ledgerOfEffects struct {
	mu   sync.Mutex
	keys map[string]bool
	n    map[string]int
}

func (l *ledgerOfEffects) reset() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys, l.n = map[string]bool{}, map[string]int{}
	return nil
}

func (l *ledgerOfEffects) effects() (map[string]int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.n), nil
}

func (l *ledgerOfEffects) post(id, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key == "" || !l.keys[key] {
		l.keys[key] = true
		l.n[id]++
	}
}

// sevenLetters is a list for handlers.
func sevenLetters() (items []pager.Item[string]) {
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		items = append(items, pager.Item[string]{ID: id, Value: id})
	}
	return items
}

// harness is a handler of items on a system of its own.
func harness(handle func(l *ledgerOfEffects, ctx context.Context, item everypage.Item[string]) error) HandlerHarness[string] {
	l := &ledgerOfEffects{}
	return HandlerHarness[string]{
		Handle: func(ctx context.Context, item everypage.Item[string]) error { return handle(l, ctx, item) },
		Items:  sevenLetters(), Effects: l.effects, Reset: l.reset,
	}
}

func TestHandler_HonoursKeys(t *testing.T) {
	TestHandler(t, harness(func(l *ledgerOfEffects, _ context.Context, item everypage.Item[string]) error {
		l.post(item.ID, item.Key)
		return nil
	}))
}

func TestHandler_Batch(t *testing.T) {
	l := &ledgerOfEffects{}
	TestHandler(t, HandlerHarness[string]{
		HandleBatch: func(_ context.Context, items []everypage.Item[string]) []error {
			for _, item := range items {
				l.post(item.ID, item.Key)
			}
			return nil
		},
		Items: sevenLetters(), Effects: l.effects, Reset: l.reset,
	})
}

func TestHandler_AtMostOnce(t *testing.T) {
	h := harness(func(l *ledgerOfEffects, _ context.Context, item everypage.Item[string]) error {
		l.post(item.ID, "") // honours no key
		return nil
	})
	h.AtMostOnce = true
	TestHandler(t, h)
}

// A harness that cannot test anything says what is missing.
func TestHandler_BadHarness(t *testing.T) {
	err := HandlerHarness[string]{}.validate()
	for _, part := range []string{"Handle or HandleBatch", "five Items", "Effects is missing", "Reset is missing"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error %v does not say %q", err, part)
		}
	}
}

// caughtHandler plays random stops until a handler is caught, and returns how many
// checks that took.
func caughtHandler(t *testing.T, h HandlerHarness[string], most int) (checks int, found error) {
	t.Helper()
	stops := rapid.Custom(drawStops)
	for checks = 1; checks <= most; checks++ {
		if err := h.play(stops.Example(checks)); err != nil {
			return checks, err
		}
	}
	return most, nil
}

// brokenHandlers are handlers that a user might write.
func brokenHandlers() map[string]struct {
	harness  HandlerHarness[string]
	property string
} {
	type broken = struct {
		harness  HandlerHarness[string]
		property string
	}
	atMostOnce := harness(func(l *ledgerOfEffects, _ context.Context, item everypage.Item[string]) error {
		l.post(item.ID, "")
		l.post(item.ID, "") // a retry of its own
		return nil
	})
	atMostOnce.AtMostOnce = true
	return map[string]broken{
		"a handler that ignores its key": {harness(func(l *ledgerOfEffects, _ context.Context, item everypage.Item[string]) error {
			l.post(item.ID, "")
			return nil
		}), "same-key"},
		"a handler that makes a key of its own for each attempt": {harness(func(l *ledgerOfEffects, _ context.Context, item everypage.Item[string]) error {
			l.post(item.ID, fmt.Sprint(item.Key, item.Attempt, len(l.keys)))
			return nil
		}), "same-key"},
		"a handler that says done before its effect": {harness(func(l *ledgerOfEffects, ctx context.Context, item everypage.Item[string]) error {
			if ctx.Err() == nil {
				l.post(item.ID, item.Key)
			}
			return nil // although its caller was leaving
		}), "nothing-lost"},
		"a handler that swallows an error": {harness(func(l *ledgerOfEffects, _ context.Context, item everypage.Item[string]) error {
			if err := errors.New("refused"); item.ID == "e" && err != nil {
				return nil //nolint:nilerr // that is its fault
			}
			l.post(item.ID, item.Key)
			return nil
		}), "nothing-lost"},
		"a handler that retries by itself under at-most-once": {atMostOnce, "at-most-once"},
	}
}

// Each broken handler is caught by the property that names it.
func handlerFaults(t *testing.T) (rows []faultRow) {
	t.Helper()
	broken := brokenHandlers()
	for _, name := range slices.Sorted(maps.Keys(broken)) {
		b := broken[name]
		t.Run(name, func(t *testing.T) {
			checks, err := caughtHandler(t, b.harness, 100)
			if err == nil || !strings.HasPrefix(err.Error(), b.property) {
				t.Fatalf("after %d checks it gives %v, want %s", checks, err, b.property)
			}
			rows = append(rows, faultRow{name, b.property, fmt.Sprint(checks)})
		})
	}
	return rows
}

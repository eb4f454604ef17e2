package proptest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
)

// trial is one rule on trial: what a *testing.T is to a test, so that a suite can be
// asked by a test and by a program alike, and tested with broken implementations.
type trial struct {
	ctx    context.Context //nolint:containedctx // of one rule, as a test's is
	folder string          // an empty one of its own

	mu       sync.Mutex // a rule may have goroutines of its own
	failures []error
	cleanups []func()
}

// Helper is here so that rules read as tests do.
func (*trial) Helper() {}

// Context ends with the rule.
func (t *trial) Context() context.Context { return t.ctx }

// Cleanup calls act when the rule is over, the last one first.
func (t *trial) Cleanup(act func()) { t.cleanups = append(t.cleanups, act) }

// Error and Errorf note a failure, Fatal and Fatalf also end the rule.
func (t *trial) Error(args ...any) { t.note(errors.New(fmt.Sprint(args...))) }

func (t *trial) note(failure error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, failure)
}

// Errorf notes a failure.
func (t *trial) Errorf(format string, args ...any) {
	t.note(fmt.Errorf(format, args...))
}

// Fatal notes a failure and ends the rule.
func (t *trial) Fatal(args ...any) {
	t.Error(args...)
	runtime.Goexit()
}

// Fatalf notes a failure and ends the rule.
func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

// try runs a rule on a goroutine of its own and returns what it found, each failure
// with the rule's name. A panic is a failure.
func try(ctx context.Context, name string, rule func(*trial)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	folder, err := os.MkdirTemp("", "everypage-rule-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // it is in the folder for temporary files
	t := &trial{ctx: ctx, folder: folder}
	t.guard(func() { rule(t) })
	for _, cleanup := range slices.Backward(t.cleanups) {
		t.guard(cleanup)
	}
	for i, failure := range t.failures {
		t.failures[i] = fmt.Errorf("%s: %w", name, failure)
	}
	return errors.Join(t.failures...)
}

// guard calls act on a goroutine that it may end.
func (t *trial) guard(act func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if value := recover(); value != nil {
				t.Errorf("a panic: %v\n%s", value, debug.Stack())
			}
		}()
		act()
	}()
	<-done
}

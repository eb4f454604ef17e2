package everypage_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that the tests left behind. What a ledger gave up
// when its disk failed stays, as package pebblestore documents; everything else is the
// engine's, and has to be gone.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if left := leaked(goleak.Find()); left != "" {
			fmt.Fprintf(os.Stderr, "goroutines were left behind:\n%s\n", left)
			code = 1
		}
	}
	os.Exit(code)
}

// leaked returns the stacks of goroutines that are not those of a ledger.
func leaked(err error) string {
	if err == nil {
		return ""
	}
	var left []string
	for _, stack := range strings.Split(err.Error(), "Goroutine ")[1:] {
		if !strings.Contains(stack, "cockroachdb/pebble") && !strings.Contains(stack, "store/pebblestore.") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n")
}

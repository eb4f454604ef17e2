package visible_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that the tests left behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

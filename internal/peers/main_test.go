package peers_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain looks for goroutines that the tests left behind. A connection that a real
// server keeps open is none.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

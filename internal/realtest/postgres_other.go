//go:build !unix

package realtest

import "testing"

// StartPostgres starts a database where it knows how to.
func StartPostgres(tb testing.TB) (dsn string) {
	tb.Helper()
	missing(tb, "PostgreSQL is started on Unix alone; run this test there")
	return ""
}

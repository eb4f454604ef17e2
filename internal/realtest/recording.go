package realtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/everypage-go/everypage/internal/replay"
	"github.com/everypage-go/everypage/internal/simapi"
)

// PaginateIssues serves, until the test ends, the recorded walk over 13 issues
// of a GitHub repository, 3 a page, on 5 pages. first is the URL of the first
// page.
func PaginateIssues(tb testing.TB) (server *replay.Server, first string) {
	tb.Helper()
	recording, err := replay.Load(filepath.Join(moduleRoot(tb), filepath.FromSlash(replay.PaginateIssues)))
	if errors.Is(err, fs.ErrNotExist) {
		missing(tb, err.Error())
	}
	if err != nil {
		tb.Fatal(err)
	}
	server = replay.NewServer(recording)
	base, stop, err := simapi.Serve(server)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(stop)
	return server, base + recording.First()
}

// moduleRoot finds the folder of go.mod: a test runs in its package's folder.
func moduleRoot(tb testing.TB) string {
	tb.Helper()
	folder, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			tb.Fatal("realtest: no go.mod above the test's folder")
		}
		folder = parent
	}
}

// missing ends the test, as skipped unless the real thing is required.
func missing(tb testing.TB, why string) {
	tb.Helper()
	if os.Getenv("EVERYPAGE_REQUIRE_REAL") == "1" {
		tb.Fatal(why)
	}
	tb.Skip(why)
}

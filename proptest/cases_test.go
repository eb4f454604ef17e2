package proptest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/everypage-go/everypage/proptest"
)

const ownCases = "testdata/cases"

// casesFlag is the folder whose cases TestCases plays.
func casesFlag() *string {
	return flag.String("cases", "", "a folder of cases, absolute or relative to where go test was typed; its own ones by default")
}

var cases = casesFlag() //nolint:gochecknoglobals // a flag of the test binary

// TestCases plays every case of a folder: -cases=DIR, or the package's own.
func TestCases(t *testing.T) {
	folder, again := ownCases, ""
	if *cases != "" {
		folder, again = typed(t, *cases), "-cases="+*cases
	}
	proptest.TestCases(t, os.DirFS(folder), &proptest.CaseOptions{Again: again})
}

// typed finds a folder that was given relative to where the command was typed. go
// test runs a test in its package's folder, and sets PWD to that too. So the folder
// is looked for where go test itself runs, on a system that tells; then from the
// package upwards to the module's root, which covers a command that was typed there
// or in between.
func typed(t *testing.T, folder string) string {
	t.Helper()
	if filepath.IsAbs(folder) {
		return folder
	}
	var from []string
	if parent, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", os.Getppid())); err == nil {
		from = append(from, parent)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for from = append(from, here); ; from = append(from, here) {
		if _, err := os.Stat(filepath.Join(here, "go.mod")); err == nil || here == filepath.Dir(here) {
			break
		}
		here = filepath.Dir(here)
	}
	for _, base := range from {
		path := filepath.Join(base, folder)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
	}
	t.Fatalf("there is no folder %s in any of %q", folder, from)
	return ""
}

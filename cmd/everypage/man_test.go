package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// manualPage is the page that a package installs.
var manualPage = filepath.Join("..", "..", "docs", "everypage.1") //nolint:gochecknoglobals // a constant in all but name

// The page in docs is the one that the command prints.
func TestManualIsUpToDate(t *testing.T) {
	w := newWorld(t, 3)
	printed := w.want(exitDone, []string{"man"}).out
	if os.Getenv("EVERYPAGE_UPDATE") != "" {
		if err := os.WriteFile(manualPage, []byte(printed), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(manualPage)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(kept), "\r\n", "\n") != printed {
		t.Errorf("docs/everypage.1 differs from what \"everypage man\" prints: EVERYPAGE_UPDATE=1 go test -run Manual ./cmd/everypage writes it anew")
	}
	each(newRoot(streams{}), func(cmd *cobra.Command) {
		if cmd.HasParent() && !strings.Contains(printed, "\n.SS "+roff(cmd.CommandPath())+"\n") {
			t.Errorf("the page does not have %s", cmd.CommandPath())
		}
	})
}

// groff, where it is here, finds nothing wrong with it.
func TestManualIsReadByGroff(t *testing.T) {
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not here: install it to have the manual page read by it")
	}
	said, err := exec.CommandContext(t.Context(), "groff", "-man", "-Tutf8", "-ww", "-z", manualPage).CombinedOutput()
	if err != nil || len(said) > 0 {
		t.Errorf("groff: %v\n%s", err, said)
	}
}

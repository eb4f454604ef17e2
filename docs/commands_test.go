package docs_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/everypage-go/everypage/internal/simapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tooLong is when the commands of one document hang.
const tooLong = 2 * time.Minute

// TestCommands runs the commands of each document, one block after the other, in an
// empty folder, with a fresh build of the command. The addresses of APIs lead to
// simulated ones on loopback. A command succeeds, unless a comment behind it says
// "exit N".
func TestCommands(t *testing.T) {
	shell := bash(t)
	programs := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", programs, "./cmd/everypage")
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	ran := 0
	for _, path := range documents(t) {
		t.Run(path, func(t *testing.T) {
			c := commands{shell: shell, programs: programs, folder: t.TempDir(), addresses: serve(t), limit: tooLong}
			for _, b := range blocks(t, path) {
				switch {
				case b.language != "sh":
				case b.notRun != "":
					t.Logf("%s:%d: not run here: %s", path, b.line, b.notRun)
				default:
					ran++
					c.run(t, path, b)
				}
			}
		})
	}
	if ran < 5 {
		t.Errorf("%d blocks of commands were run; are the documents read as they should be?", ran)
	}
}

// TestReadme follows the README word for word in a clone of the commit that is
// checked out: make readme. Its first block runs the tests, this one not among them,
// as a new user does, who has no real servers.
func TestReadme(t *testing.T) {
	if os.Getenv("EVERYPAGE_README") == "" {
		t.Skip("it runs all tests in a clone, this one among them: make readme runs it")
	}
	origin, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	c := commands{
		shell: bash(t), programs: filepath.Join(folder, "bin"), folder: folder, addresses: serve(t), limit: 20 * time.Minute,
		environment: []string{
			"EVERYPAGE_README=", "EVERYPAGE_REQUIRE_REAL=", "GOBIN=" + filepath.Join(folder, "bin"),
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + origin + ".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/everypage-go/everypage",
		},
	}
	for _, b := range blocks(t, "README.md") {
		if b.language == "sh" {
			c.run(t, "README.md", b)
		}
	}
}

func bash(t *testing.T) string {
	t.Helper()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here, and the documents are written for a shell: install one to run their commands")
	}
	return shell
}

// serve starts what the addresses of the documents lead to.
func serve(t *testing.T) *strings.Replacer {
	t.Helper()
	first := time.Date(2026, time.March, 5, 9, 0, 0, 0, time.UTC)
	tickets := simapi.NewServer(simapi.KeysetCatalogue, simapi.NewList(simapi.NumberedTickets(first, 45)...), nil)
	issues := simapi.NewServer(simapi.GitHubREST, simapi.NewList(simapi.NumberedTickets(first, 65)...), nil)
	crm := simapi.NewCRM(nil)
	start := func(handler http.Handler) string {
		base, stop, err := simapi.Serve(handler)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		return base
	}
	return strings.NewReplacer(
		"https://api.example.com/v1/tickets", start(tickets)+tickets.Path(),
		"https://api.github.com/repos/golang/go/issues", start(issues)+issues.Path(),
		"https://crm.example.com/v1/notes", start(crm)+crm.Path(),
	)
}

// commands runs the blocks of one document.
type commands struct {
	shell, programs, folder string
	environment             []string
	addresses               *strings.Replacer
	limit                   time.Duration
}

var exits = regexp.MustCompile(`^(.*\S)\s+# exit (\d+)\s*$`)

func (c commands) run(t *testing.T, path string, b block) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), c.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.shell, "-e", "-u", "-o", "pipefail", "-c", c.script(b.text))
	cmd.Dir = c.folder
	cmd.Env = append(os.Environ(), "PATH="+c.programs+string(filepath.ListSeparator)+os.Getenv("PATH"), "NO_COLOR=1")
	cmd.Env = append(cmd.Env, c.environment...)
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s:%d: %v\n%s%s", path, b.line, err, b.text, said)
	}
	t.Logf("%s:%d:\n%s%s", path, b.line, b.text, said)
}

// script is a block with its addresses led to loopback, and with a check of each
// exit status that a comment names.
func (c commands) script(text string) string {
	var script strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(c.addresses.Replace(text), "\\\n", " ")) {
		if m := exits.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			line = fmt.Sprintf("status=0; { %s; } || status=$?; [ $status -eq %s ] || { echo \"exit status $status, want %s\"; exit 1; }\n", m[1], m[2], m[2])
		}
		script.WriteString(line)
	}
	return script.String()
}

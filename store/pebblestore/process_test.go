package pebblestore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// The environment that makes the test binary a second process.
const (
	childMode   = "EVERYPAGE_TEST_CHILD"
	childFolder = "EVERYPAGE_TEST_LEDGER"
)

// child is what the second process does. It returns its exit code.
func child(mode, dir string) int {
	s, err := pebblestore.Open(dir, nil)
	if err != nil {
		fmt.Println("refused", errors.Is(err, store.ErrLocked), strings.Contains(err.Error(), dir))
		return 0
	}
	fmt.Println("open")
	if mode == "walk" {
		run := newRun("job", "r")
		if err := s.Commit(context.Background(), beginChange(run)); err != nil {
			fmt.Println("failed", err)
			return 1
		}
		for n := 0; ; n++ {
			if err := s.Commit(context.Background(), pageStep(run, n)); err != nil {
				fmt.Println("failed", err)
				return 1
			}
			fmt.Println(n + 1)
		}
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent is done
	return 0
}

// process is a running second process.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner
	stdin io.Closer
}

func startChild(t *testing.T, mode, dir string) *process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), childMode+"="+mode, childFolder+"="+dir)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: cmd, lines: bufio.NewScanner(stdout), stdin: stdin}
	t.Cleanup(p.kill)
	return p
}

func (p *process) line(t *testing.T) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("the second process said nothing more: %v", p.lines.Err())
	}
	return p.lines.Text()
}

// kill ends the process without giving it a chance to clean up.
func (p *process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

func TestSecondProcessIsRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	holder := startChild(t, "hold", dir)
	if got := holder.line(t); got != "open" {
		t.Fatalf("the holder said %q", got)
	}
	began := time.Now()
	_, err := pebblestore.Open(dir, nil)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the refusal took %v", took)
	}
	detail := wantDetail(t, err, store.ErrLocked)
	if detail.Path != dir || detail.Hint == "" {
		t.Errorf("the error names %q and hints %q", detail.Path, detail.Hint)
	}
	if got := startChild(t, "hold", dir).line(t); got != "refused true true" {
		t.Errorf("a third process said %q", got)
	}
	holder.kill()
	open(t, dir, nil) // nothing is left to unlock
}

func TestThisProcessIsRefusedWhileItHoldsTheLedger(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, nil)
	_, err := pebblestore.Open(dir, nil)
	wantError(t, err, store.ErrLocked)
	if got := startChild(t, "hold", dir).line(t); got != "refused true true" {
		t.Errorf("another process said %q after a refusal in this one", got)
	}
}

func TestLinkToTheFolderDoesNotGetAroundTheLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: making a symbolic link needs a privilege on Windows")
	}
	dir, link := t.TempDir(), t.TempDir()+"/link"
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	open(t, dir, nil)
	_, err := pebblestore.Open(link, nil)
	wantError(t, err, store.ErrLocked)
}

func TestKilledProcessLosesNothingThatItConfirmed(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: starts and kills processes, and the tests are to be short")
	}
	for _, steps := range []int{1, 40, 300} {
		t.Run(strconv.Itoa(steps), func(t *testing.T) {
			dir := t.TempDir()
			p := startChild(t, "walk", dir)
			if got := p.line(t); got != "open" {
				t.Fatalf("the process said %q", got)
			}
			confirmed := 0
			for confirmed < steps {
				n, err := strconv.Atoi(p.line(t))
				if err != nil {
					t.Fatal(err)
				}
				confirmed = n
			}
			_ = p.Process.Kill()
			for p.lines.Scan() { // what it had confirmed when it died
				if n, err := strconv.Atoi(p.lines.Text()); err == nil {
					confirmed = n
				}
			}
			s := open(t, dir, nil)
			got, err := wholeSteps(t.Context(), s, "r")
			if err != nil || got < confirmed {
				t.Errorf("%d steps were confirmed, %d are there: %v", confirmed, got, err)
			}
		})
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/pager"
)

const (
	// programGrace is how long a command may take to end once it was asked to.
	programGrace = 10 * time.Second
	// tailLimit is as much of a command's standard error as becomes its error.
	tailLimit = 2 << 10
)

// program is the command that items are handed to.
type program struct {
	path string
	args []string
	out  io.Writer
	err  io.Writer
	// finishes says that a call is not stopped with the run, since an item that
	// was stopped half-way could never be called again.
	finishes bool

	mu      sync.Mutex
	running map[*exec.Cmd]struct{}
}

func newProgram(std streams, stderr io.Writer, command []string, finishes bool) (*program, error) {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil, usagef("the command cannot be run: %w", err)
	}
	return &program{
		path: path, args: command[1:], out: std.out, err: stderr, finishes: finishes,
		running: make(map[*exec.Cmd]struct{}),
	}, nil
}

// handle runs the command for one item and reads its exit code.
func (p *program) handle(ctx context.Context, item everypage.Item[json.RawMessage]) error {
	if strings.ContainsRune(item.ID, 0) {
		return everypage.Permanent(errors.New("its ID holds a zero byte and cannot stand in the command's environment"))
	}
	var line bytes.Buffer
	if err := json.Compact(&line, item.Raw); err != nil {
		return everypage.Permanent(fmt.Errorf("it is not one JSON value: %w", err))
	}
	line.WriteByte('\n')
	if p.finishes {
		ctx = context.WithoutCancel(ctx)
	}
	cmd := exec.CommandContext(ctx, p.path, p.args...) //nolint:gosec // the command that the caller named
	cmd.Stdin = &line
	cmd.Stdout = p.out
	stderr := &tail{next: p.err}
	cmd.Stderr = stderr
	cmd.Env = append(os.Environ(),
		"EVERYPAGE_KEY="+item.Key,
		"EVERYPAGE_ITEM_ID="+item.ID,
		"EVERYPAGE_RUN_ID="+item.RunID,
		"EVERYPAGE_ATTEMPT="+strconv.Itoa(item.Attempt),
	)
	cmd.WaitDelay = programGrace
	ownGroup(cmd)
	if err := p.start(cmd); err != nil {
		return everypage.NotDone(fmt.Errorf("start the command: %w", err))
	}
	err := cmd.Wait()
	p.ended(cmd)
	if ctx.Err() != nil {
		killGroup(cmd) // what the command started and left
	}
	stderr.flush()
	return verdict(cmd, err, stderr.String())
}

// verdict says what an exit code means for the item.
func verdict(cmd *exec.Cmd, err error, stderr string) error {
	if cmd.ProcessState.Success() {
		// Also where err says that the run was stopped meanwhile, or that something
		// else which the command started keeps its output open.
		return nil
	}
	failed := fmt.Errorf("the command failed: %w", err)
	if stderr != "" {
		failed = fmt.Errorf("the command failed: %w: %s", err, stderr)
	}
	switch cmd.ProcessState.ExitCode() {
	case exitPaused:
		return everypage.PauseRun(time.Time{}, failed)
	case exitReview:
		return everypage.Permanent(failed)
	}
	return failed
}

func (p *program) start(cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	p.running[cmd] = struct{}{}
	return nil
}

func (p *program) ended(cmd *exec.Cmd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, cmd)
}

// kill ends every command at once, for a process that ends itself. It keeps the
// lock, so that none is started any more.
func (p *program) kill() {
	if p == nil {
		return
	}
	p.mu.Lock()
	for cmd := range p.running {
		killGroup(cmd)
	}
}

// tail passes a command's standard error on, by whole lines where it can, and
// keeps the end of it.
type tail struct {
	next io.Writer
	kept []byte
	line []byte
}

// Write keeps and passes on.
func (t *tail) Write(data []byte) (int, error) {
	t.kept = append(t.kept, data...)
	if n := len(t.kept) - tailLimit; n > 0 {
		t.kept = append(t.kept[:0], t.kept[n:]...)
	}
	t.line = append(t.line, data...)
	if end := bytes.LastIndexByte(t.line, '\n'); end >= 0 || len(t.line) > tailLimit {
		if end < 0 {
			end = lastStart(t.line) - 1
		}
		t.pass(t.line[:end+1])
		t.line = append(t.line[:0], t.line[end+1:]...)
	}
	return len(data), nil
}

// pass passes lines on so that a terminal shows them and does not obey them.
func (t *tail) pass(lines []byte) {
	text := strings.ReplaceAll(string(lines), "\r\n", "\n")
	_, _ = io.WriteString(t.next, visible.Text(pager.RedactText(text))) // the command must not fail for it
}

// flush passes on what has no end of a line.
func (t *tail) flush() {
	if len(t.line) > 0 {
		t.pass(append(t.line, '\n'))
		t.line = nil
	}
}

// lastStart returns where the last character of a long line begins: it may not be
// there in whole.
func lastStart(line []byte) int {
	for at := len(line) - 1; at > len(line)-utf8.UTFMax; at-- {
		if utf8.RuneStart(line[at]) {
			return at
		}
	}
	return len(line)
}

// String returns the end of what was written, as one line.
func (t *tail) String() string {
	text := t.kept
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "?")), " ")
}

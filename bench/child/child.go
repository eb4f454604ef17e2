// Package child walks a list in a process of its own, so that the most memory it
// ever had, and what a fresh process pays for, can be measured.
package child

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/bench/workload"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// Task is what a child does.
type Task struct {
	// Ledger is the folder of its ledger.
	Ledger string
	IDs    workload.IDs
	Items  int
	// Resume goes on with the run that another child left at its last page. It is
	// done so often in a row, each time with the ledger opened anew; the last time
	// completes the run. Without it the list is walked up to its last page.
	Resume int
}

// Report is what a child measured.
type Report struct {
	// Walked is how long the pages took that were walked.
	Walked time.Duration
	// FirstCall are the times from the call of Run to the first call of the handler.
	FirstCall []time.Duration
	// PeakBytes is the most memory that the process had in use at any time.
	PeakBytes int64
}

// Program returns the program that does a task. It stands beside this one.
func Program() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	program := filepath.Join(filepath.Dir(self), "walker")
	if _, err := os.Stat(program); err != nil {
		return "", fmt.Errorf("build both programs into one folder, go build -o FOLDER/ . ./walker: %w", err)
	}
	return program, nil
}

// Run does the task in a new process.
func Run(ctx context.Context, task Task) (Report, error) {
	program, err := Program()
	if err != nil {
		return Report{}, err
	}
	text, err := json.Marshal(task)
	if err != nil {
		return Report{}, err
	}
	var out, problem bytes.Buffer
	process := exec.CommandContext(ctx, program, string(text)) //nolint:gosec // built with this program
	process.Stdout, process.Stderr = &out, &problem
	if err := process.Run(); err != nil {
		return Report{}, fmt.Errorf("a walk in a process of its own: %w: %s", err, problem.String())
	}
	var report Report
	err = json.Unmarshal(out.Bytes(), &report)
	return report, err
}

// Main is the child.
func Main(ctx context.Context, text string) error {
	var task Task
	if err := json.Unmarshal([]byte(text), &task); err != nil {
		return err
	}
	var report Report
	var err error
	if task.Resume == 0 {
		report.Walked, err = task.walk(ctx)
	}
	for n := range task.Resume {
		var first time.Duration
		if first, err = task.resume(ctx, n == task.Resume-1); err != nil {
			break
		}
		report.FirstCall = append(report.FirstCall, first)
	}
	if err != nil {
		return err
	}
	if report.PeakBytes, err = peak(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}

// walk walks the list up to its last page, and leaves the run there.
func (t Task) walk(ctx context.Context) (time.Duration, error) {
	last := (t.Items - 1) / workload.PageSize
	began := time.Now()
	var took time.Duration
	err := t.run(ctx, func(item everypage.Item[workload.Nothing], stop func()) {
		if item.Page == last && took == 0 {
			took = time.Since(began)
			stop()
		}
	}, &began)
	return took, stopped(err)
}

// resume goes on with the run, and returns how long the first call took to come.
func (t Task) resume(ctx context.Context, complete bool) (time.Duration, error) {
	var began time.Time
	var took time.Duration
	err := t.run(ctx, func(_ everypage.Item[workload.Nothing], stop func()) {
		if took != 0 {
			return
		}
		took = time.Since(began)
		if !complete {
			stop()
		}
	}, &began)
	if complete {
		return took, err
	}
	return took, stopped(err)
}

// stopped is the error of a run that was to be stopped.
func stopped(err error) error {
	switch {
	case err == nil:
		return errors.New("the run was to stop at its last page, and is complete")
	case errors.Is(err, context.Canceled):
		return nil
	}
	return err
}

// run opens the ledger, runs the job with a handler that calls called, and closes
// the ledger. began is set when Run is called.
func (t Task) run(ctx context.Context, called func(item everypage.Item[workload.Nothing], stop func()), began *time.Time) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ledger, err := pebblestore.Open(t.Ledger, nil)
	if err != nil {
		return err
	}
	walk := workload.Walk{IDs: t.IDs, Items: t.Items, Concurrency: 1}
	walk.Handle = func(_ context.Context, item everypage.Item[workload.Nothing]) error {
		called(item, cancel)
		return nil
	}
	*began = time.Now()
	_, err = everypage.Run(ctx, ledger, walk.Job())
	return errors.Join(err, ledger.Close())
}

// peak returns the most memory that this process had in use (VmHWM, proc(5)).
func peak() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("the peak of memory is read from Linux alone: %w", err)
	}
	lines := strings.Split(string(status), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "VmHWM:") })
	if i < 0 {
		return 0, errors.New("/proc/self/status has no VmHWM")
	}
	fields := strings.Fields(lines[i])
	kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
	return kilobytes << 10, err
}

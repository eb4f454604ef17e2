package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/internal/simapi"
	"github.com/everypage-go/everypage/internal/visible"
)

// On a terminal one line changes, and is gone at the end; the last line stays.
func TestProgressOnATerminal(t *testing.T) {
	w := newWorld(t, 7)
	w.list.Script().At(2, simapi.RateLimited(time.Second, time.Now(), simapi.Envelope{}))
	var out, errs bytes.Buffer
	if code := execute(t.Context(), streams{out: &out, err: &errs, interactive: true}, w.toFile()); code != exitDone {
		t.Fatalf("exit code %d\n%s", code, errs.String())
	}
	for _, want := range []string{"reading the first page", "page 2: ", "/s", "rate_limited: waiting until ", " to wait, until "} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("it does not show %q: %q", want, errs.String())
		}
	}
	lines := strings.Split(strings.TrimSuffix(errs.String(), "\n"), "\n")
	last := lines[len(lines)-1]
	if _, last, _ = strings.Cut(last, "everypage: run "); !strings.Contains(last, "is complete: 7 items done, 3 pages") {
		t.Errorf("the last line is %q", lines[len(lines)-1])
	}
	if strings.Contains(errs.String(), "\x1b[3") || out.Len() > 0 {
		t.Errorf("it uses colours, or standard output: %q", errs.String())
	}
}

// Elsewhere there are plain log lines.
func TestProgressInALog(t *testing.T) {
	w := newWorld(t, 7)
	got := w.want(exitDone, w.toFile(), "event=begin", "msg=progress", "event=finish")
	if strings.ContainsAny(got.err, "\r\x1b") {
		t.Errorf("it uses control characters: %q", got.err)
	}
}

// Neither a log's texts nor its errors tell a credential, or are obeyed by a terminal.
func TestLogsAreRedactedAndVisible(t *testing.T) {
	var errs bytes.Buffer
	log := newProgress(streams{err: &errs}, false).log
	const address = "\x1b[31m\u202e https://u:hidden@h.test/?token=hidden&page=2"
	log.Info("m", "text", address, "error", errors.New(address), "n", 7)
	if got := errs.String(); strings.Contains(got, "hidden") || strings.ContainsFunc(got, visible.Hidden) || strings.Count(got, "page=2") != 2 || !strings.Contains(got, "n=7") {
		t.Errorf("it logs %q", got)
	}
}

func TestRate(t *testing.T) {
	var r rate
	now := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	if got := r.add(now, 100); got != 0 {
		t.Errorf("at the start it is %v", got)
	}
	for second := 1; second <= 60; second++ { // 5 a second, and 20 in the second half
		now = now.Add(time.Second)
		done := int64(100 + 5*second)
		if second > 30 {
			done = int64(250 + 20*(second-30))
		}
		got := r.add(now, done)
		if want := 5.0; second <= 30 && got != want {
			t.Errorf("after %d seconds it is %v, want %v", second, got, want)
		}
		if want := 20.0; second > 45 && got != want {
			t.Errorf("after %d seconds it is %v, want %v", second, got, want)
		}
	}
	if got := rateText(3.14159) + " " + rateText(31.4159) + " " + rateText(0); got != "3.1 31 0" {
		t.Errorf("it reads %s", got)
	}
}

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/sink/jsonlines"
	"github.com/everypage-go/everypage/store"
)

// The exit codes, after sysexits.h where that has one.
const (
	exitDone     = 0
	exitClaim    = 1
	exitUsage    = 64 // EX_USAGE
	exitReview   = 65 // EX_DATAERR
	exitNotFound = 66 // EX_NOINPUT
	exitInternal = 70 // EX_SOFTWARE
	exitPaused   = 75 // EX_TEMPFAIL
)

// exitError is an error that knows its exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.err }

// usagef is an error of the call itself.
func usagef(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// notFoundf is the error of a command that asks for what is not there.
func notFoundf(format string, args ...any) error {
	return &exitError{exitNotFound, fmt.Errorf(format, args...)}
}

// codeOf returns the exit code that an error asks for.
func codeOf(err error) int {
	if err == nil {
		return exitDone
	}
	if own, ok := errors.AsType[*exitError](err); ok {
		return own.code
	}
	if isUsage(err) {
		return exitUsage
	}
	switch {
	case errors.Is(err, everypage.ErrNeedsReview):
		return exitReview
	case errors.Is(err, everypage.ErrPaused),
		errors.Is(err, store.ErrLocked), errors.Is(err, store.ErrHeld), errors.Is(err, jsonlines.ErrInUse):
		return exitPaused
	case errors.Is(err, store.ErrNotFound):
		return exitNotFound
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrVersion),
		errors.Is(err, store.ErrFailed), errors.Is(err, store.ErrClosed):
		return exitInternal
	}
	if _, ok := errors.AsType[*everypage.DecisionError](err); ok {
		return exitReview // refused: the run is not in a state that allows it
	}
	return exitInternal
}

// isUsage reports whether the caller has to change the command line.
func isUsage(err error) bool {
	if errors.Is(err, everypage.ErrInvalidJob) {
		return true
	}
	if _, ok := errors.AsType[*everypage.DefinitionError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*adapters.OptionError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*adapters.FieldError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*jsonlines.FileError](err); ok {
		return !errors.Is(err, jsonlines.ErrInUse) && !errors.Is(err, jsonlines.ErrFailed)
	}
	_, ok := errors.AsType[*adapters.UnknownContractError](err)
	return ok
}

// describe returns what is printed for an error: one sentence after the name of
// the command, and each further one indented, so that no text of others can pass
// for a line of the command. It is empty where the command has said it already.
func describe(err error) string {
	if errors.Is(err, errSaid) {
		return ""
	}
	text := err.Error()
	if _, ok := errors.AsType[*everypage.JobError](err); ok {
		text = inFlags(text)
	}
	for _, own := range []string{"everypage: ", "adapters: ", "jsonlines: "} {
		text = strings.ReplaceAll(text, own, "") // which package found it is nothing to a reader
	}
	return "everypage: " + strings.ReplaceAll(visible.Text(pager.RedactText(text)), "\n", "\n  ")
}

// inFlags says what is wrong with a job in the words of the command line.
func inFlags(text string) string {
	return strings.NewReplacer(
		"set AcceptUnstable", "set --accept-unstable",
		"set a Cutoff", "set a --cutoff",
		"NoCutoff, ClientCutoff nor ServerCutoff", "none, client nor server",
		"Cutoff \"", "--cutoff \"",
		"Incremental needs ServerCutoff", "--incremental needs --cutoff server",
		"ServerCutoff", "--cutoff server", "ClientCutoff", "--cutoff client",
		"OnceARun nor OnceAJob", "run nor job", "Once \"", "--once \"",
		"Name must", "--job must", "RunID \"", "--run-id \"",
		"Options.WaitUpTo", "--wait", "Options.SupersedeLost", "--supersede-lost", "Deadline must", "--deadline must",
	).Replace(text)
}

// errSaid marks an error whose text was printed as part of the command's answer.
var errSaid = errors.New("said already")

// said wraps an error that needs no further word.
func said(err error) error { return fmt.Errorf("%w: %w", errSaid, err) }

package receiptweb

import (
	"context"
	"errors"
	"net/http"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/store"
)

// problem is an error with the words for whoever looks.
type problem struct {
	Status int
	Title  string
	Text   string
	ToDo   string
	err    error
}

func (p *problem) Error() string {
	if p.err != nil {
		return p.err.Error()
	}
	return p.Title + ": " + p.Text
}

// Unwrap returns the cause.
func (p *problem) Unwrap() error { return p.err }

func refusal(status int, title, text, toDo string) error {
	return &problem{Status: status, Title: title, Text: text, ToDo: toDo}
}

// shown is a handler whose error is shown as a page.
func (s *site) shown(show func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := show(w, r)
		if err == nil || r.Context().Err() != nil { // whoever asked went away
			return
		}
		p := asProblem(err)
		if p.Status >= http.StatusInternalServerError {
			s.options.Logger.ErrorContext(r.Context(), "receipts page failed", "path", r.URL.Path, "error", err)
		}
		if err := s.render(w, r, p.Status, "problem", frame{Title: p.Title, Body: p}); err != nil {
			s.options.Logger.ErrorContext(r.Context(), "receipts page failed", "path", r.URL.Path, "error", err)
			http.Error(w, p.Title, p.Status)
		}
	}
}

// asProblem puts an error into words.
func asProblem(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	p := &problem{Status: http.StatusInternalServerError, Title: "The ledger cannot be read", Text: clean(err.Error()), err: err}
	_, decided := errors.AsType[*everypage.DecisionError](err)
	var words *store.Error
	switch {
	case errors.Is(err, store.ErrNotFound):
		p.Status, p.Title = http.StatusNotFound, "There is no such run"
		p.ToDo = "Look for it among all runs. It may have been pruned from the ledger."
	case errors.Is(err, store.ErrHeld):
		p.Status, p.Title = http.StatusConflict, "A runner is at work on this job"
		p.ToDo = "Nothing was changed. Wait until the runner stops, or stop it, and decide then."
	case errors.Is(err, store.ErrClosed), errors.Is(err, context.Canceled):
		p.Status, p.Title = http.StatusServiceUnavailable, "The ledger is closed"
		p.ToDo = "The program that has it open is ending. Load the page again once it runs."
	case errors.Is(err, store.ErrFailed):
		p.Title = "The ledger's disk failed"
		p.ToDo = "Look at the disk's space and health, then start the program again. What was recorded stays recorded."
	case errors.Is(err, store.ErrCorrupt):
		p.Title = "The ledger is damaged"
		p.ToDo = "Do not run its jobs. Keep a copy of the folder, and restore a backup; docs/operating.md says how."
	case decided:
		p.Status, p.Title = http.StatusConflict, "That cannot be done"
		p.ToDo = "Nothing was changed. Go back to the run: its page shows what helps."
	case errors.As(err, &words) && words.Hint != "":
		p.ToDo = clean(words.Hint)
	default:
		p.ToDo = "Load the page again. If it stays so, the program's log says more."
	}
	return p
}

func (s *site) nothingHere(http.ResponseWriter, *http.Request) error {
	return refusal(http.StatusNotFound, "There is nothing here", "No page has this address.", "Begin with the list of all runs.")
}

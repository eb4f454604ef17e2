package receiptweb

import (
	"context"
	"net/http"
	"time"

	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// eventsOnPage is how many events the timeline of a run shows at most: the newest.
const eventsOnPage = 1000

// eventsView is a run's timeline, the newest first.
type eventsView struct {
	Base   string // the way to the handler's root
	RunID  string
	Job    string
	Events []eventView
	Total  int
}

// eventView is one event in words.
type eventView struct {
	At     time.Time
	Name   string // for the style
	Word   string
	Code   string
	Known  bool
	Why    string
	Detail string
	Who    string
}

// readEvents returns the newest events of a run.
func (s *site) readEvents(ctx context.Context, run store.Run, most int) (eventsView, error) {
	view := eventsView{RunID: visible.Line(run.Receipt.RunID), Job: visible.Line(run.Receipt.Job)}
	newest := make([]state.Transition, 0, most) // a ring: the oldest gives way
	for t, err := range s.ledger.Events(ctx, run.Receipt.RunID) {
		if err != nil {
			return view, err
		}
		if len(newest) < most {
			newest = append(newest, t)
		} else {
			newest[view.Total%most] = t
		}
		view.Total++
	}
	for i := range newest {
		view.Events = append(view.Events, eventOf(newest[(view.Total-1-i)%most]))
	}
	return view, nil
}

func eventOf(t state.Transition) eventView {
	is := eventView{
		At: t.At, Name: visible.Line(string(t.Event)), Word: wordOf(t), Who: visible.Line(t.Who),
		Code: visible.Line(string(t.Reason.Code)), Detail: clean(t.Reason.Detail), Known: known(t.Reason.Code),
	}
	if is.Known && (t.Event == state.EventPause || t.Event == state.EventReview) {
		is.Why = state.Explain(t.Reason.Code).Meaning
	}
	return is
}

func wordOf(t state.Transition) string {
	switch t.Event {
	case state.EventBegin:
		return "Began"
	case state.EventPause:
		return "Paused"
	case state.EventResume:
		if t.From == state.Running {
			return "Taken up by another runner"
		}
		return "Went on"
	case state.EventFinish:
		return "Completed"
	case state.EventReview:
		return "Handed to a person"
	case state.EventReopen:
		return "Reopened"
	case state.EventSupersede:
		return "Superseded"
	case state.EventNote:
		return "Note"
	}
	return visible.Line(string(t.Event))
}

// events shows the whole timeline.
func (s *site) events(w http.ResponseWriter, r *http.Request) error {
	run, err := s.find(r)
	if err != nil {
		return err
	}
	view, err := s.readEvents(r.Context(), run, eventsOnPage)
	if err != nil {
		return err
	}
	view.Base = base(r)
	return s.render(w, r, http.StatusOK, "events", frame{Title: "Events of " + view.Job, Here: "runs", Body: view})
}

// codesView is every code in words.
type codesView struct {
	Groups []codesGroup
}

type codesGroup struct {
	ID, Title, Text string
	Codes           []explained
}

// codes explains every code.
func (s *site) codes(w http.ResponseWriter, r *http.Request) error {
	pauses := codesGroup{ID: "pauses", Title: "A run is paused", Text: "It goes on where it was when the job is run again."}
	reviews := codesGroup{ID: "reviews", Title: "A run needs review", Text: "It goes on only when a person has decided."}
	holds := codesGroup{ID: "holds", Title: "An item is held", Text: "Its run is not complete until it is retried or written off."}
	for _, e := range state.Explanations() {
		if e.Allows(state.RunAgain) {
			pauses.Codes = append(pauses.Codes, explain(e))
		} else {
			reviews.Codes = append(reviews.Codes, explain(e))
		}
	}
	for _, e := range state.HoldExplanations() {
		holds.Codes = append(holds.Codes, explain(e))
	}
	view := codesView{Groups: []codesGroup{reviews, holds, pauses}}
	return s.render(w, r, http.StatusOK, "codes", frame{Title: "What the codes mean", Here: "codes", Body: view})
}

// known reports whether the codes' page has a code.
func known(code pager.Code) bool {
	for _, e := range append(state.Explanations(), state.HoldExplanations()...) {
		if e.Code == code {
			return true
		}
	}
	return false
}

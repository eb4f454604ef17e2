package receiptweb

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// statusView is a status as a reader sees it: a sign and a word, never colour alone.
type statusView struct {
	Name string // for the style
	Sign string
	Word string
}

func statusOf(r *state.Receipt) statusView {
	if r.SupersededBy != "" {
		return statusView{"superseded", "↷", "superseded"}
	}
	switch r.Status {
	case state.Running:
		return statusView{"running", "●", "running"}
	case state.Paused:
		return statusView{"paused", "‖", "paused"}
	case state.Complete:
		return statusView{"complete", "✓", "complete"}
	case state.NeedsReview:
		return statusView{"needs_review", "!", "needs review"}
	}
	return statusView{"unknown", "?", visible.Line(string(r.Status))}
}

// runsView is the list of runs.
type runsView struct {
	Job, Status string
	Filtered    bool
	Statuses    []choice
	Rows        []runRow
	// Older is where the list goes on; Newest where it begins. Empty where there is
	// nothing.
	Older, Newest string
}

type choice struct {
	Value, Word string
	Chosen      bool
}

// runRow is one run of the list.
type runRow struct {
	RunID   string
	Job     string
	JobLink string
	Status  statusView
	// Why is the reason of a run that is not complete, in words.
	Why       string
	Code      string
	Pages     int
	Done      int64
	Inherited int64
	Owed      int64
	Held      int64
	Conflicts int64
	// Total is the size of the list as the API reported it; 0 where it did not.
	Total   int64
	Updated time.Time
	Ago     string
}

// listing is a part of the list of runs, as a request asks for it.
type listing struct {
	filter store.RunFilter
	after  string
}

func listingOf(r *http.Request) (listing, error) {
	query := r.URL.Query()
	l := listing{filter: store.RunFilter{Job: query.Get("job")}, after: query.Get("after")}
	if status := query.Get("status"); status != "" {
		l.filter.Status = state.Status(status)
		if !isStatus(l.filter.Status) {
			return l, refusal(http.StatusBadRequest, "There is no such status",
				"The filter asks for the status "+visible.Line(status)+".", "Choose one of those that the filter offers.")
		}
	}
	return l, nil
}

func isStatus(status state.Status) bool { return slices.Contains(state.Statuses(), status) }

// link is the address of a part of the list, from the handler's root.
func (l listing) link() string {
	query := url.Values{}
	for name, value := range map[string]string{"job": l.filter.Job, "status": string(l.filter.Status), "after": l.after} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return ""
	}
	return "?" + query.Encode()
}

// read returns the runs of a listing, and whether older ones follow.
func (s *site) read(ctx context.Context, l listing) (runs []store.Run, more bool, err error) {
	for run, err := range store.RunsAfter(ctx, s.ledger, l.filter, l.after) {
		if err != nil {
			return nil, false, err
		}
		if len(runs) == s.options.PageSize {
			return runs, true, nil
		}
		runs = append(runs, run)
	}
	return runs, false, nil
}

func (s *site) runs(w http.ResponseWriter, r *http.Request) error {
	l, err := listingOf(r)
	if err != nil {
		return err
	}
	runs, more, err := s.read(r.Context(), l)
	if err != nil {
		return err
	}
	view := runsView{
		Job: visible.Line(l.filter.Job), Status: string(l.filter.Status), Filtered: l.filter != store.RunFilter{},
		Statuses: []choice{{"", "every status", l.filter.Status == ""}},
	}
	for _, status := range state.Statuses() {
		word := statusOf(&state.Receipt{Status: status}).Word
		view.Statuses = append(view.Statuses, choice{string(status), word, l.filter.Status == status})
	}
	now := s.options.Clock.Now()
	for i := range runs {
		view.Rows = append(view.Rows, rowOf(&runs[i].Receipt, now))
	}
	if more {
		view.Older = listing{l.filter, runs[len(runs)-1].Receipt.RunID}.link()
	}
	if l.after != "" {
		if view.Newest = (listing{filter: l.filter}).link(); view.Newest == "" {
			view.Newest = "./"
		}
	}
	live := l.link()
	if live == "" {
		live = "?"
	} else {
		live += "&"
	}
	return s.render(w, r, http.StatusOK, "runs", frame{
		Title: "Runs", Here: "runs", Body: view, Live: "live" + live + "mark=" + markOf(runs),
	})
}

func rowOf(r *state.Receipt, now time.Time) runRow {
	row := runRow{
		RunID: visible.Line(r.RunID), Job: visible.Line(r.Job), JobLink: listing{filter: store.RunFilter{Job: r.Job}}.link(), Status: statusOf(r),
		Pages: r.Pages, Done: r.ProcessedUnique, Inherited: r.Inherited, Owed: r.PendingCount, Held: r.HeldCount, Conflicts: r.DuplicateConflicts,
		Updated: r.UpdatedAt, Ago: ago(now, r.UpdatedAt),
	}
	switch {
	case r.SupersededBy != "":
		row.Why = "Run " + visible.Line(r.SupersededBy) + " goes on in its place."
	case r.Reason != nil && r.Reason.Code != "":
		row.Code, row.Why = visible.Line(string(r.Reason.Code)), state.Explain(r.Reason.Code).Meaning
	}
	if r.Status == state.Running && r.ReportedTotal != nil && r.ReportedTotal.Last > 0 {
		row.Total = r.ReportedTotal.Last
	}
	return row
}

package receiptweb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// How much of each part the page of a run shows; the rest has pages of its own.
const (
	stripOnRun     = 36
	heldOnRun      = 10
	conflictsOnRun = 5
	eventsOnRun    = 12
)

// silence is how long a run may be without a record before the page says that its
// runner may be gone.
const silence = 10 * time.Minute

// runView is one run's receipt and what belongs to it.
type runView struct {
	Receipt state.Receipt // redacted, and its texts made visible
	Status  statusView
	// Headline and Advice say what the run's state means and what to do.
	Headline, Advice, Waiting string
	Code                      string
	Answer                    []line
	Conditions                []condition
	Blocks                    []explained
	Updated, Started          string
	Facts                     []line
	Notes                     []string
	Strip                     stripView
	Held                      heldView
	Conflicts                 conflictsView
	Events                    eventsView
	Lineage                   []relative
	Actions                   actionsView
}

// line is a name and a text beside it.
type line struct{ Name, Text string }

// condition is a line of complete_when.
type condition struct {
	Text string
	Met  bool
	Why  string
}

// explained is a code in words.
type explained struct {
	Code, Meaning, Advice string
	// Known says that the codes' page has it.
	Known bool
}

func explain(e state.Explanation) explained {
	return explained{Code: visible.Line(string(e.Code)), Meaning: e.Meaning, Advice: e.Advice, Known: known(e.Code)}
}

// relative is a run of a lineage.
type relative struct {
	RunID   string
	Status  statusView
	Current bool
	Done    int64
	Owed    int64
	Started time.Time
}

// find returns the run that a request names.
func (s *site) find(r *http.Request) (store.Run, error) {
	return s.ledger.Run(r.Context(), r.PathValue("run"))
}

func (s *site) run(w http.ResponseWriter, r *http.Request) error {
	run, err := s.find(r)
	if err != nil {
		return err
	}
	view, err := s.viewOf(r, run)
	if err != nil {
		return err
	}
	f := frame{Title: view.Receipt.Job + " · " + view.Status.Word, Here: "runs", Body: view, Notice: notice(r.URL.Query().Get("done"))}
	if !isOver(&run.Receipt) {
		f.Live = run.Receipt.RunID + "/live?mark=" + markOf([]store.Run{run})
	}
	return s.render(w, r, http.StatusOK, "run", f)
}

// isOver reports whether a run never changes again.
func isOver(r *state.Receipt) bool { return r.Status == state.Complete || r.SupersededBy != "" }

func (s *site) viewOf(r *http.Request, run store.Run) (view runView, err error) {
	ctx, now, raw := r.Context(), s.options.Clock.Now(), &run.Receipt
	receipt := readable(raw)
	view = runView{
		Receipt: receipt, Status: statusOf(raw), Conditions: conditions(&receipt),
		Updated: ago(now, raw.UpdatedAt), Started: ago(now, raw.StartedAt), Facts: facts(&receipt), Notes: notes(&receipt),
	}
	view.tell(&run, &receipt, now)
	view.Actions = s.actions(r, &run)
	if view.Strip, err = s.strip(ctx, run, max(0, raw.Pages-stripOnRun), stripOnRun); err != nil {
		return view, err
	}
	view.Strip.sections(stripOnRun)
	view.Strip.Base = base(r)
	if view.Held, err = s.readHeld(ctx, run, "", heldOnRun); err != nil {
		return view, err
	}
	view.Held.Actions, view.Held.Base = view.Actions, base(r)
	if view.Conflicts, err = s.readConflicts(ctx, run, 0, conflictsOnRun); err != nil {
		return view, err
	}
	if view.Events, err = s.readEvents(ctx, run, eventsOnRun); err != nil {
		return view, err
	}
	view.Events.Base = base(r)
	view.Lineage, err = s.lineage(ctx, run)
	return view, err
}

// readable is a receipt whose texts a person may read.
func readable(r *state.Receipt) state.Receipt {
	is := r.Redacted()
	for _, text := range []*string{
		&is.RunID, &is.Job, &is.Action, &is.Contract, &is.Endpoint, &is.Filter, &is.Order,
		&is.EndEvidence, &is.LastRequestID, &is.Supersedes, &is.SupersededBy, &is.Digest, &is.FetchedIDsHash,
	} {
		*text = visible.Line(*text)
	}
	is.EndEvidence = clean(is.EndEvidence)
	is.Vetoes = slices.Clone(is.Vetoes)
	for i, veto := range is.Vetoes {
		is.Vetoes[i] = clean(veto)
	}
	return is
}

// tell says what the run's state means and what to do.
func (v *runView) tell(run *store.Run, r *state.Receipt, now time.Time) {
	if run.Receipt.SupersededBy != "" {
		v.Headline = "Another run of the same lineage goes on in its place."
		v.Advice = "Look at run " + r.SupersededBy + " instead; what is done stays done."
		return
	}
	switch run.Receipt.Status {
	case state.Complete:
		v.Headline = "The API said that the list ended, and nothing is owed."
	case state.Running:
		v.tellRunning(run, now)
	case state.Paused:
		v.reason(run.Receipt.Reason)
		if at := run.Receipt.ResumeAt; at.After(now) {
			v.Waiting = "It may go on at " + at.UTC().Format("2006-01-02 15:04:05") + " UTC, " + ago(now, at) + "."
		} else if v.Code == "" || !state.Explain(run.Receipt.Reason.Code).NeedsInstant || !at.IsZero() {
			v.Waiting = "It may go on now."
		}
	case state.NeedsReview:
		v.reason(run.Receipt.Reason)
		for _, code := range run.Receipt.BlockedBy {
			if string(code) != v.Code { // what stopped it is told already
				v.Blocks = append(v.Blocks, explain(state.Explain(code)))
			}
		}
	}
}

func (v *runView) tellRunning(run *store.Run, now time.Time) {
	quiet := now.Sub(run.Receipt.UpdatedAt)
	switch {
	case !run.Active && run.Definition == nil:
		v.Headline = "It takes the place of an earlier run, and no runner has begun it."
		v.Advice = "Run the job again: it lists from the start, and what is done stays done."
	case !run.Active:
		v.Headline = "It is open, and no runner is at work."
		v.Advice = "Run the job again; it goes on where it was."
	case quiet > silence:
		v.Headline = "It has recorded nothing for " + span(quiet) + "."
		v.Advice = "If its runner is still there, the API or the handler is slow. If not, it was killed: run the job again, and it goes on where it was."
	default:
		v.Headline = "A runner is at work: every page is recorded before its items are handled."
	}
}

// reason explains why the run has stopped, with the API's own words.
func (v *runView) reason(reason *state.Reason) {
	if reason == nil {
		v.Headline, v.Advice = "The ledger holds no reason.", "Run the job again."
		return
	}
	e, is := explain(state.Explain(reason.Code)), reason.Redacted()
	v.Code, v.Headline, v.Advice = e.Code, e.Meaning, e.Advice
	add := func(name, text string) {
		if text != "" {
			v.Answer = append(v.Answer, line{name, clean(text)})
		}
	}
	add("What happened", is.Detail)
	add("At page", count(int64(is.PageIndex)))
	if is.HTTPStatus != 0 {
		add("HTTP status", fmt.Sprintf("%d %s", is.HTTPStatus, http.StatusText(is.HTTPStatus)))
	}
	add("Error", is.Error)
	add("Its description", is.ErrorDescription)
	add("Type", is.Type)
	for _, detail := range is.Details {
		add("Detail", detail)
	}
	add("Request ID", is.RequestID)
	add("Limit", is.Bucket)
	add("The API's hint", is.Hint)
	add("The API's word to agents", is.AgentInstruction)
}

// conditions are the lines of complete_when, and how each stands.
func conditions(r *state.Receipt) []condition {
	ended := condition{Text: state.CompleteWhen()[0], Met: r.TerminalObserved}
	switch {
	case r.TerminalObserved && r.EndEvidence != "":
		ended.Why = "The API said so: " + r.EndEvidence
	case r.TerminalObserved:
		ended.Why = "The API said so."
	case len(r.Vetoes) > 0:
		ended.Why = "Vetoed: " + r.Vetoes[0]
	default:
		ended.Why = "The API has not said that the list ended."
	}
	owed := condition{Text: state.CompleteWhen()[1], Met: r.PendingCount == 0, Why: "Nothing is owed."}
	if !owed.Met {
		owed.Why = count(r.PendingCount) + " owed, " + count(r.HeldCount) + " of them held."
		if r.EntriesWithoutID > 0 {
			owed.Why = count(r.PendingCount) + " owed: " + count(r.HeldCount) + " held, " + count(r.EntriesWithoutID) + " without an ID."
		}
	}
	alone := condition{Text: state.CompleteWhen()[2], Met: r.DuplicateConflicts == 0, Why: "No ID is in question."}
	switch {
	case !alone.Met:
		alone.Why = count(r.DuplicateConflicts) + " open."
	case r.ConflictsAccepted > 0:
		alone.Why = count(r.ConflictsAccepted) + " accepted by a person."
	}
	return []condition{ended, owed, alone}
}

// notes are what limits a receipt's word, and what else a reader should know.
func notes(r *state.Receipt) []string {
	var notes []string
	add := func(when bool, format string, args ...any) {
		if when {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	add(r.UnstableAccepted, "The caller accepted a list whose order is not stable (%s), in which items can be missed.", r.OrderClass)
	add(r.BoundedFeed, "By contract this list is the first few of something; complete means no more than that.")
	add(r.LateBy > 0, "It finished %s after its deadline.", r.LateBy)
	add(r.DeferredCount > 0, "%s created after the cutoff belong to the next run.", items(r.DeferredCount))
	add(r.WrittenOff > 0, "%s written off by a person.", items(r.WrittenOff))
	add(r.VanishedCount > 0, "%s vanished from the list and dropped, as the job says.", items(r.VanishedCount))
	add(r.EntriesSkipped > 0, "%s entries skipped, as the contract says.", count(r.EntriesSkipped))
	add(r.InPageDuplicates > 0, "%s equal copies inside one answer, handled once.", count(r.InPageDuplicates))
	for _, veto := range r.Vetoes {
		add(true, "The API vetoes completeness: %s", veto)
	}
	for _, code := range r.Contradictions {
		add(true, "A contradiction of the walk: %s", state.Explain(code).Meaning)
	}
	if t := r.ReportedTotal; t != nil && t.First != t.Last {
		add(true, "The API reported %s entries at first and %s at last.", count(t.First), count(t.Last))
	}
	return notes
}

func items(n int64) string {
	if n == 1 {
		return "1 item"
	}
	return count(n) + " items"
}

// facts are what the run is and when, for who looks closer.
func facts(r *state.Receipt) []line {
	var facts []line
	add := func(name, text string) {
		if text != "" {
			facts = append(facts, line{name, text})
		}
	}
	instant := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format("2006-01-02 15:04:05.000") + " UTC"
	}
	add("Endpoint", r.Endpoint)
	add("Filter", r.Filter)
	add("Order", r.Order)
	if r.PageSize > 0 {
		add("Page size", count(int64(r.PageSize)))
	}
	add("Action", r.Action)
	add("Contract", r.Contract)
	add("Order class", string(r.OrderClass))
	add("Window from", instant(r.WindowFrom))
	add("Cutoff", instant(r.CutoffAt))
	add("Deadline", instant(r.DeadlineAt))
	add("Started", instant(r.StartedAt))
	add("Updated", instant(r.UpdatedAt))
	add("Finished", instant(r.FinishedAt))
	if r.Pages > 0 {
		add("Cursor in", cleanCursor(r.CursorIn))
		add("Cursor out", outOf(r.CursorOut))
	}
	add("IDs of the page", r.FetchedIDsHash)
	add("Last request ID", r.LastRequestID)
	add("Handler calls", count(r.Attempts))
	add("Digest", r.Digest)
	return facts
}

// outOf shows the cursor of the page that follows.
func outOf(c pager.Cursor) string {
	if c.IsStart() {
		return "(none)"
	}
	return cleanCursor(c)
}

// maxLineage bounds how far a lineage is followed to either side.
const maxLineage = 100

// lineage returns the run with its predecessors and successors, the oldest first.
func (s *site) lineage(ctx context.Context, run store.Run) ([]relative, error) {
	line := []relative{relativeOf(run, true)}
	for older := run; older.Receipt.Supersedes != "" && len(line) < maxLineage; {
		var err error
		if older, err = s.ledger.Run(ctx, older.Receipt.Supersedes); errors.Is(err, store.ErrNotFound) {
			break // it was pruned
		} else if err != nil {
			return nil, err
		}
		line = append(line, relativeOf(older, false))
	}
	slices.Reverse(line)
	for newer := run; newer.Receipt.SupersededBy != "" && len(line) < 2*maxLineage; {
		var err error
		if newer, err = s.ledger.Run(ctx, newer.Receipt.SupersededBy); err != nil {
			return nil, err
		}
		line = append(line, relativeOf(newer, false))
	}
	return line, nil
}

func relativeOf(run store.Run, current bool) relative {
	r := &run.Receipt
	return relative{
		RunID: visible.Line(r.RunID), Status: statusOf(r), Current: current,
		Done: r.ProcessedUnique, Owed: r.PendingCount, Started: r.StartedAt,
	}
}

func (s *site) receiptJSON(w http.ResponseWriter, r *http.Request) error {
	return s.receipt(w, r, "application/json", (*state.Receipt).JSON)
}

func (s *site) receiptYAML(w http.ResponseWriter, r *http.Request) error {
	return s.receipt(w, r, "application/yaml", (*state.Receipt).YAML)
}

// receipt sends a receipt for a program to read, without the credentials in it.
func (s *site) receipt(w http.ResponseWriter, r *http.Request, kind string, write func(*state.Receipt) ([]byte, error)) error {
	run, err := s.find(r)
	if err != nil {
		return err
	}
	redacted := run.Receipt.Redacted()
	text, err := write(&redacted)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	_, _ = w.Write(text) // a client that went away is its own affair
	return nil
}

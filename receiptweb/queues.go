package receiptweb

import (
	"context"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// heldView is a part of the hold queue.
type heldView struct {
	Base  string // the way to the handler's root
	RunID string
	Job   string
	Total int64
	Items []heldItem
	// Later is where the queue goes on: the handle of the last item shown.
	Later   string
	Earlier bool
	Actions actionsView
}

// heldItem is an item that waits for a person.
type heldItem struct {
	Handle   string // names the item to the page's own forms, whatever bytes its ID has
	ID       string
	Key      string
	Why      explained
	Detail   string
	Attempts int
	Page     int
	Held     time.Time
	Released bool
	Data     string
	// Bare says that the ledger has no bytes of it to try again with.
	Bare bool
}

// handle is the name of an item ID in forms and addresses, since an ID may be of
// any bytes.
func handle(id string) string { return base64.RawURLEncoding.EncodeToString([]byte(id)) }

func idOf(handle string) (string, error) {
	id, err := base64.RawURLEncoding.DecodeString(handle)
	if err != nil {
		return "", refusal(http.StatusBadRequest, "That names no item", "The page was asked for an item by "+visible.Line(handle)+".", "Go back to the run and choose the item there.")
	}
	return string(id), nil
}

// readHeld returns held items of a run's scope behind the given ID.
func (s *site) readHeld(ctx context.Context, run store.Run, after string, most int) (heldView, error) {
	view := heldView{RunID: visible.Line(run.Receipt.RunID), Job: visible.Line(run.Receipt.Job), Total: run.Receipt.HeldCount, Earlier: after != ""}
	if isOver(&run.Receipt) {
		return view, nil // what its scope holds now is another run's
	}
	for item, err := range s.ledger.Held(ctx, run.Scope) {
		if err != nil {
			return view, err
		}
		if after != "" && item.ID <= after {
			continue
		}
		if len(view.Items) == most {
			view.Later = view.Items[most-1].Handle
			break
		}
		view.Items = append(view.Items, heldItem{
			Handle: handle(item.ID), ID: visible.Line(item.ID), Key: visible.Line(everypage.Key(run.Scope, item.ID, run.Receipt.Action)),
			Why: explainHold(item), Detail: clean(item.Detail), Attempts: item.Attempts, Page: item.Page, Held: item.UpdatedAt,
			Released: item.Released, Data: data(item.Payload), Bare: item.Payload == nil,
		})
	}
	return view, nil
}

func explainHold(item store.Item) explained { return explain(state.ExplainHold(item.Code)) }

// held shows the hold queue of a run, a part at a time.
func (s *site) held(w http.ResponseWriter, r *http.Request) error {
	run, err := s.find(r)
	if err != nil {
		return err
	}
	after, err := idOf(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	view, err := s.readHeld(r.Context(), run, after, s.options.PageSize)
	if err != nil {
		return err
	}
	view.Actions, view.Base = s.actions(r, &run), base(r)
	return s.render(w, r, http.StatusOK, "held", frame{Title: "Held items of " + view.Job, Here: "runs", Body: view})
}

// conflictsView is a part of a run's conflicts.
type conflictsView struct {
	RunID     string
	Job       string
	Open      int64
	Accepted  int64
	Conflicts []conflictView
	Later     int // the number of the next one; 0 where there is none
	Earlier   bool
	Actions   actionsView
}

// conflictView is one ID that was seen twice, with both copies.
type conflictView struct {
	Handle            string
	ID                string
	At                time.Time
	FirstPage, Page   int
	SamePage          bool
	First, Again      string
	FirstState        string
	Accepted, Note    string
	AcceptedAt        time.Time
	FirstKept, Secret bool
}

// readConflicts returns a run's conflicts from the given number on.
func (s *site) readConflicts(ctx context.Context, run store.Run, from, most int) (conflictsView, error) {
	r := &run.Receipt
	view := conflictsView{RunID: visible.Line(r.RunID), Job: visible.Line(r.Job), Open: r.DuplicateConflicts, Accepted: r.ConflictsAccepted, Earlier: from > 0}
	for c, err := range s.ledger.Conflicts(ctx, r.RunID) {
		if err != nil {
			return view, err
		}
		if c.Seq < from {
			continue
		}
		if len(view.Conflicts) == most {
			view.Later = c.Seq
			break
		}
		is := conflictView{
			Handle: handle(c.ID), ID: visible.Line(c.ID), At: c.At, FirstPage: c.FirstPage, Page: c.Page, SamePage: c.FirstPage == c.Page,
			Again: data(c.Payload), Accepted: visible.Line(c.AcceptedBy), Note: clean(c.Note), AcceptedAt: c.AcceptedAt,
		}
		records, err := s.ledger.Items(ctx, run.Scope, []string{c.ID})
		if err != nil {
			return view, err
		}
		for _, first := range records {
			is.FirstState, is.First, is.FirstKept = first.State.String(), data(first.Payload), first.Payload != nil
		}
		view.Conflicts = append(view.Conflicts, is)
	}
	return view, nil
}

// conflicts shows a run's conflicts, a part at a time.
func (s *site) conflicts(w http.ResponseWriter, r *http.Request) error {
	run, err := s.find(r)
	if err != nil {
		return err
	}
	from, err := number(r.URL.Query().Get("from"), "conflict")
	if err != nil {
		return err
	}
	view, err := s.readConflicts(r.Context(), run, from, s.options.PageSize)
	if err != nil {
		return err
	}
	view.Actions = s.actions(r, &run)
	return s.render(w, r, http.StatusOK, "conflicts", frame{Title: "Conflicts of " + view.Job, Here: "runs", Body: view})
}

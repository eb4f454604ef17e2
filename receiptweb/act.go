package receiptweb

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// maxForm bounds what a form may hold, in bytes.
const maxForm = 1 << 20

// actionsView is what whoever looks may do about a run.
type actionsView struct {
	RunID string
	// Retry, Accept and Supersede say which forms are shown.
	Retry, Accept, Supersede bool
	// Conflicts and Held are what an acceptance or a retry is about.
	Conflicts, Held int64
	// Name is who decides, where the program knows; else the page asks.
	Name  string
	Token string
	// Path is the way from the page to the forms' addresses.
	Path string
}

// Any reports whether there is any form.
func (a actionsView) Any() bool { return a.Retry || a.Accept || a.Supersede }

// actions returns what helps a run and what whoever sent the request may do of it.
func (s *site) actions(r *http.Request, run *store.Run) actionsView {
	receipt := &run.Receipt
	view := actionsView{
		RunID: visible.Line(receipt.RunID), Conflicts: receipt.DuplicateConflicts, Held: receipt.HeldCount, Token: s.token(receipt),
		Path: base(r) + "runs/" + receipt.RunID + "/",
	}
	if s.options.Authorize == nil || receipt.SupersededBy != "" || receipt.Status == state.Complete || receipt.Status == state.Running {
		return view
	}
	may := func(act Act) bool {
		name, err := s.options.Authorize(r, Action{Act: act, RunID: receipt.RunID, Job: receipt.Job})
		if err == nil {
			view.Name = visible.Line(name)
		}
		return err == nil
	}
	for _, remedy := range receipt.Remedies() {
		switch remedy {
		case state.Reopen:
			view.Retry = may(Retry)
		case state.Accept:
			view.Accept = may(Accept)
		case state.Supersede:
			view.Supersede = may(Supersede)
		case state.RunAgain: // the job's own caller does that
			view.Supersede = may(Supersede)
		}
	}
	return view
}

// token binds a form to the run as it was shown.
func (s *site) token(r *state.Receipt) string {
	mac := hmac.New(sha256.New, s.secret[:])
	mac.Write([]byte(strings.Join([]string{r.RunID, string(r.Status), r.SupersededBy, strconv.FormatInt(r.UpdatedAt.UnixNano(), 10)}, "\x00")))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// act carries out an action.
func (s *site) act(w http.ResponseWriter, r *http.Request) error {
	decide, ok := map[Act]func(context.Context, store.Store, string, everypage.Decision) (*state.Receipt, error){
		Retry: everypage.Retry, Accept: everypage.Accept, Supersede: everypage.Supersede,
	}[Act(r.PathValue("act"))]
	if !ok {
		return s.nothingHere(w, r)
	}
	run, err := s.find(r)
	if err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return refusal(http.StatusBadRequest, "The form cannot be read", clean(err.Error()), "Nothing was changed. Go back to the run and send it again; choose fewer items at a time if there are very many.")
	}
	action, err := actionOf(r, &run.Receipt)
	if err != nil {
		return err
	}
	if s.options.Authorize == nil {
		return refusal(http.StatusForbidden, "This page only reads", "The program that shows it allows no actions.", "Nothing was changed. Decide with the command: everypage "+string(action.Act)+" "+visible.Line(action.RunID))
	}
	if !hmac.Equal([]byte(r.PostForm.Get("token")), []byte(s.token(&run.Receipt))) {
		return refusal(http.StatusConflict, "The run has changed since you looked", "The page that you decided on shows the run as it was before it changed, or before this server was started.",
			"Nothing was changed. Look at the run as it is now, and decide again.")
	}
	name, err := s.options.Authorize(r, action)
	if err != nil {
		return refusal(http.StatusForbidden, "You may not do that", clean(err.Error()), "Nothing was changed. Ask somebody who may, or decide with the command: everypage "+string(action.Act)+" "+visible.Line(action.RunID))
	}
	if name == "" {
		name = strings.TrimSpace(r.PostForm.Get("by"))
	}
	receipt, err := decide(r.Context(), s.ledger, action.RunID, everypage.Decision{
		By: name, Note: strings.TrimSpace(r.PostForm.Get("note")), Items: action.Items,
		Clock: s.options.Clock, Random: s.options.Random,
	})
	if err != nil {
		return err
	}
	s.options.Logger.InfoContext(r.Context(), "receipts page: a person decided", "act", string(action.Act), "run_id", action.RunID, "by", name)
	// A relative address, since the prefix is not known here.
	w.Header().Set("Location", base(r)+"runs/"+url.PathEscape(receipt.RunID)+"?done="+string(action.Act))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// actionOf reads what a form asks for.
func actionOf(r *http.Request, receipt *state.Receipt) (Action, error) {
	action := Action{Act: Act(r.PathValue("act")), RunID: receipt.RunID, Job: receipt.Job}
	for _, handle := range r.PostForm["item"] {
		id, err := idOf(handle)
		if err != nil {
			return action, err
		}
		if !slices.Contains(action.Items, id) {
			action.Items = append(action.Items, id)
		}
	}
	if r.PostForm.Get("of") == "items" && len(action.Items) == 0 {
		return action, refusal(http.StatusBadRequest, "No item is chosen", "The form is about chosen items, and none is.", "Nothing was changed. Go back, tick the items, and send it again.")
	}
	if action.Act == Accept && strings.TrimSpace(r.PostForm.Get("note")) == "" {
		return action, refusal(http.StatusBadRequest, "A note is missing", "Whoever reads the receipt later must learn why it may stand.", "Nothing was changed. Go back and say why.")
	}
	return action, nil
}

// notice says what an action has done.
func notice(done string) string {
	switch Act(done) {
	case Retry:
		return "The run is open again. Now run the job again, the way it is always run: it goes on where it was, and what was let go is tried again."
	case Accept:
		return "It was accepted, and name and note are in the ledger."
	case Supersede:
		return "This run takes the place of the one before. Now run the job again: it lists from the start, and what is done stays done."
	}
	return ""
}

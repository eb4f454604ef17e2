package receiptweb_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/receiptweb"
	"github.com/everypage-go/everypage/state"
)

func handle(id string) string { return base64.RawURLEncoding.EncodeToString([]byte(id)) }

// A held item is retried on the page, the answer is a redirection that a reload does
// not repeat, and the next run completes.
func TestRetry(t *testing.T) {
	w := newWorld(t, everybodyMay)
	w.refuse("no", "b", "c")
	run := w.run("tickets", tickets("a", "b"), tickets("c"))
	path := "/runs/" + run.RunID
	got := w.post(path+"/retry", url.Values{"token": {w.token(path)}, "by": {"Anna"}, "of": {"items"}, "item": {handle("b"), handle("c")}}, "same-origin")
	if to := got.header.Get("Location"); got.status != http.StatusSeeOther || to != "../../runs/"+run.RunID+"?done=retry" {
		t.Fatalf("%d to %q:\n%s", got.status, to, got.body)
	}
	has(t, w.page(path+"?done=retry"), "The run is open again", "Reopened", "by Anna", "will be tried again")
	w.handle = nil
	if receipt := w.run("tickets"); receipt.Status != state.Complete || receipt.ProcessedUnique != 3 {
		t.Errorf("after the retry the run is %+v", receipt)
	}
}

// Conflicts and held items are accepted with name and note.
func TestAccept(t *testing.T) {
	w := newWorld(t, everybodyMay)
	run := w.run("tickets", tickets("a", "b"), tickets("b"))
	path := "/runs/" + run.RunID
	form := url.Values{"token": {w.token(path)}, "by": {"Anna"}}
	if got := w.post(path+"/accept", form, "same-origin"); got.status != http.StatusBadRequest || !strings.Contains(got.body, "A note is missing") {
		t.Errorf("without a note: %d\n%s", got.status, got.body)
	}
	form.Set("note", "a copy")
	if got := w.post(path+"/accept", form, "same-origin"); got.status != http.StatusSeeOther {
		t.Fatalf("%d\n%s", got.status, got.body)
	}
	if is := w.stored(run.RunID).Receipt; is.Status != state.Complete || is.ConflictsAccepted != 1 {
		t.Errorf("the run is %+v", is)
	}
	has(t, w.page(path), "Accepted by Anna", "a copy")
}

// A superseded run leads to the one in its place.
func TestSupersede(t *testing.T) {
	w := newWorld(t, everybodyMay)
	w.refuse("no", "a")
	run := w.run("tickets", tickets("a"))
	path := "/runs/" + run.RunID
	got := w.post(path+"/supersede", url.Values{"token": {w.token(path)}, "by": {"Anna"}, "note": {"anew"}}, "same-origin")
	next := w.stored(run.RunID).Receipt.SupersededBy
	if to := got.header.Get("Location"); got.status != http.StatusSeeOther || next == "" || to != "../../runs/"+next+"?done=supersede" {
		t.Fatalf("%d to %q, in its place %q:\n%s", got.status, to, next, got.body)
	}
	has(t, w.page("/runs/"+next), "takes the place of an earlier run", run.RunID, `aria-current="true"`)
	has(t, w.page(path), "superseded", "Go to run "+next)
	lacks(t, w.page(path), "<form")
}

// Nothing is changed by a request from elsewhere, by GET, by a form that is not of this
// page or is of the run as it was, or where the program does not allow it.
func TestActionsThatAreRefused(t *testing.T) {
	allowed := true
	asked := []receiptweb.Action{}
	w := newWorld(t, func(w *world) {
		w.options.Authorize = func(r *http.Request, action receiptweb.Action) (string, error) {
			if r.Method == http.MethodPost {
				asked = append(asked, action)
			}
			if !allowed {
				return "", errors.New("only the night shift may")
			}
			return "Night shift", nil
		}
	})
	w.refuse("no", "a")
	run := w.run("tickets", tickets("a"))
	other := w.run("others", tickets("a"))
	path := "/runs/" + run.RunID
	token := w.token(path)
	has(t, w.page(path), "Decided as <strong>Night shift</strong>")
	good := url.Values{"token": {token}, "by": {"Mallory"}, "note": {"why"}}
	refused := func(what string, got answer, status int, text string) {
		t.Helper()
		if got.status != status || !strings.Contains(got.body, text) {
			t.Errorf("%s: %d, want %d with %q:\n%s", what, got.status, status, text, got.body)
		}
		if is := w.stored(run.RunID).Receipt; is.Status != state.NeedsReview || is.SupersededBy != "" {
			t.Fatalf("%s changed the run: %+v", what, is)
		}
	}
	refused("another site", w.post(path+"/retry", good, "cross-site"), http.StatusForbidden, "sent from another site")
	refused("another host of the site", w.post(path+"/retry", good, "same-site"), http.StatusForbidden, "sent from another site")
	for _, act := range []string{"retry", "accept", "supersede"} {
		refused("GET", w.get(path+"/"+act+"?"+good.Encode()), http.StatusNotFound, "")
	}
	refused("no such act", w.post(path+"/finish", good, "same-origin"), http.StatusNotFound, "nothing here")
	refused("no such run", w.post("/runs/nowhere/retry", good, "same-origin"), http.StatusNotFound, "no such run")
	refused("no token", w.post(path+"/retry", url.Values{}, "same-origin"), http.StatusConflict, "has changed since you looked")
	refused("the token of another run", w.post(path+"/retry", url.Values{"token": {w.token("/runs/" + other.RunID)}}, "same-origin"), http.StatusConflict, "has changed")
	refused("no item chosen", w.post(path+"/retry", url.Values{"token": {token}, "of": {"items"}}, "same-origin"), http.StatusBadRequest, "No item is chosen")
	refused("an item that is not held", w.post(path+"/retry", url.Values{"token": {token}, "item": {handle("z")}}, "same-origin"), http.StatusConflict, "is not held")
	refused("an item that is none", w.post(path+"/retry", url.Values{"token": {token}, "item": {"?"}}, "same-origin"), http.StatusBadRequest, "names no item")
	refused("a form too long", w.post(path+"/retry", url.Values{"note": {strings.Repeat("x", 2<<20)}}, "same-origin"), http.StatusBadRequest, "cannot be read")
	allowed = false
	refused("not allowed", w.post(path+"/retry", good, "same-origin"), http.StatusForbidden, "only the night shift may")
	lacks(t, w.page(path), "<form")
	allowed = true

	release, err := w.ledger.Hold(t.Context(), "tickets")
	if err != nil {
		t.Fatal(err)
	}
	refused("while a runner is at work", w.post(path+"/retry", good, "same-origin"), http.StatusConflict, "A runner is at work")
	release()

	// The run changes after the page was loaded.
	w.clock.advance(time.Minute)
	if _, err := everypage.Retry(t.Context(), w.ledger, run.RunID, everypage.Decision{By: "Bert", Clock: w.clock}); err != nil {
		t.Fatal(err)
	}
	w.run("tickets")
	refused("a decision that comes late", w.post(path+"/retry", good, "same-origin"), http.StatusConflict, "has changed since you looked")

	// The name is the program's word, whatever the form says.
	if got := w.post(path+"/retry", url.Values{"token": {w.token(path)}, "by": {"Mallory"}, "item": {handle("a")}}, "same-origin"); got.status != http.StatusSeeOther {
		t.Fatalf("%d\n%s", got.status, got.body)
	}
	has(t, w.page(path), "by Night shift")
	lacks(t, w.page(path), "Mallory")
	if last := asked[len(asked)-1]; last.Act != receiptweb.Retry || last.RunID != run.RunID || last.Job != "tickets" || len(last.Items) != 1 || last.Items[0] != "a" {
		t.Errorf("Authorize was asked for %+v", last)
	}
}

// Without Authorize there is no form, and what is sent all the same is refused.
func TestReadOnly(t *testing.T) {
	w := newWorld(t)
	w.refuse("no", "a")
	run := w.run("tickets", tickets("a"))
	path := "/runs/" + run.RunID
	for _, page := range []string{path, path + "/held", path + "/conflicts"} {
		lacks(t, w.page(page), `method="post"`, `name="token"`)
	}
	got := w.post(path+"/retry", url.Values{"by": {"x"}}, "same-origin")
	if got.status != http.StatusForbidden || !strings.Contains(got.body, "everypage retry "+run.RunID) {
		t.Errorf("%d\n%s", got.status, got.body)
	}
}

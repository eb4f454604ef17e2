package receiptweb_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/receiptweb"
)

// Every page of a complete run can be reached by the links alone, under the prefix.
func TestLinks_StayUnderThePrefix(t *testing.T) {
	w := newWorld(t, everybodyMay)
	w.run("tickets", tickets("a", "b"), tickets("c"))
	w.refuse("no", "x")
	w.run("invoices", tickets("x", "y"), tickets("y"))
	link := regexp.MustCompile(`(?:href|src|action)="([^"#]*)`)
	seen := map[string]bool{}
	queue := []string{w.address("/")}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := w.do(request)
		if got.status != http.StatusOK {
			t.Errorf("GET %s: %d", at, got.status)
			continue
		}
		if !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
			continue
		}
		for _, found := range link.FindAllStringSubmatch(got.body, -1) {
			to, err := request.URL.Parse(strings.ReplaceAll(found[1], "&amp;", "&"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(to.String(), w.address("/")) {
				t.Errorf("%s links to %s, which is not under the prefix", at, to)
			}
			if !strings.Contains(found[0], "action=") {
				queue = append(queue, to.String())
			}
		}
	}
	if len(seen) < 15 {
		t.Errorf("only %d pages were found: %v", len(seen), seen)
	}
}

// The handler works as the root of a server, and with a prefix that is stripped with
// its slash.
func TestHandler_OtherMounts(t *testing.T) {
	for _, prefix := range []string{"", "/a/b/c"} {
		w := newWorld(t, func(w *world) { w.prefix = prefix })
		run := w.run("tickets", tickets("a"))
		has(t, w.page("/"), `href="./runs/`+run.RunID+`"`)
		has(t, w.page("/runs/"+run.RunID), `href="../assets/style.css"`)
	}
	w := newWorld(t)
	run := w.run("tickets", tickets("a"))
	mux := http.NewServeMux()
	mux.Handle("/x/", http.StripPrefix("/x/", receiptweb.Handler(w.ledger, nil)))
	w.server.Config.Handler = mux
	w.prefix = "/x"
	has(t, w.page("/"), `href="./runs/`+run.RunID+`"`)
	has(t, w.page("/runs/"+run.RunID), `href="../assets/style.css"`)
}

// What keeps a page to itself is on every answer, errors and files among them.
func TestHeaders(t *testing.T) {
	w := newWorld(t)
	run := w.run("tickets", tickets("a"))
	for _, path := range []string{"/", "/runs/" + run.RunID, "/runs/nowhere", "/nothing", "/assets/style.css", "/codes", "/?status=odd"} {
		header := w.get(path).header
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff",
			"Referrer-Policy":        "no-referrer",
			"X-Frame-Options":        "DENY",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		policy := header.Get("Content-Security-Policy")
		has(t, policy, "default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'")
		lacks(t, policy, "unsafe", "http:", "https:", "*")
		if want := "no-store"; !strings.HasPrefix(path, "/assets/") && header.Get("Cache-Control") != want {
			t.Errorf("%s: Cache-Control is %q, want %q", path, header.Get("Cache-Control"), want)
		}
	}
}

// No page has a script, a style or a handler of its own: the policy would forbid it.
func TestNothingInline(t *testing.T) {
	w := newWorld(t, everybodyMay)
	w.refuse("no", "x")
	run := w.run("invoices", tickets("x", "y"), tickets("y"))
	inline := regexp.MustCompile(`(?i)<style|<script>|<script [^>]*>[^<]|\sstyle=|\son[a-z]+=|javascript:`)
	for _, path := range []string{"/", "/codes", "/runs/" + run.RunID, "/runs/" + run.RunID + "/held", "/runs/" + run.RunID + "/conflicts", "/runs/" + run.RunID + "/pages", "/runs/" + run.RunID + "/pages/0", "/runs/" + run.RunID + "/events"} {
		if found := inline.FindString(w.page(path)); found != "" {
			t.Errorf("%s has %q", path, found)
		}
	}
}

func TestHandler_NeedsALedger(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a nil ledger was taken")
		}
	}()
	receiptweb.Handler(nil, nil)
}

// What is not there is told as such, with what to do.
func TestProblems(t *testing.T) {
	w := newWorld(t)
	run := w.run("tickets", tickets("a"))
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/nothing":                               {http.StatusNotFound, "There is nothing here"},
		"/runs/nowhere":                          {http.StatusNotFound, "There is no such run"},
		"/runs/nowhere/live":                     {http.StatusOK, ""},
		"/?after=nowhere":                        {http.StatusNotFound, "There is no such run"},
		"/?status=odd":                           {http.StatusBadRequest, "There is no such status"},
		"/live?status=odd":                       {http.StatusBadRequest, "There is no such status"},
		"/runs/" + run.RunID + "/pages?from=x":   {http.StatusBadRequest, "That is no number"},
		"/runs/" + run.RunID + "/pages?from=-1":  {http.StatusBadRequest, "That is no number"},
		"/runs/" + run.RunID + "/pages?from=900": {http.StatusNotFound, "There is no such page"},
		"/runs/" + run.RunID + "/pages/7":        {http.StatusNotFound, "There is no such page"},
		"/runs/" + run.RunID + "/held?after=!":   {http.StatusBadRequest, "That names no item"},
		"/assets/":                               {http.StatusNotFound, ""},
	} {
		got := w.get(path)
		if got.status != want.status || !strings.Contains(got.body, want.text) {
			t.Errorf("GET %s: %d, want %d with %q:\n%s", path, got.status, want.status, want.text, got.body)
		}
	}
	if err := w.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	if got := w.get("/"); got.status != http.StatusServiceUnavailable {
		t.Errorf("of a closed ledger: %d", got.status)
	}
}

package adapters_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// scripted is a case of the shared folder, as far as a pager alone can play it.
type scripted struct {
	Setup struct {
		Method      string
		Auth        struct{ Header, Value string }
		PageSize    *int           `json:"page_size"`
		ItemsAt     string         `json:"items_at"`
		IDAt        string         `json:"id_at"`
		FirstCursor *string        `json:"first_cursor"`
		Now         time.Time      `json:"now"`
		Endpoint    string         `json:"endpoint"`
		RequestBody map[string]any `json:"request_body"`
		CursorFrom  string         `json:"cursor_from"`
		CursorTo    string         `json:"cursor_to"`
		EndRule     map[string]any `json:"end_rule"`
	}
	Pages []struct {
		At       time.Time
		Request  struct{ Cursor json.RawMessage }
		Response struct {
			Status    int
			Headers   [][2]string
			Body      json.RawMessage
			Text      *string        `json:"body_text"`
			Base64    string         `json:"body_base64"`
			Generator map[string]any `json:"generator"`
			Transport string
		}
	}
	Events   []struct{ Type string }
	Expected struct {
		Status     string
		IDs        []string `json:"processed_ids"`
		Conflicts  int      `json:"duplicate_conflicts"`
		Pending    int
		Terminal   bool `json:"terminal_observed"`
		Requests   int
		AcceptAlso []string `json:"accept_also"`
	}
}

// contract describes a case's endpoint from its setup alone.
func (s *scripted) contract(t *testing.T) adapters.Contract {
	t.Helper()
	c := adapters.Contract{Name: "case"}
	c.Request.Method, c.Request.Body = s.Setup.Method, s.Setup.RequestBody
	c.Request.Cursor.In = adapters.Place(s.Setup.CursorTo)
	if s.Setup.CursorTo != "url" {
		c.Request.Cursor.First = s.Setup.FirstCursor
	}
	c.Items = adapters.Items{At: adapters.Path(s.Setup.ItemsAt), ID: []adapters.Path{adapters.Path(s.Setup.IDAt)}}
	c.Next.From = adapters.Place(s.Setup.CursorFrom)
	text := func(name string) string { got, _ := s.Setup.EndRule[name].(string); return got }
	switch rule := text("type"); rule {
	case "cursor_null_or_absent":
		c.End = adapters.EndRule{Rule: adapters.EndCursor, When: []string{"absent", "null"}}
	case "cursor_empty_or_absent":
		c.End = adapters.EndRule{Rule: adapters.EndCursor, When: []string{"absent", "empty"}}
	case adapters.EndTotal:
		c.End, c.Page.Total = adapters.EndRule{Rule: rule}, adapters.Place("body:"+text("field"))
	default:
		c.End = adapters.EndRule{Rule: rule, At: adapters.Path(text("field"))}
	}
	if s.Setup.EndRule["status_204"] == true {
		c.End.Status = []int{http.StatusNoContent}
	}
	if n, ok := s.Setup.EndRule["status"].(float64); ok {
		after, _ := s.Setup.EndRule["after_page"].(float64)
		c.End.Status, c.End.AfterPage = []int{int(n)}, int(after)
	}
	return c
}

// expand replaces {"$repeat": …} by the text that it stands for.
func expand(x any) any {
	switch x := x.(type) {
	case map[string]any:
		if r, ok := x["$repeat"].(map[string]any); ok {
			return strings.Repeat(r["text"].(string), int(r["times"].(float64)))
		}
		for name := range x {
			x[name] = expand(x[name])
		}
	case []any:
		for i := range x {
			x[i] = expand(x[i])
		}
	}
	return x
}

func (s *scripted) answer(t *testing.T, i int) canned {
	t.Helper()
	r := s.Pages[i].Response
	body := string(r.Body)
	switch {
	case r.Text != nil:
		body = *r.Text
	case r.Base64 != "":
		plain, err := base64.StdEncoding.DecodeString(r.Base64)
		if err != nil {
			t.Fatal(err)
		}
		body = string(plain)
	case r.Generator["json"] != nil:
		b, _ := json.Marshal(expand(r.Generator["json"]))
		body = string(b)
	case r.Generator["gzip_json"] != nil:
		b, _ := json.Marshal(expand(r.Generator["gzip_json"]))
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(b)
		_ = w.Close()
		body = packed.String()
	case strings.Contains(body, "$repeat"):
		var x any
		if err := json.Unmarshal(r.Body, &x); err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(expand(x))
		body = string(b)
	}
	c := answer(r.Status, body)
	c.header = http.Header{}
	for _, h := range r.Headers {
		c.header.Add(h[0], h[1])
	}
	if r.Transport == "close_after_body" {
		c.length, c.cut = 4096, true
	}
	return c
}

// TestSharedCases plays the cases that need no ledger: each request must carry the
// cursor of the script, and the pages must add up to what is expected.
func TestSharedCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedFolder(), "cases", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("the shared cases are not here")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s scripted
			if err := json.Unmarshal(data, &s); err != nil {
				t.Fatal(err)
			}
			for _, e := range s.Events {
				if e.Type != "early_resume" {
					t.Skipf("%s needs the engine", e.Type)
				}
			}
			playCase(t, &s)
		})
	}
}

func playCase(t *testing.T, s *scripted) {
	t.Helper()
	tr, client := api(t)
	for i := range s.Pages {
		tr.script = append(tr.script, s.answer(t, i))
	}
	clock := s.Setup.Now
	client.Now = func() time.Time {
		if n := len(tr.seen); n > 0 && n <= len(s.Pages) && !s.Pages[n-1].At.IsZero() {
			clock = s.Pages[n-1].At
		}
		return clock
	}
	address := s.Setup.Endpoint
	if s.Setup.CursorTo == "url" && s.Setup.FirstCursor != nil {
		address = *s.Setup.FirstCursor
	}
	p := list(t, client, s.contract(t), address, &adapters.Options{Header: http.Header{s.Setup.Auth.Header: {s.Setup.Auth.Value}}})

	status, pending, conflicts, terminal := "running", 0, 0, false
	var seen []string
	read := map[pager.Cursor]bool{}
	at := pager.Cursor{}
	for status == "running" {
		status = "needs_review"
		for page, err := range p.Pages(t.Context(), at) {
			if err != nil {
				if fault := err.(*pager.Fault); fault.Verdict == pager.Pause { //nolint:errorlint,forcetypeassert // it is promised
					status = "paused"
				}
				break
			}
			read[page.Cursor] = true
			for _, item := range page.Items {
				switch {
				case item.ID == "":
					pending++
				case !slices.Contains(seen, item.ID):
					seen = append(seen, item.ID)
				default:
					conflicts++
				}
			}
			if page.End == pager.EndLast {
				terminal = len(page.Vetoes) == 0
				if status = "complete"; pending+conflicts > 0 {
					status = "needs_review"
				}
				break
			}
			if at = page.Next; read[at] {
				break
			}
		}
		if status == "paused" && len(tr.seen) < len(s.Pages) {
			client.ForgetLimits()
			status = "running"
		}
	}
	e := s.Expected
	if conflicts == 0 && e.Conflicts == 0 || e.Conflicts > 0 { // copies inside one page are the engine's to tell
		if status != e.Status && !slices.Contains(e.AcceptAlso, status) {
			t.Errorf("status is %s, want %s", status, e.Status)
		}
	}
	if !slices.Equal(seen, e.IDs) || pending != e.Pending || terminal != e.Terminal || len(tr.seen) != e.Requests {
		t.Errorf("items %q, %d pending, end %t, %d requests; want %q, %d, %t, %d", seen, pending, terminal, len(tr.seen), e.IDs, e.Pending, e.Terminal, e.Requests)
	}
	for i, x := range tr.seen {
		var want any
		if err := json.Unmarshal(s.Pages[i].Request.Cursor, &want); err != nil {
			t.Fatal(err)
		}
		got, there := sentCursor(t, s.Setup.CursorTo, x)
		if want = expand(want); there != (want != nil) || there && got != want {
			t.Errorf("request %d carried the cursor %.80q (%t), want %.80v", i, got, there, want)
		}
	}
}

func sentCursor(t *testing.T, place string, x exchange) (string, bool) {
	t.Helper()
	where, name, _ := strings.Cut(place, ":")
	switch where {
	case "url":
		return x.url, true
	case "query":
		u, err := url.Parse(x.url)
		if err != nil {
			t.Fatal(err)
		}
		return u.Query().Get(name), u.Query().Has(name)
	}
	var body any
	if err := json.Unmarshal([]byte(x.body), &body); err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(name, ".") {
		inner, _ := body.(map[string]any)
		body = inner[part]
	}
	return fmt.Sprint(body), body != nil
}

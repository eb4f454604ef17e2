package adapters_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// TestRecordedGitHubWalk walks a recorded list of five pages, whose next links
// lead to another path than the first request.
func TestRecordedGitHubWalk(t *testing.T) {
	var recorded []struct {
		Request struct{ URL string }
		Status  int
		Headers map[string]any
		Body    json.RawMessage
	}
	if err := json.Unmarshal(shared(t, "fixtures/github-rest-issues-5pages.json"), &recorded); err != nil {
		t.Fatal(err)
	}
	tr, client := api(t)
	for _, r := range recorded {
		var header []string
		for name, text := range r.Headers {
			if name != "content-length" && name != "transfer-encoding" && name != "content-encoding" {
				header = append(header, name, fmt.Sprint(text))
			}
		}
		tr.script = append(tr.script, answer(r.Status, string(r.Body), header...))
	}
	pages, _, err := walk(t.Context(), list(t, client, adapters.GitHubREST(), recorded[0].Request.URL, nil), pager.Cursor{})
	if err != nil || len(pages) != len(recorded) || pages[len(pages)-1].End != pager.EndLast {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	if n := len(strings.Fields(ids(pages...))); n != 13 {
		t.Errorf("%d issues", n)
	}
	for i, r := range recorded {
		if tr.seen[i].url != r.Request.URL {
			t.Errorf("request %d went to %s, recorded was %s", i, tr.seen[i].url, r.Request.URL)
		}
	}
	if m := pages[0].Meta; m.RequestID == "" || !m.Limit.Known || m.Limit.Remaining != 4999 {
		t.Errorf("meta is %+v", m)
	}
}

func TestStripeFixtures(t *testing.T) {
	var lists map[string]json.RawMessage
	if err := json.Unmarshal(shared(t, "fixtures/stripe-lists.json"), &lists); err != nil {
		t.Fatal(err)
	}
	for name, body := range lists {
		page := readOne(t, adapters.StripeV1(), string(body))
		more := strings.HasSuffix(name, "true")
		if (page.End == pager.EndMore) != more || (page.End == pager.EndLast) == more {
			t.Errorf("%s: %s by %q", name, page.End, page.Evidence)
		}
	}
}

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

// TestThreadFixtures reads the small pages that the contracts here speak of.
func TestThreadFixtures(t *testing.T) {
	var threads []struct {
		ID    string
		Why   string
		Pages json.RawMessage
	}
	if err := json.Unmarshal(shared(t, "fixtures/from-threads-and-docs.json"), &threads); err != nil {
		t.Fatal(err)
	}
	field := func(name string) adapters.Contract {
		c := adapters.GoogleAIP158()
		c.Items.ID = []adapters.Path{adapters.Path(name)}
		return c
	}
	type outcome struct {
		contract adapters.Contract
		want     string // of the walk
	}
	for id, o := range map[string]outcome{
		"google-empty-middle":       {adapters.GoogleAIP158(), "end"},
		"google-empty-string-token": {adapters.GoogleAIP158(), "end"},
		"google-fields-mask":        {field("type"), "vetoed"},
		"stripe-empty-has-more":     {adapters.StripeV1(), "cursor_missing"},
		"keyset-catalogue":          {adapters.KeysetCatalogue(), "end"},
		"keyset-feed":               {adapters.KeysetFeed(), "bounded"},
		"keyset-429":                {adapters.KeysetCatalogue(), "rate_limited"},
		"github-empty-repo":         {adapters.GitHubREST(), "request_refused"},
	} {
		t.Run(id, func(t *testing.T) {
			for _, thread := range threads {
				if thread.ID != id {
					continue
				}
				var script []struct {
					Request string
					Status  int
					Headers map[string]string
					Body    json.RawMessage
				}
				if err := json.Unmarshal(thread.Pages, &script); err != nil {
					t.Fatal(err)
				}
				tr, client := api(t)
				address := things
				for i, page := range script {
					var header []string
					for name, text := range page.Headers {
						header = append(header, name, text)
					}
					if i == 0 {
						_, query, _ := strings.Cut(page.Request, "?")
						address += "?" + query
					}
					tr.script = append(tr.script, answer(page.Status, string(page.Body), header...))
				}
				pages, fault, err := walk(t.Context(), list(t, client, o.contract, address, nil), pager.Cursor{})
				got := "end"
				switch {
				case fault != nil:
					got = string(fault.Code)
				case err != nil:
					got = err.Error()
				case pages[len(pages)-1].Bounded:
					got = "bounded"
				case len(pages[len(pages)-1].Vetoes) > 0:
					got = "vetoed"
				}
				if got != o.want {
					t.Errorf("%s: got %s, want %s", thread.Why, got, o.want)
				}
				return
			}
			t.Skipf("the fixtures have no %s", id)
		})
	}
}

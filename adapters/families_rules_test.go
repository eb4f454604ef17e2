package adapters_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// names splits a path of plain member names, or returns nil.
func names(path string) []string {
	if path == "" || strings.ContainsAny(path, "[*") {
		return nil
	}
	parts := strings.Split(strings.ReplaceAll(path, `\.`, "\x00"), ".")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "\x00", ".")
	}
	return parts
}

// put sets or removes what stands at a path of a JSON text.
func put(t *testing.T, body string, path []string, raw string) string {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal([]byte(body), &tree); err != nil {
		t.Fatal(err)
	}
	inner := tree
	for _, name := range path[:len(path)-1] {
		next, ok := inner[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			inner[name] = next
		}
		inner = next
	}
	if last := path[len(path)-1]; raw == "" {
		delete(inner, last)
	} else {
		inner[last] = json.RawMessage(raw)
	}
	text, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func familyOf(t *testing.T, c adapters.Contract) family {
	t.Helper()
	all := allFamilies()
	i := slices.IndexFunc(all, func(f family) bool { return f.contract == c.Name })
	if i < 0 {
		t.Skip(withoutFamily()[c.Name])
	}
	return all[i]
}

// TestFiveKindsOfNothing puts absent, null, "", 0 and false in the place of the
// cursor: what the contract calls the end is one, what it calls a cursor goes on,
// and everything else is unknown, or no page at all.
func TestFiveKindsOfNothing(t *testing.T) {
	for _, c := range adapters.Builtin() {
		where, name, _ := strings.Cut(string(c.Next.From), ":")
		path := names(name)
		if where != "body" || path == nil || c.End.Rule != adapters.EndCursor || c.Format == "xml" || len(c.Next.Or) > 0 {
			continue
		}
		f := familyOf(t, c)
		for word, raw := range map[string]string{"absent": "", "null": "null", "empty": `""`, "zero": "0", "false": "false"} {
			t.Run(c.Name+" "+word, func(t *testing.T) {
				if c.Request.Cursor.As == "json" && word == "empty" {
					raw = "{}"
				}
				last := f.last
				last.body = put(t, last.body, path, raw)
				got := outcome(t, c, f.query, f.size, f.first, last)
				switch {
				case slices.Contains(c.End.When, word):
					if !strings.HasSuffix(got, ".") && !strings.HasSuffix(got, ". vetoed") {
						t.Errorf("got %q, and it is the end", got)
					}
				case slices.Contains(c.Next.Cursors, word):
					if !strings.HasSuffix(got, "> ") {
						t.Errorf("got %q, and it is a cursor", got)
					}
				case got != string(pager.CodeEndUnknown) && got != string(pager.CodeNotAList):
					t.Errorf("got %q, and it is neither the end nor a cursor", got)
				}
			})
		}
	}
}

// TestEveryVeto meets each veto of each contract alone, on a last page.
func TestEveryVeto(t *testing.T) {
	several := map[adapters.Path]string{ // answers in which a veto looks at several values
		"items.*.warning.code": `{"items":{"zones/a":{"instances":[]},"zones/b":{"warning":{"code":"VALUE"}}}}`,
		"entry[*].resource.issue[*].severity": `{"resourceType":"Bundle","type":"history","entry":[{"search":{"mode":"outcome"},` +
			`"resource":{"resourceType":"OperationOutcome","issue":[{"severity":"information"},{"severity":"VALUE"}]}}]}`,
		"records[*].*.done": `{"records":[{"Id":"a"},{"Id":"b","Contacts":{"done":true}},{"Id":"c","Contacts":{"done":VALUE}}],"done":true}`,
	}
	for _, c := range adapters.Builtin() {
		for i, veto := range c.Vetoes {
			t.Run(c.Name+" "+string(veto.At)+veto.Query, func(t *testing.T) {
				f := familyOf(t, c)
				path, query, last := names(string(veto.At)), f.query, f.last
				raw := `["some"]`
				switch {
				case veto.Query != "":
					query = "?" + url.QueryEscape(veto.Query) + "=other"
				case veto.At != "" && path == nil:
					last.body = strings.ReplaceAll(several[veto.At], "VALUE", *veto.Is)
				case path == nil:
					t.Skip("TestFamilyWalks has it")
				case veto.Absent:
					raw = ""
				case veto.Is != nil:
					raw = `"` + *veto.Is + `"`
				case veto.Above != nil:
					raw = "999999999"
				}
				if path != nil {
					last.body = put(t, last.body, path, raw)
				}
				alone := c
				alone.Vetoes = c.Vetoes[i : i+1]
				script := []canned{f.first, last}
				if veto.Query != "" {
					script = script[1:]
				}
				if got := outcome(t, alone, query, f.size, script...); !strings.HasSuffix(got, " vetoed") {
					t.Errorf("got %q", got)
				}
			})
		}
	}
}

// TestFollowingRequests looks at how the second page is asked for.
func TestFollowingRequests(t *testing.T) {
	const base = "https://api.example.test"
	for contract, want := range map[string]struct{ url, body string }{
		"airtable":                   {url: base + "/v1/things?pageSize=100&offset=itr1%2Frec1"},
		"crossref":                   {url: base + "/v1/things?rows=20&cursor=A%2B%2F2"},
		"dynamodb-scan":              {body: `{"ExclusiveStartKey":{"pk":{"S":"b"}}}`},
		"elasticsearch-scroll":       {url: base + "/_search/scroll?scroll=1m", body: `{"scroll_id":"S1"}`},
		"elasticsearch-search-after": {body: `{"pit":{"id":"P2","keep_alive":"1m"},"search_after":[1700000000001,"b"]}`},
		"hubspot-search":             {body: `{"after":"10"}`},
		"intercom-search":            {body: `{"pagination":{"per_page":20,"starting_after":"s2"}}`},
		"jira-offset":                {url: base + "/v1/things?maxResults=50&startAt=2"},
		"kubernetes":                 {url: base + "/v1/things?continue=T1"},
		"mcp-tools":                  {body: `{"id":1,"jsonrpc":"2.0","method":"tools/list","params":{"cursor":"n2"}}`},
		"mediawiki":                  {url: base + "/v1/things?action=query&list=allpages&format=json&apcontinue=C&continue=-%7C%7C"},
		"notion-query":               {body: `{"page_size":100,"start_cursor":"n2"}`},
		"oai-pmh":                    {url: base + "/v1/things?verb=ListRecords&resumptionToken=T1"},
		"page-number":                {url: base + "/v1/things?page=2"},
		"relay":                      {body: `{"variables":{"after":"Y2","first":50}}`},
		"s3-list-multipart-uploads":  {url: base + "/v1/things?max-uploads=1000&key-marker=k&upload-id-marker=u"},
		"salesforce":                 {url: base + "/services/data/v60.0/query/01g-2000"},
		"stripe-v1":                  {url: base + "/v1/things?limit=10&starting_after=b"},
		"zendesk-incremental":        {url: base + "/v1/things?per_page=1000&cursor=n2"},
	} {
		t.Run(contract, func(t *testing.T) {
			c, err := adapters.Named(contract)
			if err != nil {
				t.Fatal(err)
			}
			f := familyOf(t, c)
			options := &adapters.Options{}
			query := f.query
			switch contract {
			case "elasticsearch-scroll":
				query = "?scroll=1m"
			case "elasticsearch-search-after":
				options.Body = map[string]any{"pit": map[string]any{"id": "P1", "keep_alive": "1m"}}
			}
			tr, client := api(t, f.first, f.last)
			if _, _, err := walk(t.Context(), list(t, client, c, things+query, options), pager.Cursor{}); err != nil && len(tr.seen) < 3 {
				t.Fatal(err)
			}
			if x := tr.seen[1]; want.url != "" && x.url != want.url || want.body != "" && x.body != want.body || want.body != "" && x.method != http.MethodPost {
				t.Errorf("the second request was %s %s %s", x.method, x.url, x.body)
			}
		})
	}
}

// TestExpiryNeedsACursor gives the answer that means a lost cursor to the first
// request: there it means something else.
func TestExpiryNeedsACursor(t *testing.T) {
	for _, f := range allFamilies() {
		if f.failure != string(pager.CodeCursorExpired) {
			continue
		}
		t.Run(f.contract, func(t *testing.T) {
			c, err := adapters.Named(f.contract)
			if err != nil {
				t.Fatal(err)
			}
			got := outcome(t, c, f.query, f.size, f.failed)
			if got == f.failure && c.Name != "stripe-v1" { // whose parameter tells it
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestNeverTheTokenOfA410 reads on after the 410 of a Kubernetes list: the token
// inside it is never sent.
func TestNeverTheTokenOfA410(t *testing.T) {
	f := familyOf(t, adapters.Kubernetes())
	tr, client := api(t, f.first, f.failed)
	_, fault, err := walk(t.Context(), list(t, client, adapters.Kubernetes(), things, nil), pager.Cursor{})
	if fault == nil || fault.Code != pager.CodeCursorExpired || fault.Verdict != pager.Review || len(tr.seen) != 2 {
		t.Errorf("got %v after %d requests", err, len(tr.seen))
	}
}

// TestCreationTimes reads a creation time as each API writes it.
func TestCreationTimes(t *testing.T) {
	const want = "2025-03-04T05:06:07Z"
	for contract, item := range map[string]string{
		"airtable":                     `{"id":"a","createdTime":"2025-03-04T05:06:07.000Z"}`,
		"cloudwatch-filter-log-events": `{"eventId":"a","timestamp":1741064767000}`,
		"discord-messages":             `{"id":"a","timestamp":"2025-03-04T05:06:07.000000+00:00"}`,
		"google-compute":               `{"id":"a","creationTimestamp":"2025-03-03T21:06:07.000-08:00"}`,
		"hubspot-list":                 `{"id":"a","createdAt":"2025-03-04T05:06:07.000Z"}`,
		"intercom":                     `{"id":"a","created_at":1741064767}`,
		"jira-jql":                     `{"id":"a","fields":{"created":"2025-03-04T06:06:07.000+0100"}}`,
		"kubernetes":                   `{"metadata":{"uid":"a","creationTimestamp":"2025-03-04T05:06:07Z"}}`,
		"ms-graph":                     `{"id":"a","createdDateTime":"2025-03-04T05:06:07Z"}`,
		"notion":                       `{"id":"a","created_time":"2025-03-04T05:06:07.000Z"}`,
		"pocketbase":                   `{"id":"a","created":"2025-03-04 05:06:07.000Z"}`,
		"salesforce":                   `{"Id":"a","CreatedDate":"2025-03-04T05:06:07.000+0000"}`,
		"slack-history":                `{"ts":"1741064767.000000"}`,
		"stripe-v1":                    `{"id":"a","created":1741064767}`,
		"twilio-2010":                  `{"sid":"a","date_created":"Tue, 04 Mar 2025 05:06:07 +0000"}`,
		"twilio-v1":                    `{"sid":"a","date_created":"2025-03-04T05:06:07Z"}`,
	} {
		t.Run(contract, func(t *testing.T) {
			c, err := adapters.Named(contract)
			if err != nil {
				t.Fatal(err)
			}
			// The item alone, in a list that ends at once.
			c.Page, c.Items.At, c.Vetoes = adapters.PageRule{}, "", nil
			c.Next, c.End, c.Request.Cursor.In = adapters.Next{}, adapters.EndRule{Rule: adapters.EndBounded}, ""
			_, client := api(t, page("["+item+"]"))
			pages, _, err := walk(t.Context(), list(t, client, c, things, nil), pager.Cursor{})
			if err != nil || len(pages) != 1 || len(pages[0].Items) != 1 {
				t.Fatalf("%d pages, %v", len(pages), err)
			}
			if got := pages[0].Items[0].CreatedAt.Format(time.RFC3339Nano); got != want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestReachedTotalIsNoEnd gives a first page that holds as many items as its total
// says, and says that more follows.
func TestReachedTotalIsNoEnd(t *testing.T) {
	for _, c := range adapters.Builtin() {
		where, name, _ := strings.Cut(string(c.Page.Total), ":")
		byTotal := func(e adapters.EndRule) bool { return e.Rule == adapters.EndTotal || e.Rule == adapters.EndLastPage }
		if where != "body" || c.Format == "xml" || byTotal(c.End) || slices.ContainsFunc(c.End.Any, byTotal) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			f := familyOf(t, c)
			first := f.first
			first.body = put(t, first.body, names(name), "2")
			if got, want := outcome(t, c, f.query, f.size, first), cmp.Or(f.firstIDs, "a b")+" > "+f.next; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestGraphErrors tells what may be asked again from what may not, in answers that
// all came as a 200.
func TestGraphErrors(t *testing.T) {
	for errors, want := range map[string]pager.Code{
		`[{"message":"no such field","locations":[]}]`:                                            pager.CodeNotAList,
		`[{"message":"down","path":["list"]}]`:                                                    pager.CodeServerError,
		`[{"message":"x","path":["list"]},{"type":"RATE_LIMITED","message":"wait"}]`:              pager.CodeRateLimited,
		`[{"type":"NOT_FOUND","path":["list"],"message":"Could not resolve to a Repository"}]`:    pager.CodeRequestRefused,
		`[{"type":"FORBIDDEN","path":["list"],"message":"Resource not accessible by the token"}]`: pager.CodeRequestRefused,
	} {
		got := outcome(t, adapters.GitHubGraphQL(), "", 0, page(`{"data":{"list":null},"errors":`+errors+`}`))
		if got != string(want) {
			t.Errorf("%s: got %s, want %s", errors, got, want)
		}
	}
}

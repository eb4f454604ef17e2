package adapters_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// TestFollow walks lists whose later requests are other ones than the first.
func TestFollow(t *testing.T) {
	for _, c := range []struct {
		name     string
		contract string
		url      string
		options  *adapters.Options
		answers  []string
		want     []string // method, address and body of each request
	}{
		{
			name: "a scroll", url: "https://api.example.test/logs/_search?scroll=1m", options: &adapters.Options{Body: map[string]any{"sort": "_doc"}},
			contract: `
not_replayable: true
request:
  method: POST
  size: {in: body:size, default: 2}
  cursor: {in: body:scroll_id}
  follow: {url: /_search/scroll, body: {scroll: 1m}}
items: {at: hits.hits, id: [_id]}
next: {from: body:_scroll_id}
end: {rule: empty_page}`,
			answers: []string{`{"_scroll_id":"S1","hits":{"hits":[{"_id":"a"}]}}`, `{"_scroll_id":"S2","hits":{"hits":[{"_id":"b"}]}}`, `{"_scroll_id":"S2","hits":{"hits":[]}}`},
			want: []string{
				`POST https://api.example.test/logs/_search?scroll=1m {"size":2,"sort":"_doc"}`,
				`POST https://api.example.test/_search/scroll {"scroll":"1m","scroll_id":"S1"}`,
				`POST https://api.example.test/_search/scroll {"scroll":"1m","scroll_id":"S2"}`,
			},
		},
		{
			name: "a token that stands alone", url: "https://api.example.test/oai?verb=ListRecords&metadataPrefix=oai_dc&set=a%20b",
			contract: `
request: {cursor: {in: query:resumptionToken}, follow: {keep: [verb]}}
items: {at: records, id: [id]}
next: {from: body:token}
end: {rule: cursor, when: [empty]}`,
			answers: []string{`{"records":[],"token":"a+b"}`, `{"records":[],"token":""}`},
			want: []string{
				`GET https://api.example.test/oai?verb=ListRecords&metadataPrefix=oai_dc&set=a%20b `,
				`GET https://api.example.test/oai?verb=ListRecords&resumptionToken=a%2Bb `,
			},
		},
		{
			name: "the page size goes on", url: "https://api.example.test/v1/export?start_time=5", options: &adapters.Options{PageSize: 9},
			contract: `
request: {size: {in: query:per_page}, cursor: {in: query:cursor}, follow: {keep: [per_page]}}
items: {at: tickets, id: [id]}
next: {from: body:after_cursor}
end: {rule: flag_true, at: end_of_stream}`,
			answers: []string{`{"tickets":[],"after_cursor":"c","end_of_stream":false}`, `{"tickets":[],"after_cursor":"c","end_of_stream":true}`},
			want: []string{
				`GET https://api.example.test/v1/export?start_time=5&per_page=9 `,
				`GET https://api.example.test/v1/export?per_page=9&cursor=c `,
			},
		},
		{
			name: "a query, then links", url: "https://api.example.test/v1/query", options: &adapters.Options{Body: map[string]any{"q": "x"}},
			contract: `
request: {method: POST, cursor: {in: url}, follow: {method: GET}}
items: {at: records, id: [id]}
next: {from: body:next}
end: {rule: cursor, when: ["null"]}`,
			answers: []string{`{"records":[],"next":"/v1/query/01g-2000"}`, `{"records":[],"next":null}`},
			want: []string{
				`POST https://api.example.test/v1/query {"q":"x"}`,
				`GET https://api.example.test/v1/query/01g-2000 `,
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var script []canned
			for _, body := range c.answers {
				script = append(script, answer(http.StatusOK, body))
			}
			tr, client := api(t, script...)
			pages, _, err := walk(t.Context(), list(t, client, parsed(t, c.contract), c.url, c.options), pager.Cursor{})
			if err != nil || pages[len(pages)-1].End != pager.EndLast || len(tr.seen) != len(c.want) {
				t.Fatalf("got %d pages, %d requests, %v", len(pages), len(tr.seen), err)
			}
			for i, want := range c.want {
				if got := tr.seen[i].method + " " + tr.seen[i].url + " " + tr.seen[i].body; got != want {
					t.Errorf("request %d was\n%s, want\n%s", i, got, want)
				}
			}
		})
	}
}

// TestFollowKeepsTheWindow sends a filter by time with the first request alone,
// since a cursor that stands alone has it inside.
func TestFollowKeepsTheWindow(t *testing.T) {
	contract := parsed(t, `
request: {cursor: {in: query:resumptionToken}, follow: {keep: [verb]}, window: {from: query:from, to: query:until, format: "layout:2006-01-02"}}
items: {at: records, id: [id]}
next: {from: body:token}
end: {rule: cursor, when: [empty]}`)
	tr, client := api(t, answer(200, `{"records":[],"token":"T"}`), answer(200, `{"records":[],"token":""}`))
	p, err := list(t, client, contract, things+"?verb=L", nil).(pager.Windower[raw]).Window(noon().AddDate(0, 0, -1), noon())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := walk(t.Context(), p, pager.Cursor{}); err != nil {
		t.Fatal(err)
	}
	if tr.seen[0].url != things+"?verb=L&from=2025-03-04&until=2025-03-05" || tr.seen[1].url != things+"?verb=L&resumptionToken=T" {
		t.Errorf("asked %s and %s", tr.seen[0].url, tr.seen[1].url)
	}
}

func TestFollowStaysHome(t *testing.T) {
	for _, address := range []string{"https://collector.example.net/x", "//collector.example.net/x", "http://api.example.test/x", "https://api.example.test:8443/x", "https://api.example.test@collector.example.net/x", "https://u:p@api.example.test/x"} {
		contract := tokens()
		contract.Request.Follow = &adapters.Follow{URL: address}
		_, err := adapters.List[raw](nil, contract, things, nil)
		if _, ok := errors.AsType[*adapters.OptionError](err); !ok || !strings.Contains(err.Error(), "origin") {
			t.Errorf("%s: %v", address, err)
		}
	}
	contract := tokens()
	contract.Request.Follow = &adapters.Follow{URL: "https://api.example.test:443/next"}
	if _, err := adapters.List[raw](nil, contract, things, &adapters.Options{Filter: url.Values{"a": {"b"}}}); err != nil {
		t.Errorf("the same origin: %v", err)
	}
}

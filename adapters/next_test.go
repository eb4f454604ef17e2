package adapters_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// TestPlaces moves size, cursor, next cursor and total through header and body.
func TestPlaces(t *testing.T) {
	contract := tokens()
	contract.Request.Size, contract.Request.Cursor.In = adapters.Size{In: "header:X-Size", Default: 5}, "header:X-Cursor"
	contract.Next.From, contract.Page.Total = "header:X-Next", "header:X-Total"
	contract.End.When = []string{"absent", "empty"}
	tr, client := api(t,
		answer(200, `{"items":[]}`, "X-Next", "a+b", "X-Total", "12"),
		answer(200, `{"items":[]}`, "X-Next", "", "X-Total", "many"),
		answer(200, `{"items":[]}`))
	p := list(t, client, contract, things, nil)
	pages, _, err := walk(t.Context(), p, pager.Cursor{})
	if err != nil || len(pages) != 2 || pages[1].End != pager.EndLast {
		t.Fatalf("got %d pages, %v", len(pages), err)
	}
	if total := pages[0].Meta.Total; total == nil || *total != 12 || pages[1].Meta.Total != nil {
		t.Errorf("totals are %v and %v", total, pages[1].Meta.Total)
	}
	if tr.seen[0].header.Get("X-Size") != "5" || tr.seen[0].header.Values("X-Cursor") != nil || tr.seen[1].header.Get("X-Cursor") != "a+b" {
		t.Errorf("sent %v and %v", tr.seen[0].header, tr.seen[1].header)
	}
	if last, _, err := walk(t.Context(), p, pager.At("z")); err != nil || last[0].End != pager.EndLast {
		t.Errorf("without the field: %v", err)
	}
}

func TestLastItemsValue(t *testing.T) {
	contract := tokens()
	contract.Next.From, contract.End = "last:seq", adapters.EndRule{Rule: adapters.EndEmptyPage}
	for _, c := range []struct {
		body string
		end  pager.End
		next pager.Cursor
	}{
		{`{"items":[{"id":1,"seq":10},{"id":2,"seq":20}]}`, pager.EndMore, pager.At("20")},
		{`{"items":[{"id":1,"seq":10},{"id":2}]}`, pager.EndMore, pager.Cursor{}},
		{`{"items":[]}`, pager.EndLast, pager.Cursor{}},
	} {
		_, client := api(t, answer(200, c.body))
		for page, err := range list(t, client, contract, things, nil).Pages(t.Context(), pager.Cursor{}) {
			if err != nil || page.End != c.end || page.Next != c.next {
				t.Errorf("%s: %s, %s by %q, %v", c.body, page.End, page.Next, page.Evidence, err)
			}
			break
		}
	}
}

func TestJSONCursorValues(t *testing.T) {
	contract := tokens()
	contract.Request.Method = http.MethodPost
	contract.Request.Cursor = adapters.CursorRule{In: "body:start", As: "json"}
	all := []string{"absent", "null", "empty", "zero", "false"}
	for _, c := range []struct {
		next string
		what string // it is one of all, or "" for a cursor
	}{
		{``, "absent"},
		{`,"next":null`, "null"},
		{`,"next":""`, "empty"},
		{`,"next":[]`, "empty"},
		{`,"next":{ }`, "empty"},
		{`,"next":0`, "zero"},
		{`,"next":false`, "false"},
		{`,"next":"x"`, ""},
		{`,"next":[0]`, ""},
	} {
		for _, when := range all {
			contract.End.When = []string{when}
			_, client := api(t, answer(200, `{"items":[]`+c.next+`}`))
			want := pager.EndUnknown
			switch c.what {
			case when:
				want = pager.EndLast
			case "":
				want = pager.EndMore
			}
			for page, err := range list(t, client, contract, things, nil).Pages(t.Context(), pager.Cursor{}) {
				if err != nil || page.End != want || page.Next.IsStart() == (c.what == "") {
					t.Errorf("%s where %s is the end: %s, %s by %q, %v", c.next, when, page.End, page.Next, page.Evidence, err)
				}
				break
			}
		}
	}
}

func TestWindowFormats(t *testing.T) {
	at := time.Date(2025, 3, 5, 12, 0, 0, 250_000_000, time.FixedZone("", 3600))
	for format, want := range map[string]string{
		"":                        "2025-03-05T11%3A00%3A00.25Z",
		"rfc3339":                 "2025-03-05T11%3A00%3A00.25Z",
		"unix":                    "1741172400",
		"unix_ms":                 "1741172400250",
		"http_date":               "Wed%2C%2005%20Mar%202025%2011%3A00%3A00%20GMT",
		"layout:2006-01-02 15:04": "2025-03-05%2011%3A00",
	} {
		contract := tokens()
		contract.Request.Window = adapters.Window{From: "query:from", To: "query:to", Format: format}
		tr, client := api(t, answer(200, `{"items":[]}`))
		in, err := list(t, client, contract, things, nil).(pager.Windower[json.RawMessage]).Window(at, at)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := walk(t.Context(), in, pager.Cursor{}); err != nil {
			t.Fatal(err)
		}
		if got := tr.seen[0].url; got != things+"?from="+want+"&to="+want {
			t.Errorf("%s: %s", format, got)
		}
	}
}

func TestPostWindowInTheBody(t *testing.T) {
	contract := tokens()
	contract.Request.Method = http.MethodPost
	contract.Request.Window = adapters.Window{From: "body:filter.from", To: "body:filter.to", Format: "unix"}
	contract.Request.Body = map[string]any{"filter": map[string]any{"state": "open"}}
	tr, client := api(t, answer(200, `{"items":[]}`), answer(200, `{"items":[]}`))
	p := list(t, client, contract, things, nil)
	in, err := p.(pager.Windower[json.RawMessage]).Window(noon(), noon())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []pager.Pager[json.RawMessage]{in, p} {
		if _, _, err := walk(t.Context(), p, pager.Cursor{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := tr.seen[0].body + tr.seen[1].body; got != `{"filter":{"from":"1741176000","state":"open","to":"1741176000"}}{"filter":{"state":"open"}}` {
		t.Errorf("sent %s", got)
	}
}

// TestCarelessLinks sends what an API wrote into its link, in a form that a
// request line can carry.
func TestCarelessLinks(t *testing.T) {
	tr, client := api(t,
		answer(200, `{"items":[],"meta":{"next":"/v1/items?q=a b&name=é&plus=+&pct=%2B","has_more":true}}`),
		answer(200, `{"items":[],"meta":{"has_more":false}}`))
	if _, _, err := walk(t.Context(), list(t, client, nextURL(), things, nil), pager.Cursor{}); err != nil {
		t.Fatal(err)
	}
	if got := tr.seen[1].url; got != "https://api.example.test/v1/items?q=a%20b&name=%C3%A9&plus=+&pct=%2B" {
		t.Errorf("asked for %s", got)
	}
}

func TestBodyOfTheWrongShape(t *testing.T) {
	contract := tokens()
	contract.Request.Method = http.MethodPost
	contract.Request.Cursor.In = "body:params.cursor"
	tr, client := api(t)
	p := list(t, client, contract, things, &adapters.Options{Body: map[string]any{"params": "none"}})
	_, fault, err := walk(t.Context(), p, pager.At("c"))
	if fault == nil || fault.Verdict != pager.Review || len(tr.seen) != 0 {
		t.Errorf("got %v", err)
	}
}

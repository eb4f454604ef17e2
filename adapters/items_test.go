package adapters_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

func readOne(t *testing.T, contract adapters.Contract, body string) pager.Page[json.RawMessage] {
	t.Helper()
	_, client := api(t, answer(200, body))
	for page, err := range list(t, client, contract, things, nil).Pages(t.Context(), pager.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	t.Fatal("no page")
	return pager.Page[json.RawMessage]{}
}

func TestIDs(t *testing.T) {
	for _, c := range []struct {
		name    string
		item    string
		id      string
		problem string
	}{
		{"a string", `{"id":"a"}`, "a", ""},
		{"a number that no double holds", `{"id":9007199254740993}`, "9007199254740993", ""},
		{"a number of 30 digits", `{"id":123456789012345678901234567890}`, "123456789012345678901234567890", ""},
		{"a number in another form", `{"id":1.0}`, "1.0", ""},
		{"escapes", `{"id":"a\"\\\/\u00e9\n"}`, "a\"\\/é\n", ""},
		{"an escaped member name", `{"\u0069d":"a"}`, "a", ""},
		{"the last of two members", `{"id":"a","id":"b"}`, "b", ""},
		{"the replacement character itself", `{"id":"` + "\ufffd" + `"}`, "\ufffd", ""},
		{"absent", `{}`, "", "entry 0: the ID at id is absent"},
		{"null", `{"id":null}`, "", "entry 0: the ID at id is null"},
		{"an empty string", `{"id":""}`, "", "entry 0: the ID at id is the empty string"},
		{"a boolean", `{"id":true}`, "", "is a boolean"},
		{"an object", `{"id":{"a":1}}`, "", "is an object"},
		{"an array", `{"id":[1]}`, "", "is an array"},
		{"no UTF-8", "{\"id\":\"a\xff\"}", "", "not valid UTF-8"},
		{"half a surrogate pair", `{"id":"a\ud83d"}`, "", "surrogate"},
		{"the other half", `{"id":"\ude00a"}`, "", "surrogate"},
		{"a whole pair", `{"id":"\ud83d\ude00"}`, "😀", ""},
		{"an escaped backslash before u", `{"id":"\\ud83d"}`, `\ud83d`, ""},
		{"4096 bytes", `{"id":"` + strings.Repeat("x", 4096) + `"}`, strings.Repeat("x", 4096), ""},
		{"4097 bytes", `{"id":"` + strings.Repeat("x", 4097) + `"}`, "", "4097 bytes"},
		{"a megabyte", `{"id":"` + strings.Repeat("x", 1<<20) + `"}`, "", "1048578 bytes"},
		{"a string for an item", `"a"`, "", "is absent"},
		{"null for an item", `null`, "", "is null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			page := readOne(t, tokens(), `{"items":[`+c.item+`]}`)
			if len(page.Items) != 1 {
				t.Fatalf("%d items", len(page.Items))
			}
			item := page.Items[0]
			if item.ID != c.id || !strings.Contains(item.Problem, c.problem) || (item.Problem == "") != (c.problem == "") {
				t.Errorf("got %.100q, %q", item.ID, item.Problem)
			}
			if string(item.Raw) != c.item || c.id != "" && string(item.Value) != c.item {
				t.Errorf("the bytes changed: %.100q", item.Raw)
			}
		})
	}
}

func TestNumberAndStringAreTwoIDs(t *testing.T) {
	page := readOne(t, tokens(), `{"items":[{"id":7},{"id":"8"},{"id":"7"},{"id":7},{"id":"7"}]}`)
	if ids(page) != "7 8  7 " || !strings.Contains(page.Items[2].Problem, "a number in one entry") {
		t.Errorf("got %q, %q", ids(page), page.Items[2].Problem)
	}
}

func TestRawBytesStay(t *testing.T) {
	item := "{ \"id\" : \"a\",\n\t\"n\": 1.50E+3, \"html\":\"<&>\", \"id2\":[ ] }"
	if got := readOne(t, tokens(), "{\"items\":[ "+item+" , {\"id\":2}\n]}"); string(got.Items[0].Raw) != item {
		t.Errorf("got %q", got.Items[0].Raw)
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		at   adapters.Path
		id   []adapters.Path
		body string
		want string
	}{
		{"", []adapters.Path{"id"}, `[{"id":1},{"id":2}]`, "1 2"},
		{"", []adapters.Path{""}, `["a",7]`, "a 7"},
		{"result.tools", []adapters.Path{"name"}, `{"result":{"tools":[{"name":"a"}]}}`, "a"},
		{"items", []adapters.Path{"track.id"}, `{"items":[{"track":{"id":"t1"}}]}`, "t1"},
		{`odata\.value`, []adapters.Path{`@odata\.id`}, `{"odata.value":[{"@odata.id":"x"}]}`, "x"},
		{"pages[1].rows", []adapters.Path{"ids[-1]"}, `{"pages":[0,{"rows":[{"ids":[1,2,3]}]}]}`, "3"},
		{"items", []adapters.Path{"links[rel=self].href"}, `{"items":[{"links":[{"rel":"up","href":"/u"},{"rel":"self","href":"/s"}]}]}`, "/s"},
		{"items", []adapters.Path{"type", "id"}, `{"items":[{"type":"a/b","id":"c"},{"type":"a","id":"b/c"}]}`, "a%2Fb/c a/b%2Fc"},
		{"*", []adapters.Path{"id"}, `{"n":1,"o":{"x":[]},"recipes":[{"id":"r"}]}`, "r"},
	} {
		contract := tokens()
		contract.Items.At, contract.Items.ID = c.at, c.id
		contract.End = adapters.EndRule{Rule: adapters.EndCursor, When: []string{"absent"}}
		if got := ids(readOne(t, contract, c.body)); got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.at, c.id, got, c.want)
		}
	}
}

func TestNullEntries(t *testing.T) {
	const body = `{"items":[{"track":{"id":"t1"}},{"track":null},null,{"track":{"id":null}},{}]}`
	contract := tokens()
	contract.Items.ID = []adapters.Path{"track.id"}
	page := readOne(t, contract, body)
	if len(page.Items) != 5 || page.Skipped != 0 || !strings.HasPrefix(page.Items[2].Problem, "entry 2: ") {
		t.Errorf("got %+v", page)
	}
	contract.Items.SkipNull = true
	page = readOne(t, contract, body)
	if len(page.Items) != 3 || page.Skipped != 2 || !strings.HasPrefix(page.Items[1].Problem, "entry 3: ") {
		t.Errorf("where null is skipped: got %+v", page)
	}
}

func TestCreatedAt(t *testing.T) {
	want := time.Date(2025, 3, 5, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		format string
		text   string
		want   time.Time
	}{
		{"", `"2025-03-05T10:00:00Z"`, want},
		{"rfc3339", `"2025-03-05T11:00:00.000+01:00"`, want},
		{"rfc3339", `"2025-03-05"`, time.Time{}},
		{"rfc3339", `1741168800`, time.Time{}},
		{"rfc3339", `null`, time.Time{}},
		{"unix", `1741168800`, want},
		{"unix", `"1741168800"`, want},
		{"unix", `1741168800.5`, want.Add(time.Second / 2)},
		{"unix", `1e300`, time.Time{}},
		{"unix", `true`, time.Time{}},
		{"unix_ms", `1741168800000`, want},
		{"http_date", `"Wed, 05 Mar 2025 10:00:00 GMT"`, want},
		{"layout:2006-01-02 15:04", `"2025-03-05 10:00"`, want},
	} {
		contract := tokens()
		contract.Items.CreatedAt, contract.Items.CreatedFormat = "made", c.format
		page := readOne(t, contract, `{"items":[{"id":"a","made":`+c.text+`}]}`)
		if got := page.Items[0].CreatedAt; !got.Equal(c.want) {
			t.Errorf("%s as %q: got %s, want %s", c.text, c.format, got, c.want)
		}
	}
}

type ticket struct {
	ID   string `json:"id"`
	Rank int    `json:"rank"`
}

func TestDecoding(t *testing.T) {
	_, client := api(t, answer(200, `{"items":[{"id":"a","rank":2},{"rank":"no ID, so nobody reads it"}]}`),
		answer(200, `{"items":[{"id":"a","rank":2},{"id":"b","rank":"high"}]}`))
	p, err := adapters.List[ticket](client, tokens(), things, nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func() (pager.Page[ticket], error) {
		for page, err := range p.Pages(t.Context(), pager.Cursor{}) {
			return page, err
		}
		return pager.Page[ticket]{}, nil
	}
	page, err := read()
	if err != nil || page.Items[0].Value != (ticket{"a", 2}) || string(page.Items[0].Raw) != `{"id":"a","rank":2}` {
		t.Errorf("got %+v, %v", page, err)
	}
	if _, err = read(); err == nil || !strings.Contains(err.Error(), `entry 1 (ID "b")`) || !strings.Contains(err.Error(), "ticket") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkPage(b *testing.B) {
	var body strings.Builder
	body.WriteString(`{"items":[`)
	for i := range 100 {
		if i > 0 {
			body.WriteString(",")
		}
		fmt.Fprintf(&body, `{"id":"item-%06d","title":"%s","created_at":"2025-03-05T10:00:00Z","user":{"login":"a","id":%d},"labels":["x","y"]}`, i, strings.Repeat("word ", 30), i)
	}
	body.WriteString(`],"next":null}`)
	client := &adapters.Client{HTTP: &http.Client{Transport: always{answer(200, body.String())}}, Now: noon}
	contract := tokens()
	contract.Items.CreatedAt = "created_at"
	p, err := adapters.List[json.RawMessage](client, contract, things, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(body.Len()))
	for b.Loop() {
		for page, err := range p.Pages(b.Context(), pager.Cursor{}) {
			if err != nil || len(page.Items) != 100 {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)*100/b.Elapsed().Seconds(), "items/s")
}

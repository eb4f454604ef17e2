package adapters_test

import (
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// parsed reads a contract as a user would write it, without its name.
func parsed(t *testing.T, document string) adapters.Contract {
	t.Helper()
	c, err := adapters.Parse([]byte("name: mine\n" + document))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAlternatives reads a cursor that stands in one of several places.
func TestAlternatives(t *testing.T) {
	href := parsed(t, `
request: {cursor: {in: url}}
items: {at: data, id: [id]}
next: {from: body:links.next, or: [body:links.next.href]}
end: {rule: cursor, when: [absent, "null"]}`)
	either := parsed(t, `
request: {cursor: {in: query:c}}
items: {at: data, id: [id]}
next: {from: body:nextLink, or: ['body:@odata\.nextLink', header:X-Next]}
end: {rule: cursor, when: [absent]}`)
	marker := parsed(t, `
request: {cursor: {in: query:marker}}
items: {at: data, id: [id]}
next: {from: body:NextMarker, or: [last:id]}
end: {rule: flag_false, at: more}`)
	for _, c := range []struct {
		name     string
		contract adapters.Contract
		body     string
		header   []string
		end      pager.End
		next     string // "-" for none
	}{
		{"a string", href, `{"data":[],"links":{"next":"/p?2"}}`, nil, pager.EndMore, "https://api.example.test/p?2"},
		{"an object", href, `{"data":[],"links":{"next":{"href":"/p?2"}}}`, nil, pager.EndMore, "https://api.example.test/p?2"},
		{"null", href, `{"data":[],"links":{"next":null}}`, nil, pager.EndLast, "-"},
		{"absent", href, `{"data":[],"links":{}}`, nil, pager.EndLast, "-"},
		{"an object with null", href, `{"data":[],"links":{"next":{"href":null}}}`, nil, pager.EndLast, "-"},
		{"an object without it", href, `{"data":[],"links":{"next":{"meta":1}}}`, nil, pager.EndUnknown, "-"},
		{"an empty string", href, `{"data":[],"links":{"next":""}}`, nil, pager.EndUnknown, "-"},

		{"the first", either, `{"data":[],"nextLink":"a"}`, nil, pager.EndMore, "a"},
		{"the second", either, `{"data":[],"@odata.nextLink":"b"}`, nil, pager.EndMore, "b"},
		{"the third", either, `{"data":[]}`, []string{"X-Next", "c"}, pager.EndMore, "c"},
		{"both alike", either, `{"data":[],"nextLink":"a","@odata.nextLink":"a"}`, nil, pager.EndMore, "a"},
		{"both, and different", either, `{"data":[],"nextLink":"a","@odata.nextLink":"b"}`, nil, pager.EndUnknown, "-"},
		{"one null, which is not absent", either, `{"data":[],"nextLink":null}`, nil, pager.EndUnknown, "-"},
		{"one null and one set", either, `{"data":[],"nextLink":null,"@odata.nextLink":"b"}`, nil, pager.EndMore, "b"},
		{"none", either, `{"data":[]}`, nil, pager.EndLast, "-"},

		{"the API's marker before the last item", marker, `{"data":[{"id":"x"}],"more":true,"NextMarker":"m"}`, nil, pager.EndMore, "m"},
		{"the last item where there is none", marker, `{"data":[{"id":"x"}],"more":true}`, nil, pager.EndMore, "x"},
		{"neither", marker, `{"data":[],"more":true}`, nil, pager.EndMore, "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := api(t, answer(200, c.body, c.header...))
			for page, err := range list(t, client, c.contract, things, nil).Pages(t.Context(), pager.At("old")) {
				if c.contract.Request.Cursor.In == "url" { // "old" is no address
					page = readOne(t, c.contract, c.body)
					err = nil
				}
				token, set := page.Next.Token()
				if err != nil || page.End != c.end || set == (c.next == "-") || set && token != c.next {
					t.Errorf("got %s, %s by %q, %v", page.End, page.Next, page.Evidence, err)
				}
				break
			}
		})
	}
}

const twoMarkers = `
request: {size: {in: query:max-uploads}}
items: {at: uploads, id: [key]}
next:
  parts:
    - {from: body:key, in: query:key-marker}
    - {from: body:upload, in: query:upload-id-marker, if_absent: omit}
end: {rule: flag_false, at: more}`

const searchAfter = `
request: {method: POST, body: {pit: {id: P0, keep_alive: 1m}}, size: {in: body:size}}
items: {at: hits.hits, id: [_id]}
next:
  parts:
    - {from: last:sort, in: body:search_after, as: json}
    - {from: body:pit_id, in: body:pit.id, if_absent: keep}
end: {rule: empty_page}`

// TestParts walks with cursors of several values: what is sent, and what the
// ledger keeps.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		name     string
		contract string
		at       pager.Cursor
		body     string
		sent     string // query, or body
		next     string // "-" for none
		end      pager.End
	}{
		{"two markers, at the start", twoMarkers, pager.Cursor{}, `{"uploads":[],"more":true,"key":"a/b&c","upload":"U+="}`, "", `["a/b&c","U+="]`, pager.EndMore},
		{"two markers, sent", twoMarkers, pager.At(`["a/b&c","U+="]`), `{"uploads":[],"more":false}`, "key-marker=a%2Fb%26c&upload-id-marker=U%2B%3D", "-", pager.EndLast},
		{"one marker may be missing", twoMarkers, pager.At(`["a",null]`), `{"uploads":[],"more":true,"key":"b"}`, "key-marker=a", `["b",null]`, pager.EndMore},
		{"the other may not", twoMarkers, pager.Cursor{}, `{"uploads":[],"more":true,"upload":"U"}`, "", "-", pager.EndMore},
		{"sort values and the newest snapshot", searchAfter, pager.Cursor{}, `{"pit_id":"P1","hits":{"hits":[{"_id":"a","sort":[9007199254740993,"a"]}]}}`, `{"pit":{"id":"P0","keep_alive":"1m"}}`, `[[9007199254740993,"a"],"P1"]`, pager.EndMore},
		{"a snapshot that is kept", searchAfter, pager.At(`[[1],"P1"]`), `{"hits":{"hits":[{"_id":"b","sort":[2]}]}}`, `{"pit":{"id":"P1","keep_alive":"1m"},"search_after":[1]}`, `[[2],"P1"]`, pager.EndMore},
		{"the end of a search", searchAfter, pager.At(`[[2],"P1"]`), `{"pit_id":"P1","hits":{"hits":[]}}`, `{"pit":{"id":"P1","keep_alive":"1m"},"search_after":[2]}`, "-", pager.EndLast},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, client := api(t, answer(200, c.body))
			for page, err := range list(t, client, parsed(t, c.contract), things, nil).Pages(t.Context(), c.at) {
				token, set := page.Next.Token()
				if err != nil || page.End != c.end || set == (c.next == "-") || set && token != c.next {
					t.Errorf("got %s, %s by %q, %v", page.End, page.Next, page.Evidence, err)
				}
				break
			}
			if _, query, _ := strings.Cut(tr.seen[0].url, "?"); query+tr.seen[0].body != c.sent {
				t.Errorf("sent %s%s, want %s", query, tr.seen[0].body, c.sent)
			}
		})
	}
}

// TestContinueMap merges a map of parameters into the query, as MediaWiki asks.
func TestContinueMap(t *testing.T) {
	contract := parsed(t, `
request: {cursor: {in: query:*, as: json}}
items: {at: query.pages, id: [pageid]}
next: {from: body:continue}
end: {rule: cursor, when: [absent]}`)
	tr, client := api(t,
		answer(200, `{"continue":{"cmcontinue":"page|A+B|1","n":7,"continue":"-||"},"query":{"pages":[]}}`),
		answer(200, `{"query":{"pages":[{"pageid":1}]}}`))
	pages, _, err := walk(t.Context(), list(t, client, contract, things+"?action=query&continue=", nil), pager.Cursor{})
	if err != nil || len(pages) != 2 || pages[1].End != pager.EndLast || ids(pages...) != "1" {
		t.Fatalf("got %v, %v", pages, err)
	}
	if want := things + "?action=query&cmcontinue=page%7CA%2BB%7C1&n=7&continue=-%7C%7C"; tr.seen[1].url != want {
		t.Errorf("asked %s, want %s", tr.seen[1].url, want)
	}
}

// TestStrangeCursors gives a walk a cursor that its contract never made: it stops
// before any request.
func TestStrangeCursors(t *testing.T) {
	members := `
request: {cursor: {in: "query:*", as: json}}
items: {at: a, id: [id]}
next: {from: body:continue}
end: {rule: cursor, when: [absent]}`
	constant := `
request: {cursor: {in: query:c}}
items: {at: a, id: [id]}
next: {from: body:next}
end: {rule: cursor, when: [absent]}
vetoes: [{at: version, constant: true}]`
	for _, c := range []struct{ contract, token string }{
		{twoMarkers, "plain"},
		{twoMarkers, `["a"]`},
		{twoMarkers, `{"a":1}`},
		{members, "plain"},
		{members, `{"a":[1]}`},
		{strings.Replace(twoMarkers, "in: query:key-marker", "in: header:X-Marker", 1), `["a\nb",null]`},
		{constant, "plain"},
		{constant, `["c"]`},
		{constant, `[1,"v"]`},
	} {
		tr, client := api(t)
		_, fault, err := walk(t.Context(), list(t, client, parsed(t, c.contract), things, nil), pager.At(c.token))
		if fault == nil || fault.Code != pager.CodePagerFailed || len(tr.seen) != 0 {
			t.Errorf("%s: %v, %d requests", c.token, err, len(tr.seen))
		}
	}
}

// TestConstant keeps a value of the first page in view, in one walk and across a
// stop, and gives the API back its own cursor.
func TestConstant(t *testing.T) {
	contract := parsed(t, `
request: {cursor: {in: query:continue}}
items: {at: items, id: [id]}
next: {from: body:metadata.continue}
end: {rule: cursor, when: [absent, empty]}
vetoes: [{at: metadata.resourceVersion, constant: true}]`)
	first := answer(200, `{"metadata":{"continue":"T&1","resourceVersion":"7"},"items":[]}`)
	for _, c := range []struct {
		name   string
		last   canned
		vetoes int
	}{
		{"the same", answer(200, `{"metadata":{"resourceVersion":"7"},"items":[]}`), 0},
		{"another one", answer(200, `{"metadata":{"resourceVersion":"8"},"items":[]}`), 1},
		{"none", answer(200, `{"metadata":{},"items":[]}`), 1},
		{"a number instead of a text", answer(200, `{"metadata":{"resourceVersion":7},"items":[]}`), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			middle := answer(200, `{"metadata":{"continue":"T2","resourceVersion":"7"},"items":[]}`)
			tr, client := api(t, first, middle, c.last)
			pages, _, err := walk(t.Context(), list(t, client, contract, things, nil), pager.Cursor{})
			if err != nil || len(pages) != 3 || len(pages[2].Vetoes) != c.vetoes || len(pages[0].Vetoes)+len(pages[1].Vetoes) != 0 {
				t.Fatalf("got %v, %v", pages, err)
			}
			if tr.seen[1].url != things+"?continue=T%261" || tr.seen[2].url != things+"?continue=T2" {
				t.Errorf("asked %s and %s", tr.seen[1].url, tr.seen[2].url)
			}
			if token, _ := pages[1].Next.Token(); token != `["T2","7"]` {
				t.Errorf("the cursor is %s", token)
			}
			_, client = api(t, c.last) // another process
			resumed, _, err := walk(t.Context(), list(t, client, contract, things, nil), pages[1].Next)
			if err != nil || len(resumed) != 1 || len(resumed[0].Vetoes) != c.vetoes || resumed[0].Cursor != pages[1].Next {
				t.Errorf("after a stop: %v, %v", resumed, err)
			}
		})
	}
}

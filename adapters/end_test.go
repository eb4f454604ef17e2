package adapters_test

import (
	"net/http"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// counter is a contract of pages or offsets that are counted.
func counter(by string, end adapters.EndRule) adapters.Contract {
	c := tokens()
	c.Next.From = adapters.Place("counter:" + by)
	c.End = end
	c.Page.Total, c.Page.Size = "body:total", "limit"
	return c
}

// sized is a contract that asks for so many items.
func sized(c adapters.Contract, size int) adapters.Contract {
	c.Request.Size.Default = size
	return c
}

func TestEndRules(t *testing.T) {
	more, last, unknown := pager.EndMore, pager.EndLast, pager.EndUnknown
	start := pager.Cursor{}
	total := adapters.EndRule{Rule: adapters.EndTotal}
	short := adapters.EndRule{Rule: adapters.EndShortPage}
	empty := adapters.EndRule{Rule: adapters.EndEmptyPage}
	status404 := adapters.EndRule{Rule: adapters.EndStatus, Status: []int{404}, AfterPage: 1}
	with204 := adapters.EndRule{Rule: adapters.EndEmptyPage, Status: []int{204}}
	for _, c := range []struct {
		name     string
		contract adapters.Contract
		at       pager.Cursor
		status   int
		body     string
		end      pager.End
		next     pager.Cursor
	}{
		{"total: the first page of two", counter("offset", total), start, 200, `{"items":[{"id":1},{"id":2}],"total":3}`, more, pager.At("2")},
		{"total: the second", counter("offset", total), pager.At("2"), 200, `{"items":[{"id":3}],"total":3}`, last, start},
		{"total: none given", counter("offset", total), start, 200, `{"items":[{"id":1}]}`, unknown, start},
		{"total: null", counter("offset", total), start, 200, `{"items":[{"id":1}],"total":null}`, unknown, start},
		{"total: an empty page before it", counter("offset", total), pager.At("2"), 200, `{"items":[],"total":3}`, unknown, start},
		{"total: an empty list", counter("offset", total), start, 200, `{"items":[],"total":0}`, last, start},
		{"total: by page, with the echoed size", counter("page", total), pager.At("2"), 200, `{"items":[{"id":3}],"limit":2,"total":3}`, last, start},
		{"total: by page, clamped in silence", sized(counter("page", total), 2), start, 200, `{"items":[{"id":1}],"total":3}`, unknown, start},
		{"total: by page, a short last page", sized(counter("page", total), 2), pager.At("2"), 200, `{"items":[{"id":3}],"total":3}`, last, start},
		{"total: by page, as many as were asked for", sized(counter("page", total), 2), start, 200, `{"items":[{"id":1},{"id":2}],"total":3}`, more, pager.At("2")},
		{"total: by page, clamped to the echoed size", sized(counter("page", total), 9), start, 200, `{"items":[{"id":1}],"limit":1,"total":3}`, more, pager.At("2")},
		{"total: by offset, clamped in silence", sized(counter("offset", total), 2), start, 200, `{"items":[{"id":1}],"total":3}`, more, pager.At("1")},
		{"total: by page, without a size", counter("page", total), pager.At("2"), 200, `{"items":[{"id":3}],"total":3}`, unknown, start},

		{"short: fewer than the echo", counter("page", short), start, 200, `{"items":[{"id":1}],"limit":2}`, last, start},
		{"short: as many", counter("page", short), start, 200, `{"items":[{"id":1},{"id":2}],"limit":2}`, more, pager.At("2")},
		{"short: no echo", counter("page", short), start, 200, `{"items":[{"id":1}]}`, unknown, start},

		{"empty: items", counter("page", empty), pager.At("4"), 200, `{"items":[{"id":1}]}`, more, pager.At("5")},
		{"empty: none", counter("page", empty), pager.At("4"), 200, `{"items":[]}`, last, start},
		{"empty: 204 beside it", counter("page", with204), pager.At("4"), 204, ``, last, start},
		{"empty: 204 for an empty list", counter("page", with204), start, 204, ``, last, start},

		{"status: a page", counter("page", status404), start, 200, `{"items":[{"id":1}]}`, more, pager.At("2")},
		{"status: past the end", counter("page", status404), pager.At("2"), 404, `{"message":"not found"}`, last, start},
		{"status: an empty page is no end", counter("page", status404), pager.At("2"), 200, `{"items":[]}`, more, pager.At("3")},

		{"flag: by page", counter("page", adapters.EndRule{Rule: adapters.EndFlagFalse, At: "more"}), start, 200, `{"items":[],"more":true}`, more, pager.At("2")},
		{"flag: gone, so nobody counts on", counter("page", adapters.EndRule{Rule: adapters.EndFlagFalse, At: "more"}), start, 200, `{"items":[{"id":1}]}`, unknown, start},
		{"flag: true is the end", counter("page", adapters.EndRule{Rule: adapters.EndFlagTrue, At: "done"}), start, 200, `{"items":[],"done":true}`, last, start},
		{"flag: not done", counter("page", adapters.EndRule{Rule: adapters.EndFlagTrue, At: "done"}), start, 200, `{"items":[],"done":false}`, more, pager.At("2")},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := api(t, answer(c.status, c.body))
			for page, err := range list(t, client, c.contract, things, nil).Pages(t.Context(), c.at) {
				if err != nil || page.End != c.end || page.Next != c.next {
					t.Errorf("got %s, %s by %q, %v", page.End, page.Next, page.Evidence, err)
				}
				break
			}
		})
	}
}

func TestEndByCursorVariants(t *testing.T) {
	echo := tokens()
	echo.End = adapters.EndRule{Rule: adapters.EndEchoed}
	both := tokens()
	both.End = adapters.EndRule{Rule: adapters.EndCursor, When: []string{"null"}, AndEmpty: true}
	zero := "*"
	both.Request.Cursor.First = &zero
	for _, c := range []struct {
		name     string
		contract adapters.Contract
		at       pager.Cursor
		body     string
		end      pager.End
	}{
		{"another token", echo, pager.At("f/1"), `{"items":[],"next":"f/2"}`, pager.EndMore},
		{"the token that was sent", echo, pager.At("f/2"), `{"items":[],"next":"f/2"}`, pager.EndLast},
		{"no token", echo, pager.At("f/2"), `{"items":[]}`, pager.EndUnknown},
		{"null and items", both, pager.At("c"), `{"items":[{"id":1}],"next":null}`, pager.EndUnknown},
		{"null and empty", both, pager.At("c"), `{"items":[],"next":null}`, pager.EndLast},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := api(t, answer(200, c.body))
			for page, err := range list(t, client, c.contract, things, nil).Pages(t.Context(), c.at) {
				if err != nil || page.End != c.end {
					t.Errorf("got %s by %q, %v", page.End, page.Evidence, err)
				}
				break
			}
		})
	}
}

func TestUndeclaredStatusIsNoEnd(t *testing.T) {
	status404 := counter("page", adapters.EndRule{Rule: adapters.EndStatus, Status: []int{404}, AfterPage: 1})
	third := counter("page", adapters.EndRule{Rule: adapters.EndStatus, Status: []int{404}, AfterPage: 2})
	empty := counter("page", adapters.EndRule{Rule: adapters.EndEmptyPage})
	for _, c := range []struct {
		name     string
		contract adapters.Contract
		at       pager.Cursor
		status   int
		code     pager.Code
	}{
		{"404 on the first page", status404, pager.Cursor{}, 404, pager.CodeRequestRefused},
		{"404 on the first page, by number", status404, pager.At("1"), 404, pager.CodeRequestRefused},
		{"404 on the second of three", third, pager.At("2"), 404, pager.CodeRequestRefused},
		{"404 where nobody declared it", empty, pager.At("3"), 404, pager.CodeRequestRefused},
		{"204 where nobody declared it", empty, pager.At("3"), 204, pager.CodeNotAList},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, client := api(t, answer(c.status, ""))
			_, fault, err := walk(t.Context(), list(t, client, c.contract, things, nil), c.at)
			if fault == nil || fault.Code != c.code || fault.Verdict != pager.Review {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCountedRequests(t *testing.T) {
	tr, client := api(t,
		answer(200, `{"items":[{"id":1},{"id":2}],"total":3}`),
		answer(200, `{"items":[{"id":3}],"total":3}`),
		answer(200, `{"items":[{"id":1}]}`), answer(200, `{"items":[]}`))
	for _, contract := range []adapters.Contract{
		counter("offset", adapters.EndRule{Rule: adapters.EndTotal}),
		counter("page", adapters.EndRule{Rule: adapters.EndEmptyPage}),
	} {
		if _, _, err := walk(t.Context(), list(t, client, contract, things, nil), pager.Cursor{}); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"?cursor=0", "?cursor=2", "?cursor=1", "?cursor=2"} {
		if tr.seen[i].url != things+want {
			t.Errorf("request %d was %s, want %s", i, tr.seen[i].url, want)
		}
	}
}

func TestVetoes(t *testing.T) {
	one, incomplete := int64(1000), "incomplete"
	contract := tokens()
	contract.Vetoes = []adapters.Veto{
		{At: "incomplete_results"},
		{At: "total_count", Above: &one},
		{At: "status.type", Is: &incomplete},
		{At: "unreachable"},
		{At: "warning"},
		{At: "failed"},
		{Query: "fields", Lacks: "next"},
	}
	for _, c := range []struct {
		want int
		body string
	}{
		{0, `{"items":[]}`},
		{0, `{"items":[],"incomplete_results":false,"total_count":1000,"status":{"type":"complete"},"unreachable":[],"warning":"","failed":0}`},
		{0, `{"items":[],"incomplete_results":null,"unreachable":null,"warning":null}`},
		{1, `{"items":[],"incomplete_results":true}`},
		{1, `{"items":[],"total_count":1001}`},
		{1, `{"items":[],"status":{"type":"incomplete"}}`},
		{3, `{"items":[],"unreachable":["eu"],"warning":{"code":"x"},"failed":2}`},
	} {
		page := readOne(t, contract, c.body)
		if len(page.Vetoes) != c.want || page.End != pager.EndLast {
			t.Errorf("%s: %q, %s", c.body, page.Vetoes, page.End)
		}
	}
	for query, want := range map[string]int{"?fields=items(id)": 1, "?fields=items,next": 0, "?fields=*": 0, "": 0} {
		_, client := api(t, answer(http.StatusOK, `{"items":[]}`))
		pages, _, err := walk(t.Context(), list(t, client, contract, things+query, nil), pager.Cursor{})
		if err != nil || len(pages[0].Vetoes) != want {
			t.Errorf("%s: %v, %v", query, pages, err)
		}
	}
}

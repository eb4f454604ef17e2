package adapters_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// family is what one contract makes of the answers that its API can give. What is
// wanted of a walk is written in short: the IDs of its last page, then "> CURSOR"
// where the walk goes on, "." at the end, ". vetoed" where the end does not count,
// or the reason by which it stops.
type family struct {
	contract string
	query    string // of the list's address
	size     int    // asked for

	first    canned // goes on …
	firstIDs string // … with these IDs, "a b" by default …
	next     string // … at this cursor
	last     canned // after first
	ended    string // what last is; "c ." by default

	short     canned // after first: few items or none, and no end
	shortNext string

	blocked      []canned // the end, or what looks like it, and it does not count
	blockedQuery string
	because      string

	stranger canned // is no list page
	refused  string // not_a_list by default

	failed  canned // after first: an error
	failure string
}

// page is an answer that is a page.
func page(body string, header ...string) canned { return answer(http.StatusOK, body, header...) }

// refusal is an answer that is an error.
func refusal(status int, body string, header ...string) canned {
	return answer(status, body, header...)
}

// allFamilies are the families of every contract that comes with the library,
// except for those that [withoutFamily] gives a reason for.
func allFamilies() []family {
	return slices.Concat(
		linkFamilies(), googleFamilies(), tokenFamilies(), awsFamilies(), protocolFamilies(), flagFamilies(),
		urlFamilies(), graphFamilies(), searchFamilies(), countedFamilies(),
	)
}

func withoutFamily() map[string]string {
	return map[string]string{"keyset-feed": "a bounded list has one page; TestContractPages and TestContractRefusals read it"}
}

// TestFamilyWalks walks the first, the last and a short page of each contract,
// what must not count as its end, what is no page of it, and an error.
func TestFamilyWalks(t *testing.T) {
	for _, f := range allFamilies() {
		t.Run(f.contract, func(t *testing.T) {
			for _, c := range []struct {
				name   string
				query  string
				script []canned
				want   string
			}{
				{"the first page", f.query, []canned{f.first}, cmp.Or(f.firstIDs, "a b") + " > " + f.next},
				{"the last page", f.query, []canned{f.first, f.last}, cmp.Or(f.ended, "c .")},
				{"a short page", f.query, []canned{f.first, f.short}, f.shortNext},
				{"an end that does not count", cmp.Or(f.blockedQuery, f.query), f.blocked, f.because},
				{"no list page", f.query, []canned{f.stranger}, cmp.Or(f.refused, "not_a_list")},
				{"an error", f.query, []canned{f.first, f.failed}, f.failure},
			} {
				t.Run(c.name, func(t *testing.T) {
					contract, err := adapters.Named(f.contract)
					if err != nil {
						t.Fatal(err)
					}
					if got := outcome(t, contract, c.query, f.size, c.script...); got != c.want {
						t.Errorf("got %q, want %q", got, c.want)
					}
				})
			}
		})
	}
}

// TestEveryContractHasItsFamily keeps the table and the contracts together.
func TestEveryContractHasItsFamily(t *testing.T) {
	families := map[string]int{}
	for _, f := range allFamilies() {
		families[f.contract]++
	}
	for _, c := range adapters.Builtin() {
		switch reason := withoutFamily()[c.Name]; {
		case reason == "" && families[c.Name] != 1:
			t.Errorf("%s has %d families", c.Name, families[c.Name])
		case reason != "" && families[c.Name] != 0:
			t.Errorf("%s has a family, and a reason for none", c.Name)
		}
	}
}

// outcome walks a script from the start and says in short how it ends.
func outcome(t *testing.T, contract adapters.Contract, query string, size int, script ...canned) string {
	t.Helper()
	tr, client := api(t, script...)
	p := list(t, client, contract, things+query, &adapters.Options{PageSize: size})
	pages, fault, err := walk(t.Context(), p, pager.Cursor{})
	beyond := len(tr.seen) > len(script)
	switch {
	case err != nil && fault == nil:
		t.Fatal(err)
	case fault != nil && !beyond:
		return string(fault.Code)
	case len(pages) != len(script):
		t.Fatalf("%d of %d answers were read", len(pages), len(script))
	}
	last := pages[len(pages)-1]
	end := "."
	if last.End != pager.EndLast {
		token, _ := last.Next.Token()
		end = "> " + token
	}
	if len(last.Vetoes) > 0 {
		end += " vetoed"
	}
	return strings.TrimLeft(fmt.Sprintf("%s %s", ids(last), end), " ")
}

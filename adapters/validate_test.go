package adapters_test

import (
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
)

// TestValidateNames breaks one field at a time and wants its name, and the line
// where it stands.
func TestValidateNames(t *testing.T) {
	const xml = `name: mine
format: xml
xml: {root: R, arrays: [A]}
request: {cursor: {in: query:c}}
items: {at: A, id: [id]}
next: {from: body:next}
end: {rule: cursor, when: [absent]}
`
	const parts = `name: mine
items: {at: A, id: [id]}
next:
  parts:
    - {from: body:a, in: query:a}
    - {from: body:b, in: query:b}
end: {rule: flag_false, at: more}
`
	const several = `name: mine
request: {cursor: {in: query:c}}
items: {at: A, id: [id]}
next: {from: body:next}
end:
  any:
    - {rule: flag_true, at: isLast}
    - {rule: cursor, when: [absent]}
`
	const follow = `name: mine
request:
  method: POST
  cursor: {in: body:c}
  follow: {url: /scroll}
items: {at: A, id: [id]}
next: {from: body:next}
end: {rule: empty_page}
`
	for _, c := range []struct {
		name     string
		document string
		old, new string
		want     string // "" for a contract that loads
	}{
		{"xml", xml, "", "", ""},
		{"a format", xml, "format: xml", "format: html", "line 2: format:"},
		{"no root", xml, "root: R, ", "", "line 3: xml.root:"},
		{"a path with an index", xml, "[A]}", "['A[0]']}", "line 3: xml.arrays[0]:"},
		{"xml without its format", xml, "format: xml\n", "", "line 2: xml:"},
		{"a flag that is text", xml, "rule: cursor, when: [absent]", "rule: flag_false, at: more", "line 7: end.at:"},

		{"parts", parts, "", "", ""},
		{"a part that goes nowhere", parts, "{from: body:b, in: query:b}", "{from: body:b}", "line 6: next.parts[1]:"},
		{"a part of no kind", parts, "from: body:b", "from: link:b", "line 6: next.parts[1].from:"},
		{"one part", parts, "    - {from: body:b, in: query:b}\n", "", "line 4: next.parts:"},
		{"parts and a place", parts, "  parts:", "  from: body:x\n  parts:", "line 5: next.parts:"},
		{"parts and a cursor", parts, "items:", "request: {cursor: {in: query:c}}\nitems:", "line 2: request.cursor:"},
		{"a part in the body of a GET", parts, "in: query:b", "in: body:b", "line 6: next.parts[1].in:"},
		{"a part that is missing somehow", parts, "in: query:b", "in: query:b, if_absent: guess", "line 6: next.parts[1].if_absent:"},

		{"several", several, "", "", ""},
		{"a rule beside them", several, "end:\n", "end:\n  rule: empty_page\n", "line 5: end:"},
		{"all and any", several, "end:\n", "end:\n  all: [{rule: empty_page}, {rule: cursor_echoed}]\n", "line 5: end:"},
		{"one alone", several, "    - {rule: cursor, when: [absent]}\n", "", "line 6: end.any:"},
		{"a member without its flag", several, ", at: isLast", "", "line 7: end.any[0].at:"},
		{"a member without a rule", several, "rule: cursor, ", "", "line 8: end.any[1].rule:"},
		{"a member that is a status", several, "rule: cursor, when: [absent]", "rule: status, status: [404]", "line 8: end.any[1].rule:"},
		{"a member inside a member", several, "rule: cursor, when: [absent]", "rule: cursor, all: []\n      , when: [absent], and_empty: true", "line 8: end.any[1]:"},
		{"an empty error", several, "end:\n", "end:\n  empty_errors: ['']\n", "line 6: end.empty_errors:"},
		{"pages that nobody counts", several, "rule: flag_true, at: isLast", "rule: last_page, at: pages", "line 7: end.any[0].rule:"},

		{"follow", follow, "", "", ""},
		{"follow by GET with a body", follow, "url: /scroll", "method: GET, body: {a: 1}", "line 5: request.follow.body:"},
		{"follow by GET with a cursor in the body", follow, "url: /scroll", "method: GET", "line 5: request.follow.method:"},
		{"follow by PUT", follow, "url: /scroll", "method: PUT", "line 5: request.follow.method:"},
		{"follow to no URL", follow, "/scroll", "'https://a b'", "line 5: request.follow.url:"},
		{"follow an address", follow, "in: body:c", "in: url", "line 5: request.follow:"},
		{"follow a count", follow, "from: body:next", "from: counter:page", "line 5: request.follow:"},

		{"another place of no kind", several, "from: body:next", "from: body:next, or: [link:next]", "line 4: next.or[0]:"},
		{"another place than a count", several, "from: body:next", "from: counter:page, or: [body:n]", "line 4: next.or:"},
		{"members in a text", several, "in: query:c", `in: "query:*"`, "line 2: request.cursor.as:"},
		{"a star where one value is wanted", several, "at: isLast", "at: a.*", "line 7: end.any[0].at:"},
		{"a skip of nothing", several, "id: [id]", "id: [id], skip: [{at: mode}]", "line 3: items.skip[0]:"},
		{"a page that equals nothing", several, "items:", "page: {equals: {ok: []}}\nitems:", "line 3: page.equals.ok:"},
		{"a veto of two kinds", several, "items:", "vetoes: [{at: a, full_page_without_link: true}]\nitems:", "line 3: vetoes[0]:"},
		{"a veto of two conditions", several, "items:", "vetoes: [{at: a, constant: true, absent: true}]\nitems:", "line 3: vetoes[0]:"},
		{"a constant in several places", several, "items:", "vetoes: [{at: a.*, constant: true}]\nitems:", "line 3: vetoes[0].at:"},
		{"an error of two conditions", several, "items:", "errors: {rules: [{at: a, present: true, above: 3, means: server_error}]}\nitems:", "line 3: errors.rules[0]:"},
		{"an error that waits for the past", several, "items:", "errors: {wait_seconds: -1}\nitems:", "line 3: errors.wait_seconds:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			document := strings.Replace(c.document, c.old, c.new, 1)
			contract, err := adapters.Parse([]byte(document))
			switch {
			case c.want == "" && err != nil:
				t.Errorf("it does not load: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			case c.want == "":
				written, err := contract.Document()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := adapters.Parse(written); err != nil {
					t.Errorf("its own document does not load: %v\n%s", err, written)
				}
			}
		})
	}
}

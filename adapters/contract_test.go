package adapters_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

func TestBuiltinContracts(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range adapters.Builtin() {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Validate(); err != nil {
				t.Fatal(err)
			}
			if seen[c.Name] || c.Doc == "" || len(c.Source) == 0 {
				t.Error("a contract has a name of its own, a doc and a source")
			}
			seen[c.Name] = true
			document, err := c.Document()
			if err != nil {
				t.Fatal(err)
			}
			back, err := adapters.Parse(document)
			if err != nil {
				t.Fatalf("its own document does not load: %v\n%s", err, document)
			}
			if !reflect.DeepEqual(back, c) {
				t.Errorf("the document loses something:\n%s\n%+v\n%+v", document, c, back)
			}
			again, err := back.Document()
			if err != nil || string(again) != string(document) {
				t.Errorf("the document is not stable: %v", err)
			}
			asJSON, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			if back, err = adapters.Parse(asJSON); err != nil || !reflect.DeepEqual(back, c) {
				t.Errorf("as JSON it does not load the same: %v", err)
			}
			named, err := adapters.Named(c.Name)
			if err != nil || !reflect.DeepEqual(named, c) {
				t.Errorf("Named: %v", err)
			}
		})
	}
}

func TestUnknownContract(t *testing.T) {
	_, err := adapters.Named("github")
	unknown, ok := errors.AsType[*adapters.UnknownContractError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	for _, c := range adapters.Builtin() {
		if !strings.Contains(unknown.Error(), c.Name) {
			t.Errorf("%q does not name %s", unknown, c.Name)
		}
	}
}

// catalogue is a small valid contract document that the tests below break.
const catalogue = `name: mine
request:
  size: {in: query:limit, max: 50}
  cursor: {in: query:cursor}
items:
  at: things
  id: [id]
next: {from: body:next}
end: {rule: cursor, when: [absent, "null"]}
`

func TestParse(t *testing.T) {
	c, err := adapters.Parse([]byte(catalogue))
	if err != nil {
		t.Fatal(err)
	}
	if c.Items.At != "things" || c.Request.Size.Max != 50 || c.End.When[1] != "null" {
		t.Errorf("got %+v", c)
	}
	for _, broken := range []struct {
		name     string
		old, new string
		want     []string
	}{
		{"an unknown key", "  at: things", "  where: things", []string{"items.where", "line 6", "no key"}},
		{"no end", "end: {rule: cursor, when: [absent, \"null\"]}\n", "", []string{"end.rule", "what counts as the end"}},
		{"an unknown end", "rule: cursor", "rule: short", []string{"end.rule", "line 9", "flag_false"}},
		{"an end without its values", ", when: [absent, \"null\"]", "", []string{"end.when", "line 9"}},
		{"a value of no meaning", `"null"`, "nothing", []string{"end.when", "line 9", "nothing"}},
		{"a bad path", "at: things", "at: things..x", []string{"items.at", "line 6", "empty member name"}},
		{"a place of no kind", "query:cursor", "cookie:cursor", []string{"request.cursor.in", "line 4"}},
		{"a place without a name", "query:cursor", "'query:'", []string{"request.cursor.in", "line 4"}},
		{"a size in the body of a GET", "query:limit", "body:limit", []string{"request.size.in", "line 3", "POST"}},
		{"no ID", "  id: [id]\n", "", []string{"items.id"}},
		{"no YAML", "name: mine", "name: [", []string{"L1"}},
		{"a size that is no number", "max: 50", "max: many", []string{"request.size.max", "line 3", "many"}},
		{"a key twice", "name: mine", "name: mine\nname: yours", []string{"name", "line 1"}},
		{"an empty name", "name: mine", "name: ''", []string{"name", "line 1"}},
	} {
		t.Run(broken.name, func(t *testing.T) {
			document := strings.Replace(catalogue, broken.old, broken.new, 1)
			if document == catalogue {
				t.Fatal("nothing was broken")
			}
			_, err := adapters.Parse([]byte(document))
			if err == nil {
				t.Fatal("it loads")
			}
			for _, w := range broken.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
		})
	}
	t.Run("an empty document", func(t *testing.T) {
		if _, err := adapters.Parse(nil); err == nil {
			t.Error("it loads")
		}
	})
	t.Run("a list", func(t *testing.T) {
		if _, err := adapters.Parse([]byte("- name: x")); err == nil || !strings.Contains(err.Error(), "line 1: document") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("every problem at once", func(t *testing.T) {
		_, err := adapters.Parse([]byte("name: x\nitems: {at: a.., id: [b..]}\norder: random\nend: {rule: flag_false}\n"))
		for _, field := range []string{"items.at", "items.id[0]", "order", "end.at", "next.from", "request.cursor.in"} {
			if err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("%v does not name %s", err, field)
			}
		}
	})
}

func TestValidateContradictions(t *testing.T) {
	zero := "zero"
	for _, c := range []struct {
		name  string
		field string
		spoil func(*adapters.Contract)
	}{
		{"a short page without an echo", "page.size", func(c *adapters.Contract) { c.End = adapters.EndRule{Rule: adapters.EndShortPage} }},
		{"a total without a path", "page.total", func(c *adapters.Contract) { c.End = adapters.EndRule{Rule: adapters.EndTotal} }},
		{"no link to be absent", "end.rule", func(c *adapters.Contract) { c.End = adapters.EndRule{Rule: adapters.EndNoNextLink} }},
		{"a value that is both", "end.when", func(c *adapters.Contract) {
			c.Next.Cursors, c.End.When = []string{"empty"}, []string{"empty"}
		}},
		{"a bounded list with a cursor", "next.from", func(c *adapters.Contract) { c.End = adapters.EndRule{Rule: adapters.EndBounded} }},
		{"a link that is no address", "request.cursor.in", func(c *adapters.Contract) { c.Next.From = "link:next" }},
		{"a status of a page as the end", "end.status", func(c *adapters.Contract) { c.End = adapters.EndRule{Rule: adapters.EndStatus, Status: []int{200}} }},
		{"after a page that nobody counts", "end.after_page", func(c *adapters.Contract) {
			c.End = adapters.EndRule{Rule: adapters.EndStatus, Status: []int{404}, AfterPage: 3}
		}},
		{"a counted cursor as the end", "end.rule", func(c *adapters.Contract) { c.Next.From = "counter:page" }},
		{"a count that starts at a word", "request.cursor.first", func(c *adapters.Contract) {
			c.Next.From, c.End, c.Request.Cursor.First = "counter:page", adapters.EndRule{Rule: adapters.EndEmptyPage}, &zero
		}},
		{"a veto of nothing", "vetoes[0]", func(c *adapters.Contract) { c.Vetoes = []adapters.Veto{{}} }},
		{"an error that means nothing", "errors.codes.x", func(c *adapters.Contract) {
			c.Errors.Codes = map[string]pager.Code{"x": "try_later"}
		}},
		{"a rule for every error", "errors.rules[0]", func(c *adapters.Contract) {
			c.Errors.Rules = []adapters.ErrorRule{{Means: pager.CodeServerError}}
		}},
		{"a host with a path", "allowed_hosts[0]", func(c *adapters.Contract) { c.AllowedHosts = []string{"https://x.example/y"} }},
		{"a time format", "items.created_format", func(c *adapters.Contract) { c.Items.CreatedFormat = "epoch" }},
		{"a window with one end", "request.window", func(c *adapters.Contract) { c.Request.Window.From = "query:since" }},
		{"a JSON cursor in a query", "request.cursor.as", func(c *adapters.Contract) { c.Request.Cursor.As = "json" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			contract, err := adapters.Parse([]byte(catalogue))
			if err != nil {
				t.Fatal(err)
			}
			c.spoil(&contract)
			if err = contract.Validate(); err == nil || !strings.Contains(err.Error(), " "+c.field+": ") {
				t.Errorf("got %v, want a problem of %s", err, c.field)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(catalogue))
	f.Add([]byte(`{"name":"x","items":{"at":"*","id":[""]},"next":{"from":"link:next"},"end":{"rule":"no_next_link"},"request":{"cursor":{"in":"url"}}}`))
	f.Add([]byte("items: {id: ['a[0].b', 'c\\\\.d[x=y]']}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := adapters.Parse(data)
		if err != nil {
			return
		}
		document, err := c.Document()
		if err != nil {
			t.Fatalf("it loads and has no document: %v", err)
		}
		if _, err := adapters.Parse(document); err != nil {
			t.Errorf("its own document does not load: %v\n%s", err, document)
		}
	})
}

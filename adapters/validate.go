package adapters

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/everypage-go/everypage/pager"
)

// FieldError is one thing that is wrong with a contract.
type FieldError struct {
	// Contract is its name, Field the path of the field, as in end.rule.
	Contract string
	Field    string
	// Line is where the field, or what should hold it, stands in the document;
	// 0 where there is no document.
	Line int
	// Problem says what is wrong and what is needed.
	Problem string
}

func (e *FieldError) Error() string {
	where := ""
	if e.Line > 0 {
		where = fmt.Sprintf("line %d: ", e.Line)
	}
	return fmt.Sprintf("adapters: contract %q: %s%s: %s", e.Contract, where, e.Field, e.Problem)
}

// Validate reports everything that is wrong with c at once, as joined
// [*FieldError]s.
func (c Contract) Validate() error {
	check := checker{contract: c.Name}
	if c.Name == "" {
		check.fail("name", "is missing")
	}
	check.format(&c)
	check.request(&c)
	check.items(&c)
	check.next(&c)
	check.end(&c)
	check.follow(&c)
	check.page(&c.Page)
	for i := range c.Vetoes {
		check.veto(fmt.Sprintf("vetoes[%d]", i), &c.Vetoes[i])
	}
	check.errors(&c.Errors)
	check.oneOf("style", string(c.Style), "", string(pager.StyleCursor), string(pager.StyleOffset), string(pager.StylePage))
	check.oneOf("order", string(c.Order), "", string(pager.OrderUnstable), string(pager.OrderStable), string(pager.OrderStableAscending))
	for i, host := range c.AllowedHosts {
		if _, err := parseOrigin(host); err != nil {
			check.fail(fmt.Sprintf("allowed_hosts[%d]", i), "%v", err)
		}
	}
	if c.BodyLimit < 0 {
		check.fail("body_limit", "is negative")
	}
	if c.RepeatLimit < 0 {
		check.fail("repeat_limit", "is negative")
	}
	return errors.Join(check.problems...)
}

type checker struct {
	contract string
	problems []error
}

func (k *checker) fail(field, format string, args ...any) {
	k.problems = append(k.problems, &FieldError{Contract: k.contract, Field: field, Problem: fmt.Sprintf(format, args...)})
}

// path checks a path that leads to one value.
func (k *checker) path(field string, p Path) {
	if steps, err := p.steps(); err != nil {
		k.fail(field, "path %q %v", p, err)
	} else if wild(steps) {
		k.fail(field, "path %q has a *, which leads to several values", p)
	}
}

// wildPath checks a path that may lead to several values.
func (k *checker) wildPath(field string, p Path) {
	if _, err := p.steps(); err != nil {
		k.fail(field, "path %q %v", p, err)
	}
}

func (k *checker) oneOf(field, got string, want ...string) {
	if !slices.Contains(want, got) {
		k.fail(field, "is %q; it is one of %s", got, listed(want))
	}
}

func (k *checker) allOf(field string, got []string, want ...string) {
	for _, g := range got {
		k.oneOf(field, g, want...)
	}
}

// place checks that p is one of the given kinds, such as "query:", or a word.
func (k *checker) place(field string, p Place, allowed ...string) {
	where, name := p.split()
	switch {
	case p == "":
	case !strings.HasSuffix(string(p), ":") && slices.Contains(allowed, string(p)):
	case name != "" && slices.Contains(allowed, where+":"):
		if where == "body" || where == "last" {
			k.path(field, Path(name))
		}
	default:
		k.fail(field, "is %q; it is one of %s, with a name after the colon", p, listed(allowed))
	}
}

func (k *checker) request(c *Contract) {
	r := &c.Request
	k.oneOf("request.method", r.Method, "", http.MethodGet, http.MethodPost)
	post := r.Method == http.MethodPost
	if r.Body != nil && !post {
		k.fail("request.body", "needs method POST")
	}
	k.place("request.size.in", r.Size.In, "query:", "header:", "body:")
	if r.Cursor.In != inMembers {
		k.place("request.cursor.in", r.Cursor.In, "query:", "header:", "body:", "url")
	}
	k.place("request.window.from", r.Window.From, "query:", "body:")
	k.place("request.window.to", r.Window.To, "query:", "body:")
	for _, p := range []struct {
		field string
		place Place
	}{
		{"request.size.in", r.Size.In},
		{"request.cursor.in", r.Cursor.In},
		{"request.window.from", r.Window.From},
		{"request.window.to", r.Window.To},
	} {
		if where, _ := p.place.split(); where == "body" && !post && (p.field != "request.cursor.in" || c.followMethod() != http.MethodPost) {
			k.fail(p.field, "is in the body, which needs method POST")
		}
	}
	if r.Size.Default < 0 || r.Size.Max < 0 || r.Size.Max > 0 && r.Size.Default > r.Size.Max {
		k.fail("request.size", "default %d and max %d do not fit", r.Size.Default, r.Size.Max)
	}
	k.cursor(c)
	if (r.Window.From == "") != (r.Window.To == "") {
		k.fail("request.window", "needs both from and to")
	}
	k.timeFormat("request.window.format", r.Window.Format)
}

func (k *checker) cursor(c *Contract) {
	r := &c.Request.Cursor
	parts := len(c.Next.Parts) > 0
	switch {
	case r.In == "" && !c.bounded() && !parts:
		k.fail("request.cursor.in", "is missing; only a bounded list is read without a cursor")
	case parts && (r.In != "" || r.First != nil || r.As != ""):
		k.fail("request.cursor", "is given beside next.parts, where each part says where it goes")
	}
	k.oneOf("request.cursor.as", r.As, "", "string", asJSON)
	where, _ := r.In.split()
	switch {
	case r.As == asJSON && where != "body" && r.In != inMembers:
		k.fail("request.cursor.as", "json needs a cursor in the body, or in query:*")
	case r.In == inMembers && r.As != asJSON:
		k.fail("request.cursor.as", "must be json for a cursor in query:*")
	case r.In == inMembers && r.First != nil:
		k.fail("request.cursor.first", "cannot be given for a cursor in query:*")
	}
}

func (k *checker) items(c *Contract) {
	if c.Items.At != anyArray {
		k.wildPath("items.at", c.Items.At)
	}
	for i, s := range c.Items.Skip {
		field := fmt.Sprintf("items.skip[%d]", i)
		k.path(field+".at", s.At)
		if s.At == "" || len(s.Is) == 0 {
			k.fail(field, "needs at and is")
		}
	}
	k.allOf("items.empty_when", c.Items.EmptyWhen, whenAbsent, whenNull)
	if len(c.Items.ID) == 0 {
		k.fail("items.id", "is missing; without an ID an item cannot be handled once")
	}
	for i, p := range c.Items.ID {
		k.path(fmt.Sprintf("items.id[%d]", i), p)
	}
	k.path("items.created_at", c.Items.CreatedAt)
	k.timeFormat("items.created_format", c.Items.CreatedFormat)
}

func (k *checker) timeFormat(field, format string) {
	if layout, ok := strings.CutPrefix(format, "layout:"); ok {
		if _, err := time.Parse(layout, time.Unix(0, 0).UTC().Format(layout)); err != nil || layout == "" {
			k.fail(field, "layout %q is none of Go's time layouts", layout)
		}
		return
	}
	k.oneOf(field, format, "", formatRFC3339, formatUnix, formatUnixMilli, formatHTTPDate)
}

func listed(words []string) string {
	shown := make([]string, 0, len(words))
	for _, w := range words {
		if w != "" {
			shown = append(shown, w)
		}
	}
	return strings.Join(shown, ", ")
}

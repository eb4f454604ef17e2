package adapters

import (
	"errors"
	"fmt"
	"maps"
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
	check.request(&c)
	check.items(&c)
	check.next(&c)
	check.end(&c)
	check.page(&c.Page)
	for i, veto := range c.Vetoes {
		check.veto(fmt.Sprintf("vetoes[%d]", i), veto)
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

func (k *checker) path(field string, p Path) {
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
	k.place("request.cursor.in", r.Cursor.In, "query:", "header:", "body:", "url")
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
		if where, _ := p.place.split(); where == "body" && !post {
			k.fail(p.field, "is in the body, which needs method POST")
		}
	}
	if r.Size.Default < 0 || r.Size.Max < 0 || r.Size.Max > 0 && r.Size.Default > r.Size.Max {
		k.fail("request.size", "default %d and max %d do not fit", r.Size.Default, r.Size.Max)
	}
	if r.Cursor.In == "" && !c.bounded() {
		k.fail("request.cursor.in", "is missing; only a bounded list is read without a cursor")
	}
	k.oneOf("request.cursor.as", r.Cursor.As, "", "string", asJSON)
	if where, _ := r.Cursor.In.split(); r.Cursor.As == asJSON && where != "body" {
		k.fail("request.cursor.as", "json needs a cursor in the body")
	}
	if (r.Window.From == "") != (r.Window.To == "") {
		k.fail("request.window", "needs both from and to")
	}
	k.format("request.window.format", r.Window.Format)
}

func (k *checker) items(c *Contract) {
	if c.Items.At != anyArray {
		k.path("items.at", c.Items.At)
	}
	k.allOf("items.empty_when", c.Items.EmptyWhen, whenAbsent, whenNull)
	if len(c.Items.ID) == 0 {
		k.fail("items.id", "is missing; without an ID an item cannot be handled once")
	}
	for i, p := range c.Items.ID {
		k.path(fmt.Sprintf("items.id[%d]", i), p)
	}
	k.path("items.created_at", c.Items.CreatedAt)
	k.format("items.created_format", c.Items.CreatedFormat)
}

func (k *checker) format(field, format string) {
	if layout, ok := strings.CutPrefix(format, "layout:"); ok {
		if _, err := time.Parse(layout, time.Unix(0, 0).UTC().Format(layout)); err != nil || layout == "" {
			k.fail(field, "layout %q is none of Go's time layouts", layout)
		}
		return
	}
	k.oneOf(field, format, "", formatRFC3339, formatUnix, formatUnixMilli, formatHTTPDate)
}

func (k *checker) next(c *Contract) {
	from := c.Next.From
	k.place("next.from", from, "body:", "header:", "link:", "last:", string(fromLastID), string(fromPage), string(fromOffset))
	if (from == "") != c.bounded() {
		if from == "" {
			k.fail("next.from", "is missing; only a bounded list has no next cursor")
		} else {
			k.fail("next.from", "is %q, and a bounded list has no next cursor", from)
		}
	}
	if where, _ := from.split(); where == "link" && c.Request.Cursor.In != inURL {
		k.fail("request.cursor.in", "is %q; a link is an address, so the cursor is sent as url", c.Request.Cursor.In)
	}
	if c.counts() && c.Request.Cursor.In == inURL {
		k.fail("request.cursor.in", "is url, and a counted cursor is no address")
	}
	if c.counts() {
		if _, ok := c.position(pager.Cursor{}); !ok {
			k.fail("request.cursor.first", "is %q; a counted cursor starts at a number", c.firstToken())
		}
	}
	k.allOf("next.cursors", c.Next.Cursors, whenEmpty, whenZero)
}

func (k *checker) end(c *Contract) {
	e := &c.End
	if e.Rule == "" {
		k.fail("end.rule", "is missing; a contract must say what counts as the end of its list: one of %s", listed(EndRules()))
		return
	}
	k.oneOf("end.rule", e.Rule, EndRules()...)
	k.path("end.at", e.At)
	flag := e.Rule == EndFlagFalse || e.Rule == EndFlagTrue
	if flag != (e.At != "") {
		k.fail("end.at", "is the path of the flag; rule %s %s", e.Rule, map[bool]string{true: "needs it", false: "has none"}[flag])
	}
	k.allOf("end.when", e.When, whenAbsent, whenNull, whenEmpty, whenZero, whenFalse)
	if (e.Rule == EndCursor) != (len(e.When) > 0) {
		k.fail("end.when", "lists the values of the next cursor that mean the end; rule cursor needs it, and no other has it")
	}
	for _, w := range e.When {
		if slices.Contains(c.Next.Cursors, w) {
			k.fail("end.when", "has %q, which next.cursors calls a cursor", w)
		}
	}
	if where, _ := c.Next.From.split(); e.Rule == EndNoNextLink && where != "link" {
		k.fail("end.rule", "is no_next_link, and next.from is no link")
	}
	if c.counts() && (e.Rule == EndCursor || e.Rule == EndEchoed) {
		k.fail("end.rule", "is %s, and a counted cursor says nothing about the end", e.Rule)
	}
	if e.Rule == EndShortPage && c.Page.Size == "" {
		k.fail("page.size", "is missing; a short page is an end only against the size that the answer echoes")
	}
	if e.Rule == EndTotal && c.Page.Total == "" {
		k.fail("page.total", "is missing; rule total_reached needs it")
	}
	k.endStatus(c)
}

func (k *checker) endStatus(c *Contract) {
	e := &c.End
	if e.Rule == EndStatus && len(e.Status) == 0 {
		k.fail("end.status", "is missing; rule status needs it")
	}
	for _, s := range e.Status {
		if s < 200 || s > 599 || slices.Contains(c.Page.statuses(), s) {
			k.fail("end.status", "has %d, which is no status or that of a list page", s)
		}
	}
	if e.AfterPage < 0 || e.AfterPage > 1 && c.Next.From != fromPage {
		k.fail("end.after_page", "is %d; more than 1 needs next.from counter:page", e.AfterPage)
	}
}

func (k *checker) page(p *PageRule) {
	for i, path := range p.Required {
		k.path(fmt.Sprintf("page.required[%d]", i), path)
	}
	for i, path := range p.Forbidden {
		k.path(fmt.Sprintf("page.forbidden[%d]", i), path)
	}
	k.place("page.total", p.Total, "body:", "header:")
	k.path("page.size", p.Size)
}

func (k *checker) veto(field string, v Veto) {
	k.path(field+".at", v.At)
	switch {
	case (v.At == "") == (v.Query == ""):
		k.fail(field, "needs either at or query")
	case v.Query != "" && (v.Is != nil || v.Above != nil || v.Lacks == ""):
		k.fail(field, "needs lacks beside query, and nothing else")
	case v.At != "" && (v.Is != nil && v.Above != nil || v.Lacks != ""):
		k.fail(field, "needs at most one of is and above beside at")
	}
}

func (k *checker) errors(r *ErrorRules) {
	codes := make([]string, 0, len(ErrorCodes()))
	for _, code := range ErrorCodes() {
		codes = append(codes, string(code))
	}
	for i, rule := range r.Rules {
		field := fmt.Sprintf("errors.rules[%d]", i)
		k.path(field+".at", rule.At)
		k.oneOf(field+".means", string(rule.Means), codes...)
		if len(rule.Status) == 0 && rule.Error+rule.Type+rule.Param+rule.Message+string(rule.At) == "" {
			k.fail(field, "has no condition, so it would match every error")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Codes)) {
		k.oneOf("errors.codes."+name, string(r.Codes[name]), codes...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Types)) {
		k.oneOf("errors.types."+name, string(r.Types[name]), codes...)
	}
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

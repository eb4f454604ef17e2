package adapters

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/everypage-go/everypage/pager"
)

func (k *checker) next(c *Contract) {
	from := c.Next.From
	k.place("next.from", from, "body:", "header:", "link:", "last:", string(fromLastID), string(fromPage), string(fromOffset))
	k.nextPlaces(&c.Next)
	switch named := from != "" || len(c.Next.Parts) > 0; {
	case !named && !c.bounded():
		k.fail("next.from", "is missing; only a bounded list has no next cursor")
	case named && c.bounded():
		k.fail("next.from", "is %q, and a bounded list has no next cursor", from)
	}
	if where, _ := from.split(); where == "link" && c.Request.Cursor.In != inURL {
		k.fail("request.cursor.in", "is %q; a link is an address, so the cursor is sent as url", c.Request.Cursor.In)
	}
	if c.counts() && c.Request.Cursor.In == inURL {
		k.fail("request.cursor.in", "is url, and a counted cursor is no address")
	}
	if c.Request.Cursor.FirstOmitted && !c.counts() {
		k.fail("request.cursor.first_omitted", "is for a counted cursor; another one is left out where first is")
	}
	if c.counts() {
		if _, ok := c.position(pager.Cursor{}); !ok {
			k.fail("request.cursor.first", "is %q; a counted cursor starts at a number", c.firstToken())
		}
	}
	k.allOf("next.cursors", c.Next.Cursors, whenEmpty, whenZero)
}

// nextPlaces checks the further places of a cursor, and its parts.
func (k *checker) nextPlaces(n *Next) {
	for i, place := range n.Or {
		k.place(fmt.Sprintf("next.or[%d]", i), place, "body:", "header:", "last:", string(fromLastID))
	}
	where, _ := n.From.split()
	switch {
	case len(n.Or) > 0 && (n.From == "" || where == "counter" || where == "link"):
		k.fail("next.or", "needs next.from to be a place of the body, the header or the last item")
	case len(n.Parts) > 0 && n.From != "":
		k.fail("next.parts", "stand in place of next.from, and both are given")
	case len(n.Parts) == 1:
		k.fail("next.parts", "has one part; next.from says that in short")
	}
	for i, part := range n.Parts {
		field := fmt.Sprintf("next.parts[%d]", i)
		if part.From == "" || part.In == "" {
			k.fail(field, "needs from and in")
		}
		k.place(field+".from", part.From, "body:", "header:", "last:", string(fromLastID))
		k.place(field+".in", part.In, "query:", "header:", "body:")
		k.oneOf(field+".as", part.As, "", "string", asJSON)
		k.oneOf(field+".if_absent", part.IfAbsent, "", absentOmits, absentKeeps)
	}
}

// follow checks what the requests after the first are.
func (k *checker) follow(c *Contract) {
	post := c.followMethod() == http.MethodPost
	for i, part := range c.Next.Parts {
		if where, _ := part.In.split(); where == "body" && !post {
			k.fail(fmt.Sprintf("next.parts[%d].in", i), "is in the body, which needs method POST")
		}
	}
	f := c.Request.Follow
	if f == nil {
		return
	}
	k.oneOf("request.follow.method", f.Method, "", http.MethodGet, http.MethodPost)
	if f.Body != nil && !post {
		k.fail("request.follow.body", "needs method POST")
	}
	if where, _ := c.Request.Cursor.In.split(); where == "body" && !post {
		k.fail("request.follow.method", "is GET, and the cursor is in the body")
	}
	if _, err := url.Parse(f.URL); err != nil {
		k.fail("request.follow.url", "%q is no URL", f.URL)
	}
	if c.Request.Cursor.In == inURL && (f.URL != "" || len(f.Keep) > 0) {
		k.fail("request.follow", "has url or keep, and the cursor is an address already")
	}
	if c.counts() {
		k.fail("request.follow", "needs a cursor that the API gives, and next.from counts")
	}
}

func (k *checker) end(c *Contract) {
	e := &c.End
	set := 0
	for _, is := range []bool{e.Rule != "", len(e.All) > 0, len(e.Any) > 0} {
		if is {
			set++
		}
	}
	switch set {
	case 0:
		k.fail("end.rule", "is missing; a contract must say what counts as the end of its list: one of %s", listed(EndRules()))
		return
	case 1:
		k.endMembers(c, "end.all", e.All)
		k.endMembers(c, "end.any", e.Any)
	default:
		k.fail("end", "has more than one of rule, all and any")
	}
	if e.Rule != "" {
		k.endRule(c, "end", e)
	} else if e.At != "" || len(e.When) > 0 {
		k.fail("end", "has at or when beside all or any; they belong to a member")
	}
	k.endStatus(c)
	if slices.Contains(e.EmptyErrors, "") {
		k.fail("end.empty_errors", "has an empty text, which would match every answer")
	}
}

// endMembers checks rules that count together.
func (k *checker) endMembers(c *Contract, field string, members []EndRule) {
	if len(members) == 1 {
		k.fail(field, "has one rule; it stands by itself as end.rule")
	}
	for i := range members {
		e, name := &members[i], fmt.Sprintf("%s[%d]", field, i)
		switch {
		case e.Rule == "":
			k.fail(name+".rule", "is missing: one of %s", listed(EndRules()))
		case e.Rule == EndStatus || e.Rule == EndBounded:
			k.fail(name+".rule", "is %s, which does not count together with others", e.Rule)
		case len(e.All) > 0 || len(e.Any) > 0 || e.AndEmpty || e.ExpectEmpty || len(e.Status) > 0 || e.AfterPage != 0 || len(e.EmptyErrors) > 0:
			k.fail(name, "has more than rule, at and when")
		default:
			k.endRule(c, name, e)
		}
	}
}

// endRule checks one rule against what it needs of the contract.
func (k *checker) endRule(c *Contract, field string, e *EndRule) {
	k.oneOf(field+".rule", e.Rule, EndRules()...)
	k.path(field+".at", e.At)
	needs := e.Rule == EndFlagFalse || e.Rule == EndFlagTrue || e.Rule == EndLastPage
	if needs != (e.At != "") {
		k.fail(field+".at", "is the path of the flag or of the number of pages; rule %s %s", e.Rule, map[bool]string{true: "needs it", false: "has none"}[needs])
	}
	k.allOf(field+".when", e.When, whenAbsent, whenNull, whenEmpty, whenZero, whenFalse)
	if (e.Rule == EndCursor) != (len(e.When) > 0) {
		k.fail(field+".when", "lists the values of the next cursor that mean the end; rule cursor needs it, and no other has it")
	}
	for _, w := range e.When {
		if slices.Contains(c.Next.Cursors, w) {
			k.fail(field+".when", "has %q, which next.cursors calls a cursor", w)
		}
	}
	if flag := e.Rule != EndLastPage && needs; flag && c.isXML() && !slices.Contains(c.XML.Booleans, e.At) {
		k.fail(field+".at", "%s is text unless xml.booleans names it", e.At)
	}
	where, _ := c.Next.From.split()
	switch {
	case e.Rule == EndNoNextLink && where != "link":
		k.fail(field+".rule", "is no_next_link, and next.from is no link")
	case c.counts() && (e.Rule == EndCursor || e.Rule == EndEchoed):
		k.fail(field+".rule", "is %s, and a counted cursor says nothing about the end", e.Rule)
	case e.Rule == EndLastPage && c.Next.From != fromPage:
		k.fail(field+".rule", "is last_page, which needs next.from counter:page")
	case e.Rule == EndShortPage && c.Page.Size == "":
		k.fail("page.size", "is missing; a short page is an end only against the size that the answer echoes")
	case e.Rule == EndTotal && c.Page.Total == "":
		k.fail("page.total", "is missing; rule total_reached needs it")
	}
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

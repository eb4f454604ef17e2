package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// shownReadings is how many contracts a report names with what they say, and
// shownMembers how many arrays, and how many signs of paging.
const (
	shownReadings = 8
	shownMembers  = 12
)

func (p *prober) saw(text string) { p.report.Seen = append(p.report.Seen, text) }

func (p *prober) unsure(format string, args ...any) {
	p.report.Doubts = append(p.report.Doubts, fmt.Sprintf(format, args...))
}

// see tells what the first answer holds.
func (p *prober) see(first *recorded) {
	kind := first.answer.Header.Get("Content-Type")
	if kind == "" {
		kind = "no Content-Type"
	}
	p.saw(fmt.Sprintf("The first answer: status %d, %s, %d bytes.", first.answer.StatusCode, short(kind), len(first.body)))
	for _, name := range []string{"Link", "X-Total-Count", "X-Total", "X-Total-Pages", "X-Next-Page", "X-Next-Cursor", "X-Pagination", "Content-Range"} {
		if texts := first.answer.Header.Values(name); len(texts) > 0 {
			text := strings.Join(texts, ", ")
			if name == "Link" || strings.Contains(text, "://") {
				text = links(text)
			}
			p.saw(name + ": " + short(text))
		}
	}
	if !p.look.isJSON {
		p.saw("The body is no JSON.")
		return
	}
	for _, a := range p.look.arrays[:min(len(p.look.arrays), shownMembers)] {
		p.saw("An array: " + short(a.say()) + ".")
	}
	s := p.look.signs()
	said := s.say()
	for _, text := range said[:min(len(said), shownMembers)] {
		p.saw("A sign of paging: " + short(text) + ".")
	}
	if len(p.look.arrays) == 0 {
		p.saw("No array: nothing that could be items.")
	}
}

// links names the relations of a Link header; its addresses may carry cursors.
func links(text string) string {
	var rels []string
	for part := range strings.SplitSeq(text, ";") {
		if name, value, ok := strings.Cut(strings.TrimSpace(part), "="); ok && strings.EqualFold(name, "rel") {
			value, _, _ = strings.Cut(value, ",")
			rels = append(rels, "rel="+strings.Trim(value, `" `))
		}
	}
	if len(rels) == 0 {
		return "an address"
	}
	return strings.Join(rels, ", ")
}

func short(text string) string {
	const most = 160
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

func (p *prober) seeReadings(readings []reading) {
	if len(readings) == 0 {
		p.saw("No contract reads it as a list page and knows how the list goes on.")
	}
	for i := range readings {
		if i == shownReadings {
			p.saw(fmt.Sprintf("Further contracts that read it as a list page, with less that speaks for them: %d.", len(readings)-i))
			return
		}
		r := &readings[i]
		says := r.page.End.String()
		if r.page.End == pager.EndLast && !r.shown {
			says += ", by an absence alone"
		}
		p.saw(fmt.Sprintf("Read with %s: %d items; end: %s (%s).", title(&r.candidate), len(r.page.Items), says, short(r.page.Evidence)))
	}
}

// title names a candidate to a person.
func title(c *candidate) string {
	switch {
	case c.builtin && c.itemsAt != "":
		return c.contract.Name + " with items at " + string(c.itemsAt)
	case c.builtin:
		return c.contract.Name
	}
	text := fmt.Sprintf("a contract of its own, next from %s sent in %s, end %s", c.contract.Next.From, c.contract.Request.Cursor.In, c.contract.End.Rule)
	if c.contract.End.At != "" {
		text += " at " + string(c.contract.End.At)
	}
	return text
}

func (p *prober) seeFollowed(r *reading, f *followed) {
	var counts []string
	for _, page := range f.pages {
		counts = append(counts, fmt.Sprint(len(page.Items)))
	}
	last := f.lastPage()
	moved := ""
	if len(f.pages) > 1 {
		moved = "; the items differ and the cursor moves"
	}
	p.saw(fmt.Sprintf("Walked with %s: pages of %s items%s. The last one read says: %s (%s).",
		title(&r.candidate), strings.Join(counts, ", "), moved, last.End, short(last.Evidence)))
}

// doubt tells what the pages leave open.
func (p *prober) doubt(r *reading, f *followed, readings []reading) {
	last := f.lastPage()
	switch {
	case last.Bounded:
		p.unsure("The answer has nothing that leads to a second page. The contract calls it a feed of one page, never the whole collection: is there truly no paging?")
	case last.End == pager.EndUnknown:
		p.unsure("Page %d carries neither an end nor a next cursor (%s). If the documentation calls that the end, the contract's end must say so.", len(f.pages), last.Evidence)
	case last.End == pager.EndMore:
		p.unsure("The end was not seen: after %d pages more follow. Probe a filter with few items, or larger --pages, to see one.", len(f.pages))
	case len(f.pages) == 1:
		p.unsure("The list fits on one page, so neither the next cursor nor its parameter was seen at work. Probe with a smaller page size in the URL.")
	case r.contract.End.Rule == adapters.EndNoNextLink || r.contract.End.Rule == adapters.EndCursor:
		p.unsure("The end was seen: %s. Where that is an absence, a proxy that drops it would look the same.", last.Evidence)
	}
	if f.stopped != "" {
		p.unsure("The walk stopped early: %s.", f.stopped)
	}
	if f.overlap > 0 {
		p.unsure("%d items came on more than one page: the order shifts, or pages overlap.", f.overlap)
	}
	for _, page := range f.pages {
		if len(page.Items) == 0 {
			p.unsure("A page without items came; only its end says what it means.")
			break
		}
	}
	p.doubtContract(r)
	var others []string
	for i := range readings {
		o := &readings[i]
		if o.builtin && o.contract.Name != r.contract.Name && (o.page.End == pager.EndMore || o.shown) && !slices.Contains(others, o.contract.Name) && len(others) < shownReadings {
			others = append(others, o.contract.Name)
		}
	}
	if len(others) > 0 {
		p.unsure("These contracts read the first page as well: %s.", strings.Join(others, ", "))
	}
	for _, veto := range r.page.Vetoes {
		p.unsure("A veto of the contract was met: %s.", veto)
	}
	p.doubtArrays()
}

// doubtContract tells what is unsure about the contract itself.
func (p *prober) doubtContract(r *reading) {
	c := &r.contract
	switch c.Order {
	case pager.OrderUnspecified:
		p.unsure("The order is unknown: a run needs an order that the documentation promises, or asks for your word.")
	case pager.OrderUnstable:
		p.unsure("The order counts as unstable: rows that come or go while the list is walked shift the others, so that items are missed.")
	case pager.OrderStable, pager.OrderStableAscending:
		p.unsure("The contract calls the order %s; that cannot be seen from outside.", c.Order)
	}
	if r.builtin {
		return
	}
	if c.End.Rule == adapters.EndCursor && r.page.End == pager.EndMore {
		p.unsure("end.when lists what usually means the end (%s); absent, null and an empty string are different things, and the documentation must say which it is.", strings.Join(c.End.When, ", "))
	}
	if c.End.Rule == adapters.EndEmptyPage && c.Page.Total != "" {
		p.unsure("The answer gives a total, and no page size to count with; the suggested end is an empty page, one request more.")
	}
	p.unsure("The parameter for the page size was not looked for; set request.size to choose one.")
}

func (p *prober) doubtArrays() {
	var likely []string
	for _, a := range p.look.arrays {
		if a.id != nil && len(likely) < shownMembers {
			likely = append(likely, fmt.Sprintf("%q", a.path))
		}
	}
	if len(likely) > 1 {
		p.unsure("Several arrays could hold the items: %s.", strings.Join(likely, ", "))
	}
}

// doubtNone says what may help where nothing fits.
func (p *prober) doubtNone(readings []reading) {
	empty := len(p.look.arrays) > 0 && !slices.ContainsFunc(p.look.arrays, func(a array) bool { return a.count > 0 })
	switch {
	case p.midway != "":
		p.unsure("The URL: %s.", p.midway)
	case !p.look.isJSON:
		p.unsure("The answer may be a page for people, or a sign-in form. Is this the API's own address, and does it need --header?")
	case empty:
		p.unsure("The list is empty here; probe one that has items.")
	case len(p.look.arrays) == 0:
		p.unsure("The answer is one object, or an error told with a status of success; a list's address often ends in a plural.")
	case slices.ContainsFunc(readings, func(r reading) bool { return r.page.End == pager.EndLast && !r.shown }):
		p.unsure("Nothing says that more follows, and nothing says that this is all; an absence alone is not taken for an end. Probe with a smaller page size in the URL, so that there is a second page.")
	default:
		p.unsure("There are items, and nothing that says how the list goes on: the documentation has to.")
	}
	p.doubtArrays()
	p.unsure("A list that is asked for by POST cannot be probed; everypage contracts has several such.")
}

// check lists what only the documentation can tell.
func (p *prober) check(c *adapters.Contract) {
	add := func(format string, args ...any) {
		p.report.Check = append(p.report.Check, fmt.Sprintf(format, args...))
	}
	end := c.End.Rule
	if c.End.At != "" {
		end += " at " + string(c.End.At)
	}
	switch end {
	case "":
		end = "several rules together"
	case adapters.EndCursor:
		end = "a next cursor that is " + strings.Join(c.End.When, " or ")
	}
	add("What ends the list? The contract says: %s.", end)
	add("Is %s an item's identity for good, unique in the whole list?", idOf(c))
	add("In what order do items come, can it be chosen, and does it stay while items come and go?")
	if c.Next.From != "" {
		add("Which parameter takes the cursor (the contract: %s), and how long does a cursor live?", sentIn(c))
	}
	add("What is the largest page size, and may a page be shorter than asked for, or empty, before the end?")
	add("What does the list leave out without a word: a cap on results, deleted or archived items, what the token may not see?")
	add("How does the API tell a rate limit, an expired cursor, and a result that is partial?")
}

func idOf(c *adapters.Contract) string {
	names := make([]string, len(c.Items.ID))
	for i, path := range c.Items.ID {
		if names[i] = string(path); path == "" {
			names[i] = "the item itself"
		}
	}
	return strings.Join(names, " with ")
}

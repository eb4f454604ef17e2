package proptest

import (
	"encoding/json"
	"maps"
	"regexp"
	"strings"

	"github.com/everypage-go/everypage/adapters"
)

// describe turns a case's words for its endpoint, setup and nothing else, into a
// contract. It goes the way of a user's own one: through a document.
func (s *setup) describe(file string) (adapters.Contract, error) {
	r := &caseReader{file: file}
	c := map[string]any{
		"name":    "case",
		"request": s.requestRule(),
		"items":   s.itemsRule(),
		"next":    s.nextRule(),
		"order":   orderClass(s.order),
	}
	page := map[string]any{}
	if s.totalAt != "" {
		page["total"] = place(s.totalAt)
	}
	c["end"] = r.end(s, &s.end, page)
	c["page"] = page
	if !isNull(s.contract) {
		overlay, err := parseTree(s.contract)
		more, ok := overlay.(map[string]any)
		if err != nil || !ok {
			r.fail(s.path+".contract", "is %s, and an object is needed", shortJSON(s.contract))
		}
		merge(c, more)
	}
	if err := r.err(); err != nil {
		return adapters.Contract{}, err
	}
	document, err := writeTree(c)
	if err != nil {
		return adapters.Contract{}, err
	}
	contract, err := adapters.Parse(document)
	if err != nil {
		r.fail(s.path, "makes no contract: %v", err)
	}
	return contract, r.err()
}

// merge puts the members of more into c, objects member by member.
func merge(c, more map[string]any) {
	for name, value := range more {
		inner, isObject := value.(map[string]any)
		own, has := c[name].(map[string]any)
		if isObject && has {
			merge(own, inner)
			continue
		}
		c[name] = value
	}
}

func (s *setup) requestRule() map[string]any {
	cursor := map[string]any{"in": s.cursorTo}
	where, _, _ := strings.Cut(s.cursorTo, ":")
	from, _, _ := strings.Cut(s.cursorFrom, ":")
	asJSON := where == "body" && from == "body" // it goes back as the value that it is
	switch first, ok := textOf(s.firstCursor); {
	case !ok && from == "counter": // null: the server counts from its own start
		cursor["first_omitted"] = true
	case !ok || s.cursorTo == "url":
	case asJSON:
		cursor["first"] = string(s.firstCursor)
	default:
		cursor["first"] = first
	}
	if asJSON {
		cursor["as"] = "json"
	}
	rule := map[string]any{"method": s.method, "cursor": cursor}
	if s.requestBody != nil {
		rule["body"] = maps.Clone(s.requestBody)
	}
	switch {
	case s.sizeTo != "":
		rule["size"] = map[string]any{"in": place(s.sizeTo)}
	case s.needsSize():
		// The case's server looks at no size, and a page number is a position only
		// together with one.
		rule["size"] = map[string]any{"in": "header:X-Page-Size"}
	}
	return rule
}

// needsSize reports whether the walk needs the page size and the case does not
// say where it is sent.
func (s *setup) needsSize() bool {
	return s.sizeTo == "" && s.cursorFrom == "counter:page" && s.pageSize > 0 && strings.Contains(string(s.end.raw), "total_reached")
}

func (s *setup) itemsRule() map[string]any {
	rule := map[string]any{"at": s.itemsAt, "id": s.idAt}
	switch {
	case s.createdAt != "":
		rule["created_at"] = s.createdAt
	case s.cutoff != nil:
		rule["created_at"] = "created_at"
	}
	if s.createdFormat != "" {
		rule["created_format"] = s.createdFormat
	}
	if s.skipNull {
		rule["skip_null"] = true
	}
	return rule
}

func (s *setup) nextRule() map[string]any {
	rule := map[string]any{}
	if s.cursorFrom != "" {
		rule["from"] = s.cursorFrom
	}
	if s.emptyCursor == "cursor" {
		rule["cursors"] = []string{"empty"}
	}
	return rule
}

// place makes a place of what may be a bare path or parameter.
func place(text string) string {
	for _, kind := range []string{"body:", "query:", "header:"} {
		if strings.HasPrefix(text, kind) {
			return text
		}
	}
	return "body:" + text
}

// orderClass returns the class of a case's order: one that is said by name, and
// stable ascending for an order by what never changes and only grows.
func orderClass(order string) string {
	switch order {
	case "unstable", "stable", "stable_ascending":
		return order
	}
	if regexp.MustCompile(`(?i)^(id|created(_?at|_?time)?)(:|\s+)asc(ending)?$`).MatchString(strings.TrimSpace(order)) {
		return "stable_ascending"
	}
	return ""
}

// end turns a case's end rule into a contract's.
func (r *caseReader) end(s *setup, e *endRule, page map[string]any) map[string]any {
	rule := map[string]any{}
	if len(e.also) > 0 {
		rule["status"] = e.also
	}
	if e.after > 0 {
		rule["after_page"] = e.after
	}
	if e.empty {
		rule["and_empty"] = true
	}
	need := func(field string) string {
		if field == "" {
			r.fail(e.path+".field", "is missing; type %s needs it", e.kind)
		}
		return field
	}
	kind := e.kind
	if kind == "flag_equals" || kind == "field_equals" {
		switch kind = "flag_" + string(e.value); kind {
		case "flag_true", "flag_false":
		default:
			r.fail(e.path+".value", "is %s; a flag is true or false", shortJSON(e.value))
		}
	}
	switch when, isCursor := cursorWords(kind); {
	case isCursor:
		if s.emptyCursor == "end" {
			when = append(when, "empty")
		}
		rule["rule"], rule["when"] = "cursor", when
	case kind == "no_next_link" && !strings.HasPrefix(s.cursorFrom, "link:"):
		rule["rule"], rule["when"] = "cursor", []string{"absent", "null"}
	case kind == "flag_false", kind == "flag_true", kind == "last_page":
		rule["rule"], rule["at"] = kind, need(e.field)
	case kind == "total_reached":
		rule["rule"] = kind
		if page["total"] == nil || e.field != "" {
			page["total"] = place(need(e.field))
		}
	case kind == "short_page":
		size := e.size
		if size == "" {
			size = e.field
		}
		if size == "" {
			r.fail(e.path+".size_field", "is missing; a short page is an end only against the size that the answer echoes")
		}
		rule["rule"], page["size"] = kind, size
	case kind == "status":
		if len(e.status) == 0 {
			r.fail(e.path+".status", "is missing; type status needs it")
		}
		rule["rule"], rule["status"] = kind, append(e.status, e.also...)
	case kind == "cursor_echoed", kind == "no_next_link", kind == "empty_page", kind == "bounded":
		rule["rule"] = kind
	case kind == "any", kind == "all":
		rule[kind] = r.endParts(s, e, page)
	default:
		r.fail(e.path+".type", "is %q; it is one of flag_false, flag_true, cursor_… (with absent, null, empty, zero, false joined by _or_), cursor_echoed, no_next_link, empty_page, total_reached, last_page, short_page, status, bounded, any, all", e.kind)
	}
	return rule
}

// endParts turns the rules inside an end rule into a contract's.
func (r *caseReader) endParts(s *setup, e *endRule, page map[string]any) []any {
	var whole struct {
		Rules json.RawMessage `json:"rules"`
	}
	if err := json.Unmarshal(e.raw, &whole); err != nil || isNull(whole.Rules) {
		r.fail(e.path+".rules", "is missing; type %s needs it", e.kind)
		return nil
	}
	var parts []any
	r.list(e.path+".rules", whole.Rules, func(path string, raw json.RawMessage) {
		var part endRule
		r.endRule(path, raw, &part)
		parts = append(parts, r.end(s, &part, page))
	})
	return parts
}

// cursorWords reads cursor_<value>_or_<value>….
func cursorWords(kind string) (when []string, ok bool) {
	rest, ok := strings.CutPrefix(kind, "cursor_")
	if !ok {
		return nil, false
	}
	for word := range strings.SplitSeq(rest, "_or_") {
		switch word {
		case "missing":
			word = "absent"
		case "empty_string":
			word = "empty"
		case "absent", "null", "empty", "zero", "false":
		default:
			return nil, false
		}
		when = append(when, word)
	}
	return when, true
}

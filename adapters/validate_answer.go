package adapters

import (
	"fmt"
	"maps"
	"slices"
)

// format checks the format of the answers.
func (k *checker) format(c *Contract) {
	k.oneOf("format", c.Format, "", formatJSON, formatXML)
	x := &c.XML
	if !c.isXML() {
		if x.Root != "" || len(x.Arrays)+len(x.Numbers)+len(x.Booleans) > 0 {
			k.fail("xml", "needs format xml")
		}
		return
	}
	if x.Root == "" {
		k.fail("xml.root", "is missing; it tells a list page from other answers")
	}
	for _, list := range []struct {
		field string
		paths []Path
	}{{"xml.arrays", x.Arrays}, {"xml.numbers", x.Numbers}, {"xml.booleans", x.Booleans}} {
		for i, p := range list.paths {
			field := fmt.Sprintf("%s[%d]", list.field, i)
			steps, err := p.steps()
			switch {
			case err != nil:
				k.fail(field, "path %q %v", p, err)
			case len(steps) == 0 || wild(steps) || slices.ContainsFunc(steps, func(s step) bool { return s.elem }):
				k.fail(field, "path %q must be made of names alone", p)
			}
		}
	}
}

func (k *checker) page(p *PageRule) {
	for i, path := range p.Required {
		k.path(fmt.Sprintf("page.required[%d]", i), path)
	}
	for i, path := range p.Forbidden {
		k.path(fmt.Sprintf("page.forbidden[%d]", i), path)
	}
	for _, path := range slices.Sorted(maps.Keys(p.Equals)) {
		field := "page.equals." + string(path)
		k.path(field, path)
		if path == "" || len(p.Equals[path]) == 0 {
			k.fail(field, "needs a path, and the texts that a page may have there")
		}
	}
	k.place("page.total", p.Total, "body:", "header:")
	k.path("page.size", p.Size)
}

func (k *checker) veto(field string, v *Veto) {
	k.wildPath(field+".at", v.At)
	looks, conditions := 0, 0
	for _, set := range []bool{v.At != "", v.Query != "", v.FullPageWithoutLink} {
		if set {
			looks++
		}
	}
	for _, set := range []bool{v.Is != nil, v.IsNot != nil, v.Above != nil, v.Absent, v.Constant} {
		if set {
			conditions++
		}
	}
	switch {
	case looks != 1:
		k.fail(field, "needs either at, or query, or full_page_without_link")
	case v.Query != "" && (conditions > 0 || v.Lacks == ""):
		k.fail(field, "needs lacks beside query, and nothing else")
	case v.At != "" && (conditions > 1 || v.Lacks != ""):
		k.fail(field, "needs at most one of is, is_not, above, absent and constant beside at")
	case v.FullPageWithoutLink && (conditions > 0 || v.Lacks != ""):
		k.fail(field, "has a condition beside full_page_without_link")
	case v.Constant && v.LastPage:
		k.fail(field, "is constant, which looks at every page, and last_page")
	}
	if v.Constant {
		k.path(field+".at", v.At)
	}
}

func (k *checker) errors(r *ErrorRules) {
	codes := make([]string, 0, len(ErrorCodes()))
	for _, code := range ErrorCodes() {
		codes = append(codes, string(code))
	}
	for i, rule := range r.Rules {
		field := fmt.Sprintf("errors.rules[%d]", i)
		k.wildPath(field+".at", rule.At)
		k.oneOf(field+".means", string(rule.Means), codes...)
		if len(rule.Status) == 0 && rule.Error+rule.Type+rule.Param+rule.Message+string(rule.At) == "" {
			k.fail(field, "has no condition, so it would match every error")
		}
		if rule.Present && rule.Above != nil || (rule.Present || rule.Above != nil) && (rule.Is != "" || rule.At == "") {
			k.fail(field, "needs at, and at most one of is, present and above beside it")
		}
	}
	k.path("errors.retry_after", r.RetryAfter)
	if r.WaitSeconds < 0 {
		k.fail("errors.wait_seconds", "is negative")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Codes)) {
		k.oneOf("errors.codes."+name, string(r.Codes[name]), codes...)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Types)) {
		k.oneOf("errors.types."+name, string(r.Types[name]), codes...)
	}
}

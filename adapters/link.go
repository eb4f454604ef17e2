package adapters

import (
	"errors"
	"net/url"
	"strings"
)

// link is one link of a Link header field.
type link struct {
	target string
	params []linkParam // names in lower case
}

type linkParam struct{ name, value string }

// parseLinks reads the field lines of a Link header after RFC 8288, section 3 and
// appendix B.2. On a malformed part it returns the links before it and an error:
// what cannot be read must not be taken for "no next page".
//
// It is written here because the kept parsers that were tried, peterhellberg/link
// v1.2.0 and tomnomnom/linkheader, read 14 and 13 of 23 tricky headers right: they
// split at commas inside targets, compare names by case, see one relation in a rel
// of two, let a later rel win, know no anchor, and pass over malformed input in
// silence, which would then look like the last page.
func parseLinks(lines []string) ([]link, error) {
	var all []link
	for _, line := range lines {
		p := linkParser{text: line}
		for {
			p.skip(" \t,\r\n")
			if p.done() {
				break
			}
			l, err := p.link()
			if err != nil {
				return all, err
			}
			all = append(all, l)
		}
	}
	return all, nil
}

type linkParser struct {
	text string
	at   int
}

func (p *linkParser) done() bool { return p.at >= len(p.text) }

func (p *linkParser) skip(set string) {
	for !p.done() && strings.IndexByte(set, p.text[p.at]) >= 0 {
		p.at++
	}
}

// until returns the text up to the first byte of the set.
func (p *linkParser) until(set string) string {
	start := p.at
	for !p.done() && strings.IndexByte(set, p.text[p.at]) < 0 {
		p.at++
	}
	return p.text[start:p.at]
}

func (p *linkParser) link() (link, error) {
	if p.text[p.at] != '<' {
		return link{}, errors.New("a target is not in angle brackets")
	}
	p.at++
	l := link{target: p.until(">")}
	if p.done() {
		return link{}, errors.New("a target has no closing bracket")
	}
	p.at++
	for {
		p.skip(" \t\r\n")
		switch {
		case p.done(), p.text[p.at] == ',':
			return l, nil
		case p.text[p.at] != ';':
			return link{}, errors.New("something other than a parameter follows a target")
		}
		p.skip("; \t\r\n")
		param, err := p.param()
		if err != nil {
			return link{}, err
		}
		if param.name != "" {
			l.params = append(l.params, param)
		}
	}
}

func (p *linkParser) param() (linkParam, error) {
	name := strings.TrimRight(p.until("=;,"), " \t\r\n")
	param := linkParam{name: strings.TrimSuffix(strings.ToLower(name), "*")}
	if p.done() || p.text[p.at] != '=' {
		return param, nil
	}
	p.at++
	p.skip(" \t\r\n")
	if p.done() || p.text[p.at] != '"' {
		param.value = strings.TrimRight(p.until(";,"), " \t\r\n")
		return param, nil
	}
	var err error
	param.value, err = p.quoted()
	return param, err
}

func (p *linkParser) quoted() (string, error) {
	var b strings.Builder
	for p.at++; !p.done(); p.at++ {
		switch c := p.text[p.at]; c {
		case '"':
			p.at++
			return b.String(), nil
		case '\\':
			if p.at++; p.done() {
				return "", errors.New("a quoted string has no end")
			}
			b.WriteByte(p.text[p.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("a quoted string has no end")
}

// param returns the first parameter of that name; RFC 8288 has later ones of rel
// and anchor ignored.
func (l link) param(name string) (string, bool) {
	for _, p := range l.params {
		if p.name == name {
			return p.value, true
		}
	}
	return "", false
}

// leadsTo returns the absolute target if the link goes from base, and not from
// another resource, with that relation. The target is empty where it is no URL.
func (l link) leadsTo(rel string, base *url.URL) (string, bool) {
	rels, _ := l.param("rel")
	found := false
	for r := range strings.FieldsSeq(rels) {
		found = found || strings.EqualFold(r, rel)
	}
	if !found {
		return "", false
	}
	if anchor, ok := l.param("anchor"); ok {
		context, err := base.Parse(anchor)
		if err != nil || context.String() != base.String() {
			return "", false
		}
	}
	target, err := resolve(base, l.target)
	if err != nil {
		return "", true
	}
	return target, true
}

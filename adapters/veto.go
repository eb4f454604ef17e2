package adapters

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/everypage-go/everypage/pager"
)

// Veto is something in an answer that forbids calling the list complete. It looks
// at a path, at a query parameter, or at a full page.
type Veto struct {
	// At is the path that is looked at. By itself it vetoes when the value is
	// true, a number other than 0, or a string, array or object that is not empty.
	// With a * in it, one value among those that it leads to is enough.
	At Path `json:"at,omitempty" yaml:"at,omitempty"`
	// Is vetoes when the value at At has this text, IsNot when it is there and has
	// another one, Above when it is a number greater than this, Absent when it is
	// not there. At most one of them and Constant is set.
	Is     *string `json:"is,omitempty" yaml:"is,omitempty"`
	IsNot  *string `json:"is_not,omitempty" yaml:"is_not,omitempty"`
	Above  *int64  `json:"above,omitempty" yaml:"above,omitempty"`
	Absent bool    `json:"absent,omitempty" yaml:"absent,omitempty"`
	// Constant vetoes when the value at At is another one than on the first page,
	// or is missing on one of the two. The first page's value travels inside the
	// cursor, so that it outlives a stop: the ledger then holds the cursor in an
	// envelope, and the API gets back its own bytes.
	Constant bool `json:"constant,omitempty" yaml:"constant,omitempty"`
	// LastPage looks only at a page that carries the end signal. Defaults to every
	// page.
	LastPage bool `json:"last_page,omitempty" yaml:"last_page,omitempty"`
	// Query names a query parameter that selects members of the answer, and Lacks
	// what it must select for the end to mean anything.
	Query string `json:"query,omitempty" yaml:"query,omitempty"`
	Lacks string `json:"lacks,omitempty" yaml:"lacks,omitempty"`
	// FullPageWithoutLink vetoes when a page without any Link header has as many
	// items as were asked for, or more: for endpoints that are known to leave the
	// header out.
	FullPageWithoutLink bool `json:"full_page_without_link,omitempty" yaml:"full_page_without_link,omitempty"`
}

// looked is what a veto may look at.
type looked struct {
	body  value
	query url.Values
	links int // lines of the Link header
	items int
	size  int64 // echoed, or asked for; 0 where unknown
	end   pager.End
}

// vetoed returns what forbids calling the list complete.
func (c *Contract) vetoed(w looked) []string {
	var vetoes []string
	for i := range c.Vetoes {
		veto := &c.Vetoes[i]
		if veto.Constant || veto.LastPage && w.end != pager.EndLast { // see keepConstant
			continue
		}
		if text := veto.text(w); text != "" {
			vetoes = append(vetoes, text)
		}
	}
	return vetoes
}

func (v *Veto) text(w looked) string {
	switch {
	case v.FullPageWithoutLink:
		if w.links == 0 && w.size > 0 && int64(w.items) >= w.size {
			return fmt.Sprintf("a full page of %d without a Link header", w.items)
		}
		return ""
	case v.Query != "":
		for _, text := range w.query[v.Query] {
			if !strings.Contains(text, v.Lacks) && text != "*" {
				return fmt.Sprintf("%s=%s leaves out %s", v.Query, clean(text, 100), v.Lacks)
			}
		}
		return ""
	}
	steps, err := v.At.steps()
	if err != nil {
		return fmt.Sprintf("path %q %v", v.At, err)
	}
	found := w.body.all(steps)
	if v.Absent {
		if !slices.ContainsFunc(found, func(f value) bool { return f.kind() != kindAbsent }) {
			return string(v.At) + " is absent"
		}
		return ""
	}
	for _, f := range found {
		if text := v.value(f); text != "" {
			return text
		}
	}
	return ""
}

// value says why one value vetoes, or "".
func (v *Veto) value(found value) string {
	text := found.plainText()
	switch {
	case found.kind() == kindAbsent:
		return ""
	case v.Is != nil:
		if text == *v.Is {
			return fmt.Sprintf("%s=%s", v.At, *v.Is)
		}
		return ""
	case v.IsNot != nil:
		if text != *v.IsNot {
			return fmt.Sprintf("%s=%s, and not %s", v.At, clean(string(found.raw), 100), *v.IsNot)
		}
		return ""
	case v.Above != nil:
		if n, ok := found.integer(); ok && n > *v.Above {
			return fmt.Sprintf("%s=%d, above %d", v.At, n, *v.Above)
		}
		return ""
	}
	if said := found.something(); said != "" {
		return string(v.At) + said
	}
	return ""
}

// something says what a value holds that is true, a number other than 0, or not
// empty; of any other value it returns "".
func (v value) something() string {
	switch v.kind() {
	case kindAbsent, kindNull:
	case kindBool:
		if v.isTrue() {
			return "=true"
		}
	case kindNumber:
		if !isZero(v) {
			return "=" + clean(string(v.raw), 40)
		}
	case kindText:
		if len(v.raw) > 2 {
			return "=" + clean(v.plainText(), 200)
		}
	case kindArray:
		if n := len(v.elements()); n > 0 {
			return fmt.Sprintf(" has %d entries", n)
		}
	case kindObject:
		if !v.isEmptyObject() {
			return " is not empty"
		}
	}
	return ""
}

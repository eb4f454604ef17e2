package proptest

import (
	"fmt"
	"slices"
	"strings"
)

// problem is a promise or an expectation that was not kept.
type problem struct {
	promise string
	want    string
	have    string
}

// wrong adds a problem.
func (p *play) wrong(promise, want, have string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addWrong(promise, want, have)
}

// addWrong is wrong for a caller that holds the lock. The same problem counts
// once, and stands in the trace where it was met.
func (p *play) addWrong(promise, want, have string) {
	added := problem{promise, want, have}
	if slices.Contains(p.problems, added) {
		return
	}
	p.problems = append(p.problems, added)
	if !p.over {
		p.note("WRONG %s: %s", promise, short(have))
	}
}

// CaseError says that a case did not end as it says.
type CaseError struct {
	// Case is the name of its file without the ending, Variant the value that was
	// replaced, empty for the case itself.
	Case    string
	Variant string
	// Broken names the promises and expectations that were not kept, each once.
	Broken []string
	text   string
}

func (e *CaseError) Error() string { return e.text }

// verdict returns what is wrong with a play, nil if nothing is.
func (p *play) verdict() error {
	if len(p.problems) == 0 {
		return nil
	}
	e := &CaseError{Case: p.name(), Variant: p.variant}
	var b strings.Builder
	fmt.Fprintf(&b, "case %s", p.name())
	if p.variant != "" {
		fmt.Fprintf(&b, ", variant %s", p.variant)
	}
	b.WriteString("\n")
	seen := map[string]bool{}
	for _, w := range p.problems {
		fmt.Fprintf(&b, "  broken: %s\n    wanted: %s\n    happened: %s\n", w.promise, w.want, w.have)
		if !seen[w.promise] {
			seen[w.promise] = true
			e.Broken = append(e.Broken, w.promise)
		}
	}
	b.WriteString("  what happened, in order; the number is the process's:\n")
	for _, line := range p.trace {
		b.WriteString("    " + strings.Join(strings.Fields(line), " ") + "\n")
	}
	e.text = b.String()
	return e
}

package proptest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// speechless are the contracts that the world does not speak, and why.
func speechless() map[string]string {
	const (
		xml     = "its answers are XML"
		several = "an item's ID is made of several values"
		object  = "its cursor is no string"
	)
	return map[string]string{
		"s3-list-objects-v2": xml, "s3-list-objects": xml, "s3-list-multipart-uploads": xml, "oai-pmh": xml, "oai-pmh-identifiers": xml,
		"jsonapi": several, "fhir": several, "fhir-history": several, "cloudwatch-get-log-events": several,
		"elasticsearch-search-after": object, "mediawiki": object,
		"keyset-feed": "it has one page, which is never the whole list",
	}
}

// spoken returns the contracts that the machine walks: those that the world speaks,
// without Crossref's, where a last page that is full needs one more.
func spoken() []adapters.Contract {
	return slices.DeleteFunc(adapters.Builtin(), func(c adapters.Contract) bool {
		return speechless()[c.Name] != "" || c.End.Rule == adapters.EndShortPage
	})
}

// overHTTP is a list as a contract has it.
func overHTTP(c adapters.Contract, size int) listShape {
	l := listShape{Style: pager.StyleCursor, Order: c.Order, Size: size, Most: size, NotReplayable: c.NotReplayable, Totals: true, Contract: &c}
	switch c.Next.From {
	case "counter:offset":
		l.Style = pager.StyleOffset
	case "counter:page":
		l.Style = pager.StylePage
	}
	if c.Style != "" {
		l.Style = c.Style
	}
	l.Trailing = c.End.Rule == adapters.EndEmptyPage || c.End.AndEmpty
	return l
}

// TestTheWorldSpeaksEveryContract walks five items of a quiet world under each
// contract that ships: the reader must find all of them, and the end.
func TestTheWorldSpeaksEveryContract(t *testing.T) {
	for _, c := range adapters.Builtin() {
		t.Run(c.Name, func(t *testing.T) {
			m := &machine{w: newWorld(shape{List: overHTTP(c, 2)}, 1)}
			for i := range 5 {
				m.edit(listChange{kind: "insert", at: i})
			}
			err := m.walkOnce(t)
			if why := speechless()[c.Name]; (why != "") != (err != nil) {
				t.Errorf("it gives %v, and what is known of it is %q", err, why)
			}
		})
	}
}

// walkOnce walks the list without a run.
func (m *machine) walkOnce(t *testing.T) error {
	t.Helper()
	w := m.w
	l := newProcess(w, manner{})
	list, err := w.pager(l)
	if err != nil {
		return err
	}
	var ids []string
	for page, err := range list.Pages(t.Context(), pager.Cursor{}) {
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			ids = append(ids, item.ID)
		}
		if page.End == pager.EndLast && len(page.Vetoes) > 0 {
			return errors.New("vetoed: " + strings.Join(page.Vetoes, ", "))
		}
	}
	if got := strings.Join(ids, " "); got != "i1 i2 a i4 i5" {
		return errors.New("the items are " + got)
	}
	return nil
}

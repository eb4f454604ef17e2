package adapters

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/everypage-go/everypage/pager"
)

// constants are what must stay as it was on the first page. A pager has no memory
// of its own, and a run may go on in another process, so they travel inside the
// cursor: a JSON array of the API's cursor and of the values, null for one that
// was not there.
func (c *Contract) constants() []Path {
	var paths []Path
	for _, veto := range c.Vetoes {
		if veto.Constant {
			paths = append(paths, veto.At)
		}
	}
	return paths
}

// unseal takes a cursor apart. The values are nil for the first page.
func unseal(at pager.Cursor, constants int) (raw pager.Cursor, first []value, err error) {
	token, set := at.Token()
	if constants == 0 || !set {
		return at, nil, nil
	}
	parts, err := splitParts(token, constants+1)
	if err != nil || parts[0].kind() != kindText {
		return at, nil, fmt.Errorf("the cursor holds none of the values that the contract wants constant")
	}
	return pager.At(parts[0].plainText()), parts[1:], nil
}

// keepConstant compares a page with the first one, and seals its next cursor.
func (p *page) keepConstant(paths []Path, first []value, body value) {
	if body.kind() == kindAbsent { // an end by its status has nothing to compare
		return
	}
	texts := make([]string, 0, len(paths)+1)
	for i, path := range paths {
		now := body.at(path)
		text := string(now.raw)
		if now.kind() == kindAbsent {
			text = noPart
		}
		if first != nil {
			if old := string(first[i].raw); old != text {
				p.vetoes = append(p.vetoes, fmt.Sprintf("%s=%s, and it was %s on the first page", path, clean(text, 100), clean(old, 100)))
			}
			text = string(first[i].raw)
		}
		texts = append(texts, text)
	}
	token, set := p.next.Token()
	if len(paths) == 0 || !set {
		return
	}
	if !utf8.ValidString(token) {
		p.next = pager.Cursor{}
		p.evidence += "; the next cursor is not valid UTF-8, so it cannot be kept beside the constant values"
		return
	}
	sealed, err := encode(token)
	if err != nil {
		p.next = pager.Cursor{}
		p.evidence += "; the next cursor cannot be kept: " + err.Error()
		return
	}
	p.next = pager.At("[" + string(sealed) + "," + strings.Join(texts, ",") + "]")
}

package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// The versions of the records that are JSON after their version byte.
const (
	runVersion        byte = 1
	conflictVersion   byte = 1
	transitionVersion byte = 1
)

// AppendRun appends a run's record to dst. It returns an error if an instant
// has a year that JSON cannot write.
//
// JSON would replace bytes that are not UTF-8, and a cursor must go back byte
// for byte. So the texts that JSON cannot carry stand before it, in binary.
func AppendRun(dst []byte, run *Run) ([]byte, error) {
	dst = append(dst, runVersion)
	dst = appendUnprintable(dst, runTexts(run))
	dst = AppendCursor(dst, unprintable(run.Receipt.CursorIn))
	dst = AppendCursor(dst, unprintable(run.Receipt.CursorOut))
	return appendJSON(dst, "run", run)
}

// DecodeRun reads what AppendRun wrote. It returns an error that wraps
// ErrVersion or ErrCorrupt.
func DecodeRun(record []byte) (Run, error) {
	d, err := openRecord("run", record, runVersion)
	if err != nil {
		return Run{}, err
	}
	texts := d.unprintable()
	cursorIn, cursorOut := d.cursor(), d.cursor()
	if d.err != nil {
		return Run{}, d.err
	}
	var run Run
	if err := d.json(&run); err != nil {
		return Run{}, err
	}
	if !cursorIn.IsStart() {
		run.Receipt.CursorIn = cursorIn
	}
	if !cursorOut.IsStart() {
		run.Receipt.CursorOut = cursorOut
	}
	if err := restore(runTexts(&run), texts); err != nil {
		return Run{}, err
	}
	return run, nil
}

// AppendConflict appends a conflict's record to dst. It returns an error if an
// instant has a year that JSON cannot write.
func AppendConflict(dst []byte, conflict *Conflict) ([]byte, error) {
	dst = appendUnprintable(append(dst, conflictVersion), conflictTexts(conflict))
	return appendJSON(dst, "conflict", conflict)
}

// DecodeConflict reads what AppendConflict wrote. It returns an error that wraps
// ErrVersion or ErrCorrupt.
func DecodeConflict(record []byte) (Conflict, error) {
	d, err := openRecord("conflict", record, conflictVersion)
	if err != nil {
		return Conflict{}, err
	}
	texts := d.unprintable()
	if d.err != nil {
		return Conflict{}, d.err
	}
	var conflict Conflict
	if err := d.json(&conflict); err != nil {
		return Conflict{}, err
	}
	if err := restore(conflictTexts(&conflict), texts); err != nil {
		return Conflict{}, err
	}
	return conflict, nil
}

// AppendTransition appends a transition's record to dst. It returns an error if
// its instant has a year that JSON cannot write. Its texts are for a person:
// bytes in them that are not UTF-8 are replaced.
func AppendTransition(dst []byte, transition *state.Transition) ([]byte, error) {
	return appendJSON(append(dst, transitionVersion), "transition", transition)
}

// DecodeTransition reads what AppendTransition wrote. It returns an error that
// wraps ErrVersion or ErrCorrupt.
func DecodeTransition(record []byte) (state.Transition, error) {
	d, err := openRecord("transition", record, transitionVersion)
	if err != nil {
		return state.Transition{}, err
	}
	var transition state.Transition
	if err := d.json(&transition); err != nil {
		return state.Transition{}, err
	}
	return transition, nil
}

// runTexts are the texts of a run that are compared or sent, and so must come
// back byte for byte. The list is part of the record's format: it may only grow
// at its end.
func runTexts(run *Run) []*string {
	texts := []*string{
		&run.Scope, &run.Lineage, &run.Receipt.RunID, &run.Receipt.Job, &run.Receipt.Action,
		&run.Receipt.Endpoint, &run.Receipt.Filter, &run.Receipt.Order, &run.Receipt.Contract,
		&run.Receipt.Supersedes, &run.Receipt.SupersededBy, &run.Receipt.FetchedIDsHash, &run.Receipt.Digest,
	}
	if d := run.Definition; d != nil {
		texts = append(texts, &d.Endpoint, &d.Filter, &d.Order, &d.Action, &d.Contract, &d.Cutoff, &d.Once)
	}
	return texts
}

// conflictTexts is to a conflict what runTexts is to a run.
func conflictTexts(conflict *Conflict) []*string {
	return []*string{&conflict.RunID, &conflict.ID}
}

// unprintable returns the cursor if JSON cannot carry it, and else the start.
func unprintable(c pager.Cursor) pager.Cursor {
	if token, ok := c.Token(); ok && !utf8.ValidString(token) {
		return c
	}
	return pager.Cursor{}
}

// appendUnprintable appends those of the texts that JSON cannot carry, each
// after its place in the list.
func appendUnprintable(dst []byte, texts []*string) []byte {
	n := 0
	for _, text := range texts {
		if !utf8.ValidString(*text) {
			n++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	for i, text := range texts {
		if !utf8.ValidString(*text) {
			dst = appendString(binary.AppendUvarint(dst, uint64(i)), *text)
		}
	}
	return dst
}

// placedText is a text with its place in a list of texts.
type placedText struct {
	place uint64
	text  string
}

func (d *decoder) unprintable() []placedText {
	var texts []placedText
	for range d.count() {
		texts = append(texts, placedText{place: d.uvarint(), text: d.string()})
	}
	return texts
}

// restore puts the texts that JSON could not carry in their places.
func restore(texts []*string, placed []placedText) error {
	for _, p := range placed {
		if p.place >= uint64(len(texts)) {
			return fmt.Errorf("%w: a record names a text that it does not have", ErrCorrupt)
		}
		*texts[p.place] = p.text
	}
	return nil
}

func appendJSON(dst []byte, what string, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("write a %s record: %w", what, err)
	}
	return append(dst, text...), nil
}

// json reads the rest of the record. Names that this build does not know came
// from a newer one: dropping them would lose them at the next write.
func (d *decoder) json(value any) error {
	dec := json.NewDecoder(bytes.NewReader(d.rest))
	dec.DisallowUnknownFields()
	strict := dec.Decode(value)
	if strict == nil {
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: a %s record has bytes after its end", ErrCorrupt, d.what)
		}
		return nil
	}
	if json.Valid(d.rest) && json.Unmarshal(d.rest, value) == nil {
		return fmt.Errorf("%w: a %s record: %w", ErrVersion, d.what, strict)
	}
	return fmt.Errorf("%w: a %s record: %w", ErrCorrupt, d.what, strict)
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// row is one line of a listing: its cells, and the same as JSON.
type row struct {
	cells []string
	value any
}

// column is a column of a table.
type column struct {
	head string
	// least is the width down to which a terminal may cut it; 0 for one that is
	// always whole.
	least int
	// spare says that it is left out before a table is wider than its terminal; of
	// several the last one first.
	spare bool
}

// rows prints a listing as it comes: JSON lines, or a table.
type rows struct {
	encoder *json.Encoder
	table   *table
}

func newRows(std streams, asJSON bool, columns ...column) *rows {
	if asJSON {
		encoder := json.NewEncoder(std.answers())
		encoder.SetEscapeHTML(false)
		return &rows{encoder: encoder}
	}
	return &rows{table: &table{out: std.out, width: std.width, columns: columns}}
}

func (r *rows) add(line row) error {
	if r.encoder != nil {
		return r.encoder.Encode(line.value)
	}
	return r.table.add(line.cells)
}

// flush prints what is left of a table, its head at least.
func (r *rows) flush() error {
	if r.table == nil {
		return nil
	}
	return r.table.flush()
}

const (
	tableGap = 2
	// tableSample is how many rows the widths of the columns are taken from: a
	// listing of a million items must neither wait nor be kept.
	tableSample = 1000
)

// table prints rows in columns. On a terminal it is no wider than that: texts are
// cut with an ellipsis, by the width that they are shown in. Anywhere else nothing
// is cut.
type table struct {
	out     io.Writer
	width   int // of the terminal; 0 where there is none
	columns []column

	sample [][]string
	widths []int // once they are settled; -1 for a column that is left out
}

func (t *table) add(cells []string) error {
	shown := make([]string, len(cells))
	for i, cell := range cells {
		shown[i] = oneLine(cell)
	}
	if t.widths != nil {
		return t.print(shown)
	}
	t.sample = append(t.sample, shown)
	if len(t.sample) < tableSample {
		return nil
	}
	return t.flush()
}

func (t *table) flush() error {
	if t.widths == nil {
		t.settle()
		head := make([]string, len(t.columns))
		for i, c := range t.columns {
			head[i] = c.head
		}
		if err := t.print(head); err != nil {
			return err
		}
	}
	for _, cells := range t.sample {
		if err := t.print(cells); err != nil {
			return err
		}
	}
	t.sample = nil
	return nil
}

// settle decides on the widths of the columns.
func (t *table) settle() {
	t.widths = make([]int, len(t.columns))
	for i, c := range t.columns {
		t.widths[i] = uniseg.StringWidth(c.head)
		for _, cells := range t.sample {
			t.widths[i] = max(t.widths[i], uniseg.StringWidth(cells[i]))
		}
	}
	if t.width == 0 {
		return
	}
	for i := len(t.columns) - 1; i >= 0 && t.total(true) > t.width; i-- {
		if t.columns[i].spare {
			t.widths[i] = -1
		}
	}
	for t.total(false) > t.width {
		// The column with the most to give gives one.
		most, at := 0, -1
		for i, c := range t.columns {
			if give := t.widths[i] - c.least; c.least > 0 && give > most {
				most, at = give, i
			}
		}
		if at < 0 {
			return // a terminal that is too narrow wraps
		}
		t.widths[at]--
	}
}

// total is the width of a line; cut is that of one that is cut as far as may be.
func (t *table) total(cut bool) int {
	sum := -tableGap
	for i, width := range t.widths {
		if width < 0 {
			continue
		}
		if least := t.columns[i].least; cut && least > 0 {
			width = min(width, least)
		}
		sum += width + tableGap
	}
	return sum
}

func (t *table) print(cells []string) error {
	var line strings.Builder
	for i, cell := range cells {
		if t.widths[i] < 0 {
			continue
		}
		if t.width > 0 && t.columns[i].least > 0 {
			cell = ellipsis(cell, t.widths[i])
		}
		if i > 0 {
			line.WriteString(strings.Repeat(" ", tableGap))
		}
		line.WriteString(cell)
		if missing := t.widths[i] - uniseg.StringWidth(cell); missing > 0 {
			line.WriteString(strings.Repeat(" ", missing))
		}
	}
	_, err := fmt.Fprintln(t.out, strings.TrimRight(line.String(), " "))
	return err
}

// ellipsis cuts a text to a width in which it is shown. What a person takes for one
// character is never cut apart.
func ellipsis(text string, width int) string {
	if uniseg.StringWidth(text) <= width {
		return text
	}
	var kept strings.Builder
	left := width - 1
	for clusters := uniseg.NewGraphemes(text); clusters.Next(); {
		if left -= clusters.Width(); left < 0 {
			break
		}
		kept.WriteString(clusters.Str())
	}
	return kept.String() + "…"
}

// oneLine keeps what an API or a handler said from breaking a table, or a
// terminal: it quotes whatever is not plainly printable.
func oneLine(text string) string {
	if text == "" {
		return "-"
	}
	hidden := func(r rune) bool { return !strconv.IsPrint(r) }
	if !utf8.ValidString(text) || slices.ContainsFunc([]rune(text), hidden) {
		return strconv.Quote(text)
	}
	return text
}

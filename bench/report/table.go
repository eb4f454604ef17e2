package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/everypage-go/everypage/bench/measure"
)

// Line is a row of the table with its figures.
type Line struct {
	Name   string
	Figure string // the median
	Spread string // from the least to the most of all rounds
	Bar    string
	Met    string
	Beside string
	Rounds int
	Missed bool
	// Limit says why the bar is not met; empty where it is.
	Limit string
}

// Lines returns the rows of a family that was measured.
func Lines(family measure.Family, rounds []measure.Round) []Line {
	if len(rounds) == 0 {
		return nil
	}
	lines := make([]Line, len(family.Rows))
	for i, row := range family.Rows {
		figures := measure.Over(rounds, row.Of)
		median := measure.Median(figures)
		line := Line{
			Name: row.Name, Figure: number(median) + row.Unit, Rounds: len(rounds), Bar: "–", Met: "–",
			Spread: number(slices.Min(figures)) + " – " + number(slices.Max(figures)),
		}
		if row.Bar != nil {
			line.Bar, line.Met = row.Bar.String(), "yes"
			if !row.Bar.Met(median) {
				line.Met, line.Missed, line.Limit = "**no**", true, cmp.Or(row.Limit, "no profile of it has been written up.")
			}
		}
		var beside []string
		for _, a := range row.Beside {
			if figure := measure.Median(measure.Over(rounds, measure.Metric(a.Side, a.Metric))); figure != 0 {
				beside = append(beside, a.Side+" "+number(figure)+" "+a.Unit)
			}
		}
		line.Beside = strings.Join(beside, ", ")
		lines[i] = line
	}
	return lines
}

// number writes a figure with three digits that mean something, and the thousands
// of a large one apart.
func number(f float64) string {
	switch {
	case f >= 1000:
		digits := strconv.FormatFloat(f, 'f', 0, 64)
		for at := len(digits) - 3; at > 0; at -= 3 {
			digits = digits[:at] + "," + digits[at:]
		}
		return digits
	case f >= 100:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case f >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'f', 2, 64)
}

// Plain returns lines as text for a terminal.
func Plain(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		verdict := ""
		if l.Bar != "–" {
			verdict = fmt.Sprintf("  bar %s: %s", l.Bar, strings.Trim(l.Met, "*"))
		}
		fmt.Fprintf(&b, "  %-10s %s (%s)%s\n", l.Figure, l.Name, l.Spread, verdict)
		if l.Beside != "" {
			fmt.Fprintf(&b, "             %s\n", l.Beside)
		}
	}
	return b.String()
}

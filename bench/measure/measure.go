// Package measure compares ways to do the same work. The ways take turns, round
// after round, and are compared within a round: machines differ and drift, and a
// ratio of two figures that were taken seconds apart holds where the figures
// themselves do not.
package measure

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Sample is what one turn of one side gave: figures by their name.
type Sample map[string]float64

// Round is one turn of every side, by the side's name.
type Round map[string]Sample

// Side is one way to do a family's work.
type Side struct {
	Name string
	// Run does the work once, from a clean start.
	Run func(ctx context.Context) (Sample, error)
}

// Family is a group of sides that are measured together.
type Family struct {
	// Name chooses the family on the command line, such as "raw/random/1".
	Name string
	// Title is what the families of a kind have in common, such as "Raw Pebble".
	Title string
	// Work says what is done, for a reader of the table.
	Work string
	// Means says what the figures mean to somebody who chooses.
	Means string
	// Sides take turns. A family may have a single one.
	Sides []Side
	// Rows are read off the rounds.
	Rows []Row
	// Check returns an error if a promise was broken by what the family measures.
	// It crashes at a point that seed chooses. nil checks nothing.
	Check func(ctx context.Context, seed uint64) error
	// Long families take minutes a round. They have fewer rounds, and end earlier where
	// the time for all of them does.
	Long bool
	// Skip says what is missing on this machine; empty where nothing is.
	Skip func() string
}

// Row is one line of the table.
type Row struct {
	// Name says what is compared.
	Name string
	// Of reads the row's figure off a round.
	Of func(Round) float64
	// Unit follows the figure, such as "×" or "bytes".
	Unit string
	// Bar is what the figure is held against; nil where there is none.
	Bar *Bar
	// Limit says, where the bar is not met, what the profile shows and what the
	// limit is.
	Limit string
	// Beside are absolute figures that stand beside it.
	Beside []Absolute
}

// Absolute is a figure of one side.
type Absolute struct {
	Side, Metric, Unit string
}

// Bar is a bound of a figure.
type Bar struct {
	Value  float64
	AtMost bool // else at least
}

// AtLeast returns the bar that a figure must reach.
func AtLeast(value float64) *Bar { return &Bar{Value: value} }

// AtMost returns the bar that a figure must not pass.
func AtMost(value float64) *Bar { return &Bar{Value: value, AtMost: true} }

// Met reports whether a figure meets the bar.
func (b *Bar) Met(figure float64) bool {
	if b.AtMost {
		return figure <= b.Value
	}
	return figure >= b.Value
}

func (b *Bar) String() string {
	if b.AtMost {
		return fmt.Sprintf("≤ %v", b.Value)
	}
	return fmt.Sprintf("≥ %v", b.Value)
}

// Ratio returns the row's figure for one side's metric over another's.
func Ratio(side, over, metric string) func(Round) float64 {
	return func(r Round) float64 { return r[side][metric] / r[over][metric] }
}

// Metric returns the row's figure for a metric of one side.
func Metric(side, metric string) func(Round) float64 {
	return func(r Round) float64 { return r[side][metric] }
}

// Median returns the middle of the figures, or the mean of the two in the middle.
func Median(figures []float64) float64 {
	if len(figures) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(figures))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Over returns what of reads off each round.
func Over(rounds []Round, of func(Round) float64) []float64 {
	figures := make([]float64, len(rounds))
	for i, round := range rounds {
		figures[i] = of(round)
	}
	return figures
}

// Measure measures a family: in each round every side has one turn, and each round
// begins with another side. It ends early, after at least one round, where another
// one would not end before until; the zero time is never.
func (f *Family) Measure(ctx context.Context, rounds int, until time.Time, told func(round int, side string, s Sample)) ([]Round, error) {
	var all []Round
	for n := range rounds {
		began := time.Now()
		round := make(Round, len(f.Sides))
		for i := range f.Sides {
			side := f.Sides[(n+i)%len(f.Sides)]
			sample, err := side.Run(ctx)
			if err != nil {
				return all, fmt.Errorf("%s: %s: %w", f.Name, side.Name, err)
			}
			round[side.Name] = sample
			told(n, side.Name, sample)
		}
		all = append(all, round)
		if took := time.Since(began); !until.IsZero() && time.Now().Add(took).After(until) {
			break
		}
	}
	return all, nil
}

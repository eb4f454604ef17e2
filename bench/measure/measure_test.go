package measure_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/everypage-go/everypage/bench/measure"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		figures []float64
		want    float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := measure.Median(c.figures); got != c.want {
			t.Errorf("%v: %v, want %v", c.figures, got, c.want)
		}
	}
}

func TestSidesTakeTurnsAndRatiosAreOfARound(t *testing.T) {
	var turns []string
	side := func(name string, figures ...float64) measure.Side {
		return measure.Side{Name: name, Run: func(context.Context) (measure.Sample, error) {
			turns = append(turns, name)
			figure := figures[0]
			figures = figures[1:]
			return measure.Sample{"x": figure}, nil
		}}
	}
	// The machine halves its speed in the middle: the ratio stays.
	f := measure.Family{Sides: []measure.Side{side("a", 100, 50, 50), side("b", 200, 100, 100)}}
	rounds, err := f.Measure(t.Context(), 3, time.Time{}, func(int, string, measure.Sample) {})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "b", "a", "a", "b"}; !slices.Equal(turns, want) {
		t.Errorf("turns %v, want %v", turns, want)
	}
	if got := measure.Over(rounds, measure.Ratio("a", "b", "x")); !slices.Equal(got, []float64{0.5, 0.5, 0.5}) {
		t.Errorf("ratios %v", got)
	}
}

func TestRoundsEndInTimeAndWithAnError(t *testing.T) {
	broken := errors.New("broken")
	f := measure.Family{Name: "f", Sides: []measure.Side{{Name: "s", Run: func(context.Context) (measure.Sample, error) { return measure.Sample{}, nil }}}}
	rounds, err := f.Measure(t.Context(), 5, time.Now().Add(-time.Hour), func(int, string, measure.Sample) {})
	if err != nil || len(rounds) != 1 {
		t.Errorf("%d rounds after the time, %v", len(rounds), err)
	}
	f.Sides[0].Run = func(context.Context) (measure.Sample, error) { return nil, broken }
	if _, err := f.Measure(t.Context(), 5, time.Time{}, func(int, string, measure.Sample) {}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestBars(t *testing.T) {
	if b := measure.AtLeast(0.5); b.Met(0.4) || !b.Met(0.5) || b.String() != "≥ 0.5" {
		t.Errorf("%v", b)
	}
	if b := measure.AtMost(2); b.Met(2.1) || !b.Met(2) || b.String() != "≤ 2" {
		t.Errorf("%v", b)
	}
}

package main

import (
	"testing"

	"github.com/everypage-go/everypage/bench/rows"
)

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		args []string
		good bool
	}{
		{nil, true},
		{[]string{"-quick"}, true},
		{[]string{"-rounds", "0"}, false},
		{[]string{"-rows", "["}, false},
		{[]string{"-write", "docs"}, false},
		{[]string{"-quick", "-results", "kept"}, false},
		{[]string{"-side", "engine", "-results", "kept"}, false},
		{[]string{"-write", "docs", "-results", "kept"}, true},
		{[]string{"raw"}, false},
	} {
		if _, err := parse(c.args); (err == nil) != c.good {
			t.Errorf("%q: %v", c.args, err)
		}
	}
}

func TestRowsAreChosenByNameBeginningAndPattern(t *testing.T) {
	all := families(rows.Setup{Items: quickItems}, 1)
	for chosen, want := range map[string]int{
		"*": len(all), "none": 0, "raw": 4, "raw/": 4, "raw/random": 2, "raw/random/1": 1, "raw/*/16": 2, "river,dbos": 4, "ra": 0, "sqlite": 1,
	} {
		got := 0
		for _, f := range all {
			if (options{rows: chosen}).chosen(f.Name) {
				got++
			}
		}
		if got != want {
			t.Errorf("-rows %s chooses %d families, want %d", chosen, got, want)
		}
	}
}

// Every row is held against what the project asks of it, and names no side that
// its family has not.
func TestFamiliesAreWhole(t *testing.T) {
	names := make(map[string]bool)
	for _, f := range families(rows.Setup{Items: quickItems}, 1) {
		if names[f.Name] {
			t.Errorf("two families are called %s", f.Name)
		}
		names[f.Name] = true
		if f.Title == "" || f.Work == "" || f.Means == "" || len(f.Sides) == 0 || len(f.Rows) == 0 {
			t.Errorf("%s does not say what it does and means", f.Name)
		}
		for _, row := range f.Rows {
			if row.Bar == nil || row.Of == nil || row.Name == "" {
				t.Errorf("%s: a row without a bar, a figure or a name", f.Name)
			}
		}
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// On a terminal a table is no wider than that; anywhere else nothing is cut.
func TestTableFitsItsTerminal(t *testing.T) {
	columns := []column{{head: "ITEM", least: 8}, {head: "STATE"}, {head: "UPDATED", spare: true}, {head: "DETAIL", least: 8}}
	lines := [][]string{
		{"a-rather-long-id-of-an-item-0001", "done", "2026-03-02T09:00:00Z", ""},
		{"請求書番号００１番の長いもの", "held", "2026-03-02T09:00:00Z", "👩‍👩‍👧‍👦 it failed as often as the job allows"},
		{"z\x1b[31m", "pending", "", "two\nlines"},
	}
	show := func(width int) []string {
		var out strings.Builder
		table := &table{out: &out, width: width, columns: columns}
		for _, cells := range lines {
			if err := table.add(cells); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.flush(); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	}
	for _, width := range []int{34, 40, 60, 80, 100, 200} {
		for _, line := range show(width) {
			if got := uniseg.StringWidth(line); got > width {
				t.Errorf("at %d columns a line has %d: %s", width, got, line)
			}
		}
	}
	narrow, wide, piped := strings.Join(show(40), "\n"), strings.Join(show(200), "\n"), strings.Join(show(0), "\n")
	if !strings.Contains(narrow, "…") || strings.Contains(narrow, "UPDATED") || !strings.Contains(narrow, "pending") {
		t.Errorf("at 40 columns it is\n%s", narrow)
	}
	if wide != piped || strings.Contains(piped, "…") || !strings.Contains(piped, lines[0][0]) {
		t.Errorf("piped it is\n%s\nand at 200 columns\n%s", piped, wide)
	}
	if strings.Contains(piped, "\x1b") || len(show(0)) != 4 {
		t.Errorf("it is broken by what stands in it:\n%q", piped)
	}
}

func TestEllipsis(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"請求書番号", 10, "請求書番号"},
		{"請求書番号", 9, "請求書番…"},
		{"請求書番号", 8, "請求書…"}, // a wide character is not cut in two
		{"👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, "👩‍👩‍👧‍👦…"},
	} {
		if got := ellipsis(c.text, c.width); got != c.want {
			t.Errorf("%q at %d columns is %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

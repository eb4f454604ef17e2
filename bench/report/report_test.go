package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/report"
)

func family() measure.Family {
	return measure.Family{
		Name: "raw/one", Title: "Raw", Work: "some work", Means: "What it means.",
		Rows: []measure.Row{
			{Name: "against raw", Of: measure.Ratio("engine", "raw", "items/s"), Unit: "×", Bar: measure.AtLeast(0.5), Limit: "the disk is the limit", Beside: []measure.Absolute{{Side: "engine", Metric: "items/s", Unit: "items/s"}}},
			{Name: "bytes", Of: measure.Metric("engine", "bytes"), Unit: " bytes", Bar: measure.AtMost(40), Limit: "never shown"},
		},
	}
}

func rounds(ratios ...float64) (all []measure.Round) {
	for _, ratio := range ratios {
		all = append(all, measure.Round{"engine": {"items/s": 1000 * ratio, "bytes": 40}, "raw": {"items/s": 1000}})
	}
	return all
}

func TestTheDocumentIsMadeOfWhatIsKept(t *testing.T) {
	results, docs := t.TempDir(), t.TempDir()
	file := filepath.Join(docs, "performance.md")
	all := []measure.Family{family()}
	if err := report.Write(file, results, all, nil); err == nil || !strings.Contains(err.Error(), "-rows raw/one") {
		t.Errorf("a result that is missing gives %v", err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	kept := report.Result{Family: "raw/one", Work: "some work", MeasuredAt: at, Machine: report.Machine{Processor: "a processor", Cores: 2}, Rounds: rounds(0.4, 0.2, 0.9), Crashes: 3}
	if err := report.Save(results, kept); err != nil {
		t.Fatal(err)
	}
	if err := report.Write(file, results, all, []string{"pebble v2"}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| against raw | 0.40× (0.20 – 0.90) | ≥ 0.5 | **no** | engine 400 items/s | 3 |",
		"| bytes | 40.0 bytes (40.0 – 40.0) | ≤ 40 | yes |",
		"the disk is the limit", "a processor, 2 cores", "2026-01-02", "In 3 crashes", "pebble v2", "What it means.",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the document lacks %q", want)
		}
	}
	if strings.Contains(string(text), "never shown") {
		t.Error("the limit of a bar that is met is shown")
	}
}

func TestPlotIsASmallSVG(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plot.svg")
	lengths := []int{10_000, 100_000, 1_000_000, 10_000_000}
	err := report.Plot(file, []report.Curve{
		{Name: "random IDs", Length: lengths, Throughput: []float64{2e5, 2e5, 1.5e5, 1e5}, PeakMiB: []float64{40, 45, 60, 70}},
		{Name: "sequential IDs", Length: lengths, Throughput: []float64{3e5, 3e5, 3e5, 3e5}, PeakMiB: []float64{40, 42, 44, 45}},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 60<<10 || !strings.Contains(string(text), "<svg") || !strings.Contains(string(text), "random IDs") {
		t.Errorf("%d bytes: %.200s", len(text), text)
	}
}

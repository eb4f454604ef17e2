package report

import (
	"fmt"
	"image/color"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Curve is what one kind of IDs did at each length of a list.
type Curve struct {
	Name       string
	Length     []int
	Throughput []float64 // items/s
	PeakMiB    []float64
}

// Plot writes throughput and memory against the length of the list, side by side.
func Plot(file string, curves []Curve) error {
	throughput := panel("Throughput", "items a second, thousands")
	memory := panel("Peak memory of the process", "MiB")
	for i, c := range curves {
		thousands := make([]float64, len(c.Throughput))
		for n, f := range c.Throughput {
			thousands[n] = f / 1000
		}
		if err := add(throughput, c, thousands, i); err != nil {
			return err
		}
		if err := add(memory, c, c.PeakMiB, i); err != nil {
			return err
		}
	}
	throughput.Y.Max *= 1.1
	memory.Y.Max = max(1.1*memory.Y.Max, 130) // the bar of 128 MiB is inside
	memory.Legend.Top = true
	canvas := vgsvg.New(24*vg.Centimeter, 9*vg.Centimeter)
	grid := [][]*plot.Plot{{throughput, memory}}
	tiles := draw.Tiles{Rows: 1, Cols: 2, PadX: vg.Centimeter, PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 8 * vg.Millimeter}
	whole := draw.New(canvas)
	whole.FillPolygon(color.White, corners(whole)) // readable on a dark page too
	for i, row := range plot.Align(grid, tiles, whole) {
		for n := range row {
			grid[i][n].Draw(row[n])
		}
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := canvas.WriteTo(out); err != nil {
		_ = out.Close() // the first error counts
		return err
	}
	return out.Close()
}

func corners(c draw.Canvas) []vg.Point {
	return []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}}
}

func panel(title, unit string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text = "items in the list"
	p.Y.Label.Text = unit
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = plot.TickerFunc(decades)
	p.Y.Min = 0
	p.Legend.Left = true // the names stand behind their marks, however wide a viewer's font is
	p.Legend.Padding = vg.Millimeter
	p.Add(plotter.NewGrid())
	return p
}

// decades marks the powers of ten.
func decades(least, most float64) (ticks []plot.Tick) {
	names := map[float64]string{1e4: "10,000", 1e5: "100,000", 1e6: "1 million", 1e7: "10 million"}
	for at := 1.0; at <= most*1.001; at *= 10 {
		if at < least*0.999 {
			continue
		}
		name := names[at]
		if name == "" {
			name = fmt.Sprintf("%.0f", at)
		}
		ticks = append(ticks, plot.Tick{Value: at, Label: name})
	}
	return ticks
}

func add(p *plot.Plot, c Curve, y []float64, index int) error {
	points := make(plotter.XYs, len(y))
	for i := range y {
		points[i].X, points[i].Y = float64(c.Length[i]), y[i]
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Width = vg.Points(1.5)
	line.Color = []color.Color{color.RGBA{R: 0x1f, G: 0x6f, B: 0xb4, A: 0xff}, color.RGBA{R: 0xd9, G: 0x5f, B: 0x02, A: 0xff}}[index%2]
	marks.Color, marks.Shape = line.Color, []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}}[index%2]
	p.Add(line, marks)
	p.Legend.Add(c.Name, line, marks)
	p.Y.Min = 0
	return nil
}

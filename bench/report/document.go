package report

import (
	"bytes"
	_ "embed" // the template
	"fmt"
	"os"
	"text/template"
	"time"

	"github.com/everypage-go/everypage/bench/measure"
)

// The document is its prose, which people write, around what was measured.
//
//go:embed performance.md.tmpl
var document string

// Section is the families of a kind in the document.
type Section struct {
	Title   string
	Means   string
	Works   []string
	Lines   []Line
	Skipped string
}

// Document is what the template gets.
type Document struct {
	Machines []Machine // most often one
	First    time.Time
	Last     time.Time
	Sections []Section
	Crashes  int
	Versions []string
}

// Lines returns all rows in order.
func (d Document) Lines() (all []Line) {
	for _, s := range d.Sections {
		all = append(all, s.Lines...)
	}
	return all
}

// Missed returns the rows whose bar is not met.
func (d Document) Missed() (all []Line) {
	for _, l := range d.Lines() {
		if l.Missed {
			all = append(all, l)
		}
	}
	return all
}

// Write writes the document of everything that is kept in a folder of results.
func Write(file, results string, families []measure.Family, versions []string) error {
	d := Document{Versions: versions}
	for _, family := range families {
		result, found, err := Load(results, family.Name)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("there is no result of %s in %s: measure it with -rows %s", family.Name, results, family.Name)
		}
		d.add(family, result)
	}
	made, err := template.New("performance.md").Funcs(template.FuncMap{
		"day":  func(t time.Time) string { return t.UTC().Format("2006-01-02") },
		"ms":   func(t time.Duration) string { return number(float64(t)/float64(time.Millisecond)) + " ms" },
		"busy": func(m Machine) bool { return m.Load > 0.5 },
		"load": func(load float64) string { return fmt.Sprintf("%.1f", load) },
		"gib":  func(mib int64) string { return number(float64(mib)/1024) + " GiB" },
	}).Parse(document)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := made.Execute(&text, d); err != nil {
		return err
	}
	return os.WriteFile(file, text.Bytes(), 0o644)
}

func (d *Document) add(family measure.Family, r Result) {
	if n := len(d.Sections); n == 0 || d.Sections[n-1].Title != family.Title {
		d.Sections = append(d.Sections, Section{Title: family.Title, Means: family.Means, Skipped: r.Skipped})
	}
	section := &d.Sections[len(d.Sections)-1]
	section.Works = append(section.Works, r.Work)
	section.Lines = append(section.Lines, Lines(family, r.Rounds)...)
	d.Crashes += r.Crashes
	if d.First.IsZero() || r.MeasuredAt.Before(d.First) {
		d.First = r.MeasuredAt
	}
	if r.MeasuredAt.After(d.Last) {
		d.Last = r.MeasuredAt
	}
	for i := range d.Machines {
		known, this := d.Machines[i], r.Machine
		known.Sync, this.Sync, known.Load, this.Load = 0, 0, 0, 0
		if known == this {
			return
		}
	}
	d.Machines = append(d.Machines, r.Machine)
}

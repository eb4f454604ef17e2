package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/internal/drill"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/sink"
)

const (
	// drillJob names the job, and the action, of a drill.
	drillJob = "drill"
	// drillBackoff is short, since nothing of a drill gets better by waiting.
	drillBackoff = 20 * time.Millisecond
	// drillWidth is the width of the table where no terminal says one.
	drillWidth = 110
)

// newDrillRun is the process that walks for drill --url.
func newDrillRun(std streams) *cobra.Command {
	var listURL, sinkURL, ledger string
	cmd := &cobra.Command{
		Use: "drill-run", Hidden: true, Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return drillRun(cmd.Context(), std, listURL, sinkURL, ledger)
		},
	}
	cmd.Flags().StringVar(&listURL, "list", "", "URL of the list")
	cmd.Flags().StringVar(&sinkURL, "sink", "", "URL that items are posted to")
	cmd.Flags().StringVar(&ledger, "ledger", "", "folder of the ledger")
	return cmd
}

func drillRun(ctx context.Context, std streams, listURL, sinkURL, dir string) (err error) {
	list, err := adapters.List[json.RawMessage](nil, adapters.KeysetCatalogue(), listURL, &adapters.Options{PageSize: 3})
	if err != nil {
		return err
	}
	endpoint, err := sink.New(sink.Config[json.RawMessage]{
		URL:  sinkURL,
		Body: func(item everypage.Item[json.RawMessage]) (any, error) { return item.Value, nil },
	})
	if err != nil {
		return err
	}
	ledger, err := openLedger(dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	receipt, err := everypage.Run(ctx, ledger, everypage.Job[json.RawMessage]{
		Name: drillJob, Pager: list, Action: drillJob, Handle: endpoint.Handle,
		Options: everypage.Options{Backoff: everypage.Backoff{Initial: drillBackoff}},
	})
	return conclude(std, receipt, err, dir)
}

// printDrill prints what was expected beside what happened, each in lines of its
// column's width.
func printDrill(std streams, results []drill.Result) error {
	width := std.width
	if width == 0 {
		width = drillWidth
	}
	test := 0
	for _, r := range results {
		test = max(test, len(r.Test))
	}
	const mark = 4
	text := max(20, (width-mark-test-3*tableGap)/2)
	var b strings.Builder
	line := func(cells ...string) {
		widths := []int{mark, test, text, text}
		var s strings.Builder
		for i, cell := range cells {
			s.WriteString(cell + strings.Repeat(" ", max(0, widths[i]-uniseg.StringWidth(cell))+tableGap))
		}
		b.WriteString(strings.TrimRight(s.String(), " ") + "\n")
	}
	line("", "TEST", "EXPECTED", "HAPPENED")
	for _, r := range results {
		verdict := "ok"
		happened := wrap(visible.Line(r.Happened), text)
		if !r.Passed {
			verdict = "FAIL"
			happened = append(happened, wrap("To mend: "+visible.Line(r.Advice), text)...)
		}
		expected := wrap(r.Expected, text)
		for i := range max(len(expected), len(happened)) {
			cells := []string{"", "", "", ""}
			if i == 0 {
				cells[0], cells[1] = verdict, r.Test
			}
			if i < len(expected) {
				cells[2] = expected[i]
			}
			if i < len(happened) {
				cells[3] = happened[i]
			}
			line(cells...)
		}
	}
	_, err := fmt.Fprint(std.out, b.String())
	return err
}

// wrap breaks a text into lines of at most a width, between words where it can.
func wrap(text string, width int) []string {
	var lines []string
	var line strings.Builder
	used := 0
	next := func() {
		lines = append(lines, line.String())
		line.Reset()
		used = 0
	}
	for word := range strings.FieldsSeq(text) {
		if used > 0 && used+1+uniseg.StringWidth(word) > width {
			next()
		}
		if used > 0 {
			line.WriteString(" ")
			used++
		}
		for clusters := uniseg.NewGraphemes(word); clusters.Next(); {
			if used > 0 && used+clusters.Width() > width {
				next()
			}
			line.WriteString(clusters.Str())
			used += clusters.Width()
		}
	}
	next()
	return lines
}

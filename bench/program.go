package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/everypage-go/everypage/bench/crash"
	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/report"
	"github.com/everypage-go/everypage/bench/rows"
	"github.com/everypage-go/everypage/bench/workload"
)

// measureAll measures the chosen families. A side that fails ends its family and
// not the others; a broken promise ends everything.
func measureAll(ctx context.Context, o options, families []measure.Family) error {
	families = slices.DeleteFunc(slices.Clone(families), func(f measure.Family) bool { return !o.chosen(f.Name) })
	if len(families) == 0 {
		if o.rows == "none" {
			return nil
		}
		return fmt.Errorf("-rows %s chooses nothing; -list shows what there is", o.rows)
	}
	machine, err := report.Look(ctx, o.dir)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %d cores, %s, %s, %s; append and sync of 4 KiB: %v; load %.1f\n\n", machine.Processor, machine.Cores, machine.System, machine.Go, machine.FileSystem, machine.Sync, machine.Load)
	began := time.Now()
	long := 0
	for _, f := range families {
		if f.Long {
			long++
		}
	}
	var problems []error
	for _, f := range families {
		var until time.Time
		if f.Long && o.budget > 0 { // the long ones share what is left
			until = time.Now().Add((o.budget - time.Since(began)) / time.Duration(long))
			long--
		}
		result, err := measureOne(ctx, o, f, until)
		switch {
		case errors.Is(err, crash.ErrBroken), ctx.Err() != nil:
			return err
		case err != nil:
			fmt.Printf("  failed: %v\n\n", err)
			problems = append(problems, err)
			continue
		}
		result.Machine = machine
		if o.results != "" {
			if err := report.Save(o.results, result); err != nil {
				return err
			}
		}
	}
	fmt.Printf("measured in %v\n", time.Since(began).Round(time.Second))
	return errors.Join(problems...)
}

// measureOne measures a family and checks its promises.
func measureOne(ctx context.Context, o options, f measure.Family, until time.Time) (report.Result, error) {
	fmt.Printf("%s: %s\n", f.Name, f.Work)
	result := report.Result{Family: f.Name, Work: f.Work, MeasuredAt: time.Now().UTC()}
	if f.Skip != nil {
		if result.Skipped = f.Skip(); result.Skipped != "" {
			if os.Getenv("EVERYPAGE_REQUIRE_REAL") == "1" {
				return result, fmt.Errorf("%s would be skipped: %s", f.Name, result.Skipped)
			}
			fmt.Printf("  skipped: %s\n\n", result.Skipped)
			return result, nil
		}
	}
	if o.side != "" {
		f.Sides = slices.DeleteFunc(slices.Clone(f.Sides), func(s measure.Side) bool { return s.Name != o.side })
	}
	rounds := o.rounds
	if f.Long {
		rounds = o.longRounds
	}
	var err error
	result.Rounds, err = f.Measure(ctx, rounds, until, func(n int, side string, s measure.Sample) {
		fmt.Printf("  round %d  %-14s %s\n", n+1, side, sample(s))
	})
	if err != nil {
		return result, err
	}
	if o.side == "" {
		fmt.Print(report.Plain(report.Lines(f, result.Rounds)))
	}
	if f.Check == nil {
		fmt.Println()
		return result, nil
	}
	for n := range uint64(o.crashes) {
		if err := f.Check(ctx, o.seed+n); err != nil {
			return result, fmt.Errorf("%s: %w; again with -rows %s -seed %d", f.Name, err, f.Name, o.seed+n)
		}
		result.Crashes++
	}
	fmt.Printf("  %d crashes at a random sync: nothing that was confirmed was lost\n\n", result.Crashes)
	return result, nil
}

// sample writes a sample's figures in the order of their names.
func sample(s measure.Sample) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		parts = append(parts, fmt.Sprintf("%.4g %s", s[name], name))
	}
	return strings.Join(parts, ", ")
}

// write writes the document and the plot of what is kept.
func write(o options, families []measure.Family) error {
	versions := report.Versions("github.com/cockroachdb/pebble/v2", "github.com/riverqueue/river", "github.com/dbos-inc/dbos-transact-golang", "modernc.org/sqlite")
	if err := report.Write(filepath.Join(o.write, "performance.md"), o.results, families, versions); err != nil {
		return err
	}
	var curves []report.Curve
	for _, ids := range []workload.IDs{workload.Random, workload.Sequential} {
		result, _, err := report.Load(o.results, "length/"+string(ids))
		if err != nil {
			return err
		}
		curve := report.Curve{Name: string(ids) + " IDs"}
		for _, length := range rows.Lengths {
			side := rows.LengthName(length)
			curve.Length = append(curve.Length, length)
			curve.Throughput = append(curve.Throughput, measure.Median(measure.Over(result.Rounds, measure.Metric(side, rows.ItemsPerSecond))))
			curve.PeakMiB = append(curve.PeakMiB, measure.Median(measure.Over(result.Rounds, measure.Metric(side, rows.PeakMiB))))
		}
		curves = append(curves, curve)
	}
	return report.Plot(filepath.Join(o.write, "performance.svg"), curves)
}

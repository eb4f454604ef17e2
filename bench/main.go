// Command bench measures what everypage's ledger costs, against other ways to do
// the same work, and checks on the way that nothing that was confirmed is lost.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/postgres"
	"github.com/everypage-go/everypage/bench/rows"
	"github.com/everypage-go/everypage/bench/workload"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	chosen := flag.String("rows", "*", "families to measure: names or patterns such as raw/random/*, with commas between")
	rounds := flag.Int("rounds", 5, "rounds of each family")
	items := flag.Int("items", 200_000, "length of the lists of the quick families")
	dir := flag.String("dir", os.TempDir(), "folder on the disk to measure")
	divisor := flag.Int("shorter", 1, "make the long lists so many times shorter")
	seed := flag.Uint64("seed", rand.Uint64(), "where the crashes are")
	only := flag.String("side", "", "measure this side alone, such as engine: for a profile")
	cpu := flag.String("cpuprofile", "", "file for a profile of the processor")
	allocations := flag.String("memprofile", "", "file for a profile of the allocations")
	flag.Parse()
	stop, err := profile(*cpu, *allocations)
	if err != nil {
		return err
	}
	defer func() {
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: profile:", err)
		}
	}()
	server := &postgres.Shared{Dir: *dir}
	defer func() {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: stop PostgreSQL:", err)
		}
	}()
	setup := rows.Setup{Dir: *dir, Items: *items, Postgres: server}
	families := []measure.Family{
		rows.Raw(setup, workload.Random, 1, 0.65),
		rows.Raw(setup, workload.Random, 16, 0.6),
		rows.Raw(setup, workload.Sequential, 1, 0.75),
		rows.Raw(setup, workload.Sequential, 16, 0.7),
		rows.AtMostOnce(setup, 5_000),
		rows.River(setup, 1, 1_000),
		rows.River(setup, 16, 2_000),
		rows.DBOS(setup, 1, 2_000),
		rows.DBOS(setup, 16, 2_000),
		rows.SQLite(setup, 5_000),
		rows.DecodeArray(),
		rows.DecodeObject(),
		rows.Allocations(setup),
		rows.Overlap(setup),
		rows.Length(setup, workload.Random, *divisor),
		rows.Length(setup, workload.Sequential, *divisor),
	}
	for _, f := range families {
		if !matches(*chosen, f.Name) {
			continue
		}
		fmt.Printf("%s: %s\n", f.Name, f.Work)
		if f.Skip != nil {
			if missing := f.Skip(); missing != "" {
				fmt.Printf("  skipped: %s\n", missing)
				continue
			}
		}
		if *only != "" {
			f.Sides = slices.DeleteFunc(f.Sides, func(s measure.Side) bool { return s.Name != *only })
			f.Rows = nil
		}
		all, err := f.Measure(ctx, *rounds, time.Time{}, func(n int, side string, s measure.Sample) {
			fmt.Printf("  round %d  %-12s %v\n", n+1, side, s)
		})
		if err != nil {
			return err
		}
		for _, row := range f.Rows {
			figure := measure.Median(measure.Over(all, row.Of))
			verdict := ""
			if row.Bar != nil {
				verdict = fmt.Sprintf(" (bar %v, met: %v)", row.Bar, row.Bar.Met(figure))
			}
			fmt.Printf("  %s: %.3f%s%s\n", row.Name, figure, row.Unit, verdict)
		}
		if f.Check != nil {
			if err := f.Check(ctx, *seed); err != nil {
				return err
			}
			fmt.Println("  crash at a random sync: nothing confirmed was lost")
		}
	}
	return nil
}

// matches reports whether a name is chosen.
func matches(chosen, name string) bool {
	for pattern := range strings.SplitSeq(chosen, ",") {
		if ok, _ := path.Match(pattern, name); ok || pattern == "*" || strings.HasPrefix(name, pattern+"/") {
			return true
		}
	}
	return false
}

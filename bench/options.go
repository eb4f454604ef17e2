package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"time"
)

// The sizes that the bars are about.
const (
	quickItems  = 200_000
	fullRounds  = 5
	longRounds  = 3
	shortItems  = 50_000 // with -quick
	shortFactor = 100
)

// options are what the command line says.
type options struct {
	rows       string
	side       string
	rounds     int
	longRounds int
	budget     time.Duration
	items      int
	shorter    int
	crashes    int
	seed       uint64
	dir        string
	results    string
	write      string
	list       bool
	quick      bool

	profiles profiles
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.rows, "rows", "*", "families to measure, with commas between: names, their beginnings such as raw, or patterns such as raw/*/16; none measures nothing")
	flags.StringVar(&o.side, "side", "", "measure this side alone, such as engine, and keep nothing: for a profile")
	flags.IntVar(&o.rounds, "rounds", fullRounds, "rounds of a family")
	flags.IntVar(&o.longRounds, "long-rounds", longRounds, "rounds of a family of long lists, at most")
	flags.DurationVar(&o.budget, "budget", 0, "end the rounds of long lists so that all is done within this time; each has one at least (default none)")
	flags.IntVar(&o.items, "items", quickItems, "length of the lists of the quick families")
	flags.IntVar(&o.shorter, "shorter", 1, "make the long lists so many times shorter")
	flags.IntVar(&o.crashes, "crashes", 3, "crashes of each family")
	flags.Uint64Var(&o.seed, "seed", rand.Uint64(), "where the first crash of each family is; the next ones follow (default random)")
	flags.StringVar(&o.dir, "dir", os.TempDir(), "folder on the disk to measure")
	flags.StringVar(&o.results, "results", "", "folder to keep results in, so that single rows can be measured again (default nowhere)")
	flags.StringVar(&o.write, "write", "", "folder to write performance.md and performance.svg to, of all results that are kept (default nowhere)")
	flags.BoolVar(&o.list, "list", false, "list the families")
	flags.BoolVar(&o.quick, "quick", false, "few rounds of short lists: for a first look")
	flags.StringVar(&o.profiles.cpu, "cpuprofile", "", "file for a profile of the processor")
	flags.StringVar(&o.profiles.allocations, "memprofile", "", "file for a profile of the allocations")
	flags.StringVar(&o.profiles.mutex, "mutexprofile", "", "file for a profile of what waited for locks")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.quick {
		o.items, o.shorter, o.rounds, o.longRounds = shortItems, shortFactor, 2, 1
	}
	return o, o.validate(flags.Args())
}

func (o options) validate(rest []string) error {
	var problems []error
	if len(rest) > 0 {
		problems = append(problems, fmt.Errorf("%q is no flag", rest))
	}
	if o.rounds < 1 || o.longRounds < 1 || o.items < 1 || o.shorter < 1 || o.crashes < 0 {
		problems = append(problems, errors.New("-rounds, -long-rounds, -items and -shorter must be positive, and -crashes not negative"))
	}
	if _, err := path.Match(o.rows, ""); err != nil {
		problems = append(problems, fmt.Errorf("-rows: %w", err))
	}
	if o.results != "" && (o.items != quickItems || o.shorter != 1 || o.side != "") {
		problems = append(problems, errors.New("-results keeps what was measured at full size with all sides: leave -items, -shorter, -quick and -side out"))
	}
	if o.write != "" && o.results == "" {
		problems = append(problems, errors.New("-write needs -results, the folder of what it writes about"))
	}
	return errors.Join(problems...)
}

// chosen reports whether a family is to be measured.
func (o options) chosen(name string) bool {
	for pattern := range strings.SplitSeq(o.rows, ",") {
		if ok, err := path.Match(pattern, name); err == nil && ok || pattern == "*" || strings.HasPrefix(name, strings.TrimSuffix(pattern, "/")+"/") {
			return true
		}
	}
	return false
}

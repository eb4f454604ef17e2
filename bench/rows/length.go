package rows

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/everypage-go/everypage/bench/child"
	"github.com/everypage-go/everypage/bench/measure"
	"github.com/everypage-go/everypage/bench/workload"
)

// The names of the metrics of long lists.
const (
	PeakMiB      = "peak MiB"
	firstCallMS  = "first call ms"
	bytesPerItem = "bytes/item"
	closedBytes  = "closed bytes/item" // without the compaction
	// ItemsPerSecond is the name of the throughput, for the plot.
	ItemsPerSecond = itemsPerSecond
)

// resumes is how often a run is gone on with in a row.
const resumes = 5

// Lengths are the lengths of the lists of the long families, the shortest first:
// what is compared are the ends, and neighbours of the last one.
var Lengths = [...]int{10_000, 100_000, 1_000_000, 10_000_000} //nolint:gochecknoglobals // a constant table

// Length walks lists of growing length, each in a process of its own, and
// compares throughput, memory, size and the time to go on. divisor makes the
// lists shorter, for a quick look.
func Length(s Setup, ids workload.IDs, divisor int) measure.Family {
	f := measure.Family{
		Name:  "length/" + string(ids),
		Work:  fmt.Sprintf("lists of %s to %s items with %s IDs, one at a time, each in a process of its own", thousands(Lengths[0]/divisor), thousands(Lengths[len(Lengths)-1]/divisor), ids),
		Long:  true,
		Title: "Long lists",
		Means: "What a long list costs that a short one does not. IDs in random order are looked up all over the ledger; numbers that grow touch its end alone. Memory is VmHWM of a process that does nothing else, the program itself included. A run that is gone on with is opened, its last page is read again and looked up, and the first item is called; opening the ledger is no part of that time. The sizes are those of the ledger's folder.",
		Check: checked(workload.Walk{IDs: ids, Concurrency: 1}),
	}
	for _, length := range Lengths {
		f.Sides = append(f.Sides, measure.Side{
			Name: LengthName(length / divisor),
			Run:  func(ctx context.Context) (measure.Sample, error) { return s.long(ctx, ids, length/divisor) },
		})
	}
	throughput, bytes := 0.6, 45.0
	if ids == workload.Sequential {
		throughput, bytes = 0.9, 16
	}
	f.Rows = lengthRows(ids, divisor, throughput, bytes)
	if divisor > 1 { // the bars are about the full length
		for i := range f.Rows {
			f.Rows[i].Bar = nil
		}
	}
	return f
}

// lengthRows are the rows of a family of lengths.
func lengthRows(ids workload.IDs, divisor int, throughput, bytes float64) []measure.Row {
	shortest, short, tenth, most := LengthName(Lengths[0]/divisor), LengthName(Lengths[1]/divisor), LengthName(Lengths[2]/divisor), LengthName(Lengths[3]/divisor)
	beside := func(metric, unit string, sides ...string) (all []measure.Absolute) {
		for _, side := range sides {
			all = append(all, measure.Absolute{Side: side, Metric: metric, Unit: unit})
		}
		return all
	}
	name := func(format string, lengths ...int) string {
		args := make([]any, len(lengths))
		for i, length := range lengths {
			args[i] = thousands(length / divisor)
		}
		return fmt.Sprintf(format, args...) + fmt.Sprintf(": %s IDs", ids)
	}
	return []measure.Row{
		{
			Name: name("throughput at %s items against %s", Lengths[3], Lengths[1]),
			Of:   measure.Ratio(most, short, itemsPerSecond), Unit: "×", Bar: measure.AtLeast(throughput),
			Limit:  "the short list fits into what was written last, and is over before a table of it is compacted; the long one pays for compactions, which share the processors and the disk with the walk.",
			Beside: beside(itemsPerSecond, "items/s", most, short),
		},
		{
			Name: name("peak memory at %s items against %s", Lengths[3], Lengths[2]),
			Of:   measure.Ratio(most, tenth, PeakMiB), Unit: "×", Bar: measure.AtMost(1.25),
			Limit:  "the 32 MiB for what was read fill as the ledger grows past them: at the shorter list they are not full yet, at the longer one they are. It is a bound and does not grow with the list; a smaller CacheSize lowers it, and costs look-ups of random IDs.",
			Beside: beside(PeakMiB, "MiB", most, tenth),
		},
		{
			Name: name("peak memory of the process at %s items, default options", Lengths[3]),
			Of:   measure.Metric(most, PeakMiB), Unit: " MiB", Bar: measure.AtMost(128),
		},
		{
			Name: name("ledger bytes an item, closed and compacted, the ID included"),
			Of:   measure.Metric(most, bytesPerItem), Unit: " bytes", Bar: measure.AtMost(bytes),
			Limit:  "an ID stands once, in its page's record; what leads to it is a key of its own, of the ID itself up to 16 bytes and of a salted hash beyond. Neither random IDs nor hashes can be packed, and the filters for absent IDs take the rest.",
			Beside: beside(closedBytes, "bytes before the compaction", most),
		},
		{
			Name: name("time from Run to the first call when resuming, %s items against %s", Lengths[3], Lengths[0]),
			Of:   measure.Ratio(most, shortest, firstCallMS), Unit: "×", Bar: measure.AtMost(2),
			Limit:  "the 100 IDs of the page that is read again are looked up in a ledger of which nothing is in memory yet: the tables that hold random ones have to be opened and read first, and there are more of them. The time does not grow with the number of pages; numbers that grow stand in few tables.",
			Beside: beside(firstCallMS, "ms", most, shortest),
		},
	}
}

// LengthName is the name of the side that walks a list of the given length.
func LengthName(length int) string { return thousands(length) }

// long walks a list up to its last page, goes on several times, completes the
// run, and compacts the ledger.
func (s Setup) long(ctx context.Context, ids workload.IDs, items int) (sample measure.Sample, err error) {
	err = s.folder(func(dir string) error {
		task := child.Task{Ledger: filepath.Join(dir, "ledger"), IDs: ids, Items: items}
		walked, err := child.Run(ctx, task)
		if err != nil {
			return err
		}
		task.Resume = resumes
		resumed, err := child.Run(ctx, task)
		if err != nil {
			return err
		}
		before, err := size(task.Ledger)
		if err != nil {
			return err
		}
		if err := compact(ctx, filepath.Join(task.Ledger, "db")); err != nil {
			return err
		}
		after, err := size(task.Ledger)
		if err != nil {
			return err
		}
		first := make([]float64, len(resumed.FirstCall))
		for i, took := range resumed.FirstCall {
			first[i] = float64(took) / float64(time.Millisecond)
		}
		pages := items - lastPage(items)
		sample = measure.Sample{
			itemsPerSecond: float64(pages) / walked.Walked.Seconds(),
			PeakMiB:        float64(max(walked.PeakBytes, resumed.PeakBytes)) / (1 << 20),
			firstCallMS:    measure.Median(first),
			bytesPerItem:   float64(after) / float64(items),
			closedBytes:    float64(before) / float64(items),
		}
		return nil
	})
	return sample, err
}

// lastPage is the number of items on the last page, which is not walked.
func lastPage(items int) int { return items - (items-1)/workload.PageSize*workload.PageSize }

// size is the sum of the sizes of the files below a folder.
func size(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		sum += info.Size()
		return err
	})
	return sum, err
}

// compact compacts the database of a closed ledger, with the options that the
// ledger itself gave it: they stand in a file beside its tables.
func compact(ctx context.Context, dir string) error {
	options, err := storedOptions(dir)
	if err != nil {
		return fmt.Errorf("read the ledger's own options: %w", err)
	}
	database, err := pebble.Open(dir, options)
	if err != nil {
		return err
	}
	err = database.Compact(ctx, []byte{0}, []byte{0xff, 0xff}, false)
	return errors.Join(err, database.Close())
}

func storedOptions(dir string) (*pebble.Options, error) {
	found, err := filepath.Glob(filepath.Join(dir, "OPTIONS-*"))
	if err != nil || len(found) == 0 {
		return nil, errors.Join(err, errors.New("there is no file OPTIONS"))
	}
	text, err := os.ReadFile(slices.MaxFunc(found, strings.Compare))
	if err != nil {
		return nil, err
	}
	options := &pebble.Options{Logger: silent{}}
	err = options.Parse(string(text), &pebble.ParseHooks{
		NewFilterPolicy: func(name string) (pebble.FilterPolicy, error) {
			if policy := bloom.FilterPolicy(10); policy.Name() == name {
				return policy, nil
			}
			return pebble.NoFilterPolicy, nil
		},
	})
	return options, err
}

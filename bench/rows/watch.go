package rows

import (
	"runtime"
	"syscall"
	"time"

	"github.com/everypage-go/everypage/bench/measure"
)

// The names of metrics.
const (
	itemsPerSecond = "items/s"
	syncsPerSecond = "syncs/s" // of the log
	seconds        = "seconds"
	cpuPerItem     = "cpu µs/item"   // of the whole process
	allocsPerItem  = "allocs/item"   // of the whole process
	switchesItem   = "switches/item" // of threads, voluntary
)

// start begins to measure the work on a number of items; stop ends it.
func start(items int) (stop func() measure.Sample) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	from := usage()
	began := time.Now()
	return func() measure.Sample {
		took := time.Since(began)
		to := usage()
		runtime.ReadMemStats(&after)
		n := float64(items)
		return measure.Sample{
			itemsPerSecond: n / took.Seconds(),
			seconds:        took.Seconds(),
			cpuPerItem:     float64(cpu(to)-cpu(from)) / float64(time.Microsecond) / n,
			allocsPerItem:  float64(after.Mallocs-before.Mallocs) / n,
			switchesItem:   float64(to.Nvcsw-from.Nvcsw) / n,
		}
	}
}

func usage() syscall.Rusage {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for the process itself
	return u
}

// cpu is the time that a process spent on processors.
func cpu(u syscall.Rusage) time.Duration {
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package main

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
)

// profiles are the files that profiles are written to; an empty name is none.
type profiles struct{ cpu, allocations, mutex string }

// start begins to record what the profiles are about, and stop writes them.
func (p profiles) start() (stop func() error, err error) {
	var cpu *os.File
	if p.cpu != "" {
		if cpu, err = os.Create(p.cpu); err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(cpu); err != nil {
			return nil, errors.Join(err, cpu.Close())
		}
	}
	if p.mutex != "" {
		runtime.SetMutexProfileFraction(1)
	}
	return func() error {
		var err error
		if cpu != nil {
			pprof.StopCPUProfile()
			err = cpu.Close()
		}
		runtime.GC() // an allocation is counted at the end of its cycle
		return errors.Join(err, record("allocs", p.allocations), record("mutex", p.mutex))
	}, nil
}

// record writes what the runtime recorded to a file.
func record(name, to string) error {
	if to == "" {
		return nil
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup(name).WriteTo(file, 0), file.Close())
}

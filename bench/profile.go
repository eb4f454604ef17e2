package main

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
)

// profile writes profiles of what runs until stop is called; an empty name
// writes none.
func profile(cpu, allocations string) (stop func() error, err error) {
	var file *os.File
	if cpu != "" {
		if file, err = os.Create(cpu); err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(file); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return func() error {
		var err error
		if file != nil {
			pprof.StopCPUProfile()
			err = file.Close()
		}
		if allocations == "" {
			return err
		}
		runtime.GC()
		file, created := os.Create(allocations)
		if created != nil {
			return errors.Join(err, created)
		}
		return errors.Join(err, pprof.Lookup("allocs").WriteTo(file, 0), file.Close())
	}, nil
}

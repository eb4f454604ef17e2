package crash_test

import (
	"errors"
	"testing"

	"github.com/everypage-go/everypage/bench/crash"
	"github.com/everypage-go/everypage/bench/workload"
)

func TestNothingConfirmedIsLost(t *testing.T) {
	for _, walk := range []workload.Walk{
		{IDs: workload.Random, Concurrency: 1},
		{IDs: workload.Sequential, Concurrency: 16},
		{IDs: workload.Random, Concurrency: 1, AtMostOnce: true},
	} {
		for seed := range uint64(3) {
			if err := crash.Check(t.Context(), walk, seed); err != nil {
				t.Errorf("%+v: %v", walk, err)
			}
		}
	}
}

// A disk that says it synced and did not must be noticed, or the check says
// nothing.
func TestALyingDiskIsNoticed(t *testing.T) {
	for seed := range uint64(20) {
		err := crash.CheckLying(t.Context(), workload.Walk{IDs: workload.Random, Concurrency: 1}, seed)
		if errors.Is(err, crash.ErrBroken) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("a disk that does not sync was not noticed in 20 crashes")
}

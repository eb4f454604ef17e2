package pebblestore

import (
	"context"
	"fmt"
	"sync"

	"github.com/everypage-go/everypage/store"
)

// holds are the jobs that are worked on. Other processes are kept out by the
// lock of the folder, so this need not outlive the process.
type holds struct {
	mu   sync.Mutex
	jobs map[string]struct{}
}

// Hold makes the caller the only one that works on a job, until release is
// called or the process ends. It never waits: if somebody else does, it returns
// an error that wraps store.ErrHeld. Calling release again does nothing.
func (s *Store) Hold(ctx context.Context, job string) (release func(), err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(); err != nil {
		return nil, fault("hold", s.dir, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fault("hold", s.dir, err)
	}
	s.holds.mu.Lock()
	defer s.holds.mu.Unlock()
	if _, held := s.holds.jobs[job]; held {
		return nil, fault("hold", s.dir, fmt.Errorf("job %q is %w", job, store.ErrHeld))
	}
	s.holds.jobs[job] = struct{}{}
	return sync.OnceFunc(func() {
		s.holds.mu.Lock()
		defer s.holds.mu.Unlock()
		delete(s.holds.jobs, job)
	}), nil
}

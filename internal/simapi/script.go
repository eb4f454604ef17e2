package simapi

import "sync"

// Script says which requests of a handler meet a fault. Its methods may be
// called from several goroutines and at any time.
type Script struct {
	mu      sync.Mutex
	at      map[int]Fault
	next    []Fault
	when    []conditional
	forever *Fault
}

type conditional struct {
	match func(Request) bool
	fault Fault
}

// At puts a fault on the request of the given number, counted from 1 in the
// order of arrival.
func (s *Script) At(number int, fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at = map[int]Fault{}
	}
	s.at[number] = fault
}

// Next puts faults on the following requests, one each.
func (s *Script) Next(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = append(s.next, faults...)
}

// When puts a fault on the first request that matches; [NoteOn] is one to match
// by.
func (s *Script) When(match func(Request) bool, fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.when = append(s.when, conditional{match, fault})
}

// Always puts a fault on every request that meets no other one.
func (s *Script) Always(fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forever = &fault
}

// Clear takes back every fault that has not been met.
func (s *Script) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.next, s.when, s.forever = nil, nil, nil, nil
}

// take gives the fault that the request meets and uses it up: the most definite
// one first.
func (s *Script) take(r Request) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fault, found := s.at[r.Number]; found {
		delete(s.at, r.Number)
		return fault
	}
	for i, c := range s.when {
		if c.match(r) {
			s.when = append(s.when[:i:i], s.when[i+1:]...)
			return c.fault
		}
	}
	if len(s.next) > 0 {
		fault := s.next[0]
		s.next = s.next[1:]
		return fault
	}
	if s.forever != nil {
		return *s.forever
	}
	return Fault{}
}

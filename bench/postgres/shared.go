package postgres

import (
	"context"
	"sync"
)

// Shared starts one server for all who ask, when the first one does.
type Shared struct {
	Dir    string
	mu     sync.Mutex
	server *Server
}

// Server returns the server.
func (s *Shared) Server(ctx context.Context) (*Server, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		server, err := Start(ctx, s.Dir)
		if err != nil {
			return nil, err
		}
		s.server = server
	}
	return s.server, nil
}

// Stop ends the server, if it was started.
func (s *Shared) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		return nil
	}
	server := s.server
	s.server = nil
	return server.Stop()
}

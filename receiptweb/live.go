package receiptweb

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/store"
)

const (
	// heartbeat is how often a stream without news shows that it is there.
	heartbeat = 15 * time.Second
	// sendLimit is how long a piece of a stream may take to be sent.
	sendLimit = 30 * time.Second
)

// markOf is a mark that changes with any of the runs.
func markOf(runs []store.Run) string {
	hash := sha256.New()
	encoder := json.NewEncoder(hash)
	for i := range runs {
		_ = encoder.Encode(&runs[i].Receipt) // what cannot be encoded shows no change, and nothing else
		_, _ = fmt.Fprintln(hash, runs[i].Active)
	}
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:12])
}

// look returns the mark of what a page shows, and whether it never changes again.
type look func(ctx context.Context) (mark string, over bool, err error)

func (s *site) liveRun(w http.ResponseWriter, r *http.Request) {
	s.live(w, r, func(ctx context.Context) (string, bool, error) {
		run, err := s.ledger.Run(ctx, r.PathValue("run"))
		return markOf([]store.Run{run}), isOver(&run.Receipt), err
	})
}

func (s *site) liveRuns(w http.ResponseWriter, r *http.Request) {
	l, err := listingOf(r)
	if err != nil {
		s.shown(func(http.ResponseWriter, *http.Request) error { return err })(w, r)
		return
	}
	s.live(w, r, func(ctx context.Context) (string, bool, error) {
		runs, _, err := s.read(ctx, l)
		return markOf(runs), false, err
	})
}

// live tells a page, by server-sent events, that what it shows has changed; the page
// then loads itself again. It ends with the request, and when nothing can change any
// more.
func (s *site) live(w http.ResponseWriter, r *http.Request, look look) {
	select {
	case s.watchers <- struct{}{}:
		defer func() { <-s.watchers }()
	default:
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many pages are being kept up to date; load the page again to see what is new", http.StatusServiceUnavailable)
		return
	}
	ctx, stream := r.Context(), http.NewResponseController(w)
	mark := r.URL.Query().Get("mark")
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		mark = last
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy would keep the events back
	send := func(format string, args ...any) bool {
		// The server may have a limit for whole answers; where none can be set, it has none.
		_ = stream.SetWriteDeadline(everypage.SystemClock{}.Now().Add(sendLimit))
		fmt.Fprintf(w, format, args...)
		return stream.Flush() == nil
	}
	if !send("retry: 2000\n\n") {
		return
	}
	for sent := s.options.Clock.Now(); ; {
		is, over, err := look(ctx)
		now := s.options.Clock.Now()
		switch {
		case err != nil:
			return // the page asks again, and is told what is wrong when it is loaded
		case is != mark:
			mark, sent = is, now
			if !send("event: change\nid: %s\ndata: changed\n\n", is) {
				return
			}
		case now.Sub(sent) >= heartbeat:
			sent = now
			if !send(": nothing new\n\n") {
				return
			}
		}
		if over {
			send("event: over\ndata: over\n\n")
			return
		}
		passed, stop := s.options.Clock.Timer(s.options.Refresh)
		select {
		case <-passed:
		case <-ctx.Done():
			stop()
			return
		}
	}
}

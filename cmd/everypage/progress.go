package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// logInterval is the least time between two log lines about how far a run is.
const logInterval = 10 * time.Second

// isTerminal reports whether a person looks at a file.
func isTerminal(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// progress tells how far a run is: a line that changes on a terminal, log lines
// elsewhere. It uses no colours, so NO_COLOR has nothing to turn off.
type progress struct {
	log   *slog.Logger
	clock everypage.Clock
	out   io.Writer

	mu     sync.Mutex // held while something is written
	bar    *progressbar.ProgressBar
	logged time.Time
}

func newProgress(std streams, verbose bool) *progress {
	p := &progress{clock: everypage.SystemClock{}, out: std.err}
	level := slog.LevelInfo
	if std.interactive {
		level = slog.LevelWarn // the rest is on the changing line
		p.bar = progressbar.NewOptions64(-1,
			progressbar.OptionSetWriter(std.err),
			progressbar.OptionSetDescription("reading the first page"),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetSpinnerChangeInterval(0), // it moves when the run does
			progressbar.OptionSetElapsedTime(true),
			progressbar.OptionClearOnFinish(),
		)
	}
	if verbose {
		level = slog.LevelDebug
	}
	p.log = slog.New(slog.NewTextHandler(p, &slog.HandlerOptions{Level: level}))
	return p
}

// Write writes a whole line, such as one of the log, above the changing one.
func (p *progress) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear() // a line that stays visible does no harm
	}
	return p.out.Write(line)
}

// say prints a sentence.
func (p *progress) say(text string) { _, _ = fmt.Fprintln(p, text) }

// close takes the changing line away.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear() // see Write
		p.bar = nil
	}
}

// observer returns what sees the steps of a run.
func (p *progress) observer() everypage.Observer {
	return everypage.Observer{
		Page:    func(r state.Receipt, _ store.Page) { p.at(r) },
		Settled: func(r state.Receipt, _ store.Item) { p.at(r) },
	}
}

func (p *progress) at(r state.Receipt) {
	p.mu.Lock()
	if p.bar != nil {
		p.draw(r)
		p.mu.Unlock()
		return
	}
	now := p.clock.Now()
	due := now.Sub(p.logged) >= logInterval
	if due {
		p.logged = now
	}
	p.mu.Unlock() // the log writes through p
	if due {
		p.log.Info("progress", "run_id", r.RunID, "page_index", r.PageIndex, "done", r.ProcessedUnique, "pending", r.PendingCount, "held", r.HeldCount)
	}
}

func (p *progress) draw(r state.Receipt) {
	if t := r.ReportedTotal; t != nil && t.Last > 0 {
		p.bar.ChangeMax64(t.Last)
	}
	p.bar.Describe(fmt.Sprintf("page %d: %s", r.PageIndex+1, itemCounts(&r)))
	_ = p.bar.Set64(r.ProcessedUnique + r.Inherited) // more than a total that shrank is not worth an error
}

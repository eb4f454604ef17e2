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
	"github.com/everypage-go/everypage/pager"
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
	// interactive says that there is a changing line until close.
	interactive bool

	mu     sync.Mutex // held while something is written
	bar    *progressbar.ProgressBar
	logged time.Time
}

func newProgress(std streams, verbose bool) *progress {
	p := &progress{clock: everypage.SystemClock{}, out: std.err, interactive: std.interactive}
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
		_ = p.bar.RenderBlank() // see draw
	}
	if verbose {
		level = slog.LevelDebug
	}
	// The handler quotes whatever is not plainly printable.
	p.log = slog.New(slog.NewTextHandler(p, &slog.HandlerOptions{Level: level, ReplaceAttr: redactAttr}))
	return p
}

// redactAttr takes the credentials out of the texts of a log.
func redactAttr(_ []string, attr slog.Attr) slog.Attr {
	if attr.Value.Kind() == slog.KindString {
		return slog.String(attr.Key, pager.RedactText(attr.Value.String()))
	}
	if err, ok := attr.Value.Any().(error); ok && err != nil {
		return slog.String(attr.Key, pager.RedactText(err.Error()))
	}
	return attr
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
		Wait:    p.waits,
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

// draw brings the changing line up to date. What the API says of the whole list's
// size is shown as its word, and never as how much is left.
func (p *progress) draw(r state.Receipt) {
	text := fmt.Sprintf("page %d: %s", r.PageIndex+1, itemCounts(&r))
	if t := r.ReportedTotal; t != nil {
		text += fmt.Sprintf(", reported total %d", t.Last)
	}
	p.bar.Describe(text)
	_ = p.bar.Add(1) // turns the spinner; it has no end to exceed
}

// waits says above the changing line that a pause is waited out; elsewhere the log
// does.
func (p *progress) waits(_ string, code pager.Code, until time.Time) {
	if p.interactive {
		p.say(fmt.Sprintf("everypage: %s: waiting until %s", code, until.Format(time.RFC3339)))
	}
}

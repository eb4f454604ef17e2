package main

import (
	"fmt"
	"io"
	"log/slog"
	"math"
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

	// width is that of the terminal; 0 where it is not known.
	width int

	mu     sync.Mutex // held while something is written
	bar    *progressbar.ProgressBar
	logged time.Time
	rate   rate
	// waited ends the countdown of a pause that is waited out.
	waited chan struct{}
}

func newProgress(std streams, verbose bool) *progress {
	p := &progress{clock: everypage.SystemClock{}, out: std.err, interactive: std.interactive, width: std.errWidth}
	level := slog.LevelInfo
	if std.interactive {
		level = slog.LevelWarn // the rest is on the changing line
		p.newLine("reading the first page")
		_ = p.bar.RenderBlank() // see draw
	}
	if verbose {
		level = slog.LevelDebug
	}
	// The handler quotes whatever is not plainly printable.
	p.log = slog.New(slog.NewTextHandler(p, &slog.HandlerOptions{Level: level, ReplaceAttr: redactAttr}))
	return p
}

// newLine begins a changing line; what is drawn on it first is shown at once.
func (p *progress) newLine(text string) {
	if p.bar != nil {
		_ = p.bar.Clear() // see Write
	}
	p.bar = progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionSetDescription(text),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), // it moves when the run does
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionClearOnFinish(),
	)
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
	p.endWait()
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
	if p.endWait() && p.bar != nil {
		p.newLine("")
	}
	perSecond := p.rate.add(p.clock.Now(), r.ProcessedUnique)
	if p.bar != nil {
		p.draw(r, perSecond)
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
		p.log.Info("progress", "run_id", r.RunID, "page_index", r.PageIndex, "done", r.ProcessedUnique, "pending", r.PendingCount, "held", r.HeldCount, "per_second", math.Round(perSecond*10)/10)
	}
}

// draw brings the changing line up to date. What the API says of the whole list's
// size is shown as its word, and never as how much is left.
func (p *progress) draw(r state.Receipt, perSecond float64) {
	text := fmt.Sprintf("page %d: %s, %s/s", r.PageIndex+1, itemCounts(&r), rateText(perSecond))
	if t := r.ReportedTotal; t != nil {
		text += fmt.Sprintf(", reported total %d", t.Last)
	}
	p.describe(text)
	_ = p.bar.Add(1) // turns the spinner; it has no end to exceed
}

// describe sets the changing text, cut so that line and spinner fit the terminal.
func (p *progress) describe(text string) {
	const beside = 12 // the spinner, and the time that has passed
	if p.width > 2*beside {
		text = ellipsis(text, p.width-beside)
	}
	p.bar.Describe(text)
}

// waits says above the changing line that a pause is waited out, and counts it down
// on that line; elsewhere the log says it.
func (p *progress) waits(_ string, code pager.Code, until time.Time) {
	if p.interactive {
		p.say(fmt.Sprintf("everypage: %s: waiting until %s", code, until.Format(time.RFC3339)))
		p.countDown(code, until)
	}
}

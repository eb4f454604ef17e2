package drill

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/everypage-go/everypage/internal/simapi"
)

const (
	// DefaultPatience is how long one process may take.
	DefaultPatience = time.Minute
	// requestLimit is how many pages a program may ask for in one test: there are
	// three of them, and whoever asks that often walks in a circle.
	requestLimit = 60
	pageSize     = 3
)

// Place is what a process is told.
type Place struct {
	Test string // the test's name
	List string // address of the list
	Sink string // address that each effect is posted to
	Dir  string // an empty folder, the same one after a kill
}

// Options say what is drilled.
type Options struct {
	// Start makes the process, not yet started.
	Start func(ctx context.Context, place Place) (*exec.Cmd, error)
	// Kill ends it at once, and what it started.
	Kill func(cmd *exec.Cmd)
	// Contract is how the list is paged. Defaults to simapi.KeysetCatalogue.
	Contract simapi.Contract
	// Forward sends posts on to an endpoint of the user's. Its answers are judged in
	// place of effects. Defaults to a sink of the drill's own.
	Forward func(ctx context.Context, body []byte, header http.Header) (*Answer, error)
	// Patience is how long one process may take. Defaults to DefaultPatience.
	Patience time.Duration
	// Now tells the time.
	Now func() time.Time
	// Done, where it is set, is called with each result as it comes.
	Done func(Result)
}

// Result is what became of one test. Its JSON names are kept.
type Result struct {
	Test     string `json:"test"`
	Expected string `json:"expected"`
	Happened string `json:"happened"`
	Passed   bool   `json:"passed"`
	// Advice says what to mend; empty where the test passed.
	Advice string `json:"advice,omitempty"`
}

// Contracts returns the ways of paging that a program can be drilled with.
func Contracts() []simapi.Contract {
	return []simapi.Contract{simapi.KeysetCatalogue, simapi.StripeV1, simapi.GoogleAIP158, simapi.GitHubREST}
}

// Run plays every test. The error is of the drill itself: a program that fails one is
// a result.
func Run(ctx context.Context, options Options) ([]Result, error) {
	if options.Contract == "" {
		options.Contract = simapi.KeysetCatalogue
	}
	if options.Patience == 0 {
		options.Patience = DefaultPatience
	}
	folder, err := os.MkdirTemp("", "everypage-drill-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the drill: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }() // of temporary things
	var results []Result
	for _, t := range tests() {
		result, err := play(ctx, options, t, filepath.Join(folder, t.name))
		if err != nil {
			return results, fmt.Errorf("drill %s: %w", t.name, err)
		}
		results = append(results, result)
		if options.Done != nil {
			options.Done(result)
		}
	}
	return results, nil
}

// world is what one test plays in.
type world struct {
	options Options
	list    *simapi.Server
	// refused says that no page but the first is given any more.
	refused  atomic.Bool
	requests atomic.Int64
	circling chan struct{} // closed when the program asks too often
	once     sync.Once
	sink     *sink
	place    Place
	stops    []func()
}

func play(ctx context.Context, options Options, t test, folder string) (result Result, err error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return result, fmt.Errorf("make a folder: %w", err)
	}
	first := options.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	w := &world{options: options, sink: newSink(options.Forward), circling: make(chan struct{})}
	w.list = simapi.NewServer(options.Contract, simapi.NewList(simapi.Tickets(first, items...)...), &simapi.ServerOptions{MaxPageSize: pageSize, Now: options.Now})
	defer w.close()
	listURL, err := w.serve(http.HandlerFunc(w.page)) //nolint:contextcheck // it is stopped, not cancelled
	if err != nil {
		return result, err
	}
	sinkURL, err := w.serve(w.sink) //nolint:contextcheck // it is stopped, not cancelled
	if err != nil {
		return result, err
	}
	w.place = Place{Test: t.name, List: listURL + w.list.Path(), Sink: sinkURL + "/effects", Dir: folder}
	if t.arrange != nil {
		t.arrange(w)
	}
	var o outcome
	if t.killAt != "" {
		killed, err := w.run(ctx, t.killAt)
		if err != nil {
			return result, err
		}
		o.killed = &killed
		if !killed.killed {
			return t.judge(o, w.sink.tallies(), options.Forward != nil), nil
		}
	}
	if o.last, err = w.run(ctx, ""); err != nil {
		return result, err
	}
	return t.judge(o, w.sink.tallies(), options.Forward != nil), nil
}

func (w *world) serve(handler http.Handler) (string, error) {
	base, stop, err := simapi.Serve(handler)
	w.stops = append(w.stops, stop)
	return base, err
}

func (w *world) close() {
	w.sink.letGo()
	for _, stop := range w.stops {
		if stop != nil {
			stop()
		}
	}
}

// page answers a request for a page.
func (w *world) page(rw http.ResponseWriter, r *http.Request) {
	if w.requests.Add(1) > requestLimit {
		w.once.Do(func() { close(w.circling) })
	}
	if w.refused.Load() && w.positioned(r) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusGone)
		_, _ = rw.Write([]byte(`{"error":"cursor_expired","error_description":"The cursor has expired.","message":"The cursor has expired."}`))
		return
	}
	w.list.ServeHTTP(rw, r)
}

// positioned says whether a request is for another page than the first.
func (w *world) positioned(r *http.Request) bool {
	query := r.URL.Query()
	for _, name := range []string{"cursor", "starting_after", "pageToken"} {
		if query.Get(name) != "" {
			return true
		}
	}
	page := query.Get("page")
	return page != "" && page != "1"
}

// ending is how one process ended.
type ending struct {
	code     int
	killed   bool // by the drill, at the effect
	late     bool // ended by the drill, since it took too long
	circling bool // ended by the drill, since it asked too often
	said     string
}

// run runs the program to its end, or kills it when an item has had its effect and
// the program does not know of it yet.
func (w *world) run(ctx context.Context, killAt string) (ending, error) {
	var end ending
	limited, cancel := context.WithTimeout(ctx, w.options.Patience)
	defer cancel()
	cmd, err := w.options.Start(context.WithoutCancel(ctx), w.place) // it is killed with what it started
	if err != nil {
		return end, err
	}
	said := &tail{}
	if cmd.Stdout == nil {
		cmd.Stdout = said
	}
	if cmd.Stderr == nil {
		cmd.Stderr = said
	}
	cmd.WaitDelay = 2 * time.Second
	var happened <-chan struct{}
	if killAt != "" {
		happened = w.sink.holdAt(killAt)
		defer w.sink.letGo()
	}
	if err := cmd.Start(); err != nil {
		return end, fmt.Errorf("start the program: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	kill := func() {
		w.options.Kill(cmd)
		w.sink.letGo()
		<-ended //nolint:errcheck // that it was killed is no error
	}
	select {
	case err = <-ended:
	case <-happened:
		kill()
		end.killed = true
		return end, nil
	case <-w.circling:
		kill()
		end.circling = true
		return end, nil
	case <-limited.Done():
		kill()
		if ctx.Err() != nil {
			return end, context.Cause(ctx)
		}
		end.late = true
		end.said = said.String()
		return end, nil
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited && !errors.Is(err, exec.ErrWaitDelay) {
		return end, fmt.Errorf("wait for the program: %w", err)
	}
	end.code, end.said = cmd.ProcessState.ExitCode(), said.String()
	return end, nil
}

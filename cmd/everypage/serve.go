package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/everypage-go/everypage/receiptweb"
	"github.com/everypage-go/everypage/store"
)

const (
	// serveAt is where the receipts are shown unless another address is given.
	serveAt = "127.0.0.1:8417"
	// serveGrace is how long requests under way may take once serve was stopped.
	serveGrace = 5 * time.Second
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen  string
	public  bool
	actions bool
	by      string
}

func newServe(std streams) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve --ledger DIR",
		Short: "Show a ledger in a browser",
		Long: `Show a ledger in a browser: its runs, one run's receipt with what stands in the way
of complete, its pages, held items, conflicts, events and lineage, and what each code
means. Its address is printed; Ctrl-C stops it.

The ledger is open in one process only. So serve shows a ledger that no other process
has open, and while it runs no job of that ledger can. To look at a live run, mount
receiptweb.Handler in the program that runs the job; "everypage show" reads a running
job's newest receipt from the mirror.

The pages have no login. They are served on this machine alone; another address needs
--public, and then a proxy or a private network must say who may look. They only read;
with --actions whoever can open them may retry, accept and supersede.`,
		Example: `  everypage serve --ledger ./ledger
  everypage serve --ledger ./ledger --actions --by "night shift"`,
		DisableFlagsInUseLine: true,
		Args:                  exactly(),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", serveAt, "`address` to listen on; port 0 takes a free one")
	flags.BoolVar(&f.public, "public", false, "allow an address that other machines can reach")
	flags.BoolVar(&f.actions, "actions", false, "let whoever looks retry, accept and supersede")
	flags.StringVar(&f.by, "by", "", "`name` under which they do; asked for on the page where it is empty")
	ledger := ledgerFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := ledger()
		if err == nil {
			err = f.check()
		}
		if err != nil {
			return err
		}
		err = readLedger(cmd.Context(), dir, func(ledger store.Store) error { return f.serve(cmd.Context(), std, dir, ledger) })
		if errors.Is(err, store.ErrLocked) {
			return fmt.Errorf("%w\nserve shows a ledger that no other process has open: wait until that one ends, or mount receiptweb.Handler in the program that runs the job; \"everypage show\" reads the newest receipts meanwhile", err)
		}
		return err
	}
	return cmd
}

// check refuses an address that other machines can reach, unless that is meant.
func (f *serveFlags) check() error {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return usagef("--listen %q is no address; it reads like %s", f.listen, serveAt)
	}
	if f.by != "" && !f.actions {
		return usagef("--by names who acts, and without --actions nobody can")
	}
	if f.public || isLoopback(host) {
		return nil
	}
	return usagef("--listen %s can be reached from other machines, and the pages have no login: listen on %s, or, where a proxy or a private network says who may look, add --public", f.listen, serveAt)
}

// isLoopback reports whether only this machine reaches a host.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// serve shows the ledger until a signal or the context ends it.
func (f *serveFlags) serve(ctx context.Context, std streams, dir string, ledger store.Store) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(std.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	options := &receiptweb.Options{Logger: log}
	if f.actions {
		options.Authorize = func(*http.Request, receiptweb.Action) (string, error) { return f.by, nil }
	}
	handler := receiptweb.Handler(ledger, options)
	if !f.public {
		handler = thisMachine(handler)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return usagef("cannot listen on %s: %w; choose another address with --listen, such as 127.0.0.1:0", f.listen, err)
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		// What a page follows ends with the signal, so that it does not hold up the end.
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	_, _ = fmt.Fprintf(std.out, "http://%s/\n", listener.Addr()) // without a reader it is served all the same
	_, _ = fmt.Fprintf(std.err, "everypage: the receipts of %s are shown there%s; Ctrl-C stops\n", dir, f.howFar())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	stop() // a second signal ends the process at once
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), serveGrace)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close() // what is under way is a page, and can be asked for again
	}
	<-served //nolint:errcheck // it says only that it was shut down
	return nil
}

func (f *serveFlags) howFar() string {
	switch {
	case f.actions && f.public:
		return ", to everybody who can reach them, and all of them may act"
	case f.actions:
		return ", and whoever uses this machine may act"
	case f.public:
		return ", to everybody who can reach them"
	}
	return ", to read"
}

// thisMachine refuses requests under a name that is not this machine's own: a site
// whose name was made to point here would be of the page's own origin.
func thisMachine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if !isLoopback(strings.Trim(host, "[]")) {
			http.Error(w, "these receipts are shown to this machine alone, as localhost or 127.0.0.1; see everypage serve --help", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

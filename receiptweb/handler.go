package receiptweb

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"github.com/everypage-go/everypage/store"
)

//go:embed templates/*.html
var templates embed.FS

//go:embed assets
var assets embed.FS

// Handler shows a ledger. It panics on a ledger that is nil, and where no random
// bytes are to be had. The ledger stays the caller's to close, after the server was
// shut down.
func Handler(ledger store.Store, options *Options) http.Handler {
	if ledger == nil {
		panic("receiptweb: the ledger is nil: open one, for example with pebblestore.Open")
	}
	s := &site{ledger: ledger, options: options.withDefaults(), views: parse()}
	s.watchers = make(chan struct{}, s.options.MaxLive)
	if _, err := io.ReadFull(s.options.Random, s.secret[:]); err != nil {
		panic(fmt.Sprintf("receiptweb: no random bytes for the tokens: %v", err))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.shown(s.runs))
	mux.HandleFunc("GET /live", s.liveRuns)
	mux.HandleFunc("GET /codes", s.shown(s.codes))
	mux.HandleFunc("GET /runs/{run}", s.shown(s.run))
	mux.HandleFunc("GET /runs/{run}/live", s.liveRun)
	mux.HandleFunc("GET /runs/{run}/pages", s.shown(s.pages))
	mux.HandleFunc("GET /runs/{run}/pages/{page}", s.shown(s.page))
	mux.HandleFunc("GET /runs/{run}/held", s.shown(s.held))
	mux.HandleFunc("GET /runs/{run}/conflicts", s.shown(s.conflicts))
	mux.HandleFunc("GET /runs/{run}/events", s.shown(s.events))
	mux.HandleFunc("GET /runs/{run}/receipt.json", s.shown(s.receiptJSON))
	mux.HandleFunc("GET /runs/{run}/receipt.yaml", s.shown(s.receiptYAML))
	mux.HandleFunc("POST /runs/{run}/{act}", s.shown(s.act))
	mux.Handle("GET /assets/", assetServer())
	mux.HandleFunc("/", s.shown(func(w http.ResponseWriter, r *http.Request) error {
		return s.nothingHere(w, r)
	}))

	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(s.shown(func(http.ResponseWriter, *http.Request) error {
		return refusal(http.StatusForbidden, "This was sent from another site",
			"An action is carried out only if the page itself sends it. Nothing was changed.",
			"Open the run here and decide on its own page.")
	}))
	protected := protection.Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guard(w.Header())
		if !strings.HasPrefix(r.URL.Path, "/") { // stripped together with the prefix
			r = r.Clone(r.Context())
			r.URL.Path = "/" + r.URL.Path
			r.URL.RawPath = ""
		}
		protected.ServeHTTP(w, r)
	})
}

// site is a ledger and how it is shown.
type site struct {
	ledger   store.Store
	options  Options
	views    map[string]*template.Template
	secret   [32]byte
	watchers chan struct{} // one element for each page that is kept up to date
}

// guard sets what keeps a page to itself. None of it loosens what the program that
// mounts the handler has set around it: a browser obeys the strictest of all
// policies.
func guard(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "+
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Robots-Tag", "noindex, nofollow")
}

// assetServer serves the style, the script and the icon.
func assetServer() http.Handler {
	files := http.FileServerFS(assets)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if info, err := fs.Stat(assets, strings.TrimPrefix(r.URL.Path, "/")); err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache") // there is no version in their names
		files.ServeHTTP(w, r)
	})
}

// parse reads the templates, each with the layout around it.
func parse() map[string]*template.Template {
	layout := template.Must(template.New("layout.html").Funcs(functions()).ParseFS(templates, "templates/layout.html", "templates/parts.html"))
	views := make(map[string]*template.Template)
	for _, name := range []string{"runs", "run", "pages", "page", "held", "conflicts", "events", "codes", "problem"} {
		views[name] = template.Must(template.Must(layout.Clone()).ParseFS(templates, "templates/"+name+".html"))
	}
	return views
}

// frame is what stands around every view.
type frame struct {
	Title string
	// Base is the way from the page to the handler's root.
	Base string
	// Here names the part of the navigation that the page belongs to.
	Here string
	// Live is where changes are told, from the page; empty where nothing changes.
	Live string
	// Notice says what an action has done.
	Notice string
	Body   any
}

// render writes a view, or nothing where that fails.
func (s *site) render(w http.ResponseWriter, r *http.Request, status int, view string, f frame) error {
	f.Base = base(r)
	var page bytes.Buffer
	if err := s.views[view].Execute(&page, f); err != nil {
		return fmt.Errorf("show %s: %w", view, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // a client that went away is its own affair
	return nil
}

// base is the relative way from a page to the handler's root.
func base(r *http.Request) string {
	depth := strings.Count(r.URL.Path, "/") - 1
	if depth <= 0 {
		return "./"
	}
	return strings.Repeat("../", depth)
}

package proptest

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/everypage-go/everypage/adapters"
)

// impatience is how long, in real time, a client waits where the script has an
// answer that never comes.
const impatience = 300 * time.Millisecond

// endpoint is what a pager needs to know of a process's list.
func (p *play) endpoint(l *life, second bool) Endpoint {
	header := http.Header{}
	for _, h := range p.setup.header {
		header.Add(h[0], h[1])
	}
	client := &adapters.Client{HTTP: &http.Client{Transport: processTransport{p, l, second, p.net.transport()}}, Now: p.clock.Now}
	if slices.ContainsFunc(p.pages, func(x exchange) bool { return x.response.transport == hang }) {
		client.Timeout = impatience
	}
	return Endpoint{
		Contract: p.contract, URL: p.setup.address(), Client: client,
		Options: &adapters.Options{Header: header, AllowedHosts: p.setup.hosts, PageSize: p.setup.sentSize()},
	}
}

// sentSize returns the page size that requests carry, 0 for none.
func (s *setup) sentSize() int {
	if s.sizeTo != "" || s.needsSize() {
		return s.pageSize
	}
	return 0
}

// processTransport is the network as one process has it.
type processTransport struct {
	play   *play
	life   *life
	second bool
	inner  *http.Transport
}

// RoundTrip sends a request, if the process is still there to send it.
func (t processTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	p := t.play
	if t.second {
		p.mu.Lock()
		p.second.requests++
		p.note("the second process requests %s %s", req.Method, short(req.URL.String()))
		p.mu.Unlock()
		return nil, errDead
	}
	p.waitForPage(t.life)
	p.mu.Lock()
	dead, crosses := t.life.dead, p.crosses(t.life)
	p.mu.Unlock()
	switch {
	case dead:
		return nil, errDead
	case crosses:
		return nil, errDisk
	}
	return t.inner.RoundTrip(req)
}

// dialRefused remembers a connection to somewhere that is not of the case.
func (p *play) dialRefused(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note("a connection to %s is tried and refused", address)
	p.addWrong("opaque-cursor", "connections to "+listed(p.net.origins)+" only", "one to "+address)
}

// ServeHTTP plays the script's next exchange.
func (p *play) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	p.beforeRequest()
	seen := &seenRequest{r: r, body: body}
	x, l, own := p.take(seen)
	p.secondProcesses(r.Context(), l, own)
	if x == nil || p.isDead(l) {
		drop(w)
		return
	}
	switch x.response.transport {
	case closeBefore:
		drop(w)
		return
	case hang: // until the call's deadline, or until the client would give up by itself
		if !p.clock.expire() {
			drop(w)
			return
		}
		<-r.Context().Done()
		return
	}
	wire, _ := x.response.bytes(seen.offersGzip())
	write(w, wire)
}

// drop closes the connection without a word.
func drop(w http.ResponseWriter) { write(w, nil) }

// write sends bytes as they are and closes the connection.
func write(w http.ResponseWriter, wire []byte) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		return
	}
	_, _ = conn.Write(wire) // the client may be gone, which is its own affair
	_ = conn.Close()
}

// take finds the exchange that a request is for. It returns nil where the client
// gets no answer: the process is gone, or the request is not of the script; and the
// events that the caller itself has to carry out.
func (p *play) take(seen *seenRequest) (x *exchange, l *life, own []*event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l = p.life
	if l.dead {
		return nil, l, nil
	}
	l.requests++
	seen.base = p.redirect
	p.note("request: %s", seen.describe(&p.setup))
	p.watchCredentials(seen)
	var differs []string
	x, differs = p.match(seen)
	if x == nil {
		p.unexpected(l, seen, differs)
		return nil, l, nil
	}
	if !x.at.IsZero() {
		p.clock.set(x.at)
	} else if p.served == 0 {
		p.clock.set(p.setup.now)
	}
	p.served = x.n
	if !x.optional {
		p.required++
	}
	for _, text := range p.details(seen, x) {
		p.addWrong("the request of exchange "+itoa(x.n), text, seen.describe(&p.setup))
	}
	p.redirect = redirectOf(seen, x)
	own = p.reach(l, duringRequest, "")
	if l.dead || l.cancelled && l.ctx.Err() != nil {
		return nil, l, own
	}
	p.note("answer %d: status %d%s, %s", x.n, x.response.status, transportNote(x.response.transport), short(string(x.response.preview())))
	return x, l, own
}

func transportNote(kind string) string {
	if kind == "" {
		return ""
	}
	return " (" + kind + ")"
}

// preview returns an answer's body as a person can read it.
func (a *response) preview() []byte {
	body := a.body
	if a.plain != nil {
		body = a.plain
	}
	return body[:min(len(body), 10*shortLength)] // much of it is indentation
}

// match finds the exchange that comes next. An optional one that does not fit is
// skipped. Otherwise it says what differs.
func (p *play) match(seen *seenRequest) (*exchange, []string) {
	var differs []string
	for i := p.next; i < len(p.pages); i++ {
		x := &p.pages[i]
		wrong := p.compareRequest(seen, x)
		if len(wrong) == 0 {
			p.next = i + 1
			return x, nil
		}
		if !x.optional {
			return nil, wrong
		}
		differs = wrong
	}
	return nil, differs
}

// unexpected is a request that the script does not have. The play is over: what
// comes after it means nothing. The caller holds the lock.
func (p *play) unexpected(l *life, seen *seenRequest, differs []string) {
	p.beyond++
	if len(differs) == 0 {
		p.addWrong("no request beyond the script", itoa(len(p.pages))+" exchanges at most", "a further request: "+seen.describe(&p.setup))
	} else {
		p.addWrong("opaque-cursor", "the next request of the script: "+strings.Join(differs, "; "), seen.describe(&p.setup))
	}
	l.end(errDead)
}

// redirectOf returns where an answer sends its client on, empty if it does not.
func redirectOf(seen *seenRequest, x *exchange) string {
	if x.response.status < 300 || x.response.status > 399 {
		return ""
	}
	for _, h := range x.response.headers {
		if !strings.EqualFold(h[0], "Location") {
			continue
		}
		if target, err := url.Parse(seen.url()); err == nil {
			if target, err = target.Parse(h[1]); err == nil {
				return target.String()
			}
		}
	}
	return ""
}

// watchCredentials looks that nothing of the caller's goes to another origin. The
// caller holds the lock.
func (p *play) watchCredentials(seen *seenRequest) {
	if seen.origin() == p.net.origins[0] {
		return
	}
	for _, h := range p.setup.header {
		if seen.r.Header.Get(h[0]) != "" {
			p.addWrong("opaque-cursor", h[0]+" goes to "+p.net.origins[0]+" only", "it went to "+seen.origin())
		}
	}
}

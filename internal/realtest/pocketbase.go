package realtest

import (
	"net/url"
	"os/exec"
	"strconv"
	"testing"
)

// PocketBase is a PocketBase on loopback, with a collection of tickets.
type PocketBase struct {
	// Tickets is the URL of their list.
	Tickets string

	folder  string
	port    string
	records int
	server  *exec.Cmd
	said    *output
}

// StartPocketBase serves n tickets until the test ends.
func StartPocketBase(tb testing.TB, n int) *PocketBase {
	tb.Helper()
	p := &PocketBase{folder: tb.TempDir(), port: "0", records: n}
	p.start(tb)
	return p
}

func (p *PocketBase) start(tb testing.TB) {
	tb.Helper()
	p.server = exec.CommandContext(tb.Context(), peer(tb, "bin", "pocketbase"), //nolint:gosec // at its fixed place
		"-data", p.folder, "-records", strconv.Itoa(p.records), "-port", p.port)
	address, said := start(tb, p.server, `^listening on (127\.0\.0\.1:[0-9]+)$`)
	at := url.URL{Scheme: "http", Host: address, Path: "/api/collections/tickets/records"}
	p.said, p.port, p.Tickets = said, at.Port(), at.String()
}

// Kill ends the server at once, by its process id.
func (p *PocketBase) Kill(tb testing.TB) {
	tb.Helper()
	if err := p.server.Process.Kill(); err != nil {
		tb.Fatal(err)
	}
	<-p.said.ended
}

// Restart serves what a killed server left, at the same address.
func (p *PocketBase) Restart(tb testing.TB) {
	tb.Helper()
	p.start(tb)
}

package realtest

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// startLimit is how long a server may take until it listens.
const startLimit = 60 * time.Second

// output follows what a server writes, on both of its streams.
type output struct {
	listening *regexp.Regexp
	address   chan string
	ended     chan struct{}

	mu    sync.Mutex
	lines []string
}

// start runs a server until the test ends, and returns where it says that it
// listens: the first group of listening. It is stopped by its process id.
func start(tb testing.TB, command *exec.Cmd, listening string) (address string, said *output) {
	tb.Helper()
	name := filepath.Base(command.Path)
	said = &output{listening: regexp.MustCompile(listening), address: make(chan string, 1), ended: make(chan struct{})}
	reports, writer, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	command.Stdout, command.Stderr = writer, writer
	if err := command.Start(); err != nil {
		tb.Fatal(err)
	}
	_ = writer.Close() // the process has its own
	go said.read(reports)
	tb.Cleanup(func() {
		_ = command.Process.Kill() // gone already, or now
		<-said.ended
		_ = command.Wait() // "killed" is how it is meant to end
	})
	tooLong := time.NewTimer(startLimit)
	defer tooLong.Stop()
	select {
	case address = <-said.address:
	case <-said.ended:
		tb.Fatalf("%s ended: %s", name, said.text())
	case <-tooLong.C:
		tb.Fatalf("%s does not listen after %s: %s", name, startLimit, said.text())
	}
	return address, said
}

func (o *output) read(reports io.ReadCloser) {
	defer close(o.ended)
	defer reports.Close()
	told := false
	for scanner := bufio.NewScanner(reports); scanner.Scan(); {
		o.mu.Lock()
		o.lines = append(o.lines, scanner.Text())
		o.mu.Unlock()
		if m := o.listening.FindStringSubmatch(scanner.Text()); m != nil && !told {
			o.address <- m[1]
			told = true
		}
	}
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.lines, "\n")
}

// program returns where a program of a Debian package stands.
func program(tb testing.TB, name, debianPackage string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(tb, "no "+name+` here; on Debian "apt-get install `+debianPackage+`" brings it`)
	}
	return path
}

// peer returns the path of a file that "make peers" brings.
func peer(tb testing.TB, path ...string) string {
	tb.Helper()
	file := filepath.Join(append([]string{moduleRoot(tb), ".peers"}, path...)...)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		missing(tb, "no "+filepath.Join(append([]string{".peers"}, path...)...)+` here; "make peers" brings it`)
	} else if err != nil {
		tb.Fatal(err)
	}
	return file
}

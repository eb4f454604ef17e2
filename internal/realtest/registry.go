package realtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// Registry is Debian's docker-registry, running on loopback over an empty
// storage.
type Registry struct {
	// URL is the base URL, without a slash at the end.
	URL string
}

// StartRegistry starts a registry that runs until the test ends.
func StartRegistry(tb testing.TB) *Registry {
	tb.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		missing(tb, `no docker-registry here; on Debian "apt-get install docker-registry" brings it`)
	}
	folder := tb.TempDir()
	config := filepath.Join(folder, "config.yml")
	if err := os.WriteFile(config, []byte(registryConfig(filepath.Join(folder, "data"))), 0o600); err != nil {
		tb.Fatal(err)
	}
	// The test's context ends before its cleanups run, which kills the process
	// by its id; the cleanup waits until it is gone.
	command := exec.CommandContext(tb.Context(), program, "serve", config) //nolint:gosec // found by its fixed name
	reports, err := command.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := command.Start(); err != nil {
		tb.Fatal(err)
	}
	log := &registryLog{address: make(chan string, 1), ended: make(chan struct{})}
	go log.read(reports)
	tb.Cleanup(func() {
		_ = command.Process.Kill() // gone already, or now
		<-log.ended
		_ = command.Wait() // "killed" is how it is meant to end
	})
	registry := &Registry{}
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Second)
	defer cancel()
	select {
	case address := <-log.address:
		registry.URL = "http://" + address
	case <-log.ended:
		tb.Fatalf("docker-registry ended: %s", log.text())
	case <-ctx.Done():
		tb.Fatalf("docker-registry does not listen: %s", log.text())
	}
	if err := registry.ready(ctx); err != nil {
		tb.Fatalf("%v: %s", err, log.text())
	}
	return registry
}

// registryConfig lets the registry choose a free port, which its log tells.
func registryConfig(storage string) string {
	quoted, _ := json.Marshal(storage) // a string always has its JSON, which is YAML too
	return "version: 0.1\n" +
		"log: {level: info, formatter: json, accesslog: {disabled: true}}\n" +
		"storage:\n" +
		"  filesystem: {rootdirectory: " + string(quoted) + "}\n" +
		"  maintenance: {uploadpurging: {enabled: false}}\n" +
		"http: {addr: \"127.0.0.1:0\", secret: only-for-a-test}\n"
}

// registryLog follows what the registry writes on standard error.
type registryLog struct {
	address chan string
	ended   chan struct{}

	mu    sync.Mutex
	lines []string
}

func (l *registryLog) read(reports io.Reader) {
	defer close(l.ended)
	listening := regexp.MustCompile(`listening on (127\.0\.0\.1:[0-9]+)`)
	told := false
	for scanner := bufio.NewScanner(reports); scanner.Scan(); {
		l.mu.Lock()
		l.lines = append(l.lines, scanner.Text())
		l.mu.Unlock()
		if m := listening.FindStringSubmatch(scanner.Text()); m != nil && !told {
			l.address <- m[1]
			told = true
		}
	}
}

func (l *registryLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// PushMany pushes n tiny repositories and returns their names, in the order of
// the alphabet, which is the catalogue's.
func (r *Registry) PushMany(tb testing.TB, n int) []string {
	tb.Helper()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("team-%c/app-%02d", 'a'+i*3/n, i)
	}
	for _, name := range names {
		if err := r.Push(tb.Context(), name); err != nil {
			tb.Fatal(err)
		}
	}
	return names
}

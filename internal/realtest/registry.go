package realtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
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
	server := program(tb, "docker-registry", "docker-registry")
	folder := tb.TempDir()
	config := filepath.Join(folder, "config.yml")
	if err := os.WriteFile(config, []byte(registryConfig(filepath.Join(folder, "data"))), 0o600); err != nil {
		tb.Fatal(err)
	}
	command := exec.CommandContext(tb.Context(), server, "serve", config) //nolint:gosec // found by its fixed name
	address, said := start(tb, command, `listening on (127\.0\.0\.1:[0-9]+)`)
	registry := &Registry{URL: "http://" + address}
	ctx, cancel := context.WithTimeout(tb.Context(), startLimit)
	defer cancel()
	if err := registry.ready(ctx); err != nil {
		tb.Fatalf("%v: %s", err, said.text())
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

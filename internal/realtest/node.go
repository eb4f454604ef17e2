package realtest

import (
	_ "embed" // loopback.cjs
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed loopback.cjs
var loopback []byte

// nodeListening is what loopback.cjs makes a server say.
const nodeListening = `^listening on (127\.0\.0\.1:[0-9]+)$`

// JSONServer is one of the two generations of json-server.
type JSONServer string

// Release 0.17 answers the bare array with Link and X-Total-Count, 1.0 an envelope
// with the number of the next page.
const (
	JSONServer0 JSONServer = "json-server-0"
	JSONServer1 JSONServer = "json-server-1"
)

// Start serves, until the test ends, n posts whose IDs are their numbers. It
// returns the URL of their list.
func (s JSONServer) Start(tb testing.TB, n int) string {
	tb.Helper()
	entry := map[JSONServer]string{JSONServer0: "lib/cli/bin.js", JSONServer1: "lib/bin.js"}[s]
	script := peer(tb, string(s), "node_modules", "json-server", filepath.FromSlash(entry))
	posts := make([]map[string]any, n)
	for i := range posts {
		posts[i] = map[string]any{"id": i + 1, "title": fmt.Sprintf("post %02d", i+1)}
	}
	data, err := json.Marshal(map[string]any{"posts": posts})
	if err != nil {
		tb.Fatal(err)
	}
	file := filepath.Join(tb.TempDir(), "db.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	return startNode(tb, script, file) + "/posts"
}

// StartMCP starts the Model Context Protocol's example server with its Streamable
// HTTP transport, until the test ends. It returns the URL of its endpoint. Its 100
// resources come 10 at a time.
func StartMCP(tb testing.TB) string {
	tb.Helper()
	script := peer(tb, "mcp-everything", "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	return startNode(tb, script, "streamableHttp") + "/mcp"
}

func startNode(tb testing.TB, args ...string) (base string) {
	tb.Helper()
	folder := tb.TempDir()
	preload := filepath.Join(folder, "loopback.cjs")
	if err := os.WriteFile(preload, loopback, 0o600); err != nil {
		tb.Fatal(err)
	}
	command := exec.CommandContext(tb.Context(), program(tb, "node", "nodejs"), append([]string{"--require", preload}, args...)...) //nolint:gosec // found by its fixed name
	command.Dir = folder
	address, _ := start(tb, command, nodeListening)
	return "http://" + address
}

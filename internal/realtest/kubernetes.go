package realtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Kubernetes is the Kubernetes project's sample API server, on loopback, over an
// etcd of its own. It serves fischers, which have nothing but a name.
type Kubernetes struct {
	// Fischers is the URL of their list.
	Fischers string
	// Client is trusted by the server, and trusts it.
	Client *http.Client

	etcd string // its URL
}

// StartKubernetes starts etcd and the API server, which run until the test ends.
//
// The server reads from etcd itself and not from its watch cache: the cache goes
// on answering at a revision that etcd has compacted.
func StartKubernetes(tb testing.TB) *Kubernetes {
	tb.Helper()
	server, folder := peer(tb, "bin", "sample-apiserver"), tb.TempDir()
	k := &Kubernetes{etcd: startEtcd(tb, filepath.Join(folder, "etcd"))}
	authority, identity := clientIdentity(tb)
	authorityFile, elsewhere := filepath.Join(folder, "clients.crt"), filepath.Join(folder, "kubeconfig.yaml")
	for file, text := range map[string]string{authorityFile: authority, elsewhere: noCluster} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	certificates := filepath.Join(folder, "certificates")
	command := exec.CommandContext(tb.Context(), server, //nolint:gosec // at its fixed place
		"--etcd-servers", k.etcd, "--watch-cache=false",
		"--bind-address", "127.0.0.1", "--secure-port", freePort(tb), "--cert-dir", certificates,
		"--client-ca-file", authorityFile, "--authentication-skip-lookup",
		"--kubeconfig", elsewhere, "--authentication-kubeconfig", elsewhere, "--authorization-kubeconfig", elsewhere,
		// They ask the cluster that there is not.
		"--disable-admission-plugins", "NamespaceLifecycle,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ValidatingAdmissionPolicy,MutatingAdmissionPolicy",
	)
	command.Dir = folder
	address, _ := start(tb, command, `Serving securely on (127\.0\.0\.1:[0-9]+)`)
	k.Client = trusting(tb, filepath.Join(certificates, "apiserver.crt"), identity)
	tb.Cleanup(k.Client.CloseIdleConnections)
	k.Fischers = "https://" + address + "/apis/wardle.example.com/v1alpha1/fischers"
	return k
}

// noCluster names a cluster at which nobody listens: the sample is meant to stand
// behind one, and starts without.
const noCluster = `apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none}}]
current-context: none
`

func startEtcd(tb testing.TB, folder string) (url string) {
	tb.Helper()
	const peers = "http://127.0.0.1:0" // a cluster of one speaks to none
	listen := "http://127.0.0.1:" + freePort(tb)
	command := exec.CommandContext(tb.Context(), program(tb, "etcd", "etcd-server"), //nolint:gosec // found by its fixed name
		"--data-dir", folder, "--listen-client-urls", listen, "--advertise-client-urls", listen,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers,
	)
	address, _ := start(tb, command, `serving (?:insecure )?client .*on (127\.0\.0\.1:[0-9]+)`)
	return "http://" + address
}

// freePort is for a server that cannot be told to choose one.
func freePort(tb testing.TB) string {
	tb.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err := errors.Join(err, listener.Close()); err != nil {
		tb.Fatal(err)
	}
	return port
}

// Create makes a fischer.
func (k *Kubernetes) Create(ctx context.Context, name string) error {
	object := map[string]any{"apiVersion": "wardle.example.com/v1alpha1", "kind": "Fischer", "metadata": map[string]any{"name": name}}
	return post(ctx, k.Client, k.Fischers, object, http.StatusCreated, nil)
}

// Compact makes etcd forget every revision but its newest, by etcd's own gateway
// from JSON. The newest must be younger than a list for the list to expire.
func (k *Kubernetes) Compact(ctx context.Context) error {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	var now struct {
		Header struct {
			Revision string `json:"revision"`
		} `json:"header"`
	}
	if err := post(ctx, client, k.etcd+"/v3/kv/range", map[string]any{"key": "AA=="}, http.StatusOK, &now); err != nil {
		return err
	}
	request := map[string]any{"revision": now.Header.Revision, "physical": true}
	return post(ctx, client, k.etcd+"/v3/kv/compaction", request, http.StatusOK, nil)
}

// post sends an object as JSON and decodes the answer into another one.
func post(ctx context.Context, client *http.Client, address string, object any, want int, into any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("POST %s: %w", address, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("POST %s: %w", address, err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("POST %s: %w", address, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("POST %s: %w", address, err)
	}
	if response.StatusCode != want {
		return fmt.Errorf("POST %s: %s, want %d: %s", address, response.Status, want, answer)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("POST %s: %w", address, err)
	}
	return nil
}

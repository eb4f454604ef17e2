package realtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// The media types of the smallest image, by the image manifest's version 2,
// schema 2.
const (
	manifestType = "application/vnd.docker.distribution.manifest.v2+json"
	configType   = "application/vnd.docker.container.image.v1+json"
)

// Push pushes a repository whose only image has no layers.
func (r *Registry) Push(ctx context.Context, name string) error {
	config := []byte(`{"architecture":"none","os":"none","rootfs":{"type":"layers","diff_ids":[]}}`)
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(config))
	location, err := r.send(ctx, http.MethodPost, r.URL+"/v2/"+name+"/blobs/uploads/", "", nil, http.StatusAccepted)
	if err != nil {
		return err
	}
	upload, err := url.Parse(location)
	if err != nil {
		return fmt.Errorf("the upload's location: %w", err)
	}
	query := upload.Query()
	query.Set("digest", digest)
	upload.RawQuery = query.Encode()
	if _, err := r.send(ctx, http.MethodPut, upload.String(), "application/octet-stream", config, http.StatusCreated); err != nil {
		return err
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": manifestType, "layers": []any{},
		"config": map[string]any{"mediaType": configType, "size": len(config), "digest": digest},
	})
	if err != nil {
		return fmt.Errorf("the manifest: %w", err)
	}
	_, err = r.send(ctx, http.MethodPut, r.URL+"/v2/"+name+"/manifests/latest", manifestType, manifest, http.StatusCreated)
	return err
}

// ready asks for the API's root, which a registry that listens answers.
func (r *Registry) ready(ctx context.Context) error {
	if _, err := r.send(ctx, http.MethodGet, r.URL+"/v2/", "", nil, http.StatusOK); err != nil {
		return fmt.Errorf("docker-registry does not answer: %w", err)
	}
	return nil
}

// send makes one request and returns the answer's Location. Any status but the
// wanted one is an error.
func (r *Registry) send(ctx context.Context, method, address, contentType string, body []byte, want int) (location string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", method, address, err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := (&http.Client{}).Do(request)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", method, address, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", method, address, err)
	}
	if response.StatusCode != want {
		return "", fmt.Errorf("%s %s: %s, want %d: %s", method, address, response.Status, want, text)
	}
	return response.Header.Get("Location"), nil
}

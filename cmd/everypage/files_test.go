package main

import (
	"net/http"
	"os"
	"strings"

	"github.com/everypage-go/everypage/internal/simapi"
)

// What tests do to files, each ending the test where it cannot.

func (w *world) put(name, text string) {
	w.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *world) get(name string) string {
	w.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

func (w *world) add(name, text string) { w.Helper(); w.put(name, w.get(name)+text) }

func (w *world) truncate(name string, size int64) {
	w.Helper()
	if err := os.Truncate(w.path(name), size); err != nil {
		w.Fatal(err)
	}
}

func (w *world) remove(name string) {
	w.Helper()
	if err := os.Remove(w.path(name)); err != nil {
		w.Fatal(err)
	}
}

func (w *world) edit(name, old, with string) {
	w.Helper()
	text := w.get(name)
	if !strings.Contains(text, old) {
		w.Fatalf("%s has no %q", name, old)
	}
	w.put(name, strings.Replace(text, old, with, 1))
}

// pause leaves the job's run paused after its first page, with no line but theirs.
func (w *world) pause() {
	w.Helper()
	w.list.Script().At(w.list.Log().Len()+2, simapi.Fault{Status: http.StatusServiceUnavailable})
	w.want(exitPaused, w.toFile("--wait", "0"), "is paused (server_error", "3 items done, 1 page", "run the same command again at or after")
}

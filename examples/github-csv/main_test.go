package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/simapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// repository serves n issues on loopback.
func repository(t *testing.T, n int) (server *simapi.Server, url string) {
	t.Helper()
	list := simapi.NewList()
	for i := 1; i <= n; i++ {
		raw, err := json.Marshal(map[string]any{"id": 9007199254740992 + i, "number": i, "state": "open", "title": fmt.Sprintf("issue %d, \"quoted\"", i)})
		if err != nil {
			t.Fatal(err)
		}
		list.Append(simapi.Item{ID: fmt.Sprint(i), Raw: raw})
	}
	server = simapi.NewServer(simapi.GitHubREST, list, nil)
	base, stop, err := simapi.Serve(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return server, base + server.Path()
}

// Stopped while page 2 is read, it leaves no CSV file. The next call goes on at page
// 2, and the file is whole.
func TestExport_Stopped(t *testing.T) {
	server, url := repository(t, 7)
	ctx, cancel := context.WithCancel(t.Context())
	server.Script().At(2, simapi.Fault{Before: cancel})
	e := export{url: url, name: "today", folder: t.TempDir(), pageSize: 3}
	target := filepath.Join(e.folder, "today.csv")

	var out bytes.Buffer
	if err := e.run(ctx, &out); !errors.Is(err, everypage.ErrPaused) || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want a run that is paused since it was cancelled", err)
	}
	if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("there is a CSV file of a part of the list: %v", err)
	}
	if err := e.run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	if rows := bytes.Count(table, []byte("\n")); rows != 8 {
		t.Errorf("the file has %d lines, want a heading and 7 issues:\n%s", rows, table)
	}
}

// A name whose export is complete is not exported again.
func TestExport_Again(t *testing.T) {
	server, url := repository(t, 7)
	e := export{url: url, name: "today", folder: t.TempDir(), pageSize: 3}
	want := "id,number,state,title\n"
	for i := 1; i <= 7; i++ {
		want += fmt.Sprintf("%d,%d,open,\"issue %d, \"\"quoted\"\"\"\n", 9007199254740992+i, i, i)
	}
	for range 2 {
		var out bytes.Buffer
		if err := e.run(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "7 issues on 3 pages") {
			t.Errorf("it says %q", out.String())
		}
		got, err := os.ReadFile(filepath.Join(e.folder, "today.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("the file holds\n%swant\n%s", got, want)
		}
	}
	if n := server.Log().Len(); n != 3 {
		t.Errorf("%d requests were made, want 3", n)
	}
}

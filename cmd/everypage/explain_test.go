package main

import (
	"encoding/json"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/state"
)

// Every code is explained, alone and in the list, in words and as JSON.
func TestExplain(t *testing.T) {
	w := newWorld(t, 3)
	list := w.want(exitDone, []string{"explain"}).out
	lines := w.want(exitDone, []string{"explain", "--json"}).out
	for _, e := range slices.Concat(state.Explanations(), state.HoldExplanations()) {
		code := string(e.Code)
		w.want(exitDone, []string{"explain", code}, code, e.Meaning, e.Advice)
		var got struct {
			Code, Of, Meaning, Advice string
			Remedies                  []state.Remedy
		}
		if err := json.Unmarshal([]byte(w.want(exitDone, []string{"explain", code, "--json"}).out), &got); err != nil {
			t.Fatal(err)
		}
		if got.Code != code || got.Meaning != e.Meaning || got.Advice != e.Advice || got.Of == "" || !slices.Equal(got.Remedies, e.Remedies) {
			t.Errorf("explain %s --json says %+v", code, got)
		}
		if !strings.Contains(list, "\n"+code+" ") || !strings.Contains(lines, `{"code":"`+code+`"`) {
			t.Errorf("%s is not in the list", code)
		}
	}
	w.want(exitDone, []string{"explain", "items_held"}, "everypage accept RUN --ledger DIR --by NAME --note WHY --item ID")
	w.want(exitNotFound, []string{"explain", "nonesuch"}, `no code "nonesuch"`, `"everypage explain" lists`)
	w.want(exitUsage, []string{"explain", "a", "b"}, "one code")
}

func TestVersion(t *testing.T) {
	w := newWorld(t, 3)
	w.want(exitDone, []string{"--version"}, "everypage ", "revision ", "built with go")
	w.want(exitDone, []string{"version"}, "everypage ", "revision ", "built with go")
	w.want(exitDone, []string{"version", "--json"}, `"version": `, `"modified": `, `"go": "go`)

	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-03-02T09:00:00Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	const want = "everypage v1.2.3\nrevision 0123456789abcdef, modified, of 2026-03-02T09:00:00Z\nbuilt with go1.26.8 for "
	if got := buildOf(info).String(); !strings.HasPrefix(got, want) {
		t.Errorf("it says %q, want %q", got, want)
	}
	if got := buildOf(&debug.BuildInfo{}); got.Version != "(devel)" || got.Go == "" || !strings.Contains(got.String(), "revision unknown") {
		t.Errorf("without build information it says %+v", got)
	}
}

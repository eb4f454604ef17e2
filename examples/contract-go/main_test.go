package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

const wanted = `9007199254740993 +100 bolt
9007199254740995 +100 nut
9007199254740997 -4 bolt
9007199254740999 -4 nut
complete 4 more=false
`

func TestDemo(t *testing.T) {
	var out bytes.Buffer
	if err := demo(t.Context(), &out); err != nil || out.String() != wanted {
		t.Errorf("got %v and\n%swant\n%s", err, out.String(), wanted)
	}
}

// TestNotComplete runs the job where the API says something that forbids calling
// the list complete. Each sign has a reason of its own.
func TestNotComplete(t *testing.T) {
	for _, c := range []struct {
		name  string
		api   *warehouse
		want  pager.Code
		lines int
	}{
		{"a site is offline", &warehouse{offline: []string{"north"}}, state.CodeEndVetoed, 4},
		{"the position is archived", &warehouse{archived: true}, pager.CodeCursorExpired, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, stop, err := serve(t.Context(), c.api)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			var out bytes.Buffer
			err = report(t.Context(), &out, url, t.TempDir())
			review, ok := errors.AsType[*everypage.ReviewError](err)
			if !ok || review.Receipt.Reason.Code != c.want {
				t.Fatalf("got %v, want a review for %s", err, c.want)
			}
			if got := strings.Count(out.String(), "\n"); got != c.lines {
				t.Errorf("%d movements were reported, want %d:\n%s", got, c.lines, out.String())
			}
		})
	}
}

package kill_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/tier"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
	"github.com/everypage-go/everypage/store/pebblestore"
)

// The environment that makes the test binary a process that runs the job.
const (
	childURL    = "EVERYPAGE_TEST_KILL_URL"
	childLedger = "EVERYPAGE_TEST_KILL_LEDGER"
)

func TestMain(m *testing.M) {
	if base := os.Getenv(childURL); base != "" {
		os.Exit(child(base, os.Getenv(childLedger)))
	}
	goleak.VerifyTestMain(m)
}

const pages, perPage = 8, 5

// effect is what a handler sends to the process that stays alive.
type effect struct {
	RunID string `json:"run_id"`
	ID    string `json:"id"`
	Key   string `json:"key"`
}

// answer is one page of the list.
type answer struct {
	IDs  []string `json:"ids"`
	Next string   `json:"next"`
}

// child runs the job once, and returns its exit code.
func child(base, dir string) int {
	ctx := context.Background()
	ledger, err := pebblestore.Open(dir, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, err = everypage.Run(ctx, ledger, everypage.Job[string]{
		Name: "numbers", Action: "count",
		Pager: pager.Func[string](func(ctx context.Context, at pager.Cursor) (pager.Page[string], error) {
			token, _ := at.Token()
			var got answer
			if err := exchange(ctx, base+"/list?at="+url.QueryEscape(token), nil, &got); err != nil {
				return pager.Page[string]{}, err
			}
			page := pager.Page[string]{End: pager.EndMore, Next: pager.At(got.Next), Evidence: "next"}
			if got.Next == "" {
				page.End, page.Next, page.Evidence = pager.EndLast, pager.Cursor{}, "no next"
			}
			for _, id := range got.IDs {
				page.Items = append(page.Items, pager.Item[string]{ID: id, Value: id, Raw: strconv.AppendQuote(nil, id)})
			}
			return page, nil
		}),
		Handle: func(ctx context.Context, item everypage.Item[string]) error {
			return exchange(ctx, base+"/effect", effect{RunID: item.RunID, ID: item.ID, Key: item.Key}, nil)
		},
		Options: everypage.Options{Concurrency: 3, ReadAhead: true, Force: true},
	})
	if err := errors.Join(err, ledger.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// exchange sends a body, if there is one, and reads an answer.
func exchange(ctx context.Context, target string, body, into any) (err error) {
	method, data := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		if data, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(data))
	if err != nil {
		return err
	}
	response, err := new(http.Client).Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(into)
}

// outside is the process that stays alive: it serves the list, counts the effects,
// and kills the process that runs the job at a request that it chose.
type outside struct {
	mu       sync.Mutex
	effects  map[effect]int // by run, item and key
	newest   map[string]int // the last page of which an item had an effect, by run
	late     []effect       // of a page that was settled before another one was begun
	requests int
	killAt   int  // the request of this life; 0: never
	before   bool // before the effect, or after it and before the answer
	process  *os.Process
	killed   bool
}

func (o *outside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.killed {
		w.WriteHeader(http.StatusGone) // a request of the process that died
		return
	}
	o.requests++
	kill := o.requests == o.killAt
	if kill && o.before {
		o.kill()
		return
	}
	if r.URL.Path == "/list" {
		n, _ := strconv.Atoi(r.URL.Query().Get("at"))
		var a answer
		for i := range perPage {
			a.IDs = append(a.IDs, fmt.Sprint("item-", n*perPage+i))
		}
		if n+1 < pages {
			a.Next = strconv.Itoa(n + 1)
		}
		_ = json.NewEncoder(w).Encode(a) // the process may have died
	} else {
		var e effect
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			w.WriteHeader(http.StatusBadRequest) // cut off by the kill
			return
		}
		o.effects[e]++
		n, _ := strconv.Atoi(strings.TrimPrefix(e.ID, "item-"))
		if page := n / perPage; page < o.newest[e.RunID] {
			o.late = append(o.late, e)
		} else {
			o.newest[e.RunID] = page
		}
	}
	if kill {
		o.kill()
	}
}

func (o *outside) kill() {
	o.killed = true
	_ = o.process.Kill() // its end is seen by whoever waits for it
}

// TestKilledAgainAndAgain kills the process that runs a job, at requests chosen by
// seed, and starts it again, run after run. No item has effects with two keys, none is
// called again after a later page was begun, and none is without an effect once its
// run is complete; every run adds up.
func TestKilledAgainAndAgain(t *testing.T) {
	o := &outside{effects: make(map[effect]int), newest: make(map[string]int)}
	server := httptest.NewServer(o)
	defer server.Close()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	kills := 0
	for lives := 0; kills < tier.Checks(8, 40, 250); lives++ {
		if lives > 2000 {
			t.Fatalf("only %d kills in %d lives", kills, lives)
		}
		cmd := exec.CommandContext(t.Context(), program)
		cmd.Env = append(os.Environ(), childURL+"="+server.URL, childLedger+"="+dir)
		var said bytes.Buffer
		cmd.Stderr = &said
		o.mu.Lock()
		o.requests, o.killed = 0, false
		o.killAt, o.before = 1+random.IntN(30), random.IntN(2) == 0
		err := cmd.Start()
		o.process = cmd.Process
		o.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		err = cmd.Wait()
		o.mu.Lock()
		killed := o.killed
		o.killed = true // whatever comes now is from the dead
		o.mu.Unlock()
		switch {
		case killed:
			kills++
		case err != nil:
			t.Fatalf("life %d: %v\n%s", lives, err, &said)
		}
	}
	o.check(t, dir)
	t.Logf("%d kills", kills)
}

// check looks at every run in the ledger.
func (o *outside) check(t *testing.T, dir string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	keys := make(map[[2]string]int) // by run and item
	repeated := 0
	for e, times := range o.effects {
		keys[[2]string{e.RunID, e.ID}]++
		repeated += times - 1
	}
	for at, n := range keys {
		if n != 1 {
			t.Errorf("same-key: item %s of run %s has effects under %d keys", at[1], at[0], n)
		}
	}
	for _, e := range o.late {
		t.Errorf("confirmed-once: item %s of run %s was called after an item of a later page", e.ID, e.RunID)
	}
	ledger, err := pebblestore.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	}()
	complete := 0
	for run, err := range ledger.Runs(t.Context(), store.RunFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		r := run.Receipt
		if _, err := everypage.Verify(t.Context(), ledger, r.RunID); err != nil {
			t.Error(err)
		}
		if r.Status != state.Complete {
			continue
		}
		complete++
		for i := range pages * perPage {
			if keys[[2]string{r.RunID, fmt.Sprint("item-", i)}] == 0 {
				t.Errorf("nothing-lost: run %s is complete, and item-%d has no effect", r.RunID, i)
			}
		}
		if r.ProcessedUnique != pages*perPage {
			t.Errorf("run %s counts %d items, want %d", r.RunID, r.ProcessedUnique, pages*perPage)
		}
	}
	if complete == 0 {
		t.Error("no run came to its end")
	}
	t.Logf("%d runs are complete; %d effects were asked for again, with the same key", complete, repeated)
}

package simapi_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/everypage-go/everypage/internal/simapi"
)

func TestScriptOrder(t *testing.T) {
	server := simapi.NewServer(simapi.KeysetCatalogue, seven(), nil)
	base := serve(t, server)
	status := func(code int) simapi.Fault { return simapi.Fault{Status: code} }
	script := server.Script()
	script.At(2, status(502))
	script.Next(status(503), status(504))
	script.When(func(r simapi.Request) bool { return r.Query.Get("cursor") == "x" }, status(410))
	for i, c := range []struct {
		query string
		want  int
	}{{"", 503}, {"", 502}, {"?cursor=x", 410}, {"", 504}, {"", 200}} {
		if got := mustGet(t, base+"/v1/tickets"+c.query); got.Status != c.want {
			t.Errorf("request %d: got %d, want %d", i+1, got.Status, c.want)
		}
	}
	script.Always(status(500))
	if got := mustGet(t, base+"/v1/tickets"); got.Status != 500 {
		t.Errorf("got %d, want 500", got.Status)
	}
	script.Clear()
	if got := mustGet(t, base+"/v1/tickets"); got.Status != 200 {
		t.Errorf("got %d, want 200", got.Status)
	}
}

func TestRateLimitedEnvelope(t *testing.T) {
	server := simapi.NewServer(simapi.KeysetCatalogue, seven(), nil)
	base := serve(t, server)
	server.Script().Next(simapi.RateLimited(1500*time.Millisecond, start(), simapi.Envelope{
		Bucket: "tickets", Hint: "slow down", AgentInstruction: "ask for everything at once",
	}))
	got := mustGet(t, base+"/v1/tickets")
	want := `{"error":"rate_limited","error_description":"Too many requests.","request_id":"req_limited","type":"rate_limit_error",` +
		`"retry_after_ms":1500,"next_request_at":"2026-03-02T09:00:01.5Z","bucket":"tickets","hint":"slow down",` +
		`"agent_instruction":"ask for everything at once"}`
	if got.Status != http.StatusTooManyRequests || got.Header.Get("Retry-After") != "2" || string(got.Body) != want {
		t.Errorf("got %d, Retry-After %q, %s", got.Status, got.Header.Get("Retry-After"), got.Body)
	}
}

func TestOtherLimits(t *testing.T) {
	restored := start().Add(time.Hour)
	for _, c := range []struct {
		name   string
		fault  simapi.Fault
		status int
		header map[string]string
		word   string
	}{
		{"quota", simapi.QuotaExhausted(restored, simapi.Envelope{Bucket: "free"}), 429, map[string]string{"X-Quota-Restored-At": "2026-03-02T10:00:00Z"}, `"bucket":"free"`},
		{"GitHub", simapi.GitHubLimited(restored), 403, map[string]string{"X-Ratelimit-Remaining": "0", "X-Ratelimit-Reset": "1772445600"}, "API rate limit exceeded"},
		{"GitHub, secondary", simapi.GitHubSecondary(time.Minute), 403, map[string]string{"Retry-After": "60"}, "secondary rate limit"},
		{"GitHub, secondary, no instant", simapi.GitHubSecondary(0), 403, map[string]string{"Retry-After": ""}, "secondary rate limit"},
	} {
		server := simapi.NewServer(simapi.GitHubREST, seven(), nil)
		server.Script().Next(c.fault)
		got := mustGet(t, serve(t, server)+"/v1/tickets")
		if got.Status != c.status || !strings.Contains(string(got.Body), c.word) {
			t.Errorf("%s: got %d %s", c.name, got.Status, got.Body)
		}
		for name, want := range c.header {
			if got.Header.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", c.name, name, got.Header.Get(name), want)
			}
		}
	}
}

func TestLostConnectionIsSeenOnce(t *testing.T) {
	server := simapi.NewServer(simapi.KeysetCatalogue, seven(), nil)
	base := serve(t, server)
	client := &http.Client{}
	defer client.CloseIdleConnections()
	ask := func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/tickets", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		_, err = io.ReadAll(response.Body)
		return err
	}
	// The first request leaves a connection to be used again, which is where a
	// transport would repeat the second one silently.
	server.Script().At(2, simapi.Lost())
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	if err := ask(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want an unexpected EOF", err)
	}
	if n := server.Log().Len(); n != 2 {
		t.Errorf("the server got %d requests, want 2", n)
	}
}

func TestCutBody(t *testing.T) {
	server := simapi.NewServer(simapi.KeysetCatalogue, seven(), nil)
	base := serve(t, server)
	server.Script().Next(simapi.CutBody(10))
	got, err := get(t, base+"/v1/tickets")
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(got.Body) != 10 {
		t.Errorf("got %q, %v", got.Body, err)
	}
}

func TestHangUntilReleased(t *testing.T) {
	server := simapi.NewServer(simapi.KeysetCatalogue, seven(), nil)
	base := serve(t, server)
	gate := simapi.NewGate()
	server.Script().Next(simapi.Hang(gate))
	done := make(chan error, 1)
	go func() {
		_, err := get(t, base+"/v1/tickets")
		done <- err
	}()
	<-gate.Entered()
	if server.Log().Requests()[0].Status != 0 {
		t.Error("answered before the release")
	}
	gate.Release()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestStopEndsHungRequests(t *testing.T) {
	server := simapi.NewServer(simapi.KeysetCatalogue, seven(), nil)
	base, stop, err := simapi.Serve(server)
	if err != nil {
		t.Fatal(err)
	}
	gate := simapi.NewGate()
	server.Script().Always(simapi.Hang(gate))
	done := make(chan error, 1)
	go func() {
		_, err := get(t, base+"/v1/tickets")
		done <- err
	}()
	<-gate.Entered()
	stop()
	stop()
	if err := <-done; err == nil {
		t.Error("a hung request was answered")
	}
}

func TestContradictoryPages(t *testing.T) {
	for _, c := range []struct {
		name     string
		contract simapi.Contract
		fault    simapi.Fault
		want     string
	}{
		{"keyset: more without cursor", simapi.KeysetCatalogue, simapi.MoreWithoutCursor(), `"pagination":{"has_more":true,"limit":3,"next_cursor":null}`},
		{"stripe: more without items", simapi.StripeV1, simapi.MoreWithoutCursor(), `{"data":[],"has_more":true,`},
		{"no has_more", simapi.KeysetCatalogue, simapi.WithoutField("pagination.has_more"), `"pagination":{"limit":3,"next_cursor":"`},
		{"a feed with has_more", simapi.KeysetFeed, simapi.WithField("pagination.has_more", false), `"pagination":{"has_more":false,"limit":3}`},
		{"HTML", simapi.GoogleAIP158, simapi.HTMLPage(), `<!doctype html>`},
	} {
		server := simapi.NewServer(c.contract, seven(), nil)
		server.Script().Next(c.fault)
		got := mustGet(t, sized(c.contract, serve(t, server), "3"))
		if got.Status != http.StatusOK || !strings.Contains(string(got.Body), c.want) {
			t.Errorf("%s: got %d %s", c.name, got.Status, got.Body)
		}
	}
}

func TestSameCursor(t *testing.T) {
	server := simapi.NewServer(simapi.KeysetCatalogue, seven(), nil)
	server.Script().At(2, simapi.SameCursor())
	second := readPage(t, simapi.KeysetCatalogue, sized(simapi.KeysetCatalogue, serve(t, server), "3")).next
	if again := readPage(t, simapi.KeysetCatalogue, second); again.next != second {
		t.Errorf("got %s, want %s", again.next, second)
	}
}

func TestBeforeChangesTheListInTime(t *testing.T) {
	server := simapi.NewServer(simapi.KeysetCatalogue, seven(), nil)
	server.Script().At(2, simapi.Fault{Before: func() { server.List().Duplicate("A", 5) }})
	got := walk(t, simapi.KeysetCatalogue, sized(simapi.KeysetCatalogue, serve(t, server), "3"), nil)
	if got != "A B C|D E A|F G" {
		t.Errorf("got %s", got)
	}
}

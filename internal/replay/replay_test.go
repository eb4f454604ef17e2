package replay_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/everypage-go/everypage/internal/replay"
	"github.com/everypage-go/everypage/internal/simapi"
)

// start serves a recording and returns the base URL.
func start(t *testing.T, file string) (*replay.Server, *replay.Recording, string) {
	t.Helper()
	recording, err := replay.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	server := replay.NewServer(recording)
	base, stop, err := simapi.Serve(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return server, recording, base
}

func get(t *testing.T, address string) (status int, header http.Header, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

func TestReplayRewritesTheOriginAndNothingElse(t *testing.T) {
	_, recording, base := start(t, filepath.Join("testdata", "two-pages.json"))
	if recording.Len() != 2 || recording.First() != "/teams/red/cards?size=2&state=open" {
		t.Fatalf("got %d exchanges from %s", recording.Len(), recording.First())
	}
	status, header, body := get(t, base+recording.First())
	if want := "<" + base + `/teams/7/cards?size=2&state=open&page=2>; rel="next"`; header.Get("Link") != want {
		t.Errorf("Link is %s, want %s", header.Get("Link"), want)
	}
	if status != http.StatusOK || strings.Contains(body, "example.test") || !strings.Contains(body, `"id": 90071992547409931, "url": "`+base+`/cards/1"`) {
		t.Errorf("got %d %s", status, body)
	}
	if header.Get("Date") != "Mon, 02 Mar 2026 09:00:00 GMT" || header.Get("X-Left") != "41" || strings.Join(header.Values("X-Many"), " ") != "one two" {
		t.Errorf("got %v", header)
	}
	if header.Get("Content-Encoding") != "" || header.Get("Content-Length") == "9999" {
		t.Errorf("the old transfer shows in %v", header)
	}
}

func TestMatchingIsExactAndNotByOrder(t *testing.T) {
	server, _, base := start(t, filepath.Join("testdata", "two-pages.json"))
	for i, c := range []struct {
		target   string
		status   int
		exchange int
	}{
		{"/teams/red/cards?state=open&size=2", 200, 1},
		{"/teams/7/cards?page=2&size=2&state=open", 200, 2},
		{"/teams/7/cards?page=3&size=2&state=open", 404, 0},
		{"/teams/red/cards?size=2", 404, 0},
		{"/teams/red/cards?size=2&state=open&size=2", 404, 0},
		{"/", 404, 0},
	} {
		if status, _, _ := get(t, base+c.target); status != c.status {
			t.Errorf("%s: %d, want %d", c.target, status, c.status)
		}
		if got := server.Requests()[i]; got.Exchange != c.exchange || got.Path != strings.SplitN(c.target, "?", 2)[0] {
			t.Errorf("%s: logged as %+v", c.target, got)
		}
	}
}

func TestWhatIsNoRecording(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: "no recording",
		`[]`: "empty",
		`[{"scope":"api","path":"/","status":200}]`:                                               "is no origin",
		`[{"scope":"https://a.test:443","path":"/","status":0}]`:                                  "is no status",
		`[{"scope":"https://a.test:443","path":"/","status":200,"responseIsBinary":true}]`:        "binary",
		`[{"scope":"https://a.test:443","path":"/","status":200,"response":["1f8b08"]}]`:          "compressed",
		`[{"scope":"https://a.test:443","path":"/","status":200,"headers":{"a":{"b":"object"}}}]`: "header A",
	} {
		if _, err := replay.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	if _, err := replay.Load(filepath.Join("testdata", "absent.json")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "make fixtures") {
		t.Errorf("got %v", err)
	}
}

// TestRealRecording walks the recording of somebody else's making by hand.
func TestRealRecording(t *testing.T) {
	file := filepath.Join("..", "..", filepath.FromSlash(replay.PaginateIssues))
	if _, err := replay.Load(file); errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	_, recording, base := start(t, file)
	address, pages := base+recording.First(), 0
	seen := map[int64]bool{}
	for address != "" && pages < 10 {
		status, header, body := get(t, address)
		var issues []struct {
			ID int64 `json:"id"`
		}
		if err := json.Unmarshal([]byte(body), &issues); err != nil || status != http.StatusOK {
			t.Fatalf("page %d: %d, %v", pages+1, status, err)
		}
		for _, issue := range issues {
			seen[issue.ID] = true
		}
		pages++
		address = ""
		if m := regexp.MustCompile(`<([^>]*)>; rel="next"`).FindStringSubmatch(header.Get("Link")); m != nil {
			address = m[1]
		}
	}
	if pages != 5 || len(seen) != 13 {
		t.Errorf("got %d issues on %d pages, want 13 on 5", len(seen), pages)
	}
}

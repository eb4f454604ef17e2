package adapters

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/everypage-go/everypage/pager"
)

const page1 = "https://api.example.com/v1/items?page=1"

// nextLink reads the next link of a page: its target, "" where the header says
// that there is none, or "review" where it cannot be told.
func nextLink(t *testing.T, base string, lines []string) string {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	next := fromLink(source{header: http.Header{"Link": lines}, base: u}, "next")
	token, _ := next.cursor.Token()
	switch said := noLink(next); said.end {
	case pager.EndMore:
		return token
	case pager.EndLast:
		return ""
	case pager.EndUnknown:
		return "review"
	}
	return "invalid"
}

func TestLinkHeader(t *testing.T) {
	for _, c := range []struct {
		name string
		want string
		line []string
	}{
		{"plain", "https://api.example.com/v1/items?page=2", []string{`<https://api.example.com/v1/items?page=2>; rel="next"`}},
		{"without spaces", "https://api.example.com/b", []string{`<https://api.example.com/b>;rel="next"`}},
		{"spaces around the equals sign", "https://api.example.com/b", []string{`<https://api.example.com/b> ; rel = "next"`}},
		{"empty elements of the list", "https://api.example.com/b", []string{`, ,<https://api.example.com/b>; rel=next,,`}},
		{"a parameter without a value", "https://api.example.com/b", []string{`<https://api.example.com/b>; crossorigin; rel=next`}},
		{"quotes escaped inside a title", "https://api.example.com/b", []string{`<https://api.example.com/b>; title="say \"a, b\"; rel=prev"; rel=next`}},
		{"an extended title", "https://api.example.com/b", []string{`<https://api.example.com/b>; title*=UTF-8''n%C3%A4chste; rel=next`}},
		{"the same target twice", "https://api.example.com/b", []string{`<https://api.example.com/b>; rel=next`, `<https://api.example.com/b>; rel="next last"`}},
		{"an anchor that is the page itself", "https://api.example.com/b", []string{`<https://api.example.com/b>; rel=next; anchor=""`}},
		{"an anchor inside the page", "", []string{`<https://api.example.com/b>; rel=next; anchor="#part"`}},
		{"an empty target is the page itself", page1, []string{`<>; rel=next`}},
		{"an address stays as it is", "https://API.example.com:443/a/../b?x=%2b%20+y", []string{`<https://API.example.com:443/a/../b?x=%2b%20+y>; rel=next`}},
		{"no closing bracket", "review", []string{`<https://api.example.com/b; rel=next`}},
		{"no closing quote", "review", []string{`<https://api.example.com/b>; rel="next`}},
		{"text after a target", "review", []string{`<https://api.example.com/b> rel=next`}},
		{"a target that is no address", "review", []string{"<https://api.example.com/%zz>; rel=next"}},
		{"next, and something malformed after it", "https://api.example.com/b", []string{`<https://api.example.com/b>; rel=next`, `nonsense`}},
		{"other links, and something malformed after them", "review", []string{`<https://api.example.com/b>; rel=prev, nonsense`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := nextLink(t, page1, c.line); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLinkHeaderFixtures(t *testing.T) {
	folder := os.Getenv("EVERYPAGE_SHARED")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared")
	}
	read := func(t *testing.T, name string, into any) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(folder, "fixtures", name))
		if err != nil {
			t.Skipf("the shared fixtures are not here: %v", err)
		}
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("tricky", func(t *testing.T) {
		var cases []struct {
			Base string
			Link []string
			Next string
			Why  string
		}
		read(t, "link-header-tricky.json", &cases)
		for _, c := range cases {
			if got := nextLink(t, c.Base, c.Link); got != c.Next {
				t.Errorf("%s: got %q, want %q", c.Why, got, c.Next)
			}
		}
	})
	for _, name := range []string{"link-header-corpus.json", "link-header-anchors.json"} {
		t.Run(name, func(t *testing.T) {
			var cases [][2]json.RawMessage
			read(t, name, &cases)
			for _, c := range cases {
				var line string
				var about struct {
					Relations []string `json:"relation_types"`
				}
				if err := json.Unmarshal(c[0], &line); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(c[1], &about); err != nil {
					t.Fatal(err)
				}
				links, err := parseLinks([]string{line})
				if err != nil || len(links) == 0 {
					t.Errorf("%s: got %d links, %v", line, len(links), err)
				}
				base := &url.URL{Scheme: "https", Host: "example.com", Path: "/"}
				for _, rel := range about.Relations {
					found := false
					for _, l := range links {
						_, ok := l.leadsTo(rel, base)
						found = found || ok
					}
					if !found {
						t.Errorf("%s: relation %s was not read", line, rel)
					}
				}
			}
		})
	}
}

func FuzzLinkHeader(f *testing.F) {
	f.Add(`<https://api.example.com/b>; rel="next"`)
	f.Add(`<a,b;c>;title="x\"y";rel=next,`)
	f.Add(`<`)
	f.Fuzz(func(t *testing.T, line string) {
		if _, err := url.Parse(page1); err != nil {
			t.Fatal(err)
		}
		links, err := parseLinks([]string{line})
		if err == nil && len(links) == 0 && len(trimmed(line)) > 0 {
			t.Errorf("%q says something, and was read as no link without an error", line)
		}
		nextLink(t, page1, []string{line})
	})
}

func trimmed(line string) string {
	p := linkParser{text: line}
	p.skip(" \t,\r\n")
	return line[p.at:]
}

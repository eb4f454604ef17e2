package adapters

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Follow says how the requests after the first differ from it, for an API whose
// cursor stands alone (OAI-PMH's resumptionToken) or goes elsewhere (a scroll).
// They carry the cursor, and of the first request only what is named here.
type Follow struct {
	// URL is where they go, relative to the list's address and within its origin.
	// Defaults to the list's address.
	URL string `json:"url,omitempty" yaml:"url,omitempty"`
	// Method is GET or POST. Defaults to that of the first request.
	Method string `json:"method,omitempty" yaml:"method,omitempty"`
	// Body is the JSON object that a POST sends, before the cursor is put into it.
	// Defaults to an empty object.
	Body map[string]any `json:"body,omitempty" yaml:"body,omitempty"`
	// Keep names the query parameters of the first request, the page size's among
	// them, that are sent again. Defaults to none.
	Keep []string `json:"keep,omitempty" yaml:"keep,omitempty"`
}

// method returns the method of the first request.
func (c *Contract) method() string {
	if c.Request.Method != "" {
		return c.Request.Method
	}
	return http.MethodGet
}

// followMethod returns the method of the requests after the first.
func (c *Contract) followMethod() string {
	if f := c.Request.Follow; f != nil && f.Method != "" {
		return f.Method
	}
	return c.method()
}

// keeps reports whether the page size is sent again.
func (f *Follow) keeps(size Place) bool {
	where, name := size.split()
	return where == "query" && slices.Contains(f.Keep, name)
}

// readFollow settles where the requests after the first go.
func (l *list) readFollow() error {
	f := l.contract.Request.Follow
	if f == nil || l.base == nil {
		return nil
	}
	u, err := l.base.Parse(f.URL)
	if err != nil {
		return &OptionError{"url", fmt.Sprintf("the contract's request.follow.url %s does not fit it", quoted(f.URL))}
	}
	if originOf(u) != l.policy.home || u.User != nil {
		return &OptionError{"url", fmt.Sprintf("the contract's request.follow.url leads to %s, which is not its origin", originOf(u))}
	}
	if f.URL == "" {
		u.RawQuery = ""
	}
	pairs := strings.Split(l.base.RawQuery, "&")
	pairs = slices.DeleteFunc(pairs, func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		plain, err := url.QueryUnescape(name)
		return err != nil || !slices.Contains(f.Keep, plain)
	})
	if u.RawQuery != "" {
		pairs = append([]string{u.RawQuery}, pairs...)
	}
	u.RawQuery = strings.Join(pairs, "&")
	l.follow = u
	return nil
}

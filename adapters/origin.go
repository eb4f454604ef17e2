package adapters

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/everypage-go/everypage/pager"
)

// origin is a scheme, a host and a port; requests stay within one.
type origin struct{ scheme, host, port string }

func originOf(u *url.URL) origin {
	o := origin{strings.ToLower(u.Scheme), strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()}
	if o.port == "" {
		o.port = map[string]string{"http": "80", "https": "443"}[o.scheme]
	}
	return o
}

// String shows the origin to a person, without a default port.
func (o origin) String() string {
	host := o.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if o.scheme == "https" && o.port == "443" || o.scheme == "http" && o.port == "80" || o.port == "" {
		return o.scheme + "://" + host
	}
	return o.scheme + "://" + host + ":" + o.port
}

// parseOrigin reads host, host:port or scheme://host:port; without a scheme it
// is https.
func parseOrigin(text string) (origin, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Hostname() == "" {
		return origin{}, fmt.Errorf("%q is no host", text)
	}
	if u.User != nil || u.Path != "" || u.RawQuery != "" || u.Scheme != "https" && u.Scheme != "http" {
		return origin{}, fmt.Errorf("%q is more than a scheme, a host and a port", text)
	}
	return originOf(u), nil
}

// policy says where the requests of one list may go.
type policy struct {
	home    origin
	allowed map[origin]bool
}

// check says whether a request may go to u, and whether as a guest, that is,
// without anything that the caller gave for the list's own origin.
func (p policy) check(u *url.URL) (guest bool, err error) {
	o := originOf(u)
	switch {
	case u.User != nil:
		return false, errors.New("it carries credentials of its own")
	case o == p.home:
		return false, nil
	case p.allowed[o]:
		return true, nil
	}
	return false, fmt.Errorf("%s is not the list's origin, %s, and nobody allowed it", o, p.home)
}

// crossOrigin is the fault of an address that may not be used.
func crossOrigin(what, address string, err error) *pager.Fault {
	return &pager.Fault{
		Code:   pager.CodeCrossOrigin,
		Detail: fmt.Sprintf("%s %s was not requested", what, clean(pager.RedactURL(address), 300)),
		Err:    err,
	}
}

// redirects returns a redirect check: within the list's origin it follows, with
// the caller's own check, if there is one; to an allowed host it goes without the
// caller's headers; anywhere else it does not go.
func (p policy) redirects(own func(*http.Request, []*http.Request) error, keep func(string) bool) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, before []*http.Request) error {
		if len(before) >= 10 {
			return &pager.Fault{Code: pager.CodeRequestRefused, Detail: "the API redirects in a circle"}
		}
		guest, err := p.check(next.URL)
		if err != nil {
			return crossOrigin("the redirect to", next.URL.String(), err)
		}
		if next.Method != before[0].Method {
			return &pager.Fault{Code: pager.CodeRequestRefused, Detail: "a redirect turns the " + before[0].Method + " into a " + next.Method}
		}
		if guest {
			for name := range next.Header {
				if !keep(name) {
					next.Header.Del(name)
				}
			}
		}
		if own != nil {
			return own(next, before)
		}
		return nil
	}
}

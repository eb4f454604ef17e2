package pager_test

import (
	"testing"

	"github.com/everypage-go/everypage/pager"
)

// RedactURL takes the credentials out of a URL and leaves the rest to the byte.
func TestRedactURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://api.test/items?limit=3":                    "https://api.test/items?limit=3",
		"https://bob:hunter2@api.test/items":                "https://REDACTED@api.test/items",
		"https://tok3n@api.test/items":                      "https://REDACTED@api.test/items",
		"https://api.test/items?api_key=s&limit=3":          "https://api.test/items?api_key=REDACTED&limit=3",
		"https://api.test/items?access_token=s":             "https://api.test/items?access_token=REDACTED",
		"https://api.test/items?ACCESS%5FTOKEN=s":           "https://api.test/items?ACCESS%5FTOKEN=REDACTED",
		"https://api.test/items?client_secret=s&a=b%20c+d":  "https://api.test/items?client_secret=REDACTED&a=b%20c+d",
		"https://api.test/items?sig=s":                      "https://api.test/items?sig=REDACTED",
		"https://api.test/items?X-Amz-Signature=s":          "https://api.test/items?X-Amz-Signature=REDACTED",
		"https://api.test/items?X-Amz-Security-Token=s":     "https://api.test/items?X-Amz-Security-Token=REDACTED",
		"https://api.test/items?key=s":                      "https://api.test/items?key=REDACTED",
		"https://api.test/items?page_token=p&pageToken=p":   "https://api.test/items?page_token=p&pageToken=p",
		"https://api.test/items?$skiptoken=p":               "https://api.test/items?$skiptoken=p",
		"https://api.test/items?continuation-token=p&key=s": "https://api.test/items?continuation-token=p&key=REDACTED",
		"https://api.test/items?token=":                     "https://api.test/items?token=",
		"/items?token=s&page=2":                             "/items?token=REDACTED&page=2",
		"?token=s":                                          "?token=REDACTED",
		"status=overdue":                                    "status=overdue",
		"":                                                  "",
		"%zz":                                               "%zz",
		"eyJ0b2tlbiI6MX0=":                                  "eyJ0b2tlbiI6MX0=",
	} {
		if got := pager.RedactURL(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// RedactText does that for each URL that a text shows, and leaves the text.
func TestRedactText(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"no URL: a://":      "no URL: a://",
		"nothing to hide":   "nothing to hide",
		"https://h/?key=s":  "https://h/?key=REDACTED",
		"see https://h/a.":  "see https://h/a.",
		"token=abc is text": "token=REDACTED is text",
		`Get "https://u:p@h/x?api_key=s&page=2": dial tcp: refused`: `Get "https://REDACTED@h/x?api_key=REDACTED&page=2": dial tcp: refused`,
		"from http://h/?sig=1 to <http://h/?sig=2>, then":           "from http://h/?sig=REDACTED to <http://h/?sig=REDACTED>, then",
		"a\nhttps://h/?token=s\nb":                                  "a\nhttps://h/?token=REDACTED\nb",
	} {
		if got := pager.RedactText(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// Names are read word by word, so that a filter is not taken for a credential; and
// what an API may mean either way is hidden from people, and no more than that.
func TestSecretNames(t *testing.T) {
	for _, name := range []string{"access_token", "token", "apiKey", "X-Amz-Signature", "X-Amz-Security-Token", "AWSAccessKeyId", "client_secret", "pwd", "sig", "jwt", "session_id", "auth%5Ftoken"} {
		if !pager.IsSecret(name) {
			t.Errorf("%s is a credential", name)
		}
	}
	for _, name := range []string{"author", "authorized", "auth_type", "signature_status", "max_tokens", "page_token", "pageToken", "NextToken", "$skiptoken", "continuation-token", "keyword", "zip_code", ""} {
		if pager.IsSecret(name) || pager.MayBeSecret(name) {
			t.Errorf("%s is no credential", name)
		}
	}
	for _, name := range []string{"key", "code", "auth", "pass", "sid"} {
		if pager.IsSecret(name) || !pager.MayBeSecret(name) {
			t.Errorf("%s may be a credential", name)
		}
	}
}

package state

import (
	"net/url"
	"strings"

	"github.com/everypage-go/everypage/pager"
)

// redacted stands where a credential stood.
const redacted = "REDACTED"

// secretWords are the words in a query parameter's name that mark its value as
// a credential.
func secretWords() []string {
	return []string{"token", "secret", "password", "passwd", "signature", "credential", "api_key", "apikey", "api-key", "access_key", "auth"}
}

// pageWords are names that hold one of the secret words and are positions.
func pageWords() []string {
	return []string{"page_token", "pagetoken", "continuation-token", "continuationtoken", "next_token", "nexttoken", "resumptiontoken", "skiptoken", "$skiptoken"}
}

// Redacted returns a copy for a person to read: credentials in the endpoint and
// in cursors that are URLs are replaced. The ledger itself keeps every byte.
func (r Receipt) Redacted() Receipt {
	r.Endpoint = RedactURL(r.Endpoint)
	r.CursorIn = redactCursor(r.CursorIn)
	r.CursorOut = redactCursor(r.CursorOut)
	return r
}

func redactCursor(c pager.Cursor) pager.Cursor {
	token, ok := c.Token()
	if !ok || !strings.Contains(token, "://") && !strings.HasPrefix(token, "/") && !strings.HasPrefix(token, "?") {
		return c
	}
	return pager.At(RedactURL(token))
}

// RedactURL replaces the credentials in a URL: user information, and the values
// of query parameters whose name marks them as secret. What is no URL comes
// back as it was.
func RedactURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	changed := false
	if u.User != nil {
		u.User, changed = url.User(redacted), true
	}
	pairs := strings.Split(u.RawQuery, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && isSecret(name) {
			pairs[i], changed = name+"="+redacted, true
		}
	}
	if !changed {
		return text
	}
	u.RawQuery = strings.Join(pairs, "&")
	return u.String()
}

func isSecret(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(name)
	for _, word := range pageWords() {
		if name == word {
			return false
		}
	}
	if name == "key" || name == "sig" || name == "code" {
		return true
	}
	for _, word := range secretWords() {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

package pager

import (
	"net/url"
	"slices"
	"strings"
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

// RedactText replaces the credentials in every URL with a scheme that a text
// shows, such as the error of a transport.
func RedactText(text string) string {
	var b strings.Builder
	for {
		at := strings.Index(text, "://")
		if at < 0 {
			return b.String() + text
		}
		begin, end := at, len(text)
		for begin > 0 && isScheme(text[begin-1]) {
			begin--
		}
		if length := strings.IndexAny(text[at:], " \t\r\n\"'`<>"); length >= 0 {
			end = at + length
		}
		b.WriteString(text[:begin] + RedactURL(text[begin:end]))
		text = text[end:]
	}
}

func isScheme(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
}

func isSecret(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(name)
	if slices.Contains(pageWords(), name) {
		return false
	}
	return name == "key" || name == "sig" || name == "code" ||
		slices.ContainsFunc(secretWords(), func(word string) bool { return strings.Contains(name, word) })
}

package pager

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// redacted stands where a credential stood.
const redacted = "REDACTED"

// secretWords end the name of a parameter whose value is a credential; "token"
// does too, unless the word before it says that it is a position.
func secretWords() []string {
	return []string{
		"secret", "password", "passwd", "pwd", "passphrase", "signature", "sig", "credential", "credentials",
		"apikey", "accesskey", "jwt", "bearer", "hmac", "assertion", "authorization", "accesstoken", "authtoken", "idtoken", "refreshtoken",
	}
}

// secretPairs are two words in a row that do the same anywhere in a name.
func secretPairs() []string {
	return []string{"api key", "access key", "secret key", "private key", "session id", "session key"}
}

// positionWords stand before "token" where the token is a position.
func positionWords() []string {
	return []string{"page", "next", "continuation", "resumption", "skip", "start", "sync", "delta", "max"}
}

// IsSecret reports whether the name of a parameter says that its value is a
// credential.
func IsSecret(name string) bool {
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if last == "token" {
		return len(words) == 1 || !slices.Contains(positionWords(), words[len(words)-2])
	}
	for i := range words[1:] {
		if slices.Contains(secretPairs(), words[i]+" "+words[i+1]) {
			return true
		}
	}
	return slices.Contains(secretWords(), last)
}

// MayBeSecret reports whether a parameter of this name holds a credential in some
// APIs and something harmless in others, such as key or code.
func MayBeSecret(name string) bool {
	words := nameWords(name)
	return len(words) == 1 && slices.Contains([]string{"key", "code", "auth", "pass", "sid", "session"}, words[0])
}

// nameWords takes a name apart: at every character that is no letter or digit,
// and where a capital letter begins a word.
func nameWords(name string) []string {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	var b strings.Builder
	letters := []rune(name)
	for i, c := range letters {
		word := unicode.IsLetter(c) || unicode.IsDigit(c)
		after := i+1 < len(letters) && unicode.IsLower(letters[i+1])
		if !word || unicode.IsUpper(c) && i > 0 && (unicode.IsLower(letters[i-1]) || after) {
			b.WriteByte(' ')
		}
		if word {
			b.WriteRune(unicode.ToLower(c))
		}
	}
	return strings.Fields(b.String())
}

// RedactURL replaces the credentials in a URL: user information, and the values
// of query parameters whose name marks them as secret. It looks at the text as it
// stands, so that a URL that does not parse is covered too; all else comes back
// as it was.
func RedactURL(text string) string {
	rest, fragment := text, ""
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		rest, fragment = rest[:i], rest[i:]
	}
	address, query, hasQuery := strings.Cut(rest, "?")
	if scheme, after, ok := strings.Cut(address, "//"); ok {
		authority, path := after, ""
		if i := strings.IndexByte(after, '/'); i >= 0 {
			authority, path = after[:i], after[i:]
		}
		if i := strings.LastIndexByte(authority, '@'); i >= 0 {
			address = scheme + "//" + redacted + authority[i:] + path
		}
	}
	if !hasQuery {
		return address + fragment
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && (IsSecret(name) || MayBeSecret(name)) {
			pairs[i] = name + "=" + redacted
		}
	}
	return address + "?" + strings.Join(pairs, "&") + fragment
}

// userInformation is what stands before the host in a URL.
var userInformation = regexp.MustCompile(`//[^/\s"'<>?#]*@`)

// assignment is a name and its value, as in a URL's query.
var assignment = regexp.MustCompile(`([A-Za-z0-9_.$%\[\]-]+)=([^&\s"'` + "`" + `<>]+)`)

// RedactText replaces the credentials in a text that may quote a URL or a part of
// one, such as the error of a transport or the answer of an API. What is redacted
// stays as it is when it is redacted again.
func RedactText(text string) string {
	// A value that goes may take a character along that kept something before it
	// from being read as user information. Each further round removes more, so that
	// this ends.
	for {
		next := redactOnce(text)
		if next == text {
			return text
		}
		text = next
	}
}

func redactOnce(text string) string {
	text = userInformation.ReplaceAllString(text, "//"+redacted+"@")
	return assignment.ReplaceAllStringFunc(text, func(pair string) string {
		name, _, _ := strings.Cut(pair, "=")
		if IsSecret(name) || MayBeSecret(name) {
			return name + "=" + redacted
		}
		return pair
	})
}

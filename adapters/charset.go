package adapters

import (
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"
)

// charset returns what the Content-Type says about the text's encoding, or "".
func charset(contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(params["charset"]))
}

// toUTF8 returns a text as UTF-8. Of other encodings it knows ISO 8859-1, which
// needs no table, and reads plain ASCII in every encoding that agrees with it
// there; anything else is an error, since a guess could make two IDs one.
func toUTF8(text []byte, charset string) ([]byte, error) {
	switch strings.ToLower(charset) {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return text, nil
	case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1":
		plain := make([]byte, 0, len(text)+len(text)/8)
		for _, b := range text {
			plain = utf8.AppendRune(plain, rune(b))
		}
		return plain, nil
	}
	for _, prefix := range []string{"windows-125", "iso-8859-"} {
		if strings.HasPrefix(strings.ToLower(charset), prefix) && isASCII(text) {
			return text, nil
		}
	}
	return nil, fmt.Errorf("its text is encoded as %s, which is not read; known are utf-8, us-ascii and iso-8859-1", quoted(charset))
}

func isASCII(text []byte) bool {
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

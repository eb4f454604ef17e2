package simapi

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// position is where the next page of a keyset walk begins. A client sees it only
// as an opaque token.
type position struct {
	// generation is the server's when the token was given out.
	generation int
	// after is the serial of the last item that was read.
	after int64
	// page is the number of the page that begins here, from 1.
	page int
}

// tokenMark begins every token, and makes its text one with characters that a
// client has to escape in a URL.
const tokenMark = "keyset>?"

// token encodes a position in standard base64, whose "+", "/" and "=" find out
// clients that do not escape.
func (p position) token() string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s%d.%d.%d~", tokenMark, p.generation, p.after, p.page))
}

// readToken decodes a token; it reports false for one that no server gave out.
func readToken(token string) (position, bool) {
	plain, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return position{}, false
	}
	text, marked := strings.CutPrefix(string(plain), tokenMark)
	if !marked {
		return position{}, false
	}
	var p position
	if _, err := fmt.Sscanf(text, "%d.%d.%d~", &p.generation, &p.after, &p.page); err != nil {
		return position{}, false
	}
	return p, p.token() == token
}

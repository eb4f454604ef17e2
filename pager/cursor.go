package pager

import (
	"encoding/json"
	"fmt"
)

// Cursor is the opaque position at which a page is read. The zero Cursor is the
// start of the list: no cursor is sent at all. That is not the same as a token
// that happens to be empty, which some APIs do issue.
//
// Cursors are comparable with ==.
type Cursor struct {
	token string
	set   bool
}

// At returns the cursor with the given token. The token may be empty.
func At(token string) Cursor { return Cursor{token: token, set: true} }

// IsStart reports whether c is the start of the list, that is, carries no token.
func (c Cursor) IsStart() bool { return !c.set }

// Token returns the token, and whether there is one.
func (c Cursor) Token() (token string, ok bool) { return c.token, c.set }

// String shows the cursor to a person. It may hold secrets; see
// state.Receipt.Redacted.
func (c Cursor) String() string {
	if !c.set {
		return "(start)"
	}
	return fmt.Sprintf("%q", c.token)
}

// MarshalJSON writes null for the start of the list, else the token as a string.
// Bytes that are not UTF-8 do not survive JSON: a ledger stores tokens in binary.
func (c Cursor) MarshalJSON() ([]byte, error) {
	if !c.set {
		return []byte("null"), nil
	}
	return json.Marshal(c.token)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Cursor) UnmarshalJSON(data []byte) error {
	var token *string
	if err := json.Unmarshal(data, &token); err != nil {
		return fmt.Errorf("pager: a cursor is a string or null: %w", err)
	}
	c.setToken(token)
	return nil
}

// MarshalYAML writes null for the start of the list, else the token as a string.
func (c Cursor) MarshalYAML() (any, error) {
	if !c.set {
		return nil, nil //nolint:nilnil // YAML's null is the start of the list
	}
	return c.token, nil
}

// UnmarshalYAML reads what MarshalYAML wrote.
func (c *Cursor) UnmarshalYAML(decode func(any) error) error {
	var token *string
	if err := decode(&token); err != nil {
		return fmt.Errorf("pager: a cursor is a string or null: %w", err)
	}
	c.setToken(token)
	return nil
}

func (c *Cursor) setToken(token *string) {
	*c = Cursor{}
	if token != nil {
		*c = At(*token)
	}
}

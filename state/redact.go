package state

import (
	"slices"
	"strings"

	"github.com/everypage-go/everypage/pager"
)

// Redacted returns a copy for a person to read: credentials in the endpoint and
// in cursors that are URLs are replaced. The ledger itself keeps every byte.
func (r Receipt) Redacted() Receipt {
	r.Endpoint = pager.RedactURL(r.Endpoint)
	r.CursorIn = redactCursor(r.CursorIn)
	r.CursorOut = redactCursor(r.CursorOut)
	if r.Reason != nil {
		reason := r.Reason.Redacted()
		r.Reason = &reason
	}
	return r
}

// Redacted returns a copy for a person to read: an API may well quote the address
// that it was asked at.
func (r Reason) Redacted() Reason {
	r.Detail = pager.RedactText(r.Detail)
	r.Error = pager.RedactText(r.Error)
	r.ErrorDescription = pager.RedactText(r.ErrorDescription)
	r.Hint = pager.RedactText(r.Hint)
	r.AgentInstruction = pager.RedactText(r.AgentInstruction)
	r.Details = slices.Clone(r.Details)
	for i, detail := range r.Details {
		r.Details[i] = pager.RedactText(detail)
	}
	return r
}

func redactCursor(c pager.Cursor) pager.Cursor {
	token, ok := c.Token()
	if !ok || !strings.Contains(token, "://") && !strings.HasPrefix(token, "/") && !strings.HasPrefix(token, "?") {
		return c
	}
	// A cursor that is made of several values may hold a URL among them.
	return pager.At(pager.RedactText(pager.RedactURL(token)))
}

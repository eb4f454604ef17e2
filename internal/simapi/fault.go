package simapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// Answer is what a handler sends back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Fault says how one request is answered differently. The zero value changes
// nothing; its fields may be combined.
type Fault struct {
	// Before is called before anything else, for instance to change the list.
	Before func()
	// Hold keeps the request waiting until the gate is released: before it has an
	// effect, or with AfterEffect behind it.
	Hold *Gate

	// Status, where it is not 0, answers with Status, Header and Body in place of
	// the handler.
	Status int
	Header http.Header
	Body   string
	// AfterEffect lets the handler do its work first, so that what Status, Drop or
	// Hold keeps from the client has happened.
	AfterEffect bool

	// EditPage changes a list's page before the contract writes it down.
	EditPage func(*Page)
	// Edit changes the written answer.
	Edit func(*Answer)

	// Drop loses the connection: the client gets the beginning of an answer's head
	// and no more.
	Drop bool
	// Cut sends CutAfter bytes of the body under the length of the whole, and then
	// loses the connection.
	Cut      bool
	CutAfter int
}

// Lost is the fault of a connection lost before the request had an effect.
func Lost() Fault { return Fault{Drop: true} }

// LostAfterEffect is the fault of a connection lost when the request had its
// effect and before the client learnt of it.
func LostAfterEffect() Fault { return Fault{Drop: true, AfterEffect: true} }

// CutBody is the fault of a transfer that breaks after n bytes of the body.
func CutBody(n int) Fault { return Fault{Cut: true, CutAfter: n} }

// Hang is the fault of a server that does not answer until the gate is released.
func Hang(gate *Gate) Fault { return Fault{Hold: gate} }

// HangAfterEffect is the fault of a server that does its work at once and
// answers when the gate is released: the time to kill a client in.
func HangAfterEffect(gate *Gate) Fault { return Fault{Hold: gate, AfterEffect: true} }

// MoreWithoutCursor is the fault of a page that says that another one follows
// and does not say where. Under [StripeV1], whose cursor is the last item, the
// page is empty. [GitHubREST] and [GoogleAIP158] have no words for it: there the
// list just ends.
func MoreWithoutCursor() Fault {
	return Fault{EditPage: func(p *Page) {
		p.HasMore, p.Next = true, ""
		if p.Contract == StripeV1 {
			p.Items = nil
		}
	}}
}

// SameCursor is the fault of a page that names the cursor that it was read at as
// the next one. It says nothing where the page was read without a cursor.
func SameCursor() Fault {
	return Fault{EditPage: func(p *Page) { p.HasMore, p.Next = true, p.Cursor }}
}

// WithoutField is the fault of a JSON answer in which a member is missing, given
// as a dotted path of object members.
func WithoutField(path string) Fault {
	return editMember(path, func(parent map[string]any, name string) { delete(parent, name) })
}

// WithField is the fault of a JSON answer with another value, or a further
// member, at a dotted path of object members.
func WithField(path string, value any) Fault {
	return editMember(path, func(parent map[string]any, name string) { parent[name] = value })
}

// editMember changes the object that holds a member. An answer without such an
// object stays as it is.
func editMember(path string, change func(parent map[string]any, name string)) Fault {
	return Fault{Edit: func(a *Answer) {
		decoder := json.NewDecoder(bytes.NewReader(a.Body))
		decoder.UseNumber()
		var document map[string]any
		if decoder.Decode(&document) != nil {
			return
		}
		members := strings.Split(path, ".")
		parent := document
		for _, name := range members[:len(members)-1] {
			child, isObject := parent[name].(map[string]any)
			if !isObject {
				return
			}
			parent = child
		}
		change(parent, members[len(members)-1])
		a.Body = jsonAnswer(a.Status, document).Body
	}}
}

// HTMLPage is the fault of a proxy or a login page that answers 200 with HTML.
func HTMLPage() Fault {
	return Fault{
		Status: http.StatusOK,
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body:   "<!doctype html><title>Sign in</title><p>Please sign in.</p>",
	}
}

package adapters

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/everypage-go/everypage/pager"
)

// Contract describes how one API's lists are paginated. It is plain data; a copy
// may be changed before it is used. [Contract.Validate] says what it needs.
type Contract struct {
	// Name identifies the contract in definitions and receipts.
	Name string `json:"name" yaml:"name"`
	// Doc says to a person what the contract is for.
	Doc string `json:"doc,omitempty" yaml:"doc,omitempty"`
	// Source names the documents that the facts were read in, and Unverified
	// the fields that no document confirmed.
	Source     []string `json:"source,omitempty" yaml:"source,omitempty"`
	Unverified []string `json:"unverified,omitempty" yaml:"unverified,omitempty"`

	// Format is json or xml. Defaults to json.
	Format string `json:"format,omitempty" yaml:"format,omitempty"`
	// XML says how an answer in XML is read; format xml needs it.
	XML XMLRule `json:"xml,omitzero" yaml:"xml,omitempty"`

	Request Request `json:"request,omitzero" yaml:"request,omitempty"`
	// Page says which answers are list pages at all.
	Page PageRule `json:"page,omitzero" yaml:"page,omitempty"`
	// Items says where the items stand.
	Items Items `json:"items" yaml:"items"`
	// Next says where the next cursor stands.
	Next Next `json:"next,omitzero" yaml:"next,omitempty"`
	// End is the one thing that counts as the end of the list.
	End EndRule `json:"end" yaml:"end"`
	// Vetoes forbid calling a list complete although its end came.
	Vetoes []Veto `json:"vetoes,omitempty" yaml:"vetoes,omitempty"`
	// Errors says what an error means.
	Errors ErrorRules `json:"errors,omitzero" yaml:"errors,omitempty"`

	// Style is how the list is walked. Defaults to what Next says.
	Style pager.Style `json:"style,omitempty" yaml:"style,omitempty"`
	// Order is the class of order that the API documents. Defaults to
	// unspecified.
	Order pager.Order `json:"order,omitempty" yaml:"order,omitempty"`
	// NotReplayable marks a list whose cursor cannot be read twice.
	NotReplayable bool `json:"not_replayable,omitempty" yaml:"not_replayable,omitempty"`
	// RepeatLimit is how often in a row a cursor may come back without progress.
	// Defaults to never.
	RepeatLimit int `json:"repeat_limit,omitempty" yaml:"repeat_limit,omitempty"`
	// AllowedHosts are further origins that a next cursor or a redirect may name,
	// as host, host:port or scheme://host:port; without a scheme it is https. The
	// caller's headers do not travel there. Defaults to none.
	AllowedHosts []string `json:"allowed_hosts,omitempty" yaml:"allowed_hosts,omitempty"`
	// BodyLimit is the longest answer that is read, in bytes after decompression.
	// Defaults to the client's.
	BodyLimit int64 `json:"body_limit,omitempty" yaml:"body_limit,omitempty"`
}

// Place names where something is sent or found: "query:NAME", "header:NAME",
// "body:PATH", or one of the words that the field's comment gives.
type Place string

func (p Place) split() (where, name string) {
	where, name, _ = strings.Cut(string(p), ":")
	return where, name
}

// Request says how a page is asked for.
type Request struct {
	// Method is GET or POST. Defaults to GET.
	Method string `json:"method,omitempty" yaml:"method,omitempty"`
	// Body is the JSON object that a POST sends, before size and cursor are put
	// into it.
	Body map[string]any `json:"body,omitempty" yaml:"body,omitempty"`
	// Header are header fields that the API asks for, without credentials.
	Header map[string]string `json:"header,omitempty" yaml:"header,omitempty"`
	// Size says how the page size is sent.
	Size Size `json:"size,omitzero" yaml:"size,omitempty"`
	// Cursor says how the cursor is sent.
	Cursor CursorRule `json:"cursor,omitzero" yaml:"cursor,omitempty"`
	// Window says how the API filters by creation time, if it does.
	Window Window `json:"window,omitzero" yaml:"window,omitempty"`
	// Follow says how the requests after the first differ from it. Defaults to
	// the cursor alone.
	Follow *Follow `json:"follow,omitempty" yaml:"follow,omitempty"`
}

// Size says how the page size is sent.
type Size struct {
	// In is query:NAME, header:NAME or body:PATH. Empty means that the size
	// cannot be chosen.
	In Place `json:"in,omitempty" yaml:"in,omitempty"`
	// Default is sent where the caller asks for no size; 0 sends none. Max is the
	// largest size that the API documents; 0 means unknown.
	Default int `json:"default,omitempty" yaml:"default,omitempty"`
	Max     int `json:"max,omitempty" yaml:"max,omitempty"`
}

// CursorRule says how the cursor is sent.
type CursorRule struct {
	// In is query:NAME, header:NAME, body:PATH, url where the cursor is the
	// address of the next page, or query:* where it is a JSON object whose members
	// become parameters, one by one. It is empty where Next.Parts says where each
	// part of the cursor goes.
	In Place `json:"in,omitempty" yaml:"in,omitempty"`
	// First is what the first request carries. Defaults to nothing; for
	// counter:page to 1, for counter:offset to 0.
	First *string `json:"first,omitempty" yaml:"first,omitempty"`
	// FirstOmitted says that the first request carries no cursor although the count
	// has a start.
	FirstOmitted bool `json:"first_omitted,omitempty" yaml:"first_omitted,omitempty"`
	// Positions are further query parameters that say where a walk begins, such as
	// page beside a link. A list's URL must hold neither them nor the cursor's own:
	// what comes before would be left out without a word.
	Positions []string `json:"positions,omitempty" yaml:"positions,omitempty"`
	// As is string, or json for a cursor that is any JSON value: its text is kept,
	// every digit of it, and put back into the body as that value. Defaults to
	// string.
	As string `json:"as,omitempty" yaml:"as,omitempty"`
}

// Window says how an API filters by creation time, both bounds inclusive.
type Window struct {
	// From and To are query:NAME or body:PATH.
	From Place `json:"from,omitempty" yaml:"from,omitempty"`
	To   Place `json:"to,omitempty" yaml:"to,omitempty"`
	// Format is one of the time formats; see [Items].
	Format string `json:"format,omitempty" yaml:"format,omitempty"`
}

// PageRule says which answers are list pages at all.
type PageRule struct {
	// Status are the HTTP statuses of a list page. Defaults to 200, 203 and 206.
	Status []int `json:"status,omitempty" yaml:"status,omitempty"`
	// Required must be present, though they may be null; Forbidden must not be.
	Required  []Path `json:"required,omitempty" yaml:"required,omitempty"`
	Forbidden []Path `json:"forbidden,omitempty" yaml:"forbidden,omitempty"`
	// Equals lists, by path, the texts that a page may have there: a string as it
	// reads, a number or a boolean as it is written.
	Equals map[Path][]string `json:"equals,omitempty" yaml:"equals,omitempty"`
	// Total is where the number of items of the whole list stands: body:PATH or
	// header:NAME.
	Total Place `json:"total,omitempty" yaml:"total,omitempty"`
	// Size is where the answer echoes the page size.
	Size Path `json:"size,omitempty" yaml:"size,omitempty"`
}

// Items says where the items stand, and what of them matters.
type Items struct {
	// At is the path of the array; empty where the body is the array, "*" for the
	// only array at the top level, whatever its name. A path with a * collects the
	// items of several places: scopes.*.things the arrays of every scope,
	// scopes.*.* every array in them, edges[*].node the node of every edge. What the
	// first * stands in must be there.
	At Path `json:"at" yaml:"at"`
	// EmptyWhen lists what stands for an empty page beside an empty array: absent
	// or null. Where absent does, an answer without the array is a page only if
	// all its members are named in this contract.
	EmptyWhen []string `json:"empty_when,omitempty" yaml:"empty_when,omitempty"`
	// Beside names further top-level members that a page may have and that are
	// not its items.
	Beside []string `json:"beside,omitempty" yaml:"beside,omitempty"`
	// ID are the paths of the item's identity inside the item; the empty path is
	// an item that is a string or a number itself. Several together make one ID.
	ID []Path `json:"id" yaml:"id"`
	// CreatedAt is the path of the item's creation time, and CreatedFormat its
	// format: rfc3339, unix, unix_ms, http_date, or layout:GO-LAYOUT. Defaults to
	// rfc3339.
	CreatedAt     Path   `json:"created_at,omitempty" yaml:"created_at,omitempty"`
	CreatedFormat string `json:"created_format,omitempty" yaml:"created_format,omitempty"`
	// SkipNull leaves out entries that are null, or whose ID would stand inside a
	// null, and counts them. Defaults to owing them.
	SkipNull bool `json:"skip_null,omitempty" yaml:"skip_null,omitempty"`
	// Skip leaves out entries that are none of the list's own items, such as what
	// a search includes beside its matches, and counts them.
	Skip []Skip `json:"skip,omitempty" yaml:"skip,omitempty"`
}

// Skip names entries that are to be left out: those whose value at At has one of
// the texts in Is.
type Skip struct {
	At Path     `json:"at" yaml:"at"`
	Is []string `json:"is" yaml:"is"`
}

// Next says where the next cursor stands.
type Next struct {
	// From is body:PATH, header:NAME, link:REL, last_id, last:PATH (inside the
	// last item), counter:page or counter:offset. Empty only for a bounded list,
	// and where Parts stands.
	From Place `json:"from,omitempty" yaml:"from,omitempty"`
	// Or are further places, for an API that writes its cursor in one of several:
	// the first that holds a cursor counts. Two places of the answer itself that
	// hold different cursors need review.
	Or []Place `json:"or,omitempty" yaml:"or,omitempty"`
	// Parts make one cursor of several values, each with a place to go to.
	Parts []Part `json:"parts,omitempty" yaml:"parts,omitempty"`
	// Cursors lists values that are cursors although they look like none: empty
	// (the empty string) or zero (the number 0). A value that neither this nor
	// the end rule names needs review.
	Cursors []string `json:"cursors,omitempty" yaml:"cursors,omitempty"`
}

// Document returns the contract's full text as YAML. [Parse] reads it.
func (c Contract) Document() ([]byte, error) {
	data, err := yaml.Dump(c)
	if err != nil {
		return nil, fmt.Errorf("adapters: write contract %s as YAML: %w", c.Name, err)
	}
	return data, nil
}

// bounded reports whether the contract promises one page only.
func (c *Contract) bounded() bool { return c.End.Rule == EndBounded }

// style returns how the list is walked.
func (c *Contract) style() pager.Style {
	switch {
	case c.Style != "":
		return c.Style
	case c.Next.From == fromOffset:
		return pager.StyleOffset
	case c.Next.From == fromPage:
		return pager.StylePage
	}
	return pager.StyleCursor
}

// counts reports whether the next cursor is counted and not read.
func (c *Contract) counts() bool { return c.Next.From == fromPage || c.Next.From == fromOffset }

// The places of a next cursor that have no name.
const (
	fromPage   Place = "counter:page"
	fromOffset Place = "counter:offset"
	fromLastID Place = "last_id"
	inURL      Place = "url"
)

// The values that EmptyWhen, Cursors and EndRule.When speak of.
const (
	whenAbsent = "absent"
	whenNull   = "null"
	whenEmpty  = "empty"
	whenZero   = "zero"
	whenFalse  = "false"
)

// asJSON is the way to carry a cursor as the text of a JSON value.
const asJSON = "json"

// inMembers is the place of a cursor whose members become parameters.
const inMembers Place = "query:*"

// The formats of an answer.
const (
	formatJSON = "json"
	formatXML  = "xml"
)

// isXML reports whether the answers are XML.
func (c *Contract) isXML() bool { return c.Format == formatXML }

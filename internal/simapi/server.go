package simapi

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// ServerOptions are what may be said about a list server.
type ServerOptions struct {
	// Path is where the list stands. Defaults to "/v1/tickets".
	Path string
	// ItemsField names the array under GoogleAIP158 and the keyset contracts.
	// Defaults to "tickets".
	ItemsField string
	// MaxPageSize is what a larger page size is clamped to. Defaults to 100.
	MaxPageSize int
	// PageSizes makes single pages of a GoogleAIP158 or KeysetCatalogue walk
	// shorter: the number of the page, from 1, to its number of items, which may
	// be 0. Defaults to none.
	PageSizes map[int]int
	// TrailingPage announces one more page behind the last item; that page is
	// empty and ends the list. Under GoogleAIP158 it is "{}". Defaults to false.
	TrailingPage bool
	// Token, where it is set, has to come as "Authorization: Bearer <Token>".
	// Defaults to no authorization.
	Token string
	// Now gives the log its times. Defaults to the zero time throughout.
	Now func() time.Time
}

// Server serves a list under a contract.
type Server struct {
	contract   Contract
	list       *List
	options    ServerOptions
	exchange   exchange
	generation atomic.Int64
}

var _ http.Handler = (*Server)(nil)

// NewServer returns a server of the list. nil options are the defaults.
func NewServer(contract Contract, list *List, options *ServerOptions) *Server {
	s := &Server{contract: contract, list: list}
	if options != nil {
		s.options = *options
	}
	fill(&s.options.Path, "/v1/tickets")
	fill(&s.options.ItemsField, "tickets")
	if s.options.MaxPageSize == 0 {
		s.options.MaxPageSize = 100
	}
	s.exchange.now = s.options.Now
	return s
}

// Path is where the list stands, to be put behind the base URL.
func (s *Server) Path() string { return s.options.Path }

// List returns the list that is served.
func (s *Server) List() *List { return s.list }

// Script returns the server's faults.
func (s *Server) Script() *Script { return &s.exchange.script }

// Log returns the server's requests.
func (s *Server) Log() *Log { return &s.exchange.log }

// ExpireCursors makes the server refuse every token that it has given out so
// far, where the contract has tokens.
func (s *Server) ExpireCursors() { s.generation.Add(1) }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.exchange.serve(w, r, func(c call) Answer {
		answer, refused := s.page(c)
		if refused != nil {
			answer = refused.dress(s.contract, c.id)
		}
		answer.Header.Set(s.contract.names().requestID, c.id)
		return answer
	})
}

func (s *Server) page(c call) (Answer, *problem) {
	r := c.request
	switch {
	case r.URL.Path != s.options.Path:
		return Answer{}, &problem{status: http.StatusNotFound, code: "not_found", kind: "invalid_request_error", message: "Not Found"}
	case r.Method != http.MethodGet:
		return Answer{}, &problem{
			status: http.StatusMethodNotAllowed, code: "method_not_allowed", kind: "invalid_request_error", message: "Only GET is allowed.",
		}
	case s.options.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.options.Token:
		return Answer{}, &problem{
			status: http.StatusUnauthorized, code: "unauthorized", kind: "authentication_error", message: "Bad credentials",
		}
	}
	n := s.contract.names()
	size, err := sizeOf(r.URL.Query(), n.size, n.usual, s.options.MaxPageSize)
	if err != nil {
		return Answer{}, invalid(n.size, err)
	}
	keep, err := filterOf(r.URL.Query())
	if err != nil {
		return Answer{}, invalid("", err)
	}
	page := &Page{Contract: s.contract, Limit: size, Cursor: r.URL.Query().Get(n.cursor), Number: 1}
	if refused := s.read(page, r.URL.Query().Has(n.cursor), keep); refused != nil {
		return Answer{}, refused
	}
	if c.edit != nil {
		c.edit(page)
	}
	answer, err := page.write(r, s.options.ItemsField)
	if err != nil {
		return Answer{}, &problem{status: http.StatusInternalServerError, code: "simulation", kind: "api_error", message: err.Error()}
	}
	return answer, nil
}

func invalid(field string, err error) *problem {
	return &problem{
		status: http.StatusBadRequest, code: "validation_error", kind: "invalid_request_error", message: err.Error(), field: field,
	}
}

// read fills a page from the list. positioned says that the request named a
// cursor, which may be an empty one.
func (s *Server) read(page *Page, positioned bool, keep func(Item) bool) *problem {
	switch s.contract {
	case GitHubREST:
		return s.readNumbered(page, positioned, keep)
	case StripeV1:
		return s.readAfterID(page, positioned, keep)
	case GoogleAIP158:
		// AIP-158 has an empty page token mean the start.
		return s.readKeyset(page, page.Cursor != "", keep)
	case KeysetCatalogue:
		return s.readKeyset(page, positioned, keep)
	case KeysetFeed:
		page.Cursor = ""
		selected, _ := s.list.After(0, page.Limit, keep)
		page.Items = selected.Items
	}
	return nil
}

func (s *Server) readNumbered(page *Page, positioned bool, keep func(Item) bool) *problem {
	if positioned {
		number, err := strconv.Atoi(page.Cursor)
		if err != nil || number < 1 {
			return invalid("page", &parameterError{Name: "page", Problem: "must be a number of at least 1"})
		}
		page.Number = number
	}
	selected := s.list.At((page.Number-1)*page.Limit, page.Limit, keep)
	page.Items = selected.Items
	page.Last = max(1, (selected.Total+page.Limit-1)/page.Limit)
	if s.options.TrailingPage {
		page.Last++
	}
	page.HasMore = page.Number < page.Last
	if page.HasMore {
		page.Next = strconv.Itoa(page.Number + 1)
	}
	return nil
}

func (s *Server) readAfterID(page *Page, positioned bool, keep func(Item) bool) *problem {
	selected, found := s.list.After(0, page.Limit, keep)
	if positioned {
		selected, found = s.list.AfterID(page.Cursor, page.Limit, keep)
	}
	if !found {
		return &problem{
			status: http.StatusBadRequest, code: "resource_missing", kind: "invalid_request_error",
			message: "No such ticket: '" + page.Cursor + "'", field: "starting_after",
		}
	}
	page.Items, page.HasMore = selected.Items, selected.More
	if len(page.Items) > 0 {
		page.Next = page.Items[len(page.Items)-1].ID
		page.HasMore = page.HasMore || s.options.TrailingPage
	}
	return nil
}

func (s *Server) readKeyset(page *Page, positioned bool, keep func(Item) bool) *problem {
	from := position{generation: int(s.generation.Load()), page: 1}
	if positioned {
		given, genuine := readToken(page.Cursor)
		if !genuine {
			return &problem{
				status: http.StatusBadRequest, code: "invalid_cursor", kind: "invalid_request_error", message: "The cursor is not one of this list.",
			}
		}
		if given.generation != from.generation {
			return &problem{
				status: http.StatusBadRequest, code: "cursor_expired", kind: "invalid_request_error", message: "The cursor has expired.",
			}
		}
		from = given
	}
	page.Number = from.page
	size := page.Limit
	if short, set := s.options.PageSizes[from.page]; set {
		size = min(short, size)
	}
	selected, genuine := s.list.After(from.after, size, keep)
	if !genuine {
		return &problem{
			status: http.StatusBadRequest, code: "invalid_cursor", kind: "invalid_request_error", message: "The cursor is not one of this list.",
		}
	}
	page.Items = selected.Items
	page.HasMore = selected.More || s.options.TrailingPage && len(selected.Items) > 0
	if page.HasMore {
		page.Next = position{generation: from.generation, after: selected.Last, page: from.page + 1}.token()
	}
	return nil
}

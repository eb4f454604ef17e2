package drill

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/everypage-go/everypage/internal/simapi"
)

// program is a program that walks a list by itself: a good one, but for its fault.
type program struct {
	firstPageOnly, doNothing, hang bool
	// key makes the key of a post; nil for one made of the item's ID.
	key func(item string) string
	// lostIsEnd and repeatIsEnd take a way on that is missing, or known, for the end.
	lostIsEnd, repeatIsEnd, ignoreRepeats bool
	// remember the page that is next in the folder: before its items are handled,
	// where hasty.
	remember, hasty bool
}

// programs are the good ones and the bad, by name.
var programs = map[string]program{ //nolint:gochecknoglobals // a constant in all but name
	"good":                      {},
	"remembers":                 {remember: true},
	"first page only":           {firstPageOnly: true},
	"no keys":                   {key: func(string) string { return "" }, ignoreRepeats: true},
	"a key for each attempt":    {key: func(item string) string { return fmt.Sprint(item, time.Now().UnixNano()) }},
	"done without a cursor":     {lostIsEnd: true},
	"done at a repeated cursor": {repeatIsEnd: true},
	"walks in circles":          {ignoreRepeats: true},
	"skips after a kill":        {remember: true, hasty: true},
	"does nothing":              {doNothing: true},
	"hangs":                     {hang: true},
}

// answered is a page as the program reads it.
type answered struct {
	items []json.RawMessage
	next  string // empty where the answer names none
	more  bool   // the answer says, in its contract's way, that more follows
}

func (p program) walk() int {
	switch {
	case p.doNothing:
		return 0
	case p.hang:
		_, _ = io.ReadAll(os.Stdin)
		<-time.NewTimer(time.Hour).C
	}
	contract := simapi.Contract(os.Getenv("CONTRACT"))
	memory := filepath.Join(os.Getenv("DIR"), "next")
	cursor := ""
	if data, err := os.ReadFile(memory); err == nil && p.remember {
		cursor = string(data)
	}
	read := []string{""}
	for {
		page, err := fetch(contract, cursor)
		if err != nil {
			return fail(err)
		}
		if p.hasty && page.next != "" {
			_ = os.WriteFile(memory, []byte(page.next), 0o600)
		}
		for _, item := range page.items {
			if err := p.post(item); err != nil {
				return fail(err)
			}
		}
		switch {
		case p.firstPageOnly, !page.more:
			return 0
		case page.next == "" && p.lostIsEnd:
			return 0
		case page.next == "":
			return fail(fmt.Errorf("more follows, and nobody says where"))
		case slices.Contains(read, page.next) && p.repeatIsEnd:
			return 0
		case slices.Contains(read, page.next) && !p.ignoreRepeats:
			return fail(fmt.Errorf("cursor %q comes again", page.next))
		}
		cursor = page.next
		read = append(read, cursor)
		if p.remember {
			_ = os.WriteFile(memory, []byte(cursor), 0o600)
		}
	}
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func (p program) post(item json.RawMessage) error {
	key := "note-on-" + itemOf(item)
	if p.key != nil {
		key = p.key(itemOf(item))
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, os.Getenv("SINK"), strings.NewReader(string(item)))
	if err != nil {
		return err
	}
	if key != "" {
		request.Header.Set(keyHeader, key)
	}
	answer, err := (&http.Client{}).Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		return fmt.Errorf("the sink answered %d", answer.StatusCode)
	}
	return nil
}

func fetch(contract simapi.Contract, cursor string) (page answered, err error) {
	name := map[simapi.Contract]string{
		simapi.KeysetCatalogue: "cursor", simapi.StripeV1: "starting_after", simapi.GoogleAIP158: "pageToken", simapi.GitHubREST: "page",
	}[contract]
	query := url.Values{}
	if cursor != "" {
		query.Set(name, cursor)
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, os.Getenv("LIST")+"?"+query.Encode(), nil)
	if err != nil {
		return page, err
	}
	answer, err := (&http.Client{}).Do(request)
	if err != nil {
		return page, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return page, fmt.Errorf("the list answered %d", answer.StatusCode)
	}
	if contract == simapi.GitHubREST {
		for link := range strings.SplitSeq(answer.Header.Get("Link"), ", ") {
			if address, ok := strings.CutSuffix(link, `>; rel="next"`); ok {
				next, err := url.Parse(strings.TrimPrefix(address, "<"))
				if err != nil {
					return page, err
				}
				page.next, page.more = next.Query().Get("page"), true
			}
		}
		return page, json.NewDecoder(answer.Body).Decode(&page.items)
	}
	var body struct {
		Tickets, Data []json.RawMessage
		Pagination    struct {
			Next string `json:"next_cursor"`
			More bool   `json:"has_more"`
		}
		More  bool   `json:"has_more"`
		Token string `json:"nextPageToken"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return page, err
	}
	page = answered{items: append(body.Tickets, body.Data...), next: body.Pagination.Next + body.Token, more: body.Pagination.More || body.More || body.Token != ""}
	if contract == simapi.StripeV1 && len(body.Data) > 0 {
		page.next = itemOf(body.Data[len(body.Data)-1])
	}
	return page, nil
}

package main

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/google/go-github/v84/github"

	"github.com/everypage-go/everypage/pager"
)

// Issues walks the issues of a repository through go-github, for a program that
// has a [github.Client] already. Without one, the contract github-rest is the
// better way: it reads the whole answer.
//
// What the SDK hides, this pager cannot see:
//   - go-github reads the first line of the Link header, and there only rel="next"
//     written exactly so. Where it found no next page although the header has the
//     word, the end is unknown here, and the run asks a person.
//   - It makes the next address itself from the number or token in the link. The
//     link's own host is never looked at, and never followed.
//   - It takes an empty answer, and null, for a list without issues. Here neither is
//     a list page.
//   - It keeps the members that [github.Issue] knows. The ledger holds those, not the
//     bytes of the answer; what follows the list in the answer is not read.
//   - It reads an answer of any length, and follows redirects as its http.Client
//     does; give it one that stays on its host (see [stayOnHost]).
type Issues struct {
	Client      *github.Client
	Owner, Repo string
	// PageSize is the number of issues to ask for, at most 100. Defaults to 30.
	PageSize int

	forced atomic.Bool
}

var (
	_ pager.Pager[*github.Issue] = (*Issues)(nil)
	_ pager.Describer            = (*Issues)(nil)
	_ pager.LimitForgetter       = (*Issues)(nil)
)

// Pages walks from a cursor on. [pager.Func] is the loop; what is left to write is
// how one page is read.
func (p *Issues) Pages(ctx context.Context, from pager.Cursor) iter.Seq2[pager.Page[*github.Issue], error] {
	return pager.Func[*github.Issue](p.read).Pages(ctx, from)
}

func (p *Issues) read(ctx context.Context, at pager.Cursor) (pager.Page[*github.Issue], error) {
	if p.forced.Swap(false) {
		ctx = context.WithValue(ctx, github.BypassRateLimitCheck, true)
	}
	options := &github.IssueListByRepoOptions{
		State: "all", Sort: "created", Direction: "asc",
		ListOptions: github.ListOptions{PerPage: p.size()},
	}
	if err := position(at, &options.ListCursorOptions); err != nil {
		return pager.Page[*github.Issue]{}, err
	}
	issues, response, err := p.Client.Issues.ListByRepo(ctx, p.Owner, p.Repo, options)
	if err != nil {
		return pager.Page[*github.Issue]{}, fault(err, p.Client.BaseURL)
	}
	if issues == nil {
		return pager.Page[*github.Issue]{}, &pager.Fault{
			Code: pager.CodeNotAList, Detail: "the answer is empty or null, which is no list",
			Answer: pager.Answer{HTTPStatus: response.StatusCode, RequestID: requestID(response.Response)},
		}
	}
	page := pager.Page[*github.Issue]{Items: make([]pager.Item[*github.Issue], len(issues)), Meta: meta(response)}
	for i, issue := range issues {
		page.Items[i] = pager.Item[*github.Issue]{CreatedAt: issue.GetCreatedAt().Time, Value: issue}
		if id := issue.GetID(); id != 0 {
			page.Items[i].ID = strconv.FormatInt(id, 10)
		} else {
			page.Items[i].Problem = "the entry has no id" // owed, and never handled
		}
	}
	page.Next, page.End, page.Evidence = next(response)
	return page, nil
}

// next reads where the walk goes on. The last page has no link to a next one
// (GitHub Docs, "Using pagination in the REST API"); nothing else is an end.
//
// Long lists are walked by a token beside the number, so the cursor is both: the
// query that they make.
func next(r *github.Response) (pager.Cursor, pager.End, string) {
	cursor := url.Values{}
	if r.NextPage != 0 {
		cursor.Set("page", strconv.Itoa(r.NextPage))
	}
	for name, token := range map[string]string{"page": r.NextPageToken, "after": r.After, "cursor": r.Cursor} {
		if token != "" {
			cursor.Set(name, token)
		}
	}
	if len(cursor) > 0 {
		return pager.At(cursor.Encode()), pager.EndMore, "the Link header names the next page"
	}
	if links := strings.Join(r.Header.Values("Link"), ", "); strings.Contains(strings.ToLower(links), "next") {
		return pager.Cursor{}, pager.EndUnknown, "go-github found no next page, and the Link header speaks of one"
	}
	return pager.Cursor{}, pager.EndLast, "the Link header names no next page"
}

// position puts a cursor that next made into the options of a call.
func position(at pager.Cursor, into *github.ListCursorOptions) error {
	token, set := at.Token()
	if !set {
		return nil
	}
	values, err := url.ParseQuery(token)
	if err != nil || len(values) == 0 {
		return &pager.Fault{Code: pager.CodePagerFailed, Detail: "the cursor is none of this pager's", Err: err}
	}
	into.Page, into.After, into.Cursor = values.Get("page"), values.Get("after"), values.Get("cursor")
	return nil
}

// meta is what the answer said beside its issues. GitHub gives no total.
func meta(r *github.Response) pager.Meta {
	m := pager.Meta{Status: r.StatusCode, RequestID: requestID(r.Response)}
	// go-github writes 0 for a field that is absent, so that 0 left means
	// something only beside a limit.
	if r.Rate.Limit > 0 {
		m.Limit = pager.RateLimit{Known: true, Remaining: int64(r.Rate.Remaining), Reset: r.Rate.Reset.Time}
	}
	return m
}

func requestID(r *http.Response) string { return r.Header.Get("X-Github-Request-Id") }

func (p *Issues) size() int {
	if p.PageSize == 0 {
		return 30
	}
	return p.PageSize
}

// Describe tells a run which list this is: a run cannot be resumed over another
// one. The list is walked by page number, and an issue that is deleted or moved
// away shifts the others; so a job needs AcceptUnstable, and the receipt says so.
func (p *Issues) Describe() pager.Description {
	return pager.Description{
		Endpoint: fmt.Sprintf("%srepos/%s/%s/issues", p.Client.BaseURL, p.Owner, p.Repo),
		Filter:   "state=all", Sort: "created asc", PageSize: p.size(),
		Contract: "go-github-issues",
		Style:    pager.StylePage, Order: pager.OrderUnstable,
	}
}

// ForgetLimits lets the next call pass go-github's own memory of a limit, for a
// run that a person forces on.
func (p *Issues) ForgetLimits() { p.forced.Store(true) }

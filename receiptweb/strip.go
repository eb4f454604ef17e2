package receiptweb

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store"
)

// stripPage is how many pages of a run one page of the strip shows.
const stripPage = 200

// stripView is a part of a run's pages, in order.
type stripView struct {
	Base  string // the way to the handler's root
	RunID string
	Tiles []tile
	// Total is how many pages the run has; First and Last are the indexes shown.
	Total, First, Last int
	// Sections lead to the parts of a long strip.
	Sections []section
	// Earlier and Later are the first indexes of the parts beside this one; -1
	// where there is none.
	Earlier, Later int
}

// tile is one page of the strip, as its newest revision has it.
type tile struct {
	Index     int
	Size      int
	Hash      string
	Current   bool
	End       bool
	Revisions int
	// Nameless counts entries without an ID, and Vetoed says that the answer said
	// that the list is not whole.
	Nameless int
	Vetoed   bool
	At       time.Time
}

// section is a part of a long strip.
type section struct {
	From, To int
	Current  bool
}

// strip reads the pages of a run with an index of at least from.
func (s *site) strip(ctx context.Context, run store.Run, from, most int) (stripView, error) {
	view := stripView{RunID: visible.Line(run.Receipt.RunID), Total: run.Receipt.Pages, First: from, Last: from - 1, Earlier: -1, Later: -1}
	for page, err := range s.ledger.Pages(ctx, run.Receipt.RunID, from) {
		if err != nil {
			return view, err
		}
		if page.Index >= from+most {
			break
		}
		is := tile{
			Index: page.Index, Size: len(page.IDs), Hash: page.Hash, Current: page.Index == run.Receipt.PageIndex && !isOver(&run.Receipt),
			End: page.End == pager.EndLast, Revisions: page.Revision + 1, Nameless: len(page.Unidentified), Vetoed: len(page.Vetoes) > 0, At: page.At,
		}
		if n := len(view.Tiles); n > 0 && view.Tiles[n-1].Index == page.Index {
			view.Tiles[n-1] = is
		} else {
			view.Tiles = append(view.Tiles, is)
		}
		view.Last = page.Index
	}
	view.Total = max(view.Total, view.Last+1)
	return view, nil
}

// sections divides a strip that is longer than shown into parts that can be gone
// to; there are at most 50 of them.
func (v *stripView) sections(shown int) {
	if v.Total <= shown {
		return
	}
	size := stripPage
	for v.Total > 50*size {
		size *= 10
	}
	for from := 0; from < v.Total; from += size {
		v.Sections = append(v.Sections, section{
			From: from, To: min(from+size, v.Total) - 1, Current: shown == stripPage && v.First >= from && v.First < from+size,
		})
	}
}

// pages shows the strip of a run, a part at a time.
func (s *site) pages(w http.ResponseWriter, r *http.Request) error {
	run, err := s.find(r)
	if err != nil {
		return err
	}
	from, err := number(r.URL.Query().Get("from"), "page")
	if err != nil {
		return err
	}
	view, err := s.strip(r.Context(), run, from, stripPage)
	if err != nil {
		return err
	}
	if from > 0 && len(view.Tiles) == 0 {
		return refusal(http.StatusNotFound, "There is no such page", "The run has "+count(int64(view.Total))+" pages, counted from 0.", "Begin with the first one.")
	}
	view.sections(stripPage)
	view.Base = base(r)
	if from > 0 {
		view.Earlier = max(0, from-stripPage)
	}
	if view.Last+1 < view.Total {
		view.Later = view.Last + 1
	}
	f := frame{Title: "Pages of " + visible.Line(run.Receipt.Job), Here: "runs", Body: view}
	if !isOver(&run.Receipt) {
		f.Live = "live?mark=" + markOf([]store.Run{run})
	}
	return s.render(w, r, http.StatusOK, "pages", f)
}

// number reads a parameter that counts from 0; absent it is 0.
func number(text, what string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, refusal(http.StatusBadRequest, "That is no number", "The "+what+" asked for is "+visible.Line(text)+".", "A "+what+" is a number, counted from 0.")
	}
	return n, nil
}

// pageView is one page of a run.
type pageView struct {
	RunID, Job     string
	Index          int
	Revisions      []revision
	Items          []pageItem
	Problems       []line
	Before, Behind int // the pages beside it; -1 where there is none
	More           int // entries that are not shown
}

// revision is one reading of a page.
type revision struct {
	Number    int
	At        time.Time
	Size      int
	Hash      string
	Facts     []line
	Vetoes    []string
	Superior  bool // the newest one, which counts
	Unclaimed int
}

// pageItem is an item of a page and where it stands.
type pageItem struct {
	ID    string
	State string
	Why   string
	Code  string
}

// itemsOnPage is how many of a page's items are shown.
const itemsOnPage = 2000

// page shows one page: its readings, and its items with their states.
func (s *site) page(w http.ResponseWriter, r *http.Request) error {
	run, err := s.find(r)
	if err != nil {
		return err
	}
	index, err := number(r.PathValue("page"), "page")
	if err != nil {
		return err
	}
	view := pageView{RunID: visible.Line(run.Receipt.RunID), Job: visible.Line(run.Receipt.Job), Index: index, Before: index - 1, Behind: -1}
	var newest store.Page
	for page, err := range s.ledger.Pages(r.Context(), run.Receipt.RunID, index) {
		if err != nil {
			return err
		}
		if page.Index != index {
			view.Behind = page.Index
			break
		}
		newest = page
		view.Revisions = append(view.Revisions, revisionOf(page))
	}
	if len(view.Revisions) == 0 {
		return refusal(http.StatusNotFound, "There is no such page", "The run has "+count(int64(run.Receipt.Pages))+" pages, counted from 0.", "Look for it among the run's pages.")
	}
	view.Revisions[len(view.Revisions)-1].Superior = true
	for i, place := range newest.Unidentified {
		text := ""
		if i < len(newest.Problems) {
			text = clean(newest.Problems[i])
		}
		view.Problems = append(view.Problems, line{"Entry " + count(int64(place)), text})
	}
	if view.Items, err = s.pageItems(r.Context(), run, newest); err != nil {
		return err
	}
	view.More = len(newest.IDs) - len(view.Items)
	return s.render(w, r, http.StatusOK, "page", frame{Title: "Page " + count(int64(index)) + " of " + view.Job, Here: "runs", Body: view})
}

func revisionOf(page store.Page) revision {
	is := revision{Number: page.Revision, At: page.At, Size: len(page.IDs), Hash: page.Hash}
	add := func(name, text string) {
		if text != "" {
			is.Facts = append(is.Facts, line{name, text})
		}
	}
	add("Cursor in", cleanCursor(page.Cursor))
	add("Cursor out", outOf(page.Next))
	add("What it said of the end", page.End.String())
	add("Evidence", clean(page.Evidence))
	add("Hash of its IDs", visible.Line(page.Hash))
	if page.Total != nil {
		add("Reported total", count(*page.Total))
	}
	if page.Status != 0 {
		add("HTTP status", strconv.Itoa(page.Status))
	}
	add("Request ID", visible.Line(page.RequestID))
	if page.Skipped > 0 {
		add("Skipped by contract", count(int64(page.Skipped)))
	}
	for _, veto := range page.Vetoes {
		add("Veto", clean(veto))
	}
	add("Digest", visible.Line(page.Digest))
	return is
}

func (s *site) pageItems(ctx context.Context, run store.Run, page store.Page) ([]pageItem, error) {
	records, err := s.ledger.Items(ctx, run.Scope, page.IDs[:min(len(page.IDs), itemsOnPage)])
	if err != nil {
		return nil, err
	}
	list := make([]pageItem, len(records))
	for i, record := range records {
		list[i] = pageItem{ID: visible.Line(record.ID), State: record.State.String(), Code: visible.Line(string(record.Code)), Why: clean(record.Detail)}
	}
	return list, nil
}

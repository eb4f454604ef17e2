package probe

import (
	"context"
	"errors"
	"fmt"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
)

// followed is what came of walking on with one candidate.
type followed struct {
	pages []found // the first among them
	// refused says why the candidate is not the one; it is empty where it may be.
	refused string
	// stopped is what ended the walk although the candidate may be right, such as
	// a rate limit.
	stopped string
	overlap int // items that stood on an earlier page, too
}

func (f *followed) lastPage() found { return f.pages[len(f.pages)-1] }

// follow walks on from the first page. A contract that reads the first page may
// still send the cursor where the API does not look; then the same items come.
func (p *prober) follow(ctx context.Context, r *reading, pages int) followed {
	f := followed{pages: []found{r.page}}
	seen := map[string]bool{}
	remember(seen, r.page)
	for len(f.pages) < pages && f.lastPage().End == pager.EndMore && !f.lastPage().Next.IsStart() {
		at := f.lastPage().Next
		page, err := p.read(ctx, p.live, &r.candidate, at)
		if err != nil {
			f.fail(err)
			return f
		}
		fresh, old := remember(seen, page)
		f.overlap += old
		switch {
		case fresh == 0 && len(page.Items) > 0:
			f.refused = fmt.Sprintf("page %d held no item that was not seen before, so the API did not look at the cursor in %s", len(f.pages)+1, sentIn(&r.contract))
			return f
		case page.Next == at && page.End == pager.EndMore:
			f.refused = fmt.Sprintf("page %d gave the cursor that it was asked with, so the walk does not move", len(f.pages)+1)
			return f
		}
		f.pages = append(f.pages, page)
	}
	return f
}

// fail sorts an error into one that speaks against the contract and one that does
// not. After a page that confirmed it, nothing speaks against it.
func (f *followed) fail(err error) {
	text := fmt.Sprintf("page %d failed: %v", len(f.pages)+1, err)
	fault, known := errors.AsType[*pager.Fault](err)
	if known && (fault.Verdict == pager.Pause || fault.Code == pager.CodeCrossOrigin || fault.Code == pager.CodeUnauthorized) || len(f.pages) > 1 {
		f.stopped = text
		return
	}
	f.refused = text
}

func remember(seen map[string]bool, page found) (fresh, old int) {
	for _, item := range page.Items {
		if seen[item.ID] {
			old++
			continue
		}
		seen[item.ID] = true
		fresh++
	}
	return fresh, old
}

func sentIn(c *adapters.Contract) string {
	if c.Request.Cursor.In == "" {
		return "the parts of it"
	}
	return string(c.Request.Cursor.In)
}

// firstLook is a contract that reads anything, for the request whose answer every
// other contract is tried on. Its own judgement counts only where it is no page.
func (p *prober) firstLook(ctx context.Context) (*recorded, error) {
	anything := adapters.Contract{
		Name:  "probe",
		Items: adapters.Items{ID: []adapters.Path{""}},
		End:   adapters.EndRule{Rule: adapters.EndBounded},
	}
	list, err := p.list(p.live, anything, "")
	if err != nil {
		return nil, err
	}
	for _, err := range list.Pages(ctx, pager.Cursor{}) {
		fault, known := errors.AsType[*pager.Fault](err)
		if err != nil && (!known || fault.Code != pager.CodeNotAList || p.live.last == nil) {
			return nil, fmt.Errorf("probe: the first page: %w", err)
		}
		break
	}
	return p.live.last, nil
}

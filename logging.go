package everypage

import (
	"log/slog"
	"time"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
	"github.com/everypage-go/everypage/store"
)

// logging is the observer that tells a logger what a person may have to know:
// transitions, held items, conflicts and waits. Pages are told at debug level, and
// single items that succeed not at all.
func logging(log *slog.Logger) Observer {
	return Observer{
		Page: func(_ state.Receipt, p store.Page) {
			log.Debug("page recorded", "page_index", p.Index, "revision", p.Revision, "items", len(p.IDs), "end", p.End.String(), "request_id", p.RequestID)
		},
		Settled: func(_ state.Receipt, i store.Item) {
			if i.State == store.StateHeld {
				log.Warn("item held", "item_id", i.ID, "page_index", i.Page, "code", i.Code, "detail", pager.RedactText(i.Detail), "attempts", i.Attempts)
			}
		},
		Conflict: func(_ state.Receipt, c store.Conflict) {
			log.Warn("conflict recorded", "item_id", c.ID, "first_page", c.FirstPage, "page_index", c.Page)
		},
		Transition: func(r state.Receipt, t state.Transition) {
			args := []any{"event", t.Event, "from", t.From, "to", t.To, "processed_unique", r.ProcessedUnique, "pending_count", r.PendingCount}
			if t.Reason.Code != "" {
				args = append(args, "code", t.Reason.Code, "detail", pager.RedactText(t.Reason.Detail))
			}
			if t.Reason.RequestID != "" {
				args = append(args, "request_id", t.Reason.RequestID)
			}
			if t.To == state.NeedsReview {
				log.Warn("run changed", args...)
				return
			}
			log.Info("run changed", args...)
		},
		Wait: func(_ string, code pager.Code, until time.Time) {
			log.Info("waiting in place", "code", code, "until", until)
		},
	}
}

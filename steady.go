package everypage

import (
	"context"
	"iter"

	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/store"
)

// steady is a ledger for a run at work. What the run reads and writes there does
// not end with the caller's context, so that a cancelled run is recorded as what
// it is, and every outcome with it.
type steady struct{ store.Store }

var _ store.Store = steady{}

func (s steady) Items(ctx context.Context, scope string, ids []string) ([]store.Item, error) {
	return s.Store.Items(context.WithoutCancel(ctx), scope, ids)
}

func (s steady) Held(ctx context.Context, scope string) iter.Seq2[store.Item, error] {
	return s.Store.Held(context.WithoutCancel(ctx), scope)
}

func (s steady) Pages(ctx context.Context, runID string, from int) iter.Seq2[store.Page, error] {
	return s.Store.Pages(context.WithoutCancel(ctx), runID, from)
}

func (s steady) PageAt(ctx context.Context, runID string, cursor pager.Cursor) (int, bool, error) {
	return s.Store.PageAt(context.WithoutCancel(ctx), runID, cursor)
}

func (s steady) Conflicts(ctx context.Context, runID string) iter.Seq2[store.Conflict, error] {
	return s.Store.Conflicts(context.WithoutCancel(ctx), runID)
}

func (s steady) Commit(ctx context.Context, change store.Change) error {
	return s.Store.Commit(context.WithoutCancel(ctx), change)
}

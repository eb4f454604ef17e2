package everypage_test

import (
	"context"
	"testing"
	"time"

	"github.com/everypage-go/everypage"
)

// Rule 1 holds with a page that was read ahead, too: an item that is gone from the
// page that is read again, and shows on the next, is handled there without conflict.
func TestRule1_VanishedAndMetAgainOnAPageReadAhead(t *testing.T) {
	for _, drop := range []bool{true, false} {
		w := newWorld(t, 2, "a", "b", "c", "d", "e")
		job := w.job(func(j *everypage.Job[ticket]) { j.Options.ReadAhead, j.DropVanished = true, drop })
		ctx, cancel := context.WithCancel(t.Context())
		w.handle = func(context.Context, everypage.Item[ticket]) error { cancel(); return ctx.Err() }
		receipt, err := w.runContext(ctx, job)
		wantPause(t, receipt, err, "cancelled")
		w.handle = nil
		w.mu.Lock()
		w.list = append([]ticket{w.list[0], {ID: "x", Created: start().Add(-time.Hour)}}, w.list[1:]...) // b is on the next page now
		w.mu.Unlock()
		receipt, err = w.run(job)
		wantComplete(t, err)
		want(t, "processed_unique", receipt.ProcessedUnique, 6)
		want(t, "vanished_count", receipt.VanishedCount, 0)
	}
}

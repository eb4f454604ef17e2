package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/everypage-go/everypage"
	"github.com/everypage-go/everypage/internal/visible"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// conclude prints the last line of a run: how it stands, what was counted, and
// what to do next. It returns what decides the exit code.
func conclude(std streams, receipt *state.Receipt, err error, dir string) error {
	recorded := err == nil || errors.Is(err, everypage.ErrPaused) || errors.Is(err, everypage.ErrNeedsReview)
	if receipt == nil || !recorded {
		return err
	}
	_, printed := fmt.Fprintln(std.err, visible.Line(fmt.Sprintf("everypage: run %s %s%s: %s. %s",
		receipt.RunID, stands(receipt.Status), because(receipt.Reason), counts(receipt), nextStep(receipt, dir))))
	switch {
	case err != nil:
		return said(err)
	case errors.Is(printed, syscall.EPIPE):
		return nil // nobody listens any more, and the receipt stands in the ledger
	}
	return printed
}

// stands says a status as the predicate of a sentence.
func stands(s state.Status) string {
	if s == state.NeedsReview {
		return "needs review"
	}
	return "is " + string(s)
}

func because(r *state.Reason) string {
	if r == nil {
		return ""
	}
	text := string(r.Code)
	if r.Detail != "" {
		text += ": " + pager.RedactText(r.Detail)
	}
	if r.RequestID != "" {
		text += ", request id " + r.RequestID
	}
	return " (" + text + ")"
}

// counts says what a receipt counts.
func counts(r *state.Receipt) string {
	return itemCounts(r) + ", " + number(int64(r.Pages), "page", "pages")
}

// itemCounts says how many items are done, and how many not, leaving out what is
// nought.
func itemCounts(r *state.Receipt) string {
	parts := []string{number(r.ProcessedUnique, "item done", "items done")}
	for _, more := range []struct {
		n         int64
		one, many string
	}{
		{r.Inherited, "done by an earlier run", "done by earlier runs"},
		{r.PendingCount - r.HeldCount - r.EntriesWithoutID, "pending", "pending"},
		{r.HeldCount, "held", "held"},
		{r.EntriesWithoutID, "without ID", "without ID"},
		{r.DeferredCount, "deferred", "deferred"},
		{r.VanishedCount, "vanished", "vanished"},
		{r.WrittenOff, "written off", "written off"},
		{r.DuplicateConflicts, "open conflict", "open conflicts"},
	} {
		if more.n != 0 {
			parts = append(parts, number(more.n, more.one, more.many))
		}
	}
	return strings.Join(parts, ", ")
}

func number(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// nextStep says what to do next, as something to type where that can be.
func nextStep(r *state.Receipt, dir string) string {
	at := " --ledger " + word(dir)
	switch r.Status {
	case state.Complete:
		return "Its receipt: everypage show " + r.RunID + at
	case state.Paused:
		switch {
		case !r.ResumeAt.IsZero():
			return "To go on, run the same command again at or after " + r.ResumeAt.Format(time.RFC3339)
		case r.Reason != nil && state.Explain(r.Reason.Code).NeedsInstant:
			return "No instant was given: run the same command again with --force when the quota is restored"
		}
		return "To go on, run the same command again"
	case state.NeedsReview:
		return remedies(r, at)
	case state.Running:
		return "To go on, run the same command again"
	}
	return ""
}

// remedies names the commands that a person may answer a review with.
func remedies(r *state.Receipt, at string) string {
	show := "Look: everypage show " + r.RunID + at
	if r.Reason == nil {
		return show
	}
	var ways []string
	for _, remedy := range state.Explain(r.Reason.Code).Remedies {
		switch remedy {
		case state.Reopen:
			ways = append(ways, "everypage retry "+r.RunID+at+" --by NAME")
		case state.Accept:
			accept := "everypage accept " + r.RunID + at + " --by NAME --note WHY"
			if r.DuplicateConflicts == 0 {
				accept += " --item ID"
			}
			ways = append(ways, accept)
		case state.Supersede:
			ways = append(ways, "everypage supersede "+r.RunID+at+" --by NAME --note WHY")
		case state.RunAgain:
			ways = append(ways, "the same command again")
		}
	}
	if len(ways) == 0 {
		return show
	}
	return show + "; then decide: " + strings.Join(ways, ", or ")
}

// word quotes a text for a POSIX shell where that needs it.
func word(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%\\", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

package sink

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/everypage-go/everypage/adapters"
	"github.com/everypage-go/everypage/pager"
	"github.com/everypage-go/everypage/state"
)

// declaredRefusal is what request_refused becomes where the caller's rules give it
// to a single case, so that their word can be told from what follows from a status
// or a coarse type.
const declaredRefusal pager.Code = "request_refused_as_declared"

// judge says what an answer means.
type judge struct{ rules adapters.ErrorRules }

func newJudge(declared adapters.ErrorRules) judge {
	rules := declared
	rules.Rules, rules.Codes = slices.Clone(declared.Rules), maps.Clone(declared.Codes)
	for i := range rules.Rules {
		if rules.Rules[i].Means == pager.CodeRequestRefused {
			rules.Rules[i].Means = declaredRefusal
		}
	}
	for text, code := range rules.Codes {
		if code == pager.CodeRequestRefused {
			rules.Codes[text] = declaredRefusal
		}
	}
	return judge{rules}
}

// fault says what an answer means that is no success, and returns nil for one
// that is. Its code decides what the engine is told.
func (j judge) fault(a Answer, now time.Time) *pager.Fault {
	f := j.rules.Fault(&http.Response{StatusCode: a.Status, Header: a.Header}, a.Body, now)
	switch {
	case f == nil && a.Truncated && j.speaksOf(a.Status):
		return &pager.Fault{
			Verdict: pager.Pause, Code: pager.CodeTransport, Answer: pager.Answer{HTTPStatus: a.Status, RequestID: a.RequestID},
			Detail: "the answer is cut short, so that it cannot be told whether it is a success",
		}
	case f == nil:
		return nil
	case f.Code == declaredRefusal:
		f.Code = pager.CodeRequestRefused
	case f.Code == pager.CodeRequestRefused:
		undeclared(a, f)
	}
	return f
}

// speaksOf reports whether a rule may call an answer of this status an error.
func (j judge) speaksOf(status int) bool {
	return slices.ContainsFunc(j.rules.Rules, func(r adapters.ErrorRule) bool { return slices.Contains(r.Status, status) })
}

// undeclared looks closer at a refusal that the caller's rules do not speak of, or
// only by a coarse type: neither says what a key that was used before means.
func undeclared(a Answer, f *pager.Fault) {
	words := wordsOf(f.Answer)
	if words == "" && len(a.Body) > 0 {
		f.Detail += fmt.Sprintf(": %.200q", a.Body)
		words = strings.ToLower(string(a.Body[:min(len(a.Body), 2<<10)]))
	}
	ofKey := strings.Contains(words, "idempoten")
	switch {
	case redirect(a.Status):
		f.Detail += "; a create follows no redirect"
		if to := a.Header.Get("Location"); to != "" {
			f.Detail += " (to " + pager.RedactURL(to) + ")"
		}
		f.Detail += ": correct the sink's URL or its credentials"
	case a.Status == http.StatusForbidden:
		f.Code = pager.CodeUnauthorized
	case a.Status == http.StatusConflict && (words == "" || containsAny(words, busyWords()) && !containsAny(words, reuseWords())):
		f.Verdict, f.Code = pager.Pause, pager.CodeServerError
		f.Detail += ": the first request with this key may still be under way"
	case a.Status == http.StatusUnprocessableEntity && (words == "" || ofKey),
		(a.Status == http.StatusBadRequest || a.Status == http.StatusConflict) && ofKey && containsAny(words, reuseWords()):
		f.Code = state.HoldKeyMismatch
	}
}

func redirect(status int) bool { return status >= 300 && status < 400 }

// wordsOf returns what an API said about an error, in lower case.
func wordsOf(a pager.Answer) string {
	all := append([]string{a.Error, a.Type, a.ErrorDescription}, a.Details...)
	return strings.TrimSpace(strings.ToLower(strings.Join(all, " ")))
}

// reuseWords tell of a key that came again with another request: Stripe's
// idempotency_error (400), Square's IDEMPOTENCY_KEY_REUSED (400), and the words
// of the IETF draft.
func reuseWords() []string {
	return []string{"idempotency_error", "reuse", "mismatch", "not match", "different", "another body", "another request body", "already used", "same parameters"}
}

// busyWords tell of a first request that is still under way: Stripe's
// idempotency_key_in_use (409) and the words of the IETF draft.
func busyWords() []string {
	return []string{"in_use", "in use", "currently being used", "in progress", "in_progress", "outstanding", "concurrent", "being processed", "still processing"}
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

package adapters

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/everypage-go/everypage/pager"
)

// ErrorRules says, as data, what an API's errors mean. The zero value knows the
// HTTP statuses and the signs of a limit, and serves an API without a contract.
//
// The first of Rules that matches decides, then Codes, then Types, then the
// status.
type ErrorRules struct {
	// Rules decide cases that need more than one look.
	Rules []ErrorRule `json:"rules,omitempty" yaml:"rules,omitempty"`
	// Codes decides single cases by the answer's error, and Types coarse ones by
	// its type. The values are those of [ErrorCodes].
	Codes map[string]pager.Code `json:"codes,omitempty" yaml:"codes,omitempty"`
	Types map[string]pager.Code `json:"types,omitempty" yaml:"types,omitempty"`
	// RetryAfter is the path of a number of seconds to wait, in the body of an
	// error; it is one instant beside the others that the answer gives.
	RetryAfter Path `json:"retry_after,omitempty" yaml:"retry_after,omitempty"`
	// WaitSeconds is how long the API's documentation asks to wait for a rate limit
	// whose answer gives no instant. Defaults to leaving it to the caller.
	WaitSeconds int `json:"wait_seconds,omitempty" yaml:"wait_seconds,omitempty"`
}

// ErrorRule is one case. All conditions that are set must hold.
type ErrorRule struct {
	Status []int `json:"status,omitempty" yaml:"status,omitempty"`
	// Error, Type and Param are compared with the answer's; Message must occur in
	// its description, in any case of letters.
	Error   string `json:"error,omitempty" yaml:"error,omitempty"`
	Type    string `json:"type,omitempty" yaml:"type,omitempty"`
	Param   string `json:"param,omitempty" yaml:"param,omitempty"`
	Message string `json:"message,omitempty" yaml:"message,omitempty"`
	// At is a path in the body whose value must have the text Is, or with Present
	// must be true, a number other than 0, or not empty; with Above it must be a
	// number greater than that.
	At      Path   `json:"at,omitempty" yaml:"at,omitempty"`
	Is      string `json:"is,omitempty" yaml:"is,omitempty"`
	Present bool   `json:"present,omitempty" yaml:"present,omitempty"`
	Above   *int64 `json:"above,omitempty" yaml:"above,omitempty"`
	// WithCursor asks that the request carried a cursor that the API had issued.
	WithCursor bool `json:"with_cursor,omitempty" yaml:"with_cursor,omitempty"`
	// Means is the reason that the case is, one of [ErrorCodes].
	Means pager.Code `json:"means" yaml:"means"`
}

// ErrorCodes returns the reasons that a contract can give to an error. A run
// pauses for the first three and needs review for the others.
func ErrorCodes() []pager.Code {
	return []pager.Code{
		pager.CodeServerError, pager.CodeRateLimited, pager.CodeQuotaExhausted,
		pager.CodeUnauthorized, pager.CodeRequestRefused, pager.CodeCursorExpired, pager.CodeNotAList,
	}
}

func verdictOf(code pager.Code) pager.Verdict {
	if slices.Contains([]pager.Code{pager.CodeServerError, pager.CodeRateLimited, pager.CodeQuotaExhausted, pager.CodeTransport}, code) {
		return pager.Pause
	}
	return pager.Review
}

// Fault says what an answer that is an error means: its status, its body, and now,
// the local time at which it came. It returns nil for a 2xx answer that no rule
// calls an error. The body is what was read of the answer; Fault does not read
// from the response.
func (r *ErrorRules) Fault(resp *http.Response, body []byte, now time.Time) *pager.Fault {
	return r.fault(reply{status: resp.StatusCode, header: resp.Header, envelope: readEnvelope(body), now: now})
}

// reply is an answer that may be an error.
type reply struct {
	status     int
	header     http.Header
	envelope   envelope
	withCursor bool
	now        time.Time
	// noPage says that the answer was expected to be a list page and is none, so
	// that the contract's codes count even where the status is 2xx.
	noPage bool
}

// mayBeError reports whether a rule speaks of answers with this status.
func (r *ErrorRules) mayBeError(status int) bool {
	return slices.ContainsFunc(r.Rules, func(rule ErrorRule) bool { return slices.Contains(rule.Status, status) })
}

func (r *ErrorRules) fault(a reply) *pager.Fault {
	limit := readLimit(a.status, a.header, a.envelope.body, a.envelope.body.at(r.RetryAfter), a.now)
	code := r.declared(a)
	if code == "" {
		code = byStatus(a.status, limit)
	}
	if code == "" && a.noPage {
		code = pager.CodeNotAList
	}
	if code == "" {
		return nil
	}
	if limit.Quota && code == pager.CodeRateLimited {
		code = pager.CodeQuotaExhausted
	}
	f := &pager.Fault{Verdict: verdictOf(code), Code: code, Answer: a.envelope.answer(a.status, a.header)}
	if f.Verdict == pager.Pause {
		f.Until = limit.Until
	}
	if code == pager.CodeRateLimited && f.Until.IsZero() && r.WaitSeconds > 0 {
		f.Until = a.now.Add(delay(float64(r.WaitSeconds), time.Second))
	}
	f.Detail = detail(f, limit)
	return f
}

// declared returns what the contract says about an error, or "".
func (r *ErrorRules) declared(a reply) pager.Code {
	success := a.status >= 200 && a.status < 300 && !a.noPage
	for i := range r.Rules {
		if success && !slices.Contains(r.Rules[i].Status, a.status) {
			continue
		}
		if r.Rules[i].matches(a) {
			return r.Rules[i].Means
		}
	}
	if success {
		return ""
	}
	if code := r.Codes[a.envelope.code]; code != "" && a.envelope.code != "" {
		return code
	}
	if a.envelope.kind != "" {
		return r.Types[a.envelope.kind]
	}
	return ""
}

func (r *ErrorRule) matches(a reply) bool {
	e := a.envelope
	return (len(r.Status) == 0 || slices.Contains(r.Status, a.status)) &&
		(r.Error == "" || r.Error == e.code) &&
		(r.Type == "" || r.Type == e.kind) &&
		(r.Param == "" || r.Param == e.param) &&
		(r.Message == "" || strings.Contains(strings.ToLower(e.description), strings.ToLower(r.Message))) &&
		(r.At == "" || r.holds(e.body)) &&
		(!r.WithCursor || a.withCursor)
}

// holds reports whether the body has what the rule looks for.
func (r *ErrorRule) holds(body value) bool {
	steps, err := r.At.steps()
	if err != nil {
		return false
	}
	if !r.Present && r.Above == nil && !wild(steps) {
		return body.walk(steps).plainText() == r.Is
	}
	return slices.ContainsFunc(body.all(steps), func(v value) bool {
		switch n, ok := v.integer(); {
		case r.Present:
			return v.something() != ""
		case r.Above != nil:
			return ok && n > *r.Above
		}
		return v.plainText() == r.Is
	})
}

// byStatus is what an answer means that no rule speaks of.
func byStatus(status int, limit Limit) pager.Code {
	switch {
	case status >= 200 && status < 300:
		return ""
	case status == http.StatusTooManyRequests:
		return pager.CodeRateLimited
	case status == http.StatusForbidden && limit.Limited:
		// GitHub answers 403 for its primary and its secondary limits.
		return pager.CodeRateLimited
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return pager.CodeServerError
	case status == http.StatusUnauthorized:
		return pager.CodeUnauthorized
	}
	return pager.CodeRequestRefused
}

// detail tells a person what the API said.
func detail(f *pager.Fault, limit Limit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "the API answered %d", f.Answer.HTTPStatus)
	if text := http.StatusText(f.Answer.HTTPStatus); text != "" {
		b.WriteString(" " + text)
	}
	if f.Answer.Error != "" {
		b.WriteString(", " + f.Answer.Error)
	}
	if f.Answer.ErrorDescription != "" {
		b.WriteString(": " + f.Answer.ErrorDescription)
	}
	if f.Code == pager.CodeQuotaExhausted && limit.Tier != "" {
		b.WriteString(" (quota of tier " + limit.Tier + ")")
	}
	if f.Verdict == pager.Pause && !f.Until.IsZero() {
		b.WriteString("; go on at " + f.Until.UTC().Format(time.RFC3339Nano))
	}
	return b.String()
}

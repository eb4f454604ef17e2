package pager

import (
	"fmt"
	"strings"
	"time"
)

// Verdict says what a run has to do about a fault.
type Verdict uint8

const (
	// Review stops the run until a person has looked at it.
	Review Verdict = iota
	// Pause stops the run until Fault.Until; then it goes on where it was.
	Pause
)

// Code names a reason. Codes are persisted and never change their meaning; the
// codes of a run itself, and the remedies of all, stand in the state package.
type Code string

// The codes of what can go wrong while a page is read.
const (
	CodeRateLimited    Code = "rate_limited"    // the API limits the rate of requests
	CodeQuotaExhausted Code = "quota_exhausted" // a quota of a longer period is used up
	CodeServerError    Code = "server_error"    // 5xx, or what the contract says may be retried
	CodeTransport      Code = "transport"       // no connection, a broken transfer, a time-out
	CodeUnauthorized   Code = "unauthorized"    // the API does not accept the credentials
	CodeRequestRefused Code = "request_refused" // another 4xx
	CodeCursorExpired  Code = "cursor_expired"  // the API no longer knows the cursor
	CodeNotAList       Code = "not_a_list"      // the answer is no list page
	CodeBodyTooLarge   Code = "body_too_large"  // the answer is longer than the limit
	CodeCursorMissing  Code = "cursor_missing"  // more follows, and the page does not say where
	CodeCrossOrigin    Code = "cross_origin"    // the next link names another origin
	CodeEndUnknown     Code = "end_unknown"     // neither an end nor a next cursor
	CodePagerFailed    Code = "pager_failed"    // a custom pager failed without saying why
)

// Fault is an error of a pager or a sink that says what a run has to do.
type Fault struct {
	// Verdict is what to do; the zero value asks for review.
	Verdict Verdict
	// Code names the reason.
	Code Code
	// Detail says to a person what happened.
	Detail string
	// Until is the earliest instant to go on, for Pause. The zero time means
	// that the API gave none: for a rate limit the engine chooses, for a quota
	// it does not poll.
	Until time.Time
	// Answer is what the API said about the error.
	Answer Answer
	// Err is the cause, if there is one.
	Err error
}

// Answer is what an API said about an error. All of it is text for a reader;
// Hint and AgentInstruction in particular are never obeyed.
type Answer struct {
	HTTPStatus       int      `json:"http_status,omitempty" yaml:"http_status,omitempty"`
	Error            string   `json:"error,omitempty" yaml:"error,omitempty"`
	ErrorDescription string   `json:"error_description,omitempty" yaml:"error_description,omitempty"`
	Type             string   `json:"type,omitempty" yaml:"type,omitempty"`
	Details          []string `json:"details,omitempty" yaml:"details,omitempty"`
	RequestID        string   `json:"request_id,omitempty" yaml:"request_id,omitempty"`
	Bucket           string   `json:"bucket,omitempty" yaml:"bucket,omitempty"`
	Hint             string   `json:"hint,omitempty" yaml:"hint,omitempty"`
	AgentInstruction string   `json:"agent_instruction,omitempty" yaml:"agent_instruction,omitempty"`
}

// Error says what happened, with the API's own words.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(string(f.Code))
	if f.Detail != "" {
		b.WriteString(": " + f.Detail)
	}
	if f.Answer.RequestID != "" {
		fmt.Fprintf(&b, " (request id %s)", f.Answer.RequestID)
	}
	if f.Err != nil {
		b.WriteString(": " + f.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// MissingCursor is the fault of a page that is not the last and names no next
// cursor.
func MissingCursor(end End, evidence string) *Fault {
	if end == EndUnknown {
		return &Fault{Code: CodeEndUnknown, Detail: "the page has neither an end signal nor a next cursor" + because(evidence)}
	}
	return &Fault{Code: CodeCursorMissing, Detail: "the page says that more follows and names no next cursor" + because(evidence)}
}

func because(evidence string) string {
	if evidence == "" {
		return ""
	}
	return " (" + evidence + ")"
}

package simapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// Envelope is the flat error body of the keyset catalogue and of the CRM.
type Envelope struct {
	Error            string   `json:"error"`
	ErrorDescription string   `json:"error_description,omitempty"`
	RequestID        string   `json:"request_id,omitempty"`
	Type             string   `json:"type,omitempty"`
	Details          []Detail `json:"details,omitempty"`
	// The rest belongs to a 429.
	RetryAfterMS     int64     `json:"retry_after_ms,omitempty"`
	NextRequestAt    time.Time `json:"next_request_at,omitzero"`
	Bucket           string    `json:"bucket,omitempty"`
	Hint             string    `json:"hint,omitempty"`
	AgentInstruction string    `json:"agent_instruction,omitempty"`
}

// Detail is one finding of a validation_error.
type Detail struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Refusal is the fault of any status with the flat envelope.
func Refusal(status int, e Envelope) Fault {
	a := jsonAnswer(status, e)
	return Fault{Status: a.Status, Header: a.Header, Body: string(a.Body)}
}

func fill(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

// jsonAnswer encodes a value. A value that cannot be encoded (an item with
// invalid raw JSON) becomes a 500 that says so.
func jsonAnswer(status int, value any) Answer {
	encoded, err := json.Marshal(value)
	if err != nil {
		status, encoded = http.StatusInternalServerError, []byte(`{"error":"simulation","error_description":`+strconv.Quote(err.Error())+`}`)
	}
	header := http.Header{}
	header.Set("Content-Type", "application/json; charset=utf-8")
	return Answer{Status: status, Header: header, Body: encoded}
}

// problem is an error before it is dressed in an API's envelope.
type problem struct {
	status  int
	code    string
	kind    string
	message string
	field   string
}

// dress gives a problem in the envelope of the contract's API.
func (p problem) dress(contract Contract, requestID string) Answer {
	switch contract {
	case GitHubREST:
		return jsonAnswer(p.status, map[string]any{
			"message": p.message, "documentation_url": "", "status": strconv.Itoa(p.status),
		})
	case StripeV1:
		return jsonAnswer(p.status, map[string]any{
			"error": map[string]any{"type": p.kind, "code": p.code, "message": p.message, "param": p.field},
		})
	case GoogleAIP158:
		return jsonAnswer(p.status, map[string]any{
			"error": map[string]any{"code": p.status, "message": p.message, "status": googleStatus(p.status)},
		})
	case KeysetCatalogue, KeysetFeed:
	}
	return p.flat(requestID)
}

// flat gives a problem in the flat envelope.
func (p problem) flat(requestID string) Answer {
	e := Envelope{Error: p.code, ErrorDescription: p.message, RequestID: requestID, Type: p.kind}
	if p.field != "" {
		e.Details = []Detail{{Field: p.field, Message: p.message}}
	}
	return jsonAnswer(p.status, e)
}

func googleStatus(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	}
	return "UNIMPLEMENTED"
}

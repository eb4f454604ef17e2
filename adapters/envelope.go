package adapters

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/everypage-go/everypage/pager"
)

// envelope is an API's error as a body tells it, in one shape for all.
type envelope struct {
	code        string // decides single cases
	kind        string // decides coarse ones
	description string
	param       string
	requestID   string
	details     []string
	body        value
}

// ReadAnswer reads what an API said about an error: the flat envelope {error,
// error_description, request_id, type}, RFC 6749, validation errors with details,
// and the envelopes of Stripe, Google, GitHub, Microsoft, AWS, JSON:API, GraphQL
// and JSON-RPC. All of it is text for a reader: bounded, without control
// characters, and never obeyed. A body that is no JSON gives the status and the
// request ID alone.
func ReadAnswer(status int, header http.Header, body []byte) pager.Answer {
	return readEnvelope(body).answer(status, header)
}

func readEnvelope(body []byte) envelope {
	text := bytes.TrimSpace(stripBOM(body))
	v, err := parseJSON(text)
	if bytes.HasPrefix(text, []byte("<?xml")) || bytes.HasPrefix(text, []byte("<Error")) {
		_, v, err = parseXML(text, nil, false)
	}
	if err != nil {
		return envelope{}
	}
	return envelopeOf(v)
}

func envelopeOf(v value) envelope {
	if all := v.elements(); len(all) > 0 { // Salesforce sends an array of errors
		v = all[0]
	}
	e := envelope{
		body:        v,
		kind:        v.member("type").plainText(),
		description: message(v),
		param:       first(v, "param", "field"),
		requestID:   first(v, "request_id", "requestId", "correlationId", "RequestId"),
	}
	inner := v.member("error")
	if upper := v.member("Error"); inner.kind() == kindAbsent && upper.kind() == kindObject {
		inner = upper // AWS, in XML
	}
	if all := inner.elements(); len(all) > 0 && all[0].kind() == kindObject {
		inner = all[0]
	}
	switch inner.kind() {
	case kindText, kindNumber:
		e.code = inner.plainText()
	case kindObject:
		e.inside(inner)
	case kindAbsent, kindNull, kindBool, kindArray:
		e.code = first(v, "code", "errorCode", "__type", "reason", "category", "Code")
		if i := strings.LastIndexByte(e.code, '#'); i >= 0 { // AWS: namespace#Name
			e.code = e.code[i+1:]
		}
	}
	for _, name := range []string{"details", "errors", "errorMessages"} {
		e.list(v.member(name))
	}
	return e
}

// inside reads an error that is an object of its own.
func (e *envelope) inside(inner value) {
	e.code = first(inner, "code", "@code", "Code")
	if status := inner.member("status"); status.kind() == kindText { // Google: code repeats the HTTP status
		e.code = status.plainText()
	}
	if kind := inner.member("type").plainText(); kind != "" {
		e.kind = kind
	}
	if text := message(inner); text != "" {
		e.description = text
	}
	if param := first(inner, "param", "target"); param != "" {
		e.param = param
	}
	for _, v := range []value{inner, inner.member("innerError"), inner.member("innererror")} {
		if id := first(v, "request_id", "requestId", "request-id"); id != "" {
			e.requestID = id
		}
	}
	for _, detail := range inner.member("details").elements() { // google.rpc.RequestInfo
		if id := detail.member("requestId").plainText(); id != "" {
			e.requestID = id
		}
	}
	e.list(inner.member("details"))
	e.list(inner.member("errors"))
}

// list adds the entries of a list of texts or objects. Where the answer has no
// error of its own, the first entry speaks for it.
func (e *envelope) list(v value) {
	for i, entry := range v.elements() {
		if len(e.details) == detailLimit {
			return
		}
		if i == 0 && entry.kind() == kindObject {
			e.speakFor(entry)
		}
		text := entry.plainText()
		if text == "" {
			text = string(entry.raw)
		}
		if text = clean(text, textLimit); text != "" {
			e.details = append(e.details, text)
		}
	}
}

func (e *envelope) speakFor(entry value) {
	if e.param == "" {
		e.param = first(entry, "param", "field")
	}
	if e.description == "" {
		e.description = message(entry)
	}
	if e.code == "" {
		if e.code = first(entry, "code", "type", "reason"); e.code == "" {
			e.code = entry.member("extensions").member("code").plainText()
		}
	}
}

// message returns the text that tells a person what happened.
func message(v value) string {
	if text := first(v, "error_description", "message", "description", "detail", "title", "info", "reason", "Message", textName); text != "" {
		return text
	}
	if inner := v.member("error"); inner.kind() == kindObject {
		return message(inner)
	}
	return ""
}

// first returns the first of the members that is a string or a number.
func first(v value, names ...string) string {
	for _, name := range names {
		switch m := v.member(name); m.kind() {
		case kindText, kindNumber:
			if text := m.plainText(); text != "" {
				return text
			}
		case kindAbsent, kindNull, kindBool, kindArray, kindObject:
		}
	}
	return ""
}

func (e envelope) answer(status int, header http.Header) pager.Answer {
	id := clean(e.requestID, textLimit)
	if id == "" {
		id = RequestID(header)
	}
	return pager.Answer{
		HTTPStatus:       status,
		Error:            clean(e.code, textLimit),
		ErrorDescription: clean(e.description, textLimit),
		Type:             clean(e.kind, textLimit),
		Details:          e.details,
		RequestID:        id,
		Bucket:           clean(first(e.body, "bucket"), textLimit),
		Hint:             clean(first(e.body, "hint"), textLimit),
		AgentInstruction: clean(first(e.body, "agent_instruction"), textLimit),
	}
}

// RequestID returns the API's name for an exchange from the fields that carry
// one, or "".
func RequestID(header http.Header) string {
	for _, name := range []string{
		"X-Request-Id", "Request-Id", "X-Github-Request-Id", "X-Goog-Request-Id", "X-Guploader-Uploadid",
		"X-Ms-Request-Id", "X-Amzn-Requestid", "X-Amz-Request-Id", "Twilio-Request-Id", "X-Correlation-Id", "Atl-Traceid", "Audit-Id",
	} {
		if id := clean(header.Get(name), textLimit); id != "" {
			return id
		}
	}
	return ""
}
